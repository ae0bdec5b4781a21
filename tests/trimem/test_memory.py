"""The composition: windows over the stream, profiles that keep up, answers that carry their evidence."""

import json
import os
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes import (
    CountingProfiler,
    FirstReasoner,
    LetterEmbedder,
    PlainPlanner,
    WindowExtractor,
    conversation,
    dialogue,
)
from trimem import BadInput, Memory, Question, TriMem, Turn
from trimem.memory import windows
from trimem.retrieval import HybridRetriever

LOCOMO_TURNS = {26: 419, 30: 369, 41: 663, 42: 629, 43: 680, 44: 675, 47: 689, 48: 681, 49: 509, 50: 568}


def memory(directory: Path, extractor: WindowExtractor | None = None, **settings: Any) -> TriMem:
    embedder = LetterEmbedder()
    return TriMem(
        directory,
        embedder=embedder,
        extractor=extractor or WindowExtractor(),
        profiler=CountingProfiler(),
        planner=PlainPlanner(),
        retriever=HybridRetriever(embedder, top_k=5),
        reasoner=FirstReasoner(),
        **settings,
    )


def exported(memory: TriMem, to: Path) -> list[str]:
    memory.export(to)
    return to.read_text(encoding="utf-8").splitlines()


def test_locomo_has_158_windows_of_40_turns_that_share_2() -> None:
    counts = [len(windows(turns, 40, 2)) for turns in LOCOMO_TURNS.values()]
    assert counts == [11, 10, 18, 17, 18, 18, 19, 18, 14, 15]
    assert sum(counts) == 158


@given(turns=st.integers(0, 400), size=st.integers(1, 50), overlap=st.integers(0, 49))
def test_windows_cover_every_turn_and_none_is_only_overlap(turns: int, size: int, overlap: int) -> None:
    if overlap >= size:
        with pytest.raises(BadInput, match="overlap"):
            windows(turns, size, overlap)
        return
    found = windows(turns, size, overlap)
    assert {position for start, stop in found for position in range(start, stop)} == set(range(turns))
    assert all(stop - start > overlap for start, stop in found[1:])
    assert all(stop - start == size for start, stop in found[:-1])


@settings(max_examples=25, deadline=None)
@given(n=st.integers(0, 60), cuts=st.lists(st.integers(0, 60), max_size=5), flushes=st.integers(0, 63))
def test_any_split_into_calls_gives_the_same_turns_and_facts(n: int, cuts: Sequence[int], flushes: int) -> None:
    turns = dialogue(n)
    with tempfile.TemporaryDirectory() as folder:
        with memory(Path(folder) / "whole", use_profiles=False) as whole:
            whole.add(turns)
            whole.flush()
            expected = exported(whole, Path(folder) / "whole.jsonl")
        with memory(Path(folder) / "split", use_profiles=False) as split:
            edges = [0, *sorted(min(cut, n) for cut in cuts), n]
            for i, (start, stop) in enumerate(pairwise(edges)):
                split.add(turns[start:stop])
                if flushes >> i & 1:
                    split.flush()
            split.flush()
            assert exported(split, Path(folder) / "split.jsonl") == expected


def test_a_full_window_is_extracted_once_and_the_tail_replaced_when_it_fills(tmp_path: Path) -> None:
    extractor = WindowExtractor(10, 2)
    turns = dialogue(24)
    with memory(tmp_path, extractor) as held:
        held.add(turns[:12])  # windows 0-10 and the overlap, which is no window of its own
        held.flush()
        held.add(turns[12:15])
        held.flush()  # tail 8-15
        held.add(turns[15:])  # fills 8-18
        held.flush()  # tail 16-24
        assert [(len(ids), ids[0]) for ids in extractor.seen] == [
            (10, turns[0].id),
            (7, turns[8].id),
            (10, turns[8].id),
            (8, turns[16].id),
        ]
        assert [fact for fact in held.store.facts() if f"{turns[8].id} to {turns[14].id})" in fact.statement] == []


def test_opening_again_goes_on_where_it_was(tmp_path: Path) -> None:
    turns = dialogue(40)
    with memory(tmp_path / "a") as first:
        first.build(conversation(turns[:25]))
    again = WindowExtractor()
    with memory(tmp_path / "a", again) as held:
        held.build(conversation(turns))
        report = held.report()
    with memory(tmp_path / "b") as whole:
        assert whole.build(conversation(turns)).facts == report.facts
    assert all(ids[0] not in {turns[0].id, turns[8].id} for ids in again.seen), "full windows are not sent again"


