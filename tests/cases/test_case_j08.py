"""Case j08: the planned calls are said first, the limit holds to the call, and the best prompt so far is there."""

from pathlib import Path

import pytest

from experiments.evolution.study import evolve
from tests.experiments.harness import config_of
from tests.fake_openai import FakeOpenAI
from trimem import prompts
from trimem.errors import BudgetReached

REPLY = {"content": '{"facts": [], "sections": [], "queries": ["q"], "answer": "no idea", "patterns": []}'}


def test_at_most_25_requests_whatever_was_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeOpenAI([REPLY]) as server:
        config = config_of(
            *("backbone=qwen3-8b", f"backbone.endpoint={server.url}", "embedder=hash", "tracker=none"),
            *("evolution=textgrad", "evolution.steps=3", "evolution.batch=10", "budget.calls=25"),
        )
        with pytest.raises(BudgetReached, match=r"budget\.calls=25 is used up"):
            evolve(config, tmp_path)
    assert 20 <= len(server.bodies) <= 25
    said = capsys.readouterr().out.splitlines()[0]
    assert said.startswith("split: 3 steps ask at most about ")
    (best,) = tmp_path.glob("runs/default/evolve-*/best/extract.md")
    assert prompts.load(best).text == prompts.load("extract").text
