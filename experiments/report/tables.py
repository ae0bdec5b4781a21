"""The tables of one experiment, before they are written in any format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from experiments.console import percent
from experiments.metrics.stats import Cell
from experiments.report.grid import Setting, not_distinguishable
from experiments.report.published import Published, about, cell_of, judge, published
from experiments.shelf import Shelved

SCORES = ("f1_set", "f1_locomo", "bleu1", "context_recall")
PLAYED = ("simulated", "scripted")
"""Models that exercise the code: their scores say nothing about a method."""


@dataclass(frozen=True)
class Text:
    """What stands in one cell. `mark`: the best of its column, or not distinguishable from it."""

    text: str
    mark: str = ""  # "" | "best" | "tied"


@dataclass(frozen=True)
class Table:
    """`name` names its files. `notes` stand below it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    notes: tuple[str, ...] = ()


def tables_of(experiment: str, settings: Sequence[Setting], runs: Sequence[Shelved]) -> list[Table]:
    """Scores and costs; scores by category; verdicts on what papers printed about these methods."""
    notes = tuple(footer(settings, runs))
    found = [_scores(experiment, settings, notes), _categories(experiment, settings)]
    return [table for table in (*found, _verdicts(experiment, settings)) if table.rows]


def _scores(experiment: str, settings: Sequence[Setting], notes: tuple[str, ...]) -> Table:
    shown = (*SCORES, *_judges(settings))
    columns = (
        "model",
        "method",
        "seeds",
        "n",
        "failed",
        *shown,
        "context tokens",
        "build s",
        "retrieval s",
        "s a question",
        "run s",
        "peak GB",
    )
    marks = {metric: _marks(settings, metric) for metric in shown}
    rows = []
    for setting in settings:
        cells = {metric: setting.cell(_finder(metric)) for metric in shown}
        tokens = setting.cell(lambda found: found["context_tokens"].get("total"))
        row = [setting.first.model, setting.label, len(setting.runs), _n(cells["f1_set"]), _failed(setting)]
        scores = [Text(percent(cells[metric]), marks[metric].get(setting.first.hash, "")) for metric in shown]
        costs = [f"{tokens['mean']:.0f}" if tokens else "–", f"{setting.build_seconds:.1f}"]
        costs += [_number(setting.seconds("retrieve_seconds"), 3), _number(setting.seconds(), 2)]
        costs += [_number(setting.run_seconds, 0), _number((setting.peak_bytes or 0) / 1e9 or None, 1)]
        costs += [_number(_calls(setting), 0), _number(setting.usage("usd"), 4), _printed(setting)]
        rows.append((*map(_text, row), *scores, *map(_text, costs)))
    return Table(experiment, experiment, (*columns, "calls", "usd", "published f1_set"), tuple(rows), notes)


def _judges(settings: Sequence[Setting]) -> list[str]:
    """The judges' metrics that any of the runs has."""
    return sorted({metric for setting in settings for _, stored in setting.runs for metric in stored.verdicts})


def _verdict_counts(settings: Sequence[Setting]) -> Iterable[str]:
    """Who judged, and for how many answers there is no verdict, of which a mean within bounds is all that is known."""
    for metric in _judges(settings):
        lacking = []
        for setting in settings:
            cells = [run.metrics["headline"].get(metric) for run, _ in setting.runs if run.metrics]
            for cell in (cell for cell in cells if cell and cell.get("not_judged")):
                low, high = (100 * end for end in cell["bounds"])
                lacking.append(f"{setting.label} {cell['not_judged']} (so {low:.1f} to {high:.1f})")
        yield f"{metric}: judge, model and hash of its prompt; not judged: {', '.join(lacking) or 'none'}"
    if not _judges(settings):
        yield "judge: none, the scores above are word overlap"


