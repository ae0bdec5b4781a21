"""An estimate asks nothing, needs no key, and counts what the run would ask."""

from pathlib import Path
from typing import Any

import pytest

from experiments.runner import run
from tests.experiments.harness import config_of, read, run_command
from trimem.errors import BadInput

SMALL = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=4", "embedder=hash", "tracker=none")


STAGES = ("extract", "profile", "plan", "answer")
COUNTED = ("prompt_tokens", "completion_tokens")


def test_an_estimate_needs_no_key_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status = run(config_of(*SMALL, "backbone=gpt-4.1-mini", "estimate=true"), tmp_path)
    assert status["exit"] == 0
    assert list(tmp_path.iterdir()) == []
    assert status["estimate"]["answer"]["calls"] == (4, 4)
    assert 0 < status["estimate"]["extract"]["usd"][0] < status["estimate"]["extract"]["usd"][1]
    assert "tokens in" in capsys.readouterr().out


def test_a_grid_is_priced_job_by_job_and_as_a_whole(tmp_path: Path) -> None:
    grid = ("-m", "seed=0,1", "backbone=gpt-4.1-mini", "method=naive_rag", "estimate=true")
    printed = run_command(tmp_path, *SMALL, *grid).stdout
    assert printed.count("│ 4 calls, 0.00") == 2
    assert "all of them: 8 calls, 0.00" in printed


def test_what_is_known_beforehand_is_exact(tmp_path: Path) -> None:
    expected = run(config_of(*SMALL, "backbone=simulated", "estimate=true"), tmp_path)["estimate"]
    real = usage(run(config_of(*SMALL, "backbone=simulated", "cache.mode=off"), tmp_path))
    for stage in STAGES:
        assert expected[stage]["calls"] == (real[stage]["calls"], real[stage]["calls"])
    for stage in ("extract", "plan"):
        low, high = expected[stage]["prompt_tokens"]
        assert low == high == pytest.approx(real[stage]["prompt_tokens"], rel=0.01)


@pytest.mark.parametrize("length", [0.5, 0.7, 1.0, 1.4, 2.0])
def test_the_range_holds_for_replies_half_to_twice_as_long_as_assumed(tmp_path: Path, length: float) -> None:
    model = (*SMALL, "dataset.limit=null", "backbone=simulated", "cache.mode=off")
    expected = run(config_of(*model, "estimate=true"), tmp_path)["estimate"]
    real = usage(run(config_of(*model, f"backbone.length={length}"), tmp_path))
    for stage in STAGES:
        for name in COUNTED:
            low, high = expected[stage][name]
            assert low <= real[stage][name] <= high, (stage, name)


def test_what_is_done_or_kept_is_not_estimated_again(tmp_path: Path) -> None:
    model = (*SMALL, "backbone=simulated", "paths.cache=.cache")
    run(config_of(*model), tmp_path)
    assert run(config_of(*model, "estimate=true"), tmp_path)["estimate"] == {}
    kept = run(config_of(*model, "estimate=true", "dataset.limit=6"), tmp_path)["estimate"]
    assert [kept[stage]["calls"] for stage in STAGES] == [(0, 0), (0, 0), (2, 2), (2, 2)]
    anew = run(config_of(*model, "estimate=true", "dataset.limit=6", "cache.mode=off"), tmp_path)["estimate"]
    assert anew["plan"]["calls"] == (6, 6) and anew["extract"]["calls"][0] > 0


def usage(status: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = read(status, "metrics.json")["usage"]
    return found


def test_without_a_model_there_is_nothing_to_estimate(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs a model to estimate for"):
        run(config_of(*SMALL, "estimate=true"), tmp_path)
