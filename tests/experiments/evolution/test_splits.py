"""What an evolution may see, and what it may not."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from experiments.data import locomo
from experiments.data.types import Gold
from experiments.evolution.cases import batch
from experiments.evolution.splits import IN_SAMPLE, LOCOMO_FOLDS, SealedGold, Split, material, splits_of
from tests.experiments.builders import locomo_file, qa
from trimem.errors import BadInput


class Watched(Mapping[str, Gold]):
    """Golds that note who was asked for."""

    def __init__(self, golds: Mapping[str, Gold]) -> None:
        self.golds, self.asked = golds, set[str]()

    def __getitem__(self, id: str) -> Gold:
        self.asked.add(id.split(":")[0])
        return self.golds[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.golds)

    def __len__(self) -> int:
        return len(self.golds)


def test_an_evolution_holds_nothing_of_the_test_conversation() -> None:
    dataset, golds = locomo.load_sample()
    watched = Watched(golds)
    (split,) = splits_of(dataset, "split", cross_fit=False)
    given = material(dataset, watched, split)
    assert (split.train, split.val, split.test) == (("sample-train",), ("sample-val",), ("sample-test",))
    assert watched.asked == {"sample-train", "sample-val"}
    assert [conversation.id for conversation in given.data.conversations] == ["sample-train", "sample-val"]
    assert "test" not in given.data.splits and not any("test" in id for id in given.golds)


def test_any_access_to_a_test_gold_raises() -> None:
    dataset, golds = locomo.load_sample()
    given = material(dataset, golds, splits_of(dataset, "split", cross_fit=False)[0])
    assert given.golds["sample-val:0"].answer
    with pytest.raises(SealedGold, match="sealed"):
        given.golds["sample-test:0"]
    with pytest.raises(SealedGold):
        given.golds.get("sample-test:0")


def test_only_headline_questions_are_learned_from() -> None:
    dataset, golds = locomo.load_sample()
    given = material(dataset, golds, splits_of(dataset, "split", cross_fit=False)[0])
    assert {gold.category for gold in given.golds.values()} == {1, 2, 3, 4}
    assert len(given.train.question_ids) == 24


def test_folds_keep_the_johns_together_and_every_conversation_is_test_once() -> None:
    ids = [id for fold in LOCOMO_FOLDS for id in fold]
    assert len(ids) == len(set(ids)) == 10
    assert {"conv-41", "conv-43", "conv-47"} in map(set, LOCOMO_FOLDS)


def test_cross_fitting_splits(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "x.json", {id: [qa()] for fold in LOCOMO_FOLDS for id in fold})
    dataset, _ = locomo.load(path, verify=False)
    splits = splits_of(dataset, "split", cross_fit=True)
    assert [split.test for split in splits] == list(LOCOMO_FOLDS)
    for split in splits:
        parts = [set(split.train), set(split.val), set(split.test)]
        assert set.union(*parts) == set(dataset.questions) and sum(map(len, parts)) == 10


def test_the_papers_protocol_is_stamped() -> None:
    dataset, _ = locomo.load_sample()
    (split,) = splits_of(dataset, "paper", cross_fit=False)
    assert split.train == split.val == split.test
    assert split.stamp == IN_SAMPLE


def test_too_few_conversations_are_refused() -> None:
    dataset, golds = locomo.load_sample()
    with pytest.raises(BadInput, match="needs train and val conversations"):
        splits_of(dataset.select(golds, split="val"), "split", cross_fit=False)
    with pytest.raises(BadInput, match="three folds"):
        splits_of(dataset.select(golds, split="val"), "split", cross_fit=True)


def test_a_batch_has_every_category_and_another_seed_draws_another() -> None:
    dataset, golds = locomo.load_sample()
    ids = ("sample-train", "sample-val")
    given = material(dataset, golds, Split("both", ids[:1], ids[1:], ()))
    data = given.data
    first = batch(data, given.golds, 12, seed=1)
    assert len(first.question_ids) == 12
    assert {golds[id].category for id in first.question_ids} == {1, 2, 3, 4}
    assert first.question_ids == batch(data, given.golds, 12, seed=1).question_ids
    assert first.question_ids != batch(data, given.golds, 12, seed=2).question_ids
    assert len(batch(data, given.golds, 500, seed=1).question_ids) == len(data.question_ids)