def _categories(experiment: str, settings: Sequence[Setting]) -> Table:
    """f1_set of each category, and of questions with one or several evidence turns."""
    names = {id: name for setting in settings for id, name in setting.stored.dataset.categories.items()}
    present = sorted({one.category for setting in settings for one in setting.scored[0]})
    columns = [f"{id} {names[id]}" for id in present]
    rows = []
    for setting in settings:
        cells = [setting.cell(_in_category(str(id))) for id in present]
        evidence = [_by_evidence(setting, several) for several in (False, True)]
        rows.append(tuple(map(_text, [setting.first.model, setting.label, *map(_with_n, cells), *evidence])))
    header = ("model", "method", *columns, "one evidence turn", "several")
    note = "f1_set with n, f1_locomo for the adversarial category"
    return Table(f"{experiment}_categories", f"{experiment}, by category", header, tuple(rows), (note,))


def _verdicts(experiment: str, settings: Sequence[Setting]) -> Table:
    """Every printed number about what was run here, and those of the same models and data that were not run."""
    models = {(s.first.manifest["dataset"]["name"], s.first.model) for s in settings}
    rows = []
    for entry in published():
        if (entry.dataset, entry.model) not in models or entry.value is None:
            continue
        ours: list[Setting | None] = [s for s in settings if entry in about(s.first)]
        rows += [_verdict_row(entry, setting) for setting in ours or [None]]
    columns = ("model", "method", "metric", "category", "mean", "published", "ours", "verdict", "why", "source")
    note = "OK: inside our interval. NEAR: within one point of it. OFF: neither."
    return Table(f"{experiment}_verdicts", f"{experiment}, held against print", columns, tuple(rows), (note,))


def _verdict_row(entry: Published, setting: Setting | None) -> tuple[Text, ...]:
    cell = setting.cell(lambda metrics: cell_of(metrics, entry)) if setting else None
    verdict, why = judge(entry, cell)
    ours = "–" if cell is None else f"{cell['mean']:.0f}" if entry.metric == "tokens" else percent(cell)
    method = setting.label if setting else entry.method
    known = [entry.model, method, entry.metric, entry.category or "headline", entry.mean, f"{entry.value:g}", ours]
    return tuple(map(_text, [*known, verdict, why, entry.source]))


def footer(settings: Sequence[Setting], runs: Sequence[Shelved]) -> Iterable[str]:
    """What a reader must know to read the numbers."""
    stored = [setting.stored for setting in settings]
    yield "headline: micro mean in percent with a 95% interval; " + _each(str(s.metrics["interval"]) for s in stored)
    yield "f1_set and bleu1 as in the A-Mem lineage (bleu1 on punkt tokens), f1_locomo as in LoCoMo's own script"
    yield from _verdict_counts(settings)
    yield "data: " + _each(
        f"{s.dataset.name} {s.dataset.sha256[:12]}{'' if s.dataset.verified else ' (not the published file)'}"
        for s in stored
    )
    if looks := max((s.first.manifest.get("runs_that_read_the_test_split", 0) for s in settings), default=0):
        yield f"test questions of this data file were read by {looks} runs in this folder so far"
    yield "answer prompt: " + _each(_answer_prompts(setting.first) for setting in settings)
    yield from dict.fromkeys(stamp for setting in settings if (stamp := setting.first.manifest.get("stamp")))
    yield f"calls: also those that the cache answered; usd: spent. All: {_total([s.usage('usd') for s in settings])}"
    for setting in settings:
        if covering := setting.stored.metrics.get("k_covers_a_store"):
            yield f"{setting.label}: k = {', '.join(map(str, covering))} takes in the whole of a store"
    yield from _abstention(settings)
    if played := sorted({setting.first.model for setting in settings} & set(PLAYED)):
        yield f"{', '.join(played)}: a fake model that exercises the code; its scores say nothing about a method"
    if any(setting.first.model == "no LLM" for setting in settings):
        yield "no LLM: rules in place of a model, a floor"
    if spread := [f"{s.label} {100 * sd:.2f}" for s in settings if (sd := s.between_seeds("f1_set")) is not None]:
        yield f"standard deviation of f1_set between seeds, in points: {'; '.join(spread)}"
    if open_ := [f"{run.hash} ({run.state})" for run in runs if run.state not in ("done", "evolution")]:
        yield f"not finished and not shown: {', '.join(open_)}"
    yield "bold: best of its model; ≈: not distinguishable from it (paired difference, 95%)"


