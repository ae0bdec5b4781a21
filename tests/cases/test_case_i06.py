"""i06: growing tables: each question's row goes to W&B once, and stands in the local file in any case."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.tracking import WandbTracker
from tests.experiments.fake_wandb import FakeWandb

QUESTIONS = 200


def test_two_hundred_questions_are_sent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    item = {"kind": "turn", "id": "D1:1", "sources": ["D1:1"], "rank": 1, "score": 0.5}
    tokens = {"turns": 12, "total": 12}
    known = {"conversation": "c", "category": 1, "status": "ok", "items": [item] * 25, "context_tokens": tokens}
    rows = [{"question_id": f"c:{n}", "prediction": f"answer {n}", **known} for n in range(QUESTIONS)]
    empty: dict[str, Any] = {
        "headline": {},
        "macro": {},
        "retrieval": {},
        "by_category": {},
        "context_tokens": {},
        "build": {},
    }
    manifest = {
        "config": {"method": {"_target_": "a.B"}, "backbone": None},
        "identity": {"backbone": None},
        "run": "0123456789ab",
        "experiment": "e",
        "seed": 0,
        "dataset": {"name": "d", "sha256": "0"},
        "prompts": {},
    }
    problems = WandbTracker().log(tmp_path, manifest, rows, {"n": 200, "failed": 0, "usage": {}, **empty})
    assert problems == []
    table = fake.runs[0].logged[0]["questions"]
    assert len(table.data) == QUESTIONS
    assert fake.bytes < 3 * len(json.dumps(table.data))
