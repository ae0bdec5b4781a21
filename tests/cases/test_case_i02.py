"""i02: the network is lost in the middle: rows are written, the error is told once, nothing waits."""

import sys
import time
from pathlib import Path

import pytest

from tests.experiments.fake_wandb import FakeWandb, refuse, sleep
from tests.experiments.harness import MINI_QUESTIONS, rows_of, run_mini


@pytest.mark.parametrize(("fault", "words"), [(refuse, "the network is gone"), (sleep, "no end after 0.5 s")])
def test_a_logger_that_fails_or_hangs_harms_nothing(
    fault: object, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", FakeWandb(fault))  # type: ignore[arg-type]
    started = time.monotonic()
    status = run_mini(tmp_path, "tracker=wandb", "tracker.timeout=0.5")
    assert time.monotonic() - started < 4
    assert status["exit"] == 0
    assert len(rows_of(status)) == MINI_QUESTIONS
    warnings = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: tracker:")]
    assert len(warnings) == 1
    assert words in warnings[0]
