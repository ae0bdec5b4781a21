"""A key reaches the server and nothing else: no file of a run, of Hydra or of W&B, nor what is printed."""

import json
from pathlib import Path

import pytest

from tests.experiments.harness import run_command
from tests.experiments.test_configs_answer import ANYTHING
from tests.fake_openai import FakeOpenAI

CANARY = "sk-canary-5f1e0c"
MODEL = ("backbone=gpt-4.1-mini", "backbone.api_key_env=MY_KEY", "method=trimem", "embedder=hash")
SMALL = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=2", "workers=1", "max_failed=0.5")


@pytest.mark.parametrize("ends", ["well", "badly"])
def test_no_file_that_a_run_writes_holds_the_key(tmp_path: Path, ends: str) -> None:
    told = {"status": 500 if ends == "well" else 401, "json": {"error": {"message": f"the key {CANARY} is not liked"}}}
    # each call is tried five times: the first window fails for good, or the run ends there
    steps = [{**told, "headers": {"retry-after-ms": "1"}}] * 5 + [{"content": json.dumps(ANYTHING)}]
    with FakeOpenAI(steps) as server:
        done = run_command(tmp_path, *SMALL, *MODEL, f"backbone.endpoint={server.url}", "tracker=wandb", MY_KEY=CANARY)
    assert server.keys[0] == f"Bearer {CANARY}"
    assert done.returncode == (0 if ends == "well" else 2), done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    names = {path.suffix for path in files} | {path.name for path in files}
    assert {"status.json", "run.log", "manifest.json", "usage.json", "llm.sqlite"} <= names
    assert (".wandb" in names) == (ends == "well")
    assert [str(path) for path in files if CANARY.encode() in path.read_bytes()] == []
    assert CANARY not in done.stdout + done.stderr
    assert "***" in done.stderr or ends == "well"


def test_a_key_in_place_of_its_variable_s_name_is_refused_without_being_shown(tmp_path: Path) -> None:
    done = run_command(tmp_path, *SMALL, "backbone=gpt-4.1-mini", "method=trimem", f"backbone.api_key_env={CANARY}")
    assert done.returncode == 2
    assert "name of an environment variable" in done.stderr and CANARY not in done.stderr
