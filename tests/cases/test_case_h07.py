"""h07: jobs that fail in a sweep leave the others going, and their reasons where one looks for them."""

import json
from pathlib import Path

from tests.experiments.harness import run_command


def test_the_second_of_three_jobs_completes(tmp_path: Path) -> None:
    done = run_command(tmp_path, "-m", "dataset.conversations=[nobody],[mini-dev-1],[nowhere]")
    assert done.returncode == 1
    assert "1 of 3 jobs ok" in done.stdout
    jobs = sorted(tmp_path.glob("runs/.jobs/*/*/*"), key=lambda path: path.name)
    jobs = [path for path in jobs if path.is_dir()]
    statuses = [json.loads((job / "status.json").read_text()) for job in jobs]
    assert [status["exit"] for status in statuses] == [2, 0, 2]
    assert "nobody" in statuses[0]["reason"]
    assert "nowhere" in statuses[2]["reason"]
    assert "Traceback" in (jobs[0] / "run.log").read_text()
    assert "Traceback" in (jobs[2] / "run.log").read_text()
    assert "Traceback" not in done.stderr
    assert len(list(tmp_path.glob("runs/default/*/metrics.json"))) == 1
    table = done.stdout[done.stdout.index("1 of 3 jobs ok") :]
    assert table.count("failed") == 2
    assert all(name in table for name in ("nobody", "mini-dev-1", "nowhere"))
