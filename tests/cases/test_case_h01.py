"""h01: override values with special characters: quoted they arrive unchanged, unquoted the message shows the quotes."""

import pytest
from hydra.errors import HydraException

from experiments.exits import explain
from tests.experiments.harness import ROOT, config_of

ARRIVE = {
    '"a,b"': "a,b",
    '"k=v"': "k=v",
    '"李明"': "李明",
    '"it\'s"': "it's",
    '"{dialogue}"': "{dialogue}",
    '"/data/José/x=1,b.json"': "/data/José/x=1,b.json",
    "1e-3": 0.001,
    "null": None,
}
REFUSED = ["a,b", "k=v", "李明", "José", "#1", "{dialogue}", "/data/José/x=1,b.json"]


@pytest.mark.parametrize(("written", "arrives"), ARRIVE.items())
def test_a_quoted_value_arrives_unchanged(written: str, arrives: object) -> None:
    assert config_of("dataset=locomo", f"dataset.path={written}")["dataset"]["path"] == arrives


@pytest.mark.parametrize("written", REFUSED)
def test_an_unquoted_value_is_refused_with_the_recipe(written: str) -> None:
    try:
        value = config_of("dataset=locomo", f"dataset.path={written}")["dataset"]["path"]
    except HydraException as error:
        message, code = explain(error)
        assert code == 2
        assert "two pairs of quotes" in message
    else:
        pytest.fail(f"{written} arrived as {value!r}")


def test_help_shows_the_recipe() -> None:
    assert "two pairs of quotes" in (ROOT / "conf/hydra/help/trimem.yaml").read_text(encoding="utf-8")
