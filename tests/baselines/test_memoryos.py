"""MemoryOS: a conversation of twelve turns worked out by hand: queue, segments, heat, promotion; and what it owes."""

from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

import pytest

from baselines.base import FOLDER
from baselines.journal import Journal
from baselines.memoryos import MemoryOS
from baselines.memoryos.pages import Page, pair
from baselines.memoryos.segments import Heat, Segment, Segments, jaccard
from tests.baselines.conformance import CHECKS, CONVERSATION, contexts_are_ranked_and_counted
from tests.baselines.scripted import Scripted, TableEmbedder, Wrapped, dialogue
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.llm.base import Request
from trimem.llm.simulated import Simulated
from trimem.reasoning import LLMReasoner
from trimem.types import Question

LINES = (
    "Edda: I bought a kiln.",
    "Ruben: Nice.",
    "Edda: The kiln stands by the loom.",
    "Ruben: Careful.",
    "Edda: I tried a canoe.",
    "Ruben: Cold?",  # the first session ends here, 7 January
    "Edda: The kiln works.",
    "Ruben: Well done.",
    "Edda: The loom squeaks.",
    "Ruben: Oil it.",
    "Edda: I read an atlas.",
    "Ruben: All of it?",  # 14 January
)
FIRST, SECOND = "2019-01-07T18:30:00", "2019-01-14T18:30:00"
TABLE = {"kiln": (1, 0, 0, 0, 0), "loom": (0, 1, 0, 0, 0), "canoe": (0, 0, 1, 0, 0), "atlas": (0, 0, 0, 1, 0)}
TOPICS = {"T1": ["kiln"], "T3": ["kiln", "loom"], "T5": ["canoe"], "T7": ["kiln"]}


def topics(request: Request, subjects: dict[str, list[str]] = TOPICS) -> Any:
    """A topic for each word that the script names for the first turn of the page."""
    words = subjects[request.fields["turns"][0]["id"]]
    return {"topics": [{"theme": word, "content": f"They talk of the {word}.", "keywords": [word]} for word in words]}


def scripts(**changes: Any) -> dict[str, Any]:
    steps: dict[str, Any] = {
        "continuity": lambda request: {"continuous": request.fields["turns"][0]["id"] == "T3"},
        "meta": lambda request: {"summary": f"Talk up to {request.fields['turns'][-1]['id']}."},
        "topics": topics,
        "profile": lambda request: {"profile": f"Edda, from {len(request.fields['turns'])} turns."},
        "knowledge": {
            "user": [{"text": "Edda has a kiln.", "sources": ["T1", "[T7]", "T99"]}, {"text": "Edda likes heat."}],
            "agent": [{"text": "Ruben praises the kiln.", "sources": ["T8"]}],
        },
        "query": {"keywords": ["kiln"]},
    }
    return {f"baseline:memoryos:{step}": script for step, script in (steps | changes).items()} | {
        "answer": {"answer": "a kiln"}
    }


def make(directory: Path, llm: Any, **settings: Any) -> MemoryOS:
    return MemoryOS(directory, llm, HashEmbedder(), LLMReasoner(llm), **settings)


def scripted(directory: Path, llm: Any, **settings: Any) -> MemoryOS:
    """With a queue of two pages and promotion at heat 4, so that twelve turns go all the way."""
    return MemoryOS(directory, llm, TableEmbedder(TABLE), LLMReasoner(llm), **{"short_term": 2, "hot": 4.0} | settings)


def segments(memory: MemoryOS) -> dict[str, tuple[str, tuple[str, ...], int]]:
    return {id: (s.keywords[0], s.pages, s.interactions) for id, s in memory.segments.all().items()}


@pytest.mark.parametrize(
    "check", [c for c in CHECKS if c is not contexts_are_ranked_and_counted], ids=lambda check: check.__name__
)
def test_memoryos_owes(check: Callable[..., None], tmp_path: Path) -> None:
    check(make, tmp_path)


