"""The paper's analyses in a report: for a run whose config names one (`analysis=…`), its table and its figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.analyses import reasoning, retrieval, storage
from experiments.analyses.measured import Measured, cell
from experiments.console import percent
from experiments.metrics.stats import Cell
from experiments.report.examples import examples
from experiments.report.figures import Kind, errorbars, legend
from experiments.report.grid import Setting
from experiments.report.router import router
from experiments.report.tables import Table, Text

TITLES = {
    "retrieval": "B.1, evidence found by BM25 among the first five units",
    "storage": "B.2, gold wording that is still stored",
    "reasoning": "B.3, answers whose evidence was all read, by turns needed",
}


@dataclass(frozen=True)
class Analysis:
    """What an analysis found: groups of bars, and the same numbers with more beside them in a table."""

    table: Table
    title: str
    ticks: tuple[str, ...]
    bars: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    axis: str

    def paint(self, axes: Any) -> None:
        """A group of points a tick, a colour a name; 95% intervals."""
        for number, (name, cells) in enumerate(self.bars):
            shift = (number - (len(self.bars) - 1) / 2) * 0.7 / len(self.bars)
            known = [(place + shift, one) for place, one in enumerate(cells) if one and one["mean"] is not None]
            errorbars(axes, [place for place, _ in known], [one for _, one in known], name, "o")
        axes.set_xticks(range(len(self.ticks)), self.ticks)
        axes.set_ylabel(self.axis)
        legend(axes)


def analyse(experiment: str, settings: Sequence[Setting]) -> tuple[list[Table], list[Kind]]:
    """Tables and figures of the analysis that these runs are for; none where their config names none."""
    kind = settings[0].first.manifest["config"].get("analysis")
    if kind in ("examples", "router"):
        return (examples if kind == "examples" else router)(experiment, settings), []
    makers = {"retrieval": _retrieval, "storage": _storage, "reasoning": _reasoning}
    if kind not in makers:
        return [], []
    made = makers[kind](experiment, settings)
    return [made.table], [("analysis", made.title, made.paint)]


def _retrieval(experiment: str, settings: Sequence[Setting]) -> Analysis:
    found = _by_setting(settings, [retrieval.measure(setting.stored) for setting in settings])
    shown = ("hit@5", "all@5", "recall@5", "ndcg@5", "hit@25")
    names = _categories(settings)
    rows = []
    for name, measured in found.items():
        cited = cell(measured, "sources@5", highest=float("inf"))
        hits = [cell(measured, "hit@5", category) for category in names]
        cells = [percent(cell(measured, score)) for score in shown]
        rows.append((name, str(cited["n"]), *cells, f"{cited['mean'] or 0:.1f}", *map(percent, hits)))
    columns = ("units", "n", *shown, "turns cited @5", *(f"hit@5, {id} {name}" for id, name in names.items()))
    notes = (
        "the bare question against each kind of unit, all by BM25 (k1 1.2, b .75, no stems, no dates in the text)",
        "hit: any evidence turn; all: every one; units differ in how many turns they cite, which helps the larger ones",
        *_stamps(settings),
    )
    return _analysis(experiment, "retrieval", columns, rows, notes, _bars(found, names, "hit@5"), names, "hit@5, %")


def _storage(experiment: str, settings: Sequence[Setting]) -> Analysis:
    found = _by_setting(settings, [storage.measure(setting.stored) for setting in settings])
    names = _categories(settings)
    rows = []
    for name, measured in found.items():
        inferred = [one for one in measured if one.category != 3]
        cells = [cell(measured, "whole"), cell(inferred, "whole"), cell(measured, "evidence")]
        by_category = [percent(cell(measured, "whole", category)) for category in names]
        rows.append((name, str(cells[0]["n"]), *map(percent, cells), *by_category))
    columns = ("store", "n", "whole store", "without category 3", "evidence only", *_named(names))
    notes = (
        "share of a gold answer's words that occur in what is stored of the conversation, dates of saying included",
        "evidence only: the evidence turns and the facts that cite them; profiles cite nothing",
        *_stamps(settings),
    )
    return _analysis(experiment, "storage", columns, rows, notes, _bars(found, names, "whole"), names, "words kept, %")


def _reasoning(experiment: str, settings: Sequence[Setting]) -> Analysis:
    rows, bars = [], []
    for setting in settings:
        stored = setting.stored
        for kept, least in (("all evidence", 1.0), ("any evidence", 1e-9)):
            found = reasoning.compare(setting.scored[0], stored.golds, stored.dataset.headline, least)
            cells = (found.one, found.several, found.matched)
            rows.append((setting.label, kept, *(f"{percent(c)} (n={c['n']})" for c in cells), str(found.left_out)))
            if least == 1.0:
                bars.append((setting.label, cells))
    groups = ("one evidence turn", "several", "one, golds as long as of several")
    notes = (
        f"{reasoning.METRIC} of questions whose evidence turns were all (or any) in the context, first seed",
        "the control weighs one-turn questions by the length of their golds; left out: no one-turn gold is as long",
        *_stamps(settings),
    )
    columns = ("method", "in the context", *groups, "left out")
    axis = f"{reasoning.METRIC}, %"
    ticks = dict(enumerate(("one turn", "several", "one, as long")))
    return _analysis(experiment, "reasoning", columns, rows, notes, bars, ticks, axis, plain=True)


def _analysis(
    experiment: str,
    kind: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: tuple[str, ...],
    bars: Sequence[tuple[str, Sequence[Cell | None]]],
    ticks: Mapping[int, str],
    axis: str,
    plain: bool = False,
) -> Analysis:
    cells = tuple(tuple(Text(text) for text in row) for row in rows)
    table = Table(f"{experiment}_analysis", f"{experiment}: {TITLES[kind]}", tuple(columns), cells, notes)
    labels = tuple(ticks.values()) if plain else _named(ticks)
    return Analysis(table, TITLES[kind], labels, tuple((name, tuple(cells)) for name, cells in bars), axis)


def _by_setting(
    settings: Sequence[Setting], measured: Sequence[Mapping[str, list[Measured]]]
) -> dict[str, list[Measured]]:
    """What each setting gave, under the kind's name; with the setting's where there are several."""
    named: dict[str, list[Measured]] = {}
    for setting, kinds in zip(settings, measured, strict=True):
        prefix = f"{setting.label}: " if len(settings) > 1 else ""
        named |= {f"{prefix}{kind}": found for kind, found in kinds.items() if found}
    return named


def _bars(
    found: Mapping[str, list[Measured]], names: Mapping[int, str], score: str
) -> list[tuple[str, list[Cell | None]]]:
    return [(name, [cell(measured, score, category) for category in names]) for name, measured in found.items()]


def _categories(settings: Sequence[Setting]) -> dict[int, str]:
    """Those of the headline."""
    dataset = settings[0].stored.dataset
    return {id: name for id, name in sorted(dataset.categories.items()) if id in dataset.headline}


def _named(names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(f"{id} {name}" for id, name in names.items())


def _stamps(settings: Sequence[Setting]) -> list[str]:
    return sorted({stamp for setting in settings if (stamp := setting.first.manifest.get("stamp"))})
