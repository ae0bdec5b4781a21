from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from experiments.analyses.measured import Measured, cell
from experiments.analyses.retrieval import KINDS, measure, units_of
from experiments.stored import open_run
from tests.experiments.analyses.observed import locomo_with_observations, observed_run


def test_units_are_facts_turns_chunks_of_whole_turns_and_everything(tmp_path: Path) -> None:
    run = open_run(Path(observed_run(tmp_path)["run"]))
    (conversation,) = run.dataset.conversations
    assert units_of("turns", conversation, ())[0] == ("Ida: I planted a pear tree.", ("D1:1",))
    assert units_of("chunks", conversation, ()) == units_of("full context", conversation, ())
    assert units_of("full context", conversation, ())[0][1] == ("D1:1", "D1:2")
    assert units_of("facts", conversation, ()) == []


def test_every_kind_is_measured_on_headline_questions_with_evidence(tmp_path: Path) -> None:
    found = measure(open_run(Path(observed_run(tmp_path)["run"])))
    assert [(kind, len(measured)) for kind, measured in found.items()] == [(kind, 4) for kind in KINDS]
    turns = found["turns"][0].scores
    assert (turns["hit@1"], turns["sources@1"]) == (1, 1)  # pear tree: said in the first turn alone
    assert all(one.scores["all@1"] == 1 and one.scores["sources@1"] == 2 for one in found["full context"])


def test_a_memory_without_facts_has_no_row_for_them(tmp_path: Path) -> None:
    found = measure(open_run(Path(observed_run(tmp_path, "method=naive_rag")["run"])))
    assert not found["facts"] and found["turns"]


def means(measured: Sequence[Measured], *names: str) -> list[Any]:
    return [100 * (cell(measured, name)["mean"] or 0) for name in names]


@pytest.mark.realdata
def test_the_known_figures_of_plain_bm25_on_locomo(tmp_path: Path, data_dir: Path) -> None:
    """By independent code, same recipe: turns 56.1/46.7/50.7, @25 72.1/59.4/65.2; annotators' facts 56.2/45.6/49.9."""
    found = measure(locomo_with_observations(tmp_path, data_dir))
    assert len(found["turns"]) == 1536
    at_5, at_25 = ("hit@5", "all@5", "recall@5"), ("hit@25", "all@25", "recall@25")
    assert means(found["turns"], *at_5) == pytest.approx([56.1, 46.7, 50.7], abs=1)
    assert means(found["turns"], *at_25) == pytest.approx([72.1, 59.4, 65.2], abs=1)
    assert means(found["facts"], *at_5) == pytest.approx([56.2, 45.6, 49.9], abs=1.5)