def test_pages_move_through_queue_and_segments_into_the_profile(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    memory = scripted(tmp_path, llm)
    report = memory.build(dialogue(*LINES))
    assert memory.journal.get("queue") == ["page5", "page6"]
    # page 2 has two topics; the kiln's third page brings its heat to 3 + 1, so it was promoted and starts again
    assert segments(memory) == {
        "segment1": ("kiln", ("page1", "page2", "page4"), 0),
        "segment2": ("loom", ("page2",), 1),
        "segment3": ("canoe", ("page3",), 1),
    }
    pages = memory.pages.all()
    assert [id for id, page in pages.items() if page.analysed] == ["page1", "page2", "page4"]
    assert memory.journal.get("profile") == {
        "text": "Edda, from 6 turns.",
        "sources": ["T1", "T2", "T3", "T4", "T7", "T8"],
    }
    assert list(memory.journal.records("knowledge of user").values()) == [
        {"text": "Edda has a kiln.", "sources": ["T1", "T7"]},
        {"text": "Edda likes heat.", "sources": []},
    ]
    assert (report.turns, report.windows, report.failed_windows) == (12, 6, 0)
    assert (report.facts, report.facts_without_source, report.profiles, report.failed_profiles) == (3, 1, 1, 0)
    # four pages moved: the first has none before it
    assert llm.calls() == {"continuity": 3, "meta": 4, "topics": 4, "profile": 1, "knowledge": 1}


def test_a_chain_shares_the_summary_of_its_last_page(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()))
    memory.build(dialogue(*LINES))
    pages = memory.pages.all()
    assert [pages[f"page{n}"].meta for n in (1, 2, 3)] == ["Talk up to T4.", "Talk up to T4.", "Talk up to T6."]
    assert (pages["page2"].previous, pages["page3"].previous) == ("page1", None)


def test_heat_counts_visits_pages_and_recency_on_the_conversations_clock() -> None:
    heat = Heat(alpha=1, beta=2, gamma=3, recency=1e7)
    segment = Segment("s", "", (), ("p1",), interactions=4, visits=5, visited=FIRST)
    assert heat.of(segment, SECOND) == pytest.approx(5 + 2 * 4 + 3 * exp(-7 * 24 * 3600 / 1e7))
    assert heat.of(segment, FIRST) == heat.of(segment, None) == 5 + 8 + 3


def test_the_coldest_segment_is_forgotten_with_the_pages_only_it_has(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()), segments=1)
    memory.build(dialogue(*LINES))
    # loom (1 + 1) and canoe (1 + 1) are colder than kiln (2 + 1) as soon as they come
    assert list(segments(memory)) == ["segment1"]
    assert list(memory.pages.all()) == ["page1", "page2", "page4", "page5", "page6"]


def test_of_equally_cold_segments_the_oldest_goes(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()), segments=2)
    memory.build(dialogue(*LINES))
    assert list(segments(memory)) == ["segment1", "segment3"]
    assert "page2" in memory.pages.all()


def test_a_page_joins_by_cosine_plus_jaccard_or_begins_a_segment(tmp_path: Path) -> None:
    vectors = TableEmbedder(TABLE).encode(["kiln", "kiln loom"])
    assert jaccard(("Kiln", "fire"), ("kiln", "clay")) == pytest.approx(1 / 3)
    for threshold, expected in ((1.04, {"segment1": ("p1", "p2")}), (1.05, {"segment1": ("p1",), "segment2": ("p2",)})):
        store = Segments(Journal(tmp_path / str(threshold)), Heat(1, 1, 1, 1e7), threshold, capacity=9)
        with store.journal.step():
            store.add(Page("p1", "", FIRST, ()), "kiln", ("kiln", "fire"), vectors[0], FIRST)
            store.add(Page("p2", "", FIRST, ()), "kiln loom", ("kiln", "clay"), vectors[1], FIRST)
        assert {id: segment.pages for id, segment in store.all().items()} == expected  # F = .7071 + .3333


def test_a_promoted_segment_is_promoted_again_only_when_hot_again(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    scripted(tmp_path, llm, hot=3.0).build(dialogue(*LINES))
    # promoted at two pages (2 + 1); page 4 alone gives 1 + 1
    assert llm.calls()["profile"] == 1


def test_retrieval_reads_queue_profile_knowledge_and_the_best_pages(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()), top_segments=2, top_pages=2)
    memory.build(dialogue(*LINES))
    context = memory.retrieve(Question("q", "What about the kiln?"))
    assert [(item.kind, item.id, item.rank) for item in context.items] == [
        ("profile", "Edda", 0),
        ("page", "page5", 0),
        ("page", "page6", 0),
        ("page", "page1", 1),
        ("page", "page4", 2),
        ("fact", "line1", 3),
        ("fact", "line2", 4),
        ("fact", "line3", 5),
    ]
    assert (
        context.items[3].text
        == "[2019-01-07] Edda: I bought a kiln.\n[2019-01-07] Ruben: Nice.\n(part of: Talk up to T4.)"
    )
    assert context.items[3].sources == ("T1", "T2")
    assert context.tokens["total"] == context.tokens["profiles"] + context.tokens["pages"] + context.tokens["facts"]


