"""k09: killed after window 2 of 4, a build goes on: each fact once, no window sent twice, the same profiles."""

import json
from pathlib import Path

import pytest

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
from trimem.llm.base import Request

TALK = conversation(dialogue(34))
"""Windows of 10 that share 2: they begin at turns 0, 8, 16 and 24."""


class Killed(BaseException):
    """Not an Exception, as a signal is not: nothing on the way may catch it."""


class Numbering(FunctionLLM):
    """One numbered fact a window; dies when it is asked for window `dies_at`."""

    concurrency = 1

    def __init__(self, dies_at: int | None = None) -> None:
        super().__init__(self.fact)
        self.dies_at = dies_at

    def fact(self, request: Request) -> str:
        turns = request.fields["turns"]
        number = [turn.id for turn in TALK.turns].index(turns[0]["id"]) // 8 + 1
        if number == self.dies_at:
            raise Killed
        fact = {"statement": f"Ines counted, part {number}.", "persons": ["Ines"], "sources": [turns[0]["id"]]}
        return json.dumps({"facts": [fact]})


def memory(folder: Path, llm: FunctionLLM) -> TriMem:
    return TriMem(
        folder,
        extractor=LLMExtractor(llm, window=10, overlap=2),
        profiler=CountingProfiler(),
        planner=PlainPlanner(),
        reasoner=FirstReasoner(),
        embedder=LetterEmbedder(),
    )


def contents(folder: Path, name: str) -> str:
    with memory(folder, Numbering()) as opened:
        opened.export(folder / name)
    return (folder / name).read_text()


def test_the_resumed_build_is_the_uninterrupted_one(tmp_path: Path) -> None:
    with memory(tmp_path / "whole", Numbering()) as whole:
        whole.build(TALK)
    with memory(tmp_path / "killed", Numbering(dies_at=3)) as killed, pytest.raises(Killed):
        killed.build(TALK)
    rest = Numbering()
    with memory(tmp_path / "killed", rest) as resumed:
        report = resumed.build(TALK)
        statements = [fact.statement for fact in resumed.store.facts()]
    assert statements == [f"Ines counted, part {number}." for number in (1, 2, 3, 4)]
    assert [request.fields["turns"][0]["id"] for request in rest.asked] == [TALK.turns[16].id, TALK.turns[24].id]
    assert (report.windows, report.facts, report.profiles) == (4, 4, 1)
    assert contents(tmp_path / "killed", "e.jsonl") == contents(tmp_path / "whole", "e.jsonl")
