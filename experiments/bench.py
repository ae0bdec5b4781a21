"""`python -m experiments.bench [retrieve|ingest|…|all] [key=value …]`: measure speed, ratios to the targets first."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from rich.table import Table

from experiments import resolvers  # noqa: F401 - config files use what it registers
from experiments.benches import commands, embedding, model, reporting, storage
from experiments.benches.figures import Figure
from experiments.exits import exit_code
from experiments.manifest import code_version, versions
from experiments.run_dir import write_json
from experiments.settings import checked
from trimem.errors import BadInput

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be measured: the keys under `bench`, the other overrides, and the launch directory."""

    options: Options
    overrides: Sequence[str] = ()
    launch: Path = Path()


BENCHES: Mapping[str, Callable[[Order], list[Figure]]] = {
    "llm": lambda order: model.llm(order.options),
    "build": lambda order: model.build(order.overrides, order.options, order.launch),
    "answer": lambda order: model.answer(order.overrides, order.options, order.launch),
    "retrieve": lambda order: storage.retrieve(order.options["sizes"], order.options["questions"]),
    "ingest": lambda order: storage.ingest(order.options["sizes"]),
    "embed": lambda order: embedding.embed(order.overrides, order.options, order.launch),
    "sweep": lambda order: commands.sweep(order.overrides, order.options, order.launch),
    "startup": lambda order: commands.startup(order.options, order.launch),
    "report": lambda order: reporting.report(order.overrides, order.options, order.launch),
}


def chosen(what: str | Sequence[str]) -> list[str]:
    """The benches to run, each once. Raises BadInput for one that does not exist."""
    names = [what] if isinstance(what, str) else list(what)
    if unknown := [name for name in names if name not in (*BENCHES, "all")]:
        raise BadInput(f"there is no bench {unknown[0]!r}: choose from {', '.join(BENCHES)}, all.")
    return list(BENCHES) if "all" in names else list(dict.fromkeys(names))


def measure(order: Order) -> dict[str, Any]:
    """Run what `bench.what` names; what the JSON file holds."""
    figures = [figure for name in chosen(order.options["what"]) for figure in BENCHES[name](order)]
    shown = [{"ratio": figure.ratio, "met": figure.met, **asdict(figure)} for figure in figures]
    load = os.getloadavg()[0]
    machine = {"cores": len(os.sched_getaffinity(0)), "load": round(load, 2)}
    return {"figures": shown, "machine": machine, "versions": versions(), "code": code_version()}


def table(result: Mapping[str, Any]) -> Table:
    """Ratios to the target first, then what was measured."""
    machine = result["machine"]
    title = f"{machine['cores']} cores, load {machine['load']}, Python {result['versions']['python']}"
    shown = Table("ratio", "met", "bench", "what", "measured", "target", title=title)
    for row in result["figures"]:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        met = {True: "yes", False: "no", None: ""}[row["met"]]
        bound = "" if row["target"] is None else f"{'≤' if row['wanted'] == 'most' else '≥'} {row['target']:,g}"
        shown.add_row(ratio, met, row["bench"], row["name"], f"{row['value']:,.4g} {row['unit']}", bound)
    return shown


@hydra.main(version_base="1.3", config_path="../conf", config_name="bench")
def app(config: DictConfig) -> None:
    """Measure, show, write."""
    options = checked(dict[str, Any], OmegaConf.to_container(config.bench, resolve=True), "bench")
    job = HydraConfig.get()
    launch = Path(job.runtime.cwd)
    overrides = [override for override in job.overrides.task if not override.startswith("bench.")]
    result = measure(Order(options, overrides, launch))
    Console(width=120).print(table(result))
    output = launch / options["output"]
    write_json(output, result)
    print(f"figures: {output}")  # noqa: T201 - the command's own voice


def main() -> None:
    """The command: bare words name benches, the rest is Hydra's."""
    os.environ["HYDRA_FULL_ERROR"] = "1"
    arguments = sys.argv[1:]
    names = [word for word in arguments if "=" not in word and not word.startswith("-")]
    rest = [word for word in arguments if word not in names]
    sys.argv[1:] = [f"bench.what=[{','.join(names)}]", *rest] if names else rest
    sys.exit(exit_code(app))


if __name__ == "__main__":
    main()
