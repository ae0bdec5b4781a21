"""Figures of one experiment, each as PNG and SVG, in one style; the same runs give the same files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.metrics.stats import Cell
from experiments.report.grid import Setting

METRIC = "f1_set"
STYLE: Any = {
    "figure.figsize": (6.4, 3.6),
    "savefig.bbox": "tight",  # axes keep their size, and what stands beside them makes the picture larger
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "svg.hashsalt": "trimem",
    "svg.fonttype": "none",
}


@dataclass(frozen=True)
class Figure:
    """A drawn figure: its files are `figures/<name>.png` and `.svg`."""

    name: str
    title: str


Painter = Callable[[Any], None]
Kind = tuple[str, str, Painter]
"""The end of a figure's name, its title, and what draws it on axes."""


def draw(experiment: str, settings: Sequence[Setting], out: Path, more: Sequence[Kind] = ()) -> list[Figure]:
    """Every figure that these settings have the numbers for, and `more`."""
    return draw_kinds(experiment, [*more, *_kinds(settings)], out)


def draw_kinds(name: str, kinds: Sequence[Kind], out: Path) -> list[Figure]:
    """These figures, whose names begin with `name`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    out.mkdir(parents=True, exist_ok=True)
    drawn = []
    for kind, title, paint in kinds:
        with pyplot.rc_context(STYLE):
            figure, axes = pyplot.subplots()
            paint(axes)
            axes.set_title(f"{name}: {title}", loc="left")
            for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
                figure.savefig(out / f"{name}_{kind}.{suffix}", dpi=160, metadata=metadata)
            pyplot.close(figure)
        drawn.append(Figure(f"{name}_{kind}", f"{name}: {title}"))
    return drawn


def _kinds(settings: Sequence[Setting]) -> list[Kind]:
    kinds: list[Kind] = [
        ("categories", f"{METRIC} by category, 95%", lambda axes: _categories(axes, settings)),
        ("tokens", f"{METRIC} over context tokens", lambda axes: _tokens(axes, settings)),
    ]
    if any(run.metrics and run.metrics["usage"] for setting in settings for run, _ in setting.runs):
        kinds.append(("stages", "tokens sent and received, by stage", lambda axes: _stages(axes, settings)))
    if key := _swept(settings):
        kinds.insert(0, ("sweep", f"{METRIC} over {key}, 95%", lambda axes: _sweep(axes, settings, key)))
    return kinds


def _colours(axes: Any, count: int) -> None:
    """A colour each, also where there are more than the usual ten."""
    from matplotlib import colormaps

    if count > 10:
        axes.set_prop_cycle(color=colormaps["turbo"].resampled(count)(range(count)))


def _swept(settings: Sequence[Setting]) -> str:
    """The one key with numbers by which all settings differ; empty if there is none."""
    keys = {word.split("=")[0] for setting in settings for word in setting.told.split()}
    numbers = [setting.first.settings.get(key, "") for key in keys for setting in settings]
    is_sweep = len(keys) == 1 and len(settings) > 1 and all(number.isdigit() for number in numbers)
    return keys.pop() if is_sweep else ""


def _headline(setting: Setting) -> Cell | None:
    return setting.cell(lambda metrics: metrics["headline"].get(METRIC))


def _sweep(axes: Any, settings: Sequence[Setting], key: str) -> None:
    lines: dict[str, list[tuple[int, Cell]]] = {}
    for setting in settings:
        if cell := _headline(setting):
            name = f"{setting.first.method}, {setting.first.model}"
            lines.setdefault(name, []).append((int(setting.first.settings[key]), cell))
    for name, points in lines.items():
        points.sort(key=lambda point: point[0])
        errorbars(axes, [x for x, _ in points], [cell for _, cell in points], name, "-o")
    axes.set_xlabel(key)
    axes.set_ylabel(f"{METRIC}, %")
    legend(axes)


def errorbars(axes: Any, places: Sequence[float], cells: Sequence[Cell], label: str, style: str, **more: Any) -> None:
    """Means in percent with their intervals."""
    means = [100 * (cell["mean"] or 0.0) for cell in cells]
    ends = [
        [100 * end for end in cell["ci"]] if cell["ci"] else [mean] * 2 for cell, mean in zip(cells, means, strict=True)
    ]
    below = [mean - end[0] for mean, end in zip(means, ends, strict=True)]
    above = [end[1] - mean for mean, end in zip(means, ends, strict=True)]
    look = {"capsize": 2, "markersize": 4, "linewidth": 1.2, **more}
    axes.errorbar(places, means, yerr=[below, above], fmt=style, label=label, **look)


def _categories(axes: Any, settings: Sequence[Setting]) -> None:
    names = {id: name for setting in settings for id, name in setting.stored.dataset.categories.items()}
    present = sorted({one.category for setting in settings for one in setting.scored[0] if METRIC in one.answer})
    _colours(axes, len(settings))
    width = 0.8 / max(len(settings), 1)
    for number, setting in enumerate(settings):
        known = [(i, setting.cell(_of_category(id))) for i, id in enumerate(present)]
        shift = (number - (len(settings) - 1) / 2) * width
        found = [(i + shift, cell) for i, cell in known if cell]
        places, cells = [x for x, _ in found], [cell for _, cell in found]
        axes.bar(places, [100 * (cell["mean"] or 0.0) for cell in cells], width, label=setting.label, alpha=0.6)
        errorbars(axes, places, cells, "", "none", ecolor="0.2")
    axes.set_xticks(range(len(present)), [f"{id} {names[id]}" for id in present])
    axes.set_ylabel(f"{METRIC}, %")
    legend(axes)


def _of_category(id: int) -> Callable[[Any], Cell | None]:
    return lambda metrics: metrics["by_category"].get(str(id), {}).get(METRIC)


def _tokens(axes: Any, settings: Sequence[Setting]) -> None:
    _colours(axes, len(settings))
    for setting in settings:
        score, tokens = _headline(setting), setting.cell(lambda metrics: metrics["context_tokens"].get("total"))
        if score and tokens:
            errorbars(axes, [tokens["mean"] or 0.0], [score], setting.label, "o")
    axes.set_xlabel("context tokens (o200k_base)")
    axes.set_ylabel(f"{METRIC}, %")
    legend(axes)


def legend(axes: Any) -> None:
    """Beside the axes, where it covers nothing."""
    axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _stages(axes: Any, settings: Sequence[Setting]) -> None:
    """Stacked bars: a bar a setting, a part a stage."""
    usages = [(setting.first.metrics or {"usage": {}})["usage"] for setting in settings]
    left = [0.0] * len(settings)
    stages = sorted({stage for usage in usages for stage in usage})
    _colours(axes, len(stages))
    axes.figure.set_figheight(max(3.6, 0.22 * len(settings)))
    for stage in stages:
        sizes = [_sent(usage.get(stage, {})) for usage in usages]
        axes.barh([setting.label for setting in settings], sizes, left=left, label=stage.removeprefix("baseline:"))
        left = [a + b for a, b in zip(left, sizes, strict=True)]
    axes.set_xlabel("tokens in and out, those that the cache gave among them")
    legend(axes)


def _sent(cost: dict[str, Any]) -> float:
    return float(sum(cost.get(kind) or 0 for kind in ("prompt_tokens", "completion_tokens", "cached_tokens")))
