"""The store against a plain model of it, step by step: turns, windows, profiles, reopening, kills in mid-write."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from trimem.database import Database
from trimem.embedding import HashEmbedder
from trimem.errors import BadInput
from trimem.store import Store
from trimem.types import Extraction, Fact, Profile, Turn

EMBEDDER = HashEmbedder(16)
WORDS = ("snow", "kayak", "walnut", "Bergen", "cello")
SPEAKERS = ("Nadia", "Omar")
TABLES = ("turns", "windows", "facts", "fact_text", "fact_vectors", "signals", "turn_text", "profiles")
WINDOW = 2
words, places = st.sampled_from(WORDS), st.integers(0, 4)
Gives = Callable[[list[str]], tuple[Fact, ...]]


class Killed(Exception):
    """The process ended here, as far as the store can tell."""


class StoreMachine(RuleBasedStateMachine):
    """What was written and not undone is there, in every view; what was not, in none."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = Store(self.folder, EMBEDDER.fingerprint)
        self.turns: list[Turn] = []
        self.windows: dict[int, tuple[Fact, ...]] = {}
        self.profiles: dict[str, Profile] = {}

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    # Writes

    @rule(speaker=st.sampled_from(SPEAKERS), said=st.lists(words, min_size=1, max_size=3))
    def add_turn(self, speaker: str, said: list[str]) -> None:
        turn = Turn(f"D1:{len(self.turns)}", speaker, " ".join(said), session="1")
        assert self.store.add_turns([turn, turn]) == 1
        self.turns.append(turn)

    @rule()
    def add_known_turns(self) -> None:
        assert self.store.add_turns(self.turns) == 0

    @rule(said=words)
    def add_other_content_under_a_known_id(self, said: str) -> None:
        if self.turns:
            other = Turn(self.turns[0].id, "Zoe", f"{said} and more")
            with pytest.raises(BadInput, match="already stored"):
                self.store.add_turns([Turn("D9:9", "Zoe", "new"), other])

    @rule(at=places, said=st.lists(words, max_size=3, unique=True))
    def put_window(self, at: int, said: list[str]) -> None:
        if start := self.start(at):
            self.store.put_window(
                start[0], start[1], Extraction(start[2](said)), EMBEDDER.encode(said or [""])[: len(said)]
            )
            self.windows[start[0]] = start[2](said)

    @rule(person=st.sampled_from(SPEAKERS), text=words)
    def put_profile(self, person: str, text: str) -> None:
        profile = Profile(person, {"interests": text}, tuple(fact.id for fact in self.facts[:1]))
        self.store.put_profiles([profile])
        self.profiles[person] = profile

    # What ends a process

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store(self.folder, EMBEDDER.fingerprint)

    @rule(at=places, said=st.lists(words, min_size=1, max_size=3, unique=True), table=st.sampled_from(TABLES))
    def die_while_putting_a_window(self, at: int, said: list[str], table: str) -> None:
        if start := self.start(at):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Database, "insert", dying(table))
                try:
                    self.store.put_window(start[0], start[1], Extraction(start[2](said)), EMBEDDER.encode(said))
                except Killed:
                    pass
                else:
                    self.windows[start[0]] = start[2](said)
            self.reopen()

    @rule(said=words)
    def another_process_writes(self, said: str) -> None:
        """Its commits are seen by the one that is open."""
        turn = Turn(f"D1:{len(self.turns)}", "Omar", said, session="1")
        with Store(self.folder, EMBEDDER.fingerprint) as other:
            other.add_turns([turn])
        self.turns.append(turn)

    # What must hold

    @property
    def facts(self) -> list[Fact]:
        return list(dict.fromkeys(fact for facts in self.windows.values() for fact in facts))

    def start(self, at: int) -> tuple[int, int, Gives] | None:
        """A window of turns that exist, and what it would give."""
        if not self.turns:
            return None
        begin = min(at * WINDOW, len(self.turns) - 1)
        source = self.turns[begin]

        def facts(said: list[str]) -> tuple[Fact, ...]:
            return tuple(Fact(f"It was {word}", persons=(source.speaker,), sources=(source.id,)) for word in said)

        return begin, min(begin + WINDOW, len(self.turns)), facts

    @invariant()
    def what_is_stored_is_what_was_written(self) -> None:
        if not hasattr(self, "store"):
            return
        assert list(self.store.turns()) == self.turns
        assert self.store.turn_count() == len(self.turns)
        assert {fact.id for fact in self.store.facts()} == {fact.id for fact in self.facts}
        assert [window.start for window in self.store.windows()] == sorted(self.windows)
        assert {profile.person: profile for profile in self.store.profiles()} == self.profiles
        assert set(self.store.facts_by_id([fact.id for fact in self.facts] + ["none"])) == set(self.facts)

    @invariant()
    def every_view_finds_it_and_nothing_else(self) -> None:
        if not hasattr(self, "store"):
            return
        ids = {fact.id for fact in self.facts}
        for word in WORDS:
            found = {id_ for id_, _ in self.store.search_text("fact", word, 99)}
            assert found == {fact.id for fact in self.facts if word in fact.statement}
        (dense,) = self.store.search_dense("fact", EMBEDDER.encode(["It was snow"]), 99)
        assert {id_ for id_, _ in dense} == ids and len(dense) == len(ids)
        counts = Counter(name for fact in self.facts for name in fact.persons)
        assert self.store.persons() == dict(counts)
        assert self.store.speakers() == tuple(dict.fromkeys(turn.speaker for turn in self.turns))
        for name in SPEAKERS:
            assert set(self.store.facts_of(name)) == {fact for fact in self.facts if fact.persons == (name,)}
            met = {id_ for id_, _ in self.store.search_symbolic([name], [], None, None, 99)}
            assert met == {fact.id for fact in self.facts if fact.persons == (name,)}
        assert {id_ for id_, _ in self.store.search_text("turn", "snow", 99)} <= {turn.id for turn in self.turns}


def dying(table: str) -> Callable[..., None]:
    """In place of `Database.insert`: one that goes no further than this table."""
    insert = Database.insert

    def insert_and_die(self: Database, into: str, *rest: object) -> None:
        insert(self, into, *rest)  # type: ignore[arg-type]
        if into.split("(")[0] == table:
            raise Killed

    return insert_and_die


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
