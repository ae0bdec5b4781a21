"""The lineage as a tree: each version below the one that it was made from, with what it changed."""

from pathlib import Path

from rich.console import Console
from rich.tree import Tree

from experiments.console import WIDTH
from experiments.evolution.lineage import Version, read_lineage


def show_tree(directory: Path) -> None:
    """Print the tree of an evolution's directory."""
    lineage = read_lineage(directory / "lineage.jsonl")
    console = Console(markup=False, highlight=False)
    for name in dict.fromkeys(version.prompt for version in lineage):
        tree = tree_of(name, [version for version in lineage if version.prompt == name])
        (console if console.is_terminal else Console(markup=False, highlight=False, width=WIDTH)).print(tree)


def tree_of(prompt: str, versions: list[Version]) -> Tree:
    """A branch a candidate; steps that gave none are leaves without a name."""
    seed = versions[0].parent
    root = Tree(f"{prompt} {seed} (seed)")
    nodes = {seed: root}
    for version in versions:
        kept = "kept" if version.accepted else "not kept"
        branch = nodes[version.parent].add(f"step {version.step}: {version.id or '-'} {kept}: {version.reason}")
        for line in version.diff.splitlines():
            branch.add(line)
        if version.accepted:
            nodes[version.id] = branch
    return root
