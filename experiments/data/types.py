"""A data set in two objects: what a method may be handed (`Dataset`), and what only scorers hold (`GoldBook`)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from trimem.errors import BadInput
from trimem.types import Conversation, Question

T = TypeVar("T", str, int)

ABSTAIN = "Not mentioned in the conversation"
"""Gold of a question that the conversation does not answer."""

Rule = Literal["parts", "before_semicolon", "abstain", "plain"]
"""How the official LoCoMo score reads the gold of a category; `plain` where nothing is said."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The right answer, the ids of the turns that show it (only ids that exist), and the category id."""

    answer: str
    evidence: tuple[str, ...]
    category: int


GoldBook = Mapping[str, Gold]
"""Question id -> gold. Never part of a `Dataset`, so nothing handed to a method can hold a gold."""


@dataclass(frozen=True)
class Dataset:
    """Conversations with their questions. `sha256` is of the file as read; `verified`: it is the pinned one.

    `categories` maps an id to its name, `headline` lists the ids that the headline averages, `rules` says how
    the official score treats a category, `splits` maps a name to conversation ids.
    """

    name: str
    sha256: str
    verified: bool
    conversations: tuple[Conversation, ...]
    questions: Mapping[str, tuple[Question, ...]]
    categories: Mapping[int, str]
    headline: tuple[int, ...]
    licence: str
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rules: Mapping[int, Rule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """BadInput for an id that is empty or comes twice: it names a conversation's memory."""
        ids = [conversation.id for conversation in self.conversations]
        if not all(id.strip() for id in ids):
            raise BadInput(f"{self.name}: a conversation has an empty id; give each its own, its memory is named by it")
        twice = sorted({id for id in ids if ids.count(id) > 1})
        if twice:
            raise BadInput(f"{self.name}: two conversations are called {', '.join(twice)}")

    @property
    def question_ids(self) -> tuple[str, ...]:
        """Every question's id, in the order of the data set."""
        return tuple(question.id for conversation in self.conversations for question in self.questions[conversation.id])

    def select(
        self,
        golds: GoldBook,
        split: str = "all",
        conversations: Sequence[str] | None = None,
        categories: Sequence[int] | None = None,
        limit: int | None = None,
    ) -> "Dataset":
        """The part of the data set to run on. Conversations stay whole; only questions are left out.

        `limit` keeps the first N questions (of the categories asked for) of each conversation. `golds` tells the
        categories. Raises BadInput, listing what is valid, for an unknown split, conversation or category.
        """
        ids = self._chosen(split, conversations)
        wanted = _known("category", categories, self.categories)
        if limit is not None and limit < 1:
            raise BadInput(f"dataset.limit={limit}: give the number of questions a conversation, 1 or more, or null")
        questions = {
            id: tuple(question for question in self.questions[id] if golds[question.id].category in wanted)[:limit]
            for id in ids
        }
        if not ids:
            raise BadInput(f"{self.name}: no conversation is left; check the file, or dataset.conversations and split")
        if not any(questions.values()):
            raise BadInput(f"{self.name}: no question is left in {', '.join(ids)} for categories {sorted(wanted)}")
        kept = tuple(conversation for conversation in self.conversations if conversation.id in ids)
        return replace(self, conversations=kept, questions=questions)

    def _chosen(self, split: str, conversations: Sequence[str] | None) -> tuple[str, ...]:
        every = tuple(conversation.id for conversation in self.conversations)
        splits = {"all": every, **self.splits}
        (split,) = _known("split", [split], splits)
        chosen = _known("conversation", conversations, every)
        outside = sorted(chosen - set(splits[split])) if conversations is not None else []
        if outside:
            raise BadInput(
                f"{self.name}: {', '.join(outside)} not in split {split} ({', '.join(splits[split])}); "
                "set dataset.split=all"
            )
        return tuple(id for id in every if id in chosen and id in splits[split])


def _known(what: str, asked: Collection[T] | None, valid: Collection[T]) -> set[T]:
    """`asked` as a set, or all that is valid if nothing was asked for."""
    unknown = [str(name) for name in asked or () if name not in valid]
    if unknown:
        raise BadInput(f"unknown {what} {', '.join(unknown)}; valid: {', '.join(map(str, valid))}")
    return set(valid if asked is None else asked)