def _answer_prompts(run: Shelved) -> str:
    found = [f"{name} {hash}" for name, hash in run.manifest["identity"]["prompts"].items() if "answer" in name]
    return ", ".join(found) or "rules"


def _abstention(settings: Sequence[Setting]) -> Iterable[str]:
    """The adversarial category beside the line of an answerer that always abstains."""
    for setting in settings:
        metrics = setting.first.metrics or {}
        adversarial = metrics["by_category"].get("5") if "constant_abstain" in metrics else None
        if adversarial:
            mean, n = percent(adversarial["f1_locomo"]), adversarial["n"]
            constant = percent(metrics["constant_abstain"]["all_categories"])
            everything = percent(metrics["all_categories"]["f1_locomo"])
            yield (
                f"{setting.label}: category 5 apart, f1_locomo {mean} (n={n}); "
                f"all categories {everything}, always abstaining {constant}"
            )


def _marks(settings: Sequence[Setting], metric: str) -> dict[str, str]:
    """Run hash -> best or tied, among those of a model on the same questions; nothing where there is no one to beat."""
    marks: dict[str, str] = {}
    groups: dict[tuple[object, ...], list[Setting]] = {}
    for setting in settings:
        if setting.cell(_finder(metric)):
            groups.setdefault((setting.first.model, setting.stored.dataset.question_ids), []).append(setting)
    for peers in groups.values():
        if len(peers) < 2:
            continue
        best = max(peers, key=lambda setting: (setting.cell(_finder(metric)) or {"mean": 0.0})["mean"] or 0.0)
        tied = [s for s in peers if s is not best and not_distinguishable(best, s, metric)]
        marks |= {best.first.hash: "best"} | {setting.first.hash: "tied" for setting in tied}
    return marks


def _finder(metric: str) -> Callable[[Mapping[str, Any]], Cell | None]:
    return lambda metrics: {**metrics["headline"], **metrics["retrieval"]}.get(metric)


def _in_category(id: str) -> Callable[[Mapping[str, Any]], Cell | None]:
    def find(metrics: Mapping[str, Any]) -> Cell | None:
        cells = metrics["by_category"].get(id, {})
        found: Cell | None = cells.get("f1_set", cells.get("f1_locomo"))
        return found

    return find


def _by_evidence(setting: Setting, several: bool) -> str:
    golds = setting.stored.golds
    scores = setting.by_question("f1_set")
    chosen = [value for id, value in scores.items() if (len(golds[id].evidence) > 1) == several and golds[id].evidence]
    return f"{100 * fmean(chosen):.1f} (n={len(chosen)})" if chosen else "–"


def _printed(setting: Setting) -> str:
    """Headline f1_set that papers give for this, with our verdict."""
    entries = [e for e in about(setting.first) if e.metric == "f1_set" and not e.category and e.value is not None]
    return "; ".join(
        f"{entry.value:g} {judge(entry, setting.cell(lambda metrics, e=entry: cell_of(metrics, e)))[0]}"  # type: ignore[misc]
        for entry in entries
    )


def _failed(setting: Setting) -> str:
    """Of all seeds' questions."""
    counts = [(run.metrics["failed"], run.metrics["n"]) for run, _ in setting.runs if run.metrics]
    return f"{sum(failed for failed, _ in counts)} of {sum(n for _, n in counts)}"


def _n(cell: Cell | None) -> int:
    return cell["n"] if cell else 0


def _calls(setting: Setting) -> float:
    """What the method asks for, whether or not the cache had it: a cheap second run is no cheap method."""
    return (setting.usage("calls") or 0) + (setting.usage("cached") or 0)


def _with_n(cell: Cell | None) -> str:
    return f"{percent(cell)} (n={cell['n']})" if cell else "–"


def _total(costs: Sequence[float | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    unknown = len(costs) - len(known)
    return f"${sum(known):.4f}" + (f", and {unknown} settings of unknown price" if unknown else "")


def _each(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _text(value: object) -> Text:
    return Text(str(value))
