"""Showing runs elsewhere. The run directory is the truth: whatever goes wrong here is counted and harms nothing."""

import json
import os
import socket
import threading
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from experiments.identity import method_name
from experiments.rows import Row

Mode = Literal["offline", "online"]
Fill = Callable[[Any, Any], None]
"""Is given the module wandb and a begun run, and logs to it."""
SECONDS_TO_REACH = 3.0
"""How long an online tracker may take to be reached before it is used offline."""


class Tracker(Protocol):
    """Where finished runs are shown."""

    def log(
        self, directory: Path, manifest: Mapping[str, Any], rows: Sequence[Row], metrics: Mapping[str, Any]
    ) -> list[str]:
        """Show one run; what went wrong in doing so (empty: nothing)."""

    def show(self, directory: Path, manifest: Mapping[str, Any], job: str, fill: Fill) -> list[str]:
        """Show what `fill` says of another kind of `job`, described by its manifest; problems as in `log`."""


class NullTracker:
    """Shows nothing."""

    def log(
        self,
        directory: Path,  # noqa: ARG002 - the protocol's
        manifest: Mapping[str, Any],  # noqa: ARG002
        rows: Sequence[Row],  # noqa: ARG002
        metrics: Mapping[str, Any],  # noqa: ARG002
    ) -> list[str]:
        return []

    def show(self, directory: Path, manifest: Mapping[str, Any], job: str, fill: Fill) -> list[str]:  # noqa: ARG002
        return []


class WandbTracker:
    """One Weights & Biases run for each run of ours, its files in the run's directory.

    `mode` offline needs no network; online is used if there is a key and the server can be reached, else offline.
    All is logged once, at the end: a growing table would be uploaded anew each time.
    """

    def __init__(
        self,
        mode: Mode = "offline",
        project: str = "trimem",
        entity: str | None = None,
        tags: Sequence[str] = (),
        timeout: float = 30.0,
    ) -> None:
        self.mode, self.project, self.entity = mode, project, entity
        self.tags, self.timeout = tuple(tags), timeout

    def log(
        self, directory: Path, manifest: Mapping[str, Any], rows: Sequence[Row], metrics: Mapping[str, Any]
    ) -> list[str]:
        def fill(wandb: Any, run: Any) -> None:
            run.summary.update(summary_of(metrics))
            run.log({"questions": _table(wandb, rows), "prompts": _prompt_table(wandb, manifest["prompts"])})
            for artifact in _artifacts(wandb, directory, manifest):
                run.log_artifact(artifact)

        return self.show(directory, manifest, "eval", fill)

    def show(self, directory: Path, manifest: Mapping[str, Any], job: str, fill: Fill) -> list[str]:
        problems: list[str] = []
        mode = self._reachable_mode(problems)

        def work() -> None:
            import wandb

            identity = {**self._identity(directory, manifest), "job_type": job}
            with wandb.init(**identity, mode=mode, **_quiet(wandb)) as run:
                fill(wandb, run)

        problem = bounded(work, self.timeout)
        return [*problems, problem] if problem else problems

    def _reachable_mode(self, problems: list[str]) -> Mode:
        """`mode`, or offline, decided before W&B would wait for a key or for the network."""
        if self.mode != "online":
            return self.mode
        url = os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")
        reason = _why_not_online(url)
        if reason:
            problems.append(f"{reason}; logged offline, `wandb sync` uploads it later")
        return "offline" if reason else "online"

    def _identity(self, directory: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
        config = {key: manifest["config"][key] for key in sorted(manifest["config"]) if key not in ("paths", "tracker")}
        method = method_name(config["method"])
        model = (manifest["identity"]["backbone"] or {"model": "no LLM"})["model"]
        return {
            "project": self.project,
            "entity": self.entity,
            "dir": str(directory),
            "id": manifest["run"],
            "name": f"{method}-{manifest['dataset']['name']}-{model}-s{manifest['seed']}",
            "group": manifest["experiment"],
            "tags": [method, manifest["dataset"]["name"], model, *self.tags],
            "config": {**config, "run": manifest["run"], "data_sha256": manifest["dataset"]["sha256"]},
            "reinit": "finish_previous",
        }


def bounded(work: Callable[[], None], seconds: float) -> str:
    """Do `work` in a thread of its own; why it failed or took too long, or nothing. Never raises, never hangs."""
    problems: list[str] = []

    def guarded() -> None:
        try:
            work()
        except ModuleNotFoundError as error:
            problems.append(f"{error.name} is not installed: pip install {error.name}, or set tracker=none")
        except Exception as error:  # noqa: BLE001 - counted and shown by the caller
            problems.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=guarded, daemon=True, name="tracker")
    thread.start()
    thread.join(seconds)
    return f"no end after {seconds:g} s, given up" if thread.is_alive() else "".join(problems)


