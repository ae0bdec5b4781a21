"""A table as Markdown, LaTeX (booktabs) and CSV."""

import csv
import io
import re
from collections.abc import Sequence

from experiments.report.tables import Table, Text

LONG = 60
"""Characters of a cell that is set in several lines."""
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "≈": r"$\approx$",
        "–": "--",
        "→": r"$\rightarrow$",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def markdown(table: Table) -> str:
    """A pipe table under its title, its notes below."""
    rows = [[_markdown_cell(cell) for cell in row] for row in table.rows]
    lines = [
        _pipes([_escaped(name) for name in table.columns]),
        _pipes(["---"] * len(table.columns)),
        *map(_pipes, rows),
    ]
    notes = [f"- {_escaped(note)}" for note in table.notes]
    return "\n".join([f"## {_escaped(table.title)}", "", *lines, "", *notes, ""])


def latex(table: Table) -> str:
    """A `table` environment for booktabs; the best bold, what is not distinguishable from it marked."""
    shape = "".join(_column(table, n) for n in range(len(table.columns)))
    body = [f"{' & '.join(_latex_cell(cell) for cell in row)} \\\\" for row in table.rows]
    notes = [f"\\par\\footnotesize {note.translate(LATEX)}" for note in table.notes]
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{table.title.translate(LATEX)}}}"]
    lines += [f"\\label{{tab:{table.name}}}", f"\\begin{{tabular}}{{{shape}}}", r"\toprule"]
    lines += [f"{' & '.join(name.translate(LATEX) for name in table.columns)} \\\\", r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *notes, r"\end{table}", ""])


def _column(table: Table, n: int) -> str:
    """How LaTeX sets a column: names to the left, numbers to the right, long texts in lines."""
    is_text = any(len(row[n].text) > LONG for row in table.rows)
    return "p{4cm}" if is_text else "l" if n < 2 else "r"


def as_csv(table: Table) -> str:
    """The cells as they are; a column `best` names the marked ones."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*table.columns, "best or tied"])
    for row in table.rows:
        marked = [f"{name} {cell.mark}" for name, cell in zip(table.columns, row, strict=True) if cell.mark]
        writer.writerow([*(_harmless(cell.text) for cell in row), "; ".join(marked)])
    return out.getvalue()


def _pipes(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*<>|])", r"\\\1", " ".join(text.split()))


def _markdown_cell(cell: Text) -> str:
    text = _escaped(cell.text)
    return f"**{text}**" if cell.mark == "best" else f"{text} ≈" if cell.mark == "tied" else text


def _latex_cell(cell: Text) -> str:
    text = cell.text.translate(LATEX)
    return f"\\textbf{{{text}}}" if cell.mark == "best" else f"{text} $\\approx$" if cell.mark == "tied" else text


def _harmless(text: str) -> str:
    """A text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
