"""Each job of a command leaves `status.json` and `run.log`; a sweep ends with a table of its jobs."""

import contextlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from experiments.console import job_table, say
from experiments.exits import complain, explain, is_actionable
from experiments.run_dir import read_json, write_json

log = logging.getLogger(__name__)


def record(job: Callable[[], dict[str, Any]], overrides: Sequence[str], folder: Path) -> int:
    """Run one job and write how it ended to `folder`; the exit code. One job's failure never stops the others."""
    status: dict[str, Any] = {"overrides": list(overrides), "exit": 1, "reason": "killed"}
    write_json(folder / "status.json", status)
    try:
        status |= job()
        if status["reason"]:
            complain(status["reason"])
    except KeyboardInterrupt:
        status["reason"] = "interrupted"
        raise
    except Exception as error:
        if is_actionable(error):
            log.info("the job failed", exc_info=True)
            status["reason"], status["exit"] = explain(error)
            complain(status["reason"])
        else:
            status["reason"] = f"{type(error).__name__}: {error}"
            log.exception("the job failed; please report this")
    finally:
        with contextlib.suppress(OSError):  # a full disk has ended the job with its message; its status stays "killed"
            write_json(folder / "status.json", status)
    return int(status["exit"])


class JobTable(Callback):
    """Hydra's hook: after the last job of a sweep, the table of all; any failure makes the command's exit code 1."""

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002 - Hydra's signature
        from experiments.estimate import told

        folder = Path(str(OmegaConf.select(config, "hydra.sweep.dir")))
        found = sorted(folder.glob("*/status.json"), key=lambda path: (len(path.parent.name), path.parent.name))
        jobs = [job for path in found if (job := read_json(path)) is not None]
        shared = set.intersection(*(set(job["overrides"]) for job in jobs)) if len(jobs) > 1 else set()
        job_table([{**job, "overrides": [o for o in job["overrides"] if o not in shared]} for job in jobs])
        if estimates := [job["estimate"] for job in jobs if "estimate" in job]:
            say(f"all of them: {told(*estimates)}, or less, since a call that several jobs make is paid for once")
        if any(job["exit"] for job in jobs):
            raise SystemExit(1)
