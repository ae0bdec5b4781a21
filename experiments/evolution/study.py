"""One command: evolve on train and validation, then, with nothing left to choose, read the test split once."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments import manifest
from experiments.assemble import assemble
from experiments.console import say
from experiments.evolution.leaks import own_leaks
from experiments.evolution.lineage import Version, write_prompts
from experiments.evolution.loop import Evolution
from experiments.evolution.measure import PARTS, Bench, Prompts, with_prompts
from experiments.evolution.planning import planned_calls
from experiments.evolution.pooling import pool
from experiments.evolution.report import show, summary
from experiments.evolution.settings import EvolutionSettings, read_evolution
from experiments.evolution.splits import Material, Split, material, splits_of
from experiments.evolution.tracking import log_steps
from experiments.exits import complain
from experiments.identity import content_hash
from experiments.run_dir import SCHEMA, read_json, run_directory, write_json
from experiments.runner import Work, assemble_method, load_data, run
from experiments.services import Services
from experiments.settings import Settings, absolute, read_settings
from experiments.spending import Purse, Spending, sum_of
from experiments.tracking import Tracker
from trimem.errors import BadInput
from trimem.evolution.guard import Guard, benchmark
from trimem.prompts import Prompt


@dataclass(frozen=True)
class Evolved:
    """A finished evolution: the lineage, and how the seed and the best prompts do on what it was given."""

    split: Split
    directory: Path
    lineage: Sequence[Version]
    scores: Mapping[str, Mapping[str, float]]
    paths: Mapping[str, Mapping[str, str]]


def evolve(config: Mapping[str, Any], launch: Path) -> dict[str, Any]:
    """Do what `config` asks and is not done yet; the job's status. Raises TriMemError where it cannot go on.

    `estimate=true` only tells the most calls that it would ask.
    """
    config = absolute(config, launch)
    settings, evolution = read_settings(config), read_evolution(config)
    materials = _given(config, evolution)
    if settings.estimate:
        told = "\n".join(planned_calls(config, evolution, given) for given in materials)
        say(told)
        return {"exit": 0, "reason": "", "told": told}
    purse = Purse(settings)
    evolved, reports = [], []
    for given in materials:
        one = _evolve(config, evolution, given, purse)
        tested = _test(config, one, purse) if evolution.test and one.split.test else {}
        evolved.append(one)
        reports.append(summary(one, tested))
        write_json(one.directory / "evolution.json", reports[-1])
        _log(config, one, reports[-1])
    show(evolved, reports, evolution.metrics)
    directory = evolved[-1].directory
    if evolution.cross_fit and evolution.test:
        directory = pool(config, settings.paths.runs / settings.name, reports)
    say(f"run: {directory}")
    return {"exit": 0, "reason": "", "run": str(directory)}


def _given(config: Mapping[str, Any], evolution: EvolutionSettings) -> list[Material]:
    """All that any evolution will see. The golds of the test conversations go no further than this function."""
    dataset, golds = load_data(config)
    return [material(dataset, golds, split) for split in splits_of(dataset, evolution.protocol, evolution.cross_fit)]


def _evolve(config: Mapping[str, Any], evolution: EvolutionSettings, given: Material, purse: Purse) -> Evolved:
    """From the seed prompts to the best, and both scored on all of train and validation."""
    settings = purse.settings.model_copy(update={"budget": purse.left()})
    with ExitStack() as stack:
        services = Services(config, settings)
        stack.callback(services.close)
        method = assemble_method(config, services)
        seed = {name: _prompt_of(method, name) for name in PARTS}
        critic = services.model(evolution.backward, "evolution")
        work = Work(config, settings, given.data, given.golds, method, services)
        identity = {
            **work.identity,
            "evolution": evolution.model_dump(exclude={"test"}),
            "critic": dict(critic.identity),
            "split": [given.split.train, given.split.val],
        }
        name = content_hash(identity)
        directory = stack.enter_context(run_directory(settings.paths.runs / settings.name / f"evolve-{name}"))
        record = manifest.Record(directory / "manifest.json", services)
        commit = record.begin(_description(config, settings, given, identity, name, seed))
        spending = Spending(directory / "usage.json", services.usage)
        stack.callback(spending.save)
        stack.callback(record.note_served)
        bench = Bench(config, settings, services, given, evolution.metrics, directory, commit, spending.save)
        say(planned_calls(config, evolution, given))
        optimizer = assemble(config["evolution"], "optimizer", {"llm": lambda _: critic})
        guard = Guard((benchmark(), *own_leaks(given)), evolution.growth)
        steps = Evolution(directory, evolution, seed, settings.seed, optimizer, guard, bench, spending.now)
        finished = _finished(steps, steps.run())
        purse.spend(sum_of({stage: asdict(cost) for stage, cost in services.usage().items()}))
        return finished


def _finished(evolution: Evolution, best: Prompts) -> Evolved:
    given = evolution.bench.material
    scores: dict[str, dict[str, float]] = {}
    for version, prompts in (("seed", evolution.seed), ("best", best)):
        parts = {"train": given.train, "val": given.val}
        values = {name: evolution.bench.scores(prompts, data) for name, data in parts.items()}
        scores[version] = {name: sum(found.values()) / len(found) for name, found in values.items()}
    folder = evolution.directory
    paths = {name: write_prompts(folder / name, dict(p)) for name, p in (("seed", evolution.seed), ("best", best))}
    return Evolved(given.split, folder, evolution.lineage, scores, paths)


def _prompt_of(method: Any, name: str) -> Prompt:
    """The seed: the prompt that a part works by now. Raises BadInput for a part that works by rules."""
    part = getattr(method, "keywords", {}).get(PARTS[name])
    prompt = getattr(part, "prompt", None)
    if not isinstance(prompt, Prompt):
        raise BadInput(
            f"evolution changes the prompts of TriMem's llm parts, and {PARTS[name]} has none: name a model "
            f"(backbone=gpt-4.1-mini; backbone=scripted needs no key), with {PARTS[name]}=llm."
        )
    return Prompt(name, prompt.text, prompt.fields, prompt.schema, prompt.purpose)


def _description(
    config: Mapping[str, Any],
    settings: Settings,
    given: Material,
    identity: Mapping[str, Any],
    name: str,
    seed: Prompts,
) -> dict[str, Any]:
    data = given.data
    return {
        "schema": SCHEMA,
        "run": name,
        "kind": "evolution",
        "experiment": settings.name,
        "identity": identity,
        "config": config,
        "dataset": {"name": data.name, "sha256": data.sha256, "verified": data.verified, "licence": data.licence},
        "split": {"name": given.split.name, "train": given.split.train, "val": given.split.val},
        "stamp": given.split.stamp,
        "prompts": {key: {"hash": prompt.hash, "text": prompt.text} for key, prompt in seed.items()},
        "seed": settings.seed,
    }


def _test(config: Mapping[str, Any], evolved: Evolved, purse: Purse) -> dict[str, dict[str, Any]]:
    """Runs of the seed and of the best prompts on the test conversations."""
    data = {**config["dataset"], "split": "all", "conversations": list(evolved.split.test)}
    plain = {**config, "dataset": data, "stamp": evolved.split.stamp}
    runs = {}
    for name in ("seed", "best") if any(version.accepted for version in evolved.lineage) else ("seed",):
        budget = purse.left().model_dump()
        runs[name] = run(with_prompts({**plain, "budget": budget}, evolved.paths[name]), Path())
        purse.spend(runs[name]["spent"])
    return {"seed": runs["seed"], "best": runs.get("best", runs["seed"])}


def _log(config: Mapping[str, Any], evolved: Evolved, report: Mapping[str, Any]) -> None:
    """Show the evolution to the tracker; what goes wrong there is said, and changes nothing else."""
    tracker: Tracker = assemble(config, "tracker", {})
    described = read_json(evolved.directory / "manifest.json") or {}

    def fill(wandb: Any, run: Any) -> None:
        log_steps(wandb, run, evolved.directory, evolved.lineage, report)

    for problem in tracker.show(evolved.directory, described, "evolve", fill):
        complain(f"tracker: {problem}", "warning")
