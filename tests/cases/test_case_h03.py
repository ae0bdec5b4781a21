"""h03: keys in the environment stand in nothing that a run writes, binary W&B files included."""

import json
from pathlib import Path

import pytest

from experiments.runner import run
from tests.experiments.harness import MINI, config_of
from tests.fake_openai import FakeOpenAI

KEYS = {"OPENAI_API_KEY": "sk-test-CANARY-123", "HF_TOKEN": "hf_CANARY-456", "WANDB_API_KEY": "CANARY" + 34 * "0"}


def test_no_file_holds_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    facts = {"facts": [], "queries": ["which?"], "sections": [], "reasoning": "", "answer": "a cat"}
    with FakeOpenAI([{"content": json.dumps(facts)}]) as server:
        config = config_of(
            "backbone=gpt-4.1-mini",
            f"backbone.endpoint={server.url}",
            "dataset=locomo",
            f"dataset.path={MINI}",
            "dataset.verify=false",
            "dataset.limit=2",
            "embedder=hash",
        )
        run(config, tmp_path)
        assert server.keys
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.suffix == ".wandb" for path in written)
    assert any(path.name == "llm.sqlite" for path in written)
    assert [path for path in written if b"CANARY" in path.read_bytes()] == []
