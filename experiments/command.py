"""What the Hydra commands share: one job with its status and exit code, alone or in a sweep."""

import logging
import os
import sys
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from experiments import resolvers  # noqa: F401 - config files use what it registers
from experiments.exits import exit_code
from experiments.jobs import record


def run_job(config: DictConfig, do: Callable[[Mapping[str, Any], Path], dict[str, Any]]) -> int:
    """`do` with the resolved config and the launch directory. Alone, its exit code is the command's."""
    job = HydraConfig.get()
    launch = Path(job.runtime.cwd)

    def work() -> dict[str, Any]:
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
        assert isinstance(plain, dict)
        return do({str(key): value for key, value in plain.items()}, launch)

    code = record(work, job.overrides.task, Path(job.runtime.output_dir))
    if job.mode == RunMode.RUN:
        raise SystemExit(code)
    return code


def run_command(app: Callable[[], int | None]) -> None:
    """The command. Hydra's errors are let through to us, so that they end like our own."""
    os.environ["HYDRA_FULL_ERROR"] = "1"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that lacks a letter does not end a run
    logging.raiseExceptions = False  # a log that cannot be written is no traceback: the rows say that the disk is full
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # one progress display is enough
    silence = {"HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "WANDB_ERROR_REPORTING": "false"}
    for name, value in silence.items():  # what our libraries would tell others of the use made of them
        os.environ.setdefault(name, value)
    code = exit_code(app)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code) if code == 130 else sys.exit(code)  # threads that wait for a model would hold the process
