"""A memory that could not be built is no honest memory: what is lost is said, fails the run, and is tried again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from experiments.runner import run
from tests.experiments.harness import config_of, read, rows_of, run_command
from trimem.llm.base import Reply, Request
from trimem.llm.simulated import Simulated

SHORT = (
    "method=trimem",
    "backbone=simulated",
    "embedder=hash",
    "dataset=sample",
    "dataset.conversations=[sample-train]",
    "dataset.limit=4",
    "tracker=none",
)


class Outage(Simulated):
    """The simulated model, whose endpoint fails on extraction while `out` is set."""

    out = True

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**super().identity, "outage": True}

    def complete(self, request: Request) -> Reply:
        if self.out and request.stage == "extract":
            return Reply("", "error", "HTTP 503")
        return super().complete(request)


def config() -> dict[str, Any]:
    return {**config_of(*SHORT), "backbone": {"_target_": f"{__name__}.Outage", "_partial_": True}}


def facts_shown(status: dict[str, Any]) -> int:
    return sum(item["kind"] == "fact" for row in rows_of(status) for item in row["items"])


def test_an_outage_during_the_build_is_no_score_of_zero_but_a_failed_run(tmp_path: Path) -> None:
    ended = run_command(tmp_path, *SHORT, "backbone.fault_rate=1")
    assert ended.returncode == 1
    assert "2 of 2 windows failed, more than max_failed=0.02 allows" in ended.stderr
    assert "build: 2 of 2 windows gave no facts" in ended.stdout


def test_what_was_lost_is_tried_again_and_all_questions_are_asked_of_the_whole_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = run(config(), tmp_path)
    assert poor["exit"] == 1
    assert facts_shown(poor) == 0, "raw turns alone"
    monkeypatch.setattr(Outage, "out", False)
    mended = run(config(), tmp_path)
    assert (mended["exit"], mended["run"]) == (0, poor["run"])
    assert facts_shown(mended) > 0
    calls = read(mended, "metrics.json")["usage"]
    again = run(config(), tmp_path)
    assert read(again, "metrics.json")["usage"] == calls, "a whole run asks nothing more"
