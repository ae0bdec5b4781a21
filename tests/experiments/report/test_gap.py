"""Test beside train: paired up by setting, in a table of its own, and best ones marked on each."""

import csv
from pathlib import Path

from tests.experiments.harness import run_mini
from tests.experiments.report.reports import report


def test_settings_asked_on_both_stand_in_one_row_and_others_in_none(tmp_path: Path) -> None:
    for split, word in (("train", "river"), ("test", "river"), ("test", "oboe"), ("val", "river")):
        run_mini(tmp_path, "dataset=sample", f"dataset.split={split}", f"method.fail_on={word}", "max_failed=1")
    out = report(tmp_path)
    with (out / "tables/default_gap.csv").open(newline="") as file:
        micro, macro = csv.DictReader(file)
    assert (micro["method"], micro["f1_set"], macro["f1_set"]) == ("StandIn fail_on=river", "micro", "macro")
    test, train = (float(micro[split].split()[0]) for split in ("test", "train"))
    assert abs(float(micro["train minus test"].lstrip("'")) - (train - test)) < 0.11
    with (out / "tables/default.csv").open(newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert {name.split("split=")[-1] for name, row in rows.items() if "f1_set" in row["best or tied"]} == {"test"}
    assert all(float(row["run s"]) >= 0 and float(row["peak GB"]) > 0 for row in rows.values())
    assert "test questions of this data file were read by 2 runs" in (out / "report.md").read_text()


def test_without_train_there_is_no_such_table(tmp_path: Path) -> None:
    run_mini(tmp_path, "dataset=sample", "dataset.split=test")
    assert not list(report(tmp_path).glob("tables/*_gap.*"))
