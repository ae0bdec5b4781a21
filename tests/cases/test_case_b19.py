"""Case b19: a model cites turns that it was not shown."""

import json
from pathlib import Path
from typing import Any

from tests.fakes import (
    CountingProfiler,
    FirstReasoner,
    FunctionLLM,
    LetterEmbedder,
    PlainPlanner,
    conversation,
    dialogue,
)
from trimem import TriMem
from trimem.extraction import LLMExtractor

REPLY = {"facts": [{"statement": "A", "sources": ["D1:1", "D1:99"]}, {"statement": "B", "sources": "12"}]}


def test_both_facts_are_kept_with_the_sources_that_exist() -> None:
    extraction = LLMExtractor(FunctionLLM(lambda _: json.dumps(REPLY))).extract(dialogue(3))
    assert [(fact.statement, fact.sources) for fact in extraction.facts] == [("A", ("D1:1",)), ("B", ())]


def test_the_fact_without_a_source_is_counted(tmp_path: Path) -> None:
    parts: dict[str, Any] = {"profiler": CountingProfiler(), "planner": PlainPlanner(), "reasoner": FirstReasoner()}
    llm = FunctionLLM(lambda _: json.dumps(REPLY))
    with TriMem(tmp_path, extractor=LLMExtractor(llm), embedder=LetterEmbedder(), **parts) as memory:
        report = memory.build(conversation(dialogue(3)))
    assert (report.facts, report.facts_without_source) == (2, 1)
