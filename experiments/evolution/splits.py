"""What an evolving process may see: whole conversations for training and validation, and no gold of any other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.data.types import Dataset, Gold, GoldBook
from experiments.evolution.settings import Protocol
from trimem.errors import BadInput, TriMemError

LOCOMO_FOLDS = (
    ("conv-41", "conv-43", "conv-47"),
    ("conv-26", "conv-50"),
    ("conv-30", "conv-48"),
    ("conv-42", "conv-49"),
    ("conv-44",),
)
"""For cross-fitting: the three conversations with a John are one fold, so none is trained on another's John."""
IN_SAMPLE = "in-sample"
"""Stamp of scores on questions that prompts were chosen by."""


class SealedGold(TriMemError):
    """The evolving process asked for a gold that is not its to see: a fault in the code, never a user's."""


class Golds(Mapping[str, Gold]):
    """Golds of the conversations in use, and of nothing else. Raises SealedGold for any other question."""

    def __init__(self, golds: GoldBook, ids: Sequence[str]) -> None:
        self._golds = {id: golds[id] for id in ids}

    def __getitem__(self, id: str) -> Gold:
        if id not in self._golds:
            raise SealedGold(f"the gold of {id} is sealed while prompts evolve: it belongs to another split.")
        return self._golds[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._golds)

    def __len__(self) -> int:
        return len(self._golds)


@dataclass(frozen=True)
class Split:
    """Conversation ids by role. `stamp` marks every score that it gives, where it must."""

    name: str
    train: tuple[str, ...]
    val: tuple[str, ...]
    test: tuple[str, ...]
    stamp: str = ""


@dataclass(frozen=True)
class Material:
    """All that evolution is handed: headline questions of train and validation, their conversations and golds."""

    split: Split
    data: Dataset
    golds: Golds

    @property
    def train(self) -> Dataset:
        return only(self.data, self.split.train)

    @property
    def val(self) -> Dataset:
        return only(self.data, self.split.val)


def material(dataset: Dataset, golds: GoldBook, split: Split) -> Material:
    """The part of a data set for one evolution: headline questions only, nothing of the test conversations."""
    data = only(dataset, (*split.train, *split.val))
    asked = {
        id: tuple(question for question in questions if golds[question.id].category in dataset.headline)
        for id, questions in data.questions.items()
    }
    data = replace(data, questions=asked, splits={"train": split.train, "val": split.val})
    return Material(split, data, Golds(golds, data.question_ids))


def only(dataset: Dataset, ids: Sequence[str]) -> Dataset:
    """A data set of these conversations alone."""
    kept = tuple(conversation for conversation in dataset.conversations if conversation.id in ids)
    return replace(dataset, conversations=kept, questions={c.id: dataset.questions[c.id] for c in kept})


def splits_of(dataset: Dataset, protocol: Protocol, cross_fit: bool) -> list[Split]:
    """The one split of the data set; a split a fold; or, as the paper did, all questions in every role."""
    ids = tuple(conversation.id for conversation in dataset.conversations)
    if protocol == "paper":
        return [Split("paper", ids, ids, ids, IN_SAMPLE)]
    if cross_fit:
        return _folds(ids)
    if not {"train", "val", "test"} <= dataset.splits.keys():
        raise BadInput(f"{dataset.name} has no train, val and test conversations: use evolution.cross_fit=true.")
    train, val, test = (tuple(id for id in dataset.splits[role] if id in ids) for role in ("train", "val", "test"))
    if not (train and val):
        raise BadInput(
            "evolution needs train and val conversations: leave dataset.split and conversations as they are."
        )
    return [Split("split", train, val, test)]


def _folds(ids: Sequence[str]) -> list[Split]:
    """Each fold is the test once; the next one validates; the others train."""
    known = [tuple(id for id in fold if id in ids) for fold in LOCOMO_FOLDS]
    known = (
        [fold for fold in known if fold] if set(ids) <= {id for f in LOCOMO_FOLDS for id in f} else [(i,) for i in ids]
    )
    if len(known) < 3:
        raise BadInput(f"evolution.cross_fit needs three folds of conversations or more, these give {len(known)}.")
    result = []
    for n, test in enumerate(known):
        val = known[(n + 1) % len(known)]
        train = tuple(id for fold in known if fold not in (test, val) for id in fold)
        result.append(Split(f"fold-{n + 1}", train, val, test))
    return result