def test_a_failed_window_is_counted_and_tried_again_by_the_next_build(tmp_path: Path) -> None:
    broken = WindowExtractor(fail=lambda window: window[0].id == "D2:2")
    talk = conversation(dialogue(24))
    with memory(tmp_path, broken) as held:
        report = held.build(talk)
        assert (report.windows, report.failed_windows) == (3, 1)
    mended = WindowExtractor()
    with memory(tmp_path, mended) as held:
        report = held.build(talk)
        assert (report.windows, report.failed_windows) == (3, 0)
    assert [ids[0] for ids in mended.seen] == ["D2:2"]


def test_profiles_take_in_only_what_is_new(tmp_path: Path) -> None:
    turns = dialogue(36)
    with memory(tmp_path, WindowExtractor(10, 0)) as held:
        held.build(conversation(turns[:20]))
        held.build(conversation(turns))
        profile = held.store.profile("Ines")
    assert profile is not None
    assert profile.sections["identity"] == "10+8", "ten facts first, then the eight of the later turns"


def test_a_profile_that_rests_on_replaced_facts_starts_anew(tmp_path: Path) -> None:
    turns = dialogue(20)
    with memory(tmp_path, WindowExtractor(10, 0)) as held:
        held.build(conversation(turns[:14]))
        held.build(conversation(turns))  # the tail's facts changed
        profile = held.store.profile("Ines")
        assert profile is not None
        assert profile.sections["identity"] == "10"
        assert set(profile.fact_ids) == {fact.id for fact in held.store.facts_of("Ines")}


def test_incremental_profiles_are_updated_window_by_window(tmp_path: Path) -> None:
    with memory(tmp_path, WindowExtractor(10, 0), incremental=True) as held:
        held.build(conversation(dialogue(30)))
        profile = held.store.profile("Pavel")
    assert profile is not None
    assert profile.sections["identity"] == "5+5+5"


def test_without_profiles_none_is_made(tmp_path: Path) -> None:
    with memory(tmp_path, use_profiles=False) as held:
        assert held.build(conversation(dialogue(20))).profiles == 0


def test_messages_become_turns_and_the_answer_shows_its_evidence(tmp_path: Path) -> None:
    with memory(tmp_path) as held:
        added = held.add(
            [{"role": "user", "name": "Ines", "content": "I keep bees."}, {"role": "assistant", "content": "Ah!"}]
        )
        assert added == 2
        assert [(turn.id, turn.speaker) for turn in held.store.turns()] == [("m1", "Ines"), ("m2", "assistant")]
        answer = held.ask("Who keeps bees?")
    assert "bees" in answer.text
    assert {source for item in answer.context.items for source in item.sources} == {"m1", "m2"}


@pytest.mark.parametrize(
    "message", [{"role": "user"}, {"role": "user", "content": None}, {"role": "user", "content": " "}]
)
def test_a_message_without_text_is_refused_by_number(tmp_path: Path, message: dict[str, Any]) -> None:
    with memory(tmp_path) as held, pytest.raises(BadInput, match="message 1"):
        held.add([message])


def test_an_empty_memory_answers(tmp_path: Path) -> None:
    with memory(tmp_path) as held:
        assert held.ask("Who keeps bees?").context.items == ()


def test_conversations_that_share_a_name_share_nothing(tmp_path: Path) -> None:
    def turn(text: str) -> Turn:
        return Turn("D1:1", "Pavel", text)

    with memory(tmp_path / "a") as a, memory(tmp_path / "b") as b:
        a.add([turn("I race sailing boats.")])
        b.add([turn("I mend clocks.")])
        shown = json.dumps([item.text for item in b.ask("What does Pavel do?").context.items])
    assert "clocks" in shown
    assert "boats" not in shown


def test_it_is_a_memory(tmp_path: Path) -> None:
    with memory(tmp_path) as held:
        assert isinstance(held, Memory)
        assert held.retrieve(Question("q", "?")).items == ()


@pytest.mark.realdata
@pytest.mark.skipif("TRIMEM_DATA_DIR" not in os.environ, reason="TRIMEM_DATA_DIR is not set")
def test_the_table_of_turn_counts_is_that_of_the_real_file() -> None:
    samples = json.loads((Path(os.environ["TRIMEM_DATA_DIR"]) / "locomo10.json").read_text(encoding="utf-8"))
    lengths = {
        int(sample["sample_id"].removeprefix("conv-")): sum(
            len(value) for value in sample["conversation"].values() if isinstance(value, list)
        )
        for sample in samples
    }
    assert lengths == LOCOMO_TURNS