def test_questions_leave_no_trace_unless_visits_count(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    for count in (False, True):
        memory = scripted(tmp_path / str(count), llm, count_visits=count, top_segments=1)
        memory.build(dialogue(*LINES))
        memory.export(tmp_path / "before.jsonl")
        for n in range(2):
            memory.answer(Question(f"q{n}", "What about the kiln?"))
        memory.export(tmp_path / "after.jsonl")
        assert ((tmp_path / "before.jsonl").read_text() == (tmp_path / "after.jsonl").read_text()) is not count
    kiln = memory.segments.all()["segment1"]
    assert (kiln.visits, kiln.visited) == (2, SECOND)


def test_knowledge_is_first_in_first_out(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts()), knowledge=1)
    memory.build(dialogue(*LINES))
    assert [line["text"] for line in memory.journal.records("knowledge of user").values()] == ["Edda likes heat."]


def test_a_page_without_readable_topics_is_filed_under_its_chain(tmp_path: Path) -> None:
    memory = scripted(tmp_path, Scripted(scripts(topics="no idea", profile="none", knowledge="none")), hot=2.0)
    report = memory.build(dialogue(*LINES))
    assert report.failed_windows == 4
    assert report.failed_profiles > 0
    assert {page for segment in memory.segments.all().values() for page in segment.pages} == {
        "page1",
        "page2",
        "page3",
        "page4",
    }
    assert memory.segments.all()["segment1"].summary == "Talk up to T2."


def test_turns_are_paired_without_losing_any() -> None:
    talk = dialogue("B: 1", "A: 2", "A: 3", "B: 4", "B: 5", "A: 6", "B: 7", per_session=6)
    exchanges = [[turn.id for turn in exchange] for exchange in pair(talk.turns, "A")]
    assert exchanges == [["T1"], ["T2", "T3", "T4", "T5"], ["T6"], ["T7"]]


def test_calls_are_about_three_a_page(tmp_path: Path) -> None:
    llm = Wrapped(Simulated())
    report = make(tmp_path, llm, hot=1e9).build(CONVERSATION)
    assert report.windows == 12
    assert len(llm.requests) == 3 * (12 - 7) - 1  # seven pages still wait in the queue


def test_a_queue_without_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="at least 1 page"):
        make(tmp_path, Simulated(), short_term=0)


def test_ranks_and_sources_of_a_simulated_build(tmp_path: Path) -> None:
    memory = make(tmp_path, Simulated(), short_term=1)
    memory.build(CONVERSATION)
    context = memory.retrieve(Question("q", "Where did the canoe of Ruben come from?"))
    ranks = [item.rank for item in context.items if item.rank]
    assert ranks == list(range(1, len(ranks) + 1)) != []
    assert all(item.sources for item in context.items if item.kind == "page")


def test_the_native_answer_prompt_reads_the_same_context(tmp_path: Path) -> None:
    llm = Scripted(scripts())
    reasoner = LLMReasoner(llm, str(FOLDER / "memoryos_answer.md"))
    memory = MemoryOS(tmp_path, llm, TableEmbedder(TABLE), reasoner, short_term=2, hot=4.0)
    memory.build(dialogue(*LINES))
    assert memory.answer(Question("q", "What did Edda buy?")).text == "a kiln"
    assert "[2019-01-07] Edda: I bought a kiln." in llm.requests[-1].messages[1].content


def test_a_page_whose_first_topic_is_forgotten_at_once_stays_for_the_second(tmp_path: Path) -> None:
    subjects = TOPICS | {"T7": ["atlas", "kiln"]}  # page 4 opens a cold segment, and joins the hot one
    memory = scripted(
        tmp_path, Scripted(scripts(topics=lambda request: topics(request, subjects))), segments=1, hot=9.0
    )
    memory.build(dialogue(*LINES))
    assert segments(memory) == {"segment1": ("kiln", ("page1", "page2", "page4"), 3)}
    assert set(memory.pages.all()) == {"page1", "page2", "page4", "page5", "page6"}
    assert "page4" in [item.id for item in memory.retrieve(Question("q", "the kiln")).items]
