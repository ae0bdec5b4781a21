"""a08: F1 is not one metric."""

import csv

import pytest

from experiments.metrics.bleu import bleu1_set
from experiments.metrics.f1 import f1_locomo, f1_set
from experiments.metrics.summary import summarise
from tests.experiments.builders import CASES, mini

with (CASES / "f1_table.tsv").open(encoding="utf-8") as table:
    PAIRS = [list(line.values()) for line in csv.DictReader(table, delimiter="\t")]


@pytest.mark.parametrize(("prediction", "gold", "locomo", "of_sets", "bleu"), PAIRS)
def test_all_variants_to_four_decimals(prediction: str, gold: str, locomo: str, of_sets: str, bleu: str) -> None:
    assert f"{f1_locomo(prediction, gold):.4f}" == locomo
    assert f"{f1_set(prediction, gold):.4f}" == of_sets
    assert f"{bleu1_set(prediction, gold):.4f}" == bleu


def test_the_result_names_the_variant() -> None:
    dataset, golds = mini()
    names = summarise([], golds, dataset, {}, {})["headline"]
    families = {"f1_locomo", "f1_set", "f1_trimem", "f1_squad", "bleu1", "bleu1_offline", "bleu1_set"}
    assert families | {"rouge_l", "exact_match"} == set(names)
