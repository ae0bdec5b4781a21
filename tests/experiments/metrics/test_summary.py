import json
from pathlib import Path

import pytest

from experiments.data import locomo
from experiments.data.types import ABSTAIN
from experiments.metrics.summary import build_totals, summarise
from tests.experiments.builders import CASES, item, locomo_file, mini, mini_predictions, qa, row
from trimem.types import BuildReport


def test_the_mini_file_scores_as_expected_to_four_decimals() -> None:
    dataset, golds = mini()
    expected = json.loads((CASES / "mini_expected.json").read_text())
    rows = [row(id, text) for id, text in zip(dataset.question_ids, mini_predictions(), strict=True)]
    summary = summarise(rows, golds, dataset, {}, {})
    assert summary["headline"]["f1_locomo"]["mean"] == pytest.approx(expected["mean_cat_1_4"], abs=5e-5)
    assert summary["headline"]["f1_locomo"]["n"] == expected["n_cat_1_4"]
    assert summary["all_categories"]["f1_locomo"]["mean"] == pytest.approx(expected["mean_all"], abs=5e-5)
    for category, mean in expected["mean_by_category"].items():
        cell = summary["by_category"][category]["f1_locomo"]
        assert (cell["mean"], cell["n"]) == (pytest.approx(mean, abs=5e-5), expected["n_by_category"][category])
    assert summary["macro"]["f1_locomo"]["mean"] == pytest.approx((0.6111 + 0.6833 + 1.0 + 0.9167) / 4, abs=5e-5)


def test_failed_empty_and_missing_rows_score_zero_and_are_listed() -> None:
    dataset, golds = mini()
    part = dataset.select(golds, categories=[4])
    ids = part.question_ids
    rows = [row(ids[0], "0"), row(ids[1], "red", status="LLM timeout"), row(ids[2], " ")]
    summary = summarise(rows, golds, part, {}, {})
    assert (summary["n"], summary["failed"], summary["failed_questions"]) == (4, 3, list(ids[1:]))
    assert (summary["headline"]["f1_set"]["mean"], summary["headline"]["f1_set"]["n"]) == (0.25, 4)


def test_retrieval_counts_only_questions_with_usable_evidence(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "x.json", {"conv-26": [qa(), qa(evidence=[]), qa(5), qa()]})
    dataset, golds = locomo.load(path, verify=False)
    rows = [row(id, "x", [item(1, "D1:1")]) for id in dataset.question_ids[:3]] + [row("conv-26:3", "x")]
    retrieval = summarise(rows, golds, dataset, {}, {})["retrieval"]
    assert (retrieval["hit@5"]["mean"], retrieval["hit@5"]["n"]) == (0.5, 2)


def test_a_method_without_sources_gets_null_not_zero() -> None:
    dataset, golds = mini()
    rows = [row(id, "x", [item(1)]) for id in dataset.question_ids]
    assert summarise(rows, golds, dataset, {}, {})["retrieval"] == {
        name: {"mean": None, "n": 0, "ci": None} for name in ("hit@5", "hit@25", "recall@25", "context_recall")
    }


def test_a_method_that_ranks_nothing_has_no_hits_but_a_context_recall(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "x.json", {"conv-26": [qa(), qa()]})
    dataset, golds = locomo.load(path, verify=False)
    rows = [row(id, "x", [item(0, "D1:1")]) for id in dataset.question_ids]
    retrieval = summarise(rows, golds, dataset, {}, {})["retrieval"]
    assert retrieval["hit@5"]["mean"] is None
    assert retrieval["context_recall"]["mean"] == 1.0


def test_context_tokens_are_means_by_kind() -> None:
    dataset, golds = mini()
    part = dataset.select(golds, categories=[1])
    tokens = [
        {"facts": 10, "turns": 5, "profiles": 0, "total": 15},
        {"facts": 20, "turns": 5, "profiles": 0, "total": 25},
    ]
    rows = [row(id, "x", context_tokens=counts) for id, counts in zip(part.question_ids, tokens, strict=False)]
    cells = summarise(rows, golds, part, {}, {})["context_tokens"]
    assert list(cells) == ["facts", "turns", "profiles", "total"]
    assert cells["facts"]["ci"] and cells["facts"]["ci"][1] > 20  # a count, so not cut at 1
    assert (cells["facts"]["mean"], cells["total"]["mean"], cells["total"]["n"]) == (15, 20, 2)


def test_the_summary_is_strict_json_with_the_keys_of_the_design() -> None:
    dataset, golds = mini()
    summary = summarise([], golds, dataset, {"turns": 7}, {"answer": {"calls": 1}})
    text = json.dumps(summary, allow_nan=False)
    assert json.loads(text) == summary
    keys = {
        "schema",
        "n",
        "failed",
        "headline",
        "by_category",
        "macro",
        "retrieval",
        "context_tokens",
        "build",
        "usage",
    }
    assert keys <= set(summary)
    assert [(id, cells["name"], cells["n"]) for id, cells in summary["by_category"].items()] == [
        ("1", "multi-hop", 3),
        ("2", "temporal", 3),
        ("3", "open-domain", 1),
        ("4", "single-hop", 4),
        ("5", "adversarial", 2),
    ]


def test_intervals_are_over_conversations_from_eight_on(tmp_path: Path) -> None:
    path = locomo_file(tmp_path / "x.json", {f"conv-{number}": [qa(), qa()] for number in range(8)})
    dataset, golds = locomo.load(path, verify=False)
    rows = [row(id, "a pear tree" if number % 4 < 2 else "no") for number, id in enumerate(dataset.question_ids)]
    many = summarise(rows, golds, dataset, {}, {})
    few = summarise(rows, golds, dataset.select(golds, conversations=["conv-0", "conv-1"]), {}, {})
    assert many["interval"] == "95%, t over 8 conversations"
    assert many["headline"]["f1_set"]["ci"] == pytest.approx([0.5 - 0.4469, 0.5 + 0.4469], abs=1e-3)
    assert "within these 2 conversations" in few["interval"]
    assert few["by_conversation"]["conv-0"]["f1_set"] == 1 and few["by_conversation"]["conv-1"]["f1_set"] == 0


def test_build_totals_add_up() -> None:
    total = build_totals([BuildReport(turns=7, facts=3), BuildReport(turns=2, failed_windows=1)])
    assert (total["turns"], total["facts"], total["failed_windows"]) == (9, 3, 1)
    assert "usage" not in total


@pytest.mark.realdata
def test_a_constant_abstention_scores_what_is_known_on_the_real_file(data_dir: Path) -> None:
    dataset, golds = locomo.load(data_dir / "locomo10.json")
    summary = summarise([row(id, ABSTAIN) for id in dataset.question_ids], golds, dataset, {}, {})
    assert summary["headline"]["f1_locomo"]["n"] == 1540
    assert summary["headline"]["f1_locomo"]["mean"] == pytest.approx(0.0108, abs=5e-5)
    assert summary["all_categories"]["f1_locomo"]["mean"] == pytest.approx(0.2330, abs=5e-5)
    assert summary["by_category"]["5"]["f1_locomo"]["mean"] == 1
    assert summary["constant_abstain"]["headline"] == summary["headline"]["f1_locomo"]
