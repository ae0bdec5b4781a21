"""The benches measure what they say, on little work; their times are no test."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.bench import BENCHES, Order, chosen, measure, table
from experiments.benches.figures import Figure, tail
from experiments.benches.invented import Invented
from tests.experiments.harness import ROOT, clean_environment, composing
from trimem.errors import BadInput

LITTLE = {
    "sizes": [80, 160],
    "repeats": 1,
    "questions": 30,
    "latency": 0.005,
    "width": 8,
    "top_k": [5, 10],
    "runs": 3,
}


def measured(what: str, *overrides: str) -> dict[str, Any]:
    """The figures of one bench on little work, by name."""
    with composing():
        result = measure(Order({**LITTLE, "what": what}, overrides, ROOT))
    assert table(result).row_count == len(result["figures"])
    return {figure["name"]: figure["value"] for figure in result["figures"]}


def test_retrieval_agrees_with_exact_search() -> None:
    found = measured("retrieve")
    assert found["recall@25 of exact search, 80 facts"] == found["recall@25 of exact search, 160 facts"] == 1.0
    assert 0 < found["p50, 160 facts"] <= found["p99, 160 facts"]


def test_ingest_compares_a_session_in_a_large_store_with_one_in_a_small_store() -> None:
    found = measured("ingest")
    large, small = found["one more session, 160 facts"], found["one more session, 80 facts"]
    assert found["one more session, 160 to 80 facts"] == pytest.approx(large / small)


def test_a_build_over_the_wire_takes_no_less_than_its_critical_path() -> None:
    found = measured("build", "dataset.limit=4", "dataset.split=train", "embedder=hash")
    assert found["wall / critical path, build and answer"] >= 1.0
    assert found["wall / critical path, answer"] >= 1.0


def test_calls_a_question_are_those_of_each_way() -> None:
    found = measured("answer", "dataset.limit=3", "dataset.split=train", "embedder=hash")
    assert found["calls a question, preset=default"] == 2
    assert found["calls a question, preset=default method.use_planning=false"] == 1
    assert found["calls a question, preset=paper"] == 3
    curve = [found[f"context_recall, {budget} tokens of context"] for budget in (600, 4800)]
    assert 0 <= curve[0] <= curve[1] <= 1


def test_the_client_is_held_to_the_width_of_the_server() -> None:
    assert measured("llm")["wall / critical path, 320 calls, 8 at once"] >= 1.0


def test_embedding_is_held_against_sentence_transformers_on_the_same_turns() -> None:
    found = measured("embed", "dataset.conversations=[sample-val]")
    (ours,) = (value for name, value in found.items() if name.startswith("ours, "))
    share = found["texts a second / sentence-transformers alone"]
    assert share == pytest.approx(ours / found["sentence-transformers alone"])
    assert found["out of the cache"] > ours


def test_a_report_of_many_runs_takes_time_and_memory() -> None:
    found = measured("report", "backbone=simulated", "dataset.limit=2", "dataset.split=train")
    assert found["3 runs x 2 questions"] > 0 and found["peak memory, 3 runs x 2 questions"] > 1e7
    assert found["written, 3 runs x 2 questions"] > 1e5


def test_a_figure_knows_its_target_from_either_side() -> None:
    assert Figure("b", "n", 3.0, "s", 2.0).met is False
    assert Figure("b", "n", 3.0, "s", 2.0, "least").met is True
    assert Figure("b", "n", 3.0, "s", 2.0).ratio == 1.5
    assert Figure("b", "n", 3.0, "s").met is None
    none_wanted = Figure("b", "n", 0.0, "", 0.0)
    assert none_wanted.met is True and none_wanted.ratio is None


def test_the_tail_is_the_99th_percentile() -> None:
    assert tail([float(n) for n in range(1, 101)]) == 100.0
    assert tail([float(n) for n in range(1, 1001)]) == 991.0


def test_invented_work_is_the_same_every_time() -> None:
    first, second = (list(Invented().windows(90)) for _ in range(2))
    assert [window[:3] for window in first] == [window[:3] for window in second]
    assert sum(len(window[2].facts) for window in first) == 90


def test_an_unknown_bench_is_refused_with_those_that_exist() -> None:
    assert chosen("all") == list(BENCHES)
    with pytest.raises(BadInput, match="choose from llm, build"):
        chosen(["retrieve", "speed"])


def test_the_command_writes_its_figures(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "experiments.bench", "ingest", "bench.sizes=[40,80]", "bench.repeats=1"]
    ended = subprocess.run(command, cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    kept = json.loads((tmp_path / "bench.json").read_text())
    assert [figure["bench"] for figure in kept["figures"]] == ["ingest"] * 6
    assert kept["versions"]["python"] and kept["machine"]["cores"]


@pytest.mark.soak
def test_a_sweep_and_the_start_are_measured_on_whole_commands() -> None:
    found = measured("sweep", "dataset.limit=2") | measured("startup")
    assert found["calls, all cached"] == 0
    assert found["heavy modules that it loads"] == 0
