import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.data import locomo
from experiments.data.observations import Observations
from tests.experiments.analyses.observed import observed_file, observed_run
from tests.experiments.harness import read
from trimem.errors import BadInput


def test_facts_are_those_noted_with_the_turns_they_rest_on(tmp_path: Path) -> None:
    path = observed_file(tmp_path)
    dataset, _ = locomo.load(path, verify=False)
    extractor = Observations("conv-26", str(path))
    facts = extractor.extract(dataset.conversations[0].turns).facts
    assert [(fact.statement, fact.persons, fact.sources) for fact in facts] == [
        ("Ida planted a pear tree.", ("Ida",), ("D1:1",)),
        ("Per keeps cacti only.", ("Per",), ("D1:1", "D1:2")),
        ("Per is fond of plants.", ("Per",), ()),
    ]


def test_each_fact_comes_in_one_window_whatever_its_size(tmp_path: Path) -> None:
    path = observed_file(tmp_path)
    dataset, _ = locomo.load(path, verify=False)
    extractor = Observations("conv-26", str(path), window=1)
    windows = [extractor.extract([turn]).facts for turn in dataset.conversations[0].turns]
    assert [len(facts) for facts in windows] == [2, 1]


def test_another_conversation_s_facts_are_never_given(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no observations of conv-30"):
        Observations("conv-30", str(observed_file(tmp_path)))


def test_a_file_without_observations_is_refused(tmp_path: Path) -> None:
    path = observed_file(tmp_path)
    samples = json.loads(path.read_text())
    path.write_text(json.dumps([{**samples[0], "observation": [1]}]))
    with pytest.raises(BadInput, match="no observations"):
        Observations("conv-26", str(path))
    with pytest.raises(BadInput, match=r"extractor\.path"):
        Observations("conv-26")


def test_the_data_set_never_hands_them_out(tmp_path: Path) -> None:
    dataset, golds = locomo.load(observed_file(tmp_path), verify=False)
    assert "fond of plants" not in repr((dataset, golds))
    assert dataset == replace(dataset)


def test_a_run_on_them_is_stamped_a_proxy(tmp_path: Path) -> None:
    status = observed_run(tmp_path)
    assert read(status, "manifest.json")["stamp"].startswith("proxy")
    assert read(status, "metrics.json")["build"]["facts"] == 3
