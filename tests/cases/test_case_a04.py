"""a04: adversarial hits counted in the numerator but not in the denominator."""

from pathlib import Path

from experiments.data import locomo
from experiments.metrics.summary import summarise
from tests.experiments.builders import locomo_file, qa, row


def test_both_means_divide_by_what_they_add_up(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "ten.json", {"ten": [qa(4)] * 8 + [qa(5)] * 2})
    dataset, golds = locomo.load(path, verify=False)
    said = ["a pear tree"] * 5 + ["nothing"] * 3 + ["not mentioned"] * 2
    rows = [row(id, text) for id, text in zip(dataset.question_ids, said, strict=True)]
    summary = summarise(rows, golds, dataset, {}, {})
    headline, everything = summary["headline"]["f1_locomo"], summary["all_categories"]["f1_locomo"]
    assert (headline["mean"], headline["n"]) == (0.625, 8)
    assert (everything["mean"], everything["n"]) == (0.7, 10)
