"""i01: online W&B without key, without network, without a terminal: offline at once, one warning, whole results."""

import time
from pathlib import Path

from tests.experiments.harness import run_command

DEAD = "http://127.0.0.1:9"


def test_a_blocked_network_costs_no_wait(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    started = time.monotonic()
    done = run_command(
        tmp_path,
        "tracker=wandb",
        "tracker.mode=online",
        WANDB_API_KEY="0123456789012345678901234567890123456789",
        WANDB_BASE_URL="https://api.example.invalid",
        HTTPS_PROXY=DEAD,
        HTTP_PROXY=DEAD,
        HOME=str(tmp_path / "home"),
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started < 60
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: tracker:")]
    assert len(warnings) == 1
    assert "logged offline" in warnings[0]
    directory = Path(done.stdout.splitlines()[-1].removeprefix("run: "))
    assert (directory / "metrics.json").exists()
    assert list(directory.glob("wandb/offline-run-*"))
