"""A run records the prompts of every part, the code, and how often a test split was read."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from experiments.manifest import code_version, look, prompts_of, versions
from experiments.runner import run
from tests.experiments.harness import config_of, read
from tests.experiments.test_configs_answer import ANYTHING
from tests.fake_openai import FakeOpenAI, completion
from trimem.extraction import LLMExtractor
from trimem.llm.simulated import Simulated
from trimem.planning import LLMPlanner
from trimem.reasoning import LLMReasoner


def test_prompts_are_found_in_all_parts_of_a_method() -> None:
    llm = Simulated()
    method: partial[Any] = partial(
        dict, extractor=LLMExtractor(llm), planner=LLMPlanner(llm, calls=2), reasoner=LLMReasoner(llm)
    )
    assert list(prompts_of(method)) == ["answer", "extract", "keys", "queries"]
    assert list(prompts_of(partial(dict, planner=LLMPlanner(llm)))) == ["plan"]


def test_a_prompt_from_a_file_is_found_with_its_own_hash(tmp_path: Path) -> None:
    shipped = LLMReasoner(Simulated()).prompt
    path = tmp_path / "mine.md"
    path.write_text(f"---\nfields: {' '.join(shipped.fields)}\n---\nBe brief.\n{shipped.text}")
    found = prompts_of(LLMReasoner(Simulated(), prompt=str(path)))
    assert list(found) == ["mine"]
    assert found["mine"].hash != shipped.hash


def test_looks_are_counted_by_data_file_and_once_a_run(tmp_path: Path) -> None:
    assert [look(tmp_path, "a" * 64, run) for run in ("1", "2", "1")] == [1, 2, 2]
    assert look(tmp_path, "b" * 64, "1") == 1


def test_code_and_packages_are_named() -> None:
    assert set(code_version()) == {"commit", "dirty"}
    assert versions()["hydra-core"].startswith("1.")


def test_what_was_asked_what_was_sent_and_who_served_are_told_apart(tmp_path: Path) -> None:
    body = completion(json.dumps(ANYTHING), model="gpt-5-nano-2025-08-07") | {"system_fingerprint": "fp_1"}
    given = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=1", "tracker=none")
    with FakeOpenAI([{"json": body}]) as server:
        model = (
            "retriever.units=[fact,turn]",
            "backbone=gpt-5-nano",
            f"backbone.endpoint={server.url}",
            "tracker=none",
        )
        told = read(run(config_of(*given, *model), tmp_path), "manifest.json")["model"]
    assert (told["asked"]["model"], told["asked"]["url"]) == ("gpt-5-nano", server.url)
    sent = told["sent"]["answer"]
    assert (sent["max_completion_tokens"], sent["reasoning_effort"]) == (512, "minimal")
    assert "temperature" not in sent and "messages" not in sent
    assert told["notes"]["temperature=0"] == "temperature=0 is not sent: gpt-5-nano does not take it"
    assert told["served"] == {"gpt-5-nano-2025-08-07": ["fp_1"]}
