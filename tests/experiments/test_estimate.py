"""An estimate asks nothing, needs no key, and counts what the run would ask."""

from pathlib import Path

import pytest

from experiments.runner import run
from tests.experiments.harness import config_of, read
from trimem.errors import BadInput

SMALL = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=4", "embedder=hash", "tracker=none")


def test_an_estimate_needs_no_key_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status = run(config_of(*SMALL, "backbone=gpt-4.1-mini", "estimate=true"), tmp_path)
    assert status["exit"] == 0
    assert list(tmp_path.iterdir()) == []
    assert status["estimate"]["answer"]["calls"] == 4
    assert status["estimate"]["extract"]["usd"] > 0
    assert "tokens in" in capsys.readouterr().out


def test_an_estimate_counts_what_the_run_then_asks(tmp_path: Path) -> None:
    expected = run(config_of(*SMALL, "backbone=simulated", "estimate=true"), tmp_path)["estimate"]
    real = read(run(config_of(*SMALL, "backbone=simulated"), tmp_path), "metrics.json")["usage"]
    for stage in ("extract", "profile", "plan", "answer"):
        assert expected[stage]["calls"] == real[stage]["calls"] + real[stage]["cached"]
    assert expected["extract"]["prompt_tokens"] == real["extract"]["prompt_tokens"]


def test_without_a_model_there_is_nothing_to_estimate(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs a model to estimate for"):
        run(config_of(*SMALL, "estimate=true"), tmp_path)
