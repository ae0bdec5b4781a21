"""A run records the prompts of every part, the code, and how often a test split was read."""

from functools import partial
from pathlib import Path
from typing import Any

from experiments.manifest import code_version, look, prompts_of, versions
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
