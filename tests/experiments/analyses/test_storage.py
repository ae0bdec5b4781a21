from pathlib import Path

import pytest

from experiments.analyses.measured import cell
from experiments.analyses.storage import measure
from experiments.stored import open_run
from tests.experiments.analyses.observed import locomo_with_observations, observed_run


def test_coverage_is_the_share_of_the_gold_s_words_that_are_kept(tmp_path: Path) -> None:
    found = measure(open_run(Path(observed_run(tmp_path)["run"])))
    # a pear tree | cacti | pear tree, cacti | 4 January 2024, the day on which it was said
    assert [one.scores["whole"] for one in found["raw"]] == pytest.approx([1, 1, 1, 1])
    assert [one.scores["evidence"] for one in found["raw"]] == pytest.approx([1, 1, 1, 1])
    assert all("evidence" not in one.scores for one in found.get("profiles", []))


def test_a_union_keeps_at_least_what_its_parts_keep(tmp_path: Path) -> None:
    found = measure(open_run(Path(observed_run(tmp_path, "profiler.min_facts=1")["run"])))
    for store, measured in found.items():
        for part in store.split(" + "):
            pairs = zip(measured, found[part], strict=True)
            assert all(whole.scores["whole"] >= one.scores["whole"] for whole, one in pairs)


def test_what_no_tier_holds_is_no_row(tmp_path: Path) -> None:
    found = measure(open_run(Path(observed_run(tmp_path, "method=full_context")["run"])))
    assert list(found) == ["raw"]
    assert cell(found["raw"], "whole")["n"] == 4


@pytest.mark.realdata
def test_the_known_coverage_of_locomo_s_dialogues_and_of_its_own_facts(tmp_path: Path, data_dir: Path) -> None:
    """By independent code: raw dialogue with dates 91.7, the annotators' facts 83.4."""
    found = measure(locomo_with_observations(tmp_path, data_dir))
    assert 100 * (cell(found["raw"], "whole")["mean"] or 0) == pytest.approx(91.7, abs=1)
    assert 100 * (cell(found["facts"], "whole")["mean"] or 0) == pytest.approx(83.4, abs=1)
