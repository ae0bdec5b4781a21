"""The mean of a judge's verdicts, honest about answers that it failed to judge: those are neither right nor wrong."""

from collections.abc import Mapping

from experiments.metrics.stats import Cell

MOST_NOT_JUDGED = 0.02
"""Above this fraction of answers without a verdict there is no mean."""

Verdicts = Mapping[str, Mapping[str, bool | None]]
"""By metric (`judge_strict:<model>:<hash of its prompt>`) and question id; None or absent: not judged."""


class JudgedCell(Cell):
    """A cell whose `n` counts the answers judged; `bounds` are its mean if all others were wrong, or all right."""

    not_judged: int
    bounds: list[float]


def too_few_judged(cells: Mapping[str, Cell]) -> list[str]:
    """What to say of each judge that left so many answers without a verdict that it has no mean."""
    lacking = {name: cell.get("not_judged") for name, cell in cells.items() if cell["mean"] is None}
    return [f"{name}: {missing} answers not judged" for name, missing in lacking.items() if missing]


def judged_cell(cell: Cell, not_judged: int) -> JudgedCell:
    """`cell` (over the answers judged) in the light of those that were not: too many, and it has no mean."""
    right, asked = (cell["mean"] or 0.0) * cell["n"], cell["n"] + not_judged
    bounds = [right / asked, (right + not_judged) / asked] if asked else [0.0, 1.0]
    if not_judged > MOST_NOT_JUDGED * asked:
        return {"mean": None, "n": cell["n"], "ci": None, "not_judged": not_judged, "bounds": bounds}
    return {**cell, "not_judged": not_judged, "bounds": bounds}
