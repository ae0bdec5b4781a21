"""a11: evidence ids that do not parse."""

import logging

import pytest

from experiments.metrics.summary import score_rows
from tests.experiments.builders import item, mini, row


def test_ids_are_read_as_meant_and_the_rest_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="experiments.data.locomo"):
        dataset, golds = mini()
    read = {number: set(golds[f"mini-dev-1:{number}"].evidence) for number in (5, 10, 11, 12)}
    assert read == {5: {"D2:2", "D1:1"}, 10: {"D2:2", "D1:3"}, 11: {"D2:2"}, 12: {"D10:2"}}
    told = [record.getMessage() for record in caplog.records if "evidence" in record.getMessage()]
    assert told == ["mini_locomo.json: evidence that points at no turn is left out: mini-dev-1:12 'D'"]
    (scored,) = (
        one
        for one in score_rows([row("mini-dev-1:12", "a bike", [item(1, "D10:2")])], golds, dataset)
        if one.id == "mini-dev-1:12"
    )
    assert scored.retrieval["recall@5"] == 1.0  # the unreadable id is not in the denominator