def summary_of(metrics: Mapping[str, Any]) -> dict[str, float | int]:
    """Every score flat: `f1_set`, `f1_set/ci_low`, `category/2/f1_set`, `usage/answer/usd`, …"""
    flat: dict[str, float | int] = {"n": metrics["n"], "failed": metrics["failed"]}
    sections = {"": metrics["headline"], "macro/": metrics["macro"], "retrieval/": metrics["retrieval"]}
    sections |= {f"category/{id}/": cells for id, cells in metrics["by_category"].items()}
    sections |= {"context_tokens/": metrics["context_tokens"], "build/": metrics["build"]}
    sections |= {f"usage/{stage}/": cost for stage, cost in metrics["usage"].items()}
    for prefix, cells in sections.items():
        for name, cell in cells.items():
            flat |= _flat(f"{prefix}{name}", cell)
    return flat


def _flat(name: str, cell: Any) -> dict[str, float | int]:
    if isinstance(cell, int | float):
        return {name: cell}
    if not isinstance(cell, Mapping) or cell.get("mean") is None:
        return {}
    low_high = {f"{name}/ci_low": cell["ci"][0], f"{name}/ci_high": cell["ci"][1]} if cell["ci"] else {}
    return {name: cell["mean"], f"{name}/n": cell["n"], **low_high}


def _table(wandb: Any, rows: Sequence[Row]) -> Any:
    """A row a question; items and tokens as JSON."""
    columns = ["question_id", "conversation", "category", "status", "prediction", "items", "context_tokens"]
    plain = ("items", "context_tokens")
    return wandb.Table(columns, [[json.dumps(row[c]) if c in plain else row[c] for c in columns] for row in rows])


def _prompt_table(wandb: Any, prompts: Mapping[str, Mapping[str, str]]) -> Any:
    return wandb.Table(["name", "hash", "text"], [[name, p["hash"], p["text"]] for name, p in prompts.items()])


def _artifacts(wandb: Any, directory: Path, manifest: Mapping[str, Any]) -> Iterable[Any]:
    """Each prompt by its hash, and the files of the run."""
    for name, prompt in manifest["prompts"].items():
        artifact = wandb.Artifact(f"prompt-{name}", type="prompt", metadata={"hash": prompt["hash"]})
        with artifact.new_file(f"{name}.md", encoding="utf-8") as file:
            file.write(prompt["text"])
        yield artifact
    results = wandb.Artifact(f"run-{manifest['run']}", type="results")
    for file in ("manifest.json", "predictions.jsonl", "metrics.json"):
        results.add_file(str(directory / file))
    yield results


def _quiet(wandb: Any) -> dict[str, Any]:
    """Settings that keep W&B from the console and from looking at the source tree and the machine."""
    return {"settings": wandb.Settings(silent=True, console="off", save_code=False, x_disable_stats=True)}


def _why_not_online(url: str) -> str:
    """Empty if W&B can be used online: there is a key, and its server (or the proxy on the way) answers."""
    host = urlsplit(url).hostname or ""
    if not os.environ.get("WANDB_API_KEY") and not _in_netrc(host):
        return "no W&B key (run `wandb login`)"
    way = urlsplit(urllib.request.getproxies().get("https", url))
    try:
        socket.create_connection((way.hostname or host, way.port or 443), SECONDS_TO_REACH).close()
    except OSError as error:
        return f"{way.hostname or host} cannot be reached ({error})"
    return ""


def _in_netrc(host: str) -> bool:
    import netrc

    try:
        return netrc.netrc().authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
