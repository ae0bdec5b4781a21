"""h05: a key that only another backend needs is not missed; the one that is needed is named before any work."""

from pathlib import Path

import pytest

from experiments.runner import run
from tests.experiments.harness import MINI, config_of, run_mini
from trimem.errors import LLMUnavailable

VARIABLES = ("OPENAI_API_KEY", "WANDB_API_KEY", "USER", "LOGNAME")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("tracker", ["none", "wandb"])
def test_a_local_run_needs_none_of_them(tmp_path: Path, tracker: str) -> None:
    assert run_mini(tmp_path, f"tracker={tracker}")["exit"] == 0


def test_a_hosted_model_names_its_key_before_any_work(tmp_path: Path) -> None:
    config = config_of("backbone=gpt-4.1-mini", "dataset=locomo", f"dataset.path={MINI}", "dataset.verify=false")
    with pytest.raises(LLMUnavailable, match="OPENAI_API_KEY") as raised:
        run(config, tmp_path)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "runs").exists()
