"""What CONTRIBUTING.md promises: a memory of your own is one file and one YAML."""

import subprocess
import sys
from pathlib import Path

from tests.experiments.harness import ROOT

MEMORY = '''
from trimem import Answer, BuildReport, Context, Item

class LastWords:
    """Remembers the last turn."""

    def __init__(self, directory, reasoner, turns: int = 1):
        self.reasoner, self.turns = reasoner, turns

    def build(self, conversation):
        self.last = conversation.turns[-self.turns:]
        return BuildReport(turns=len(self.last))

    def retrieve(self, question):
        items = tuple(Item("turn", t.id, f"{t.speaker}: {t.content}", (t.id,)) for t in self.last)
        return Context(items, tokens={"total": 9})

    def answer(self, question):
        return self.reasoner.answer(question, self.retrieve(question))
'''
YAML = """
# python -m experiments.run method=last_words
_target_: last_words.LastWords
_partial_: true
reasoner: ${reasoner}
turns: 2 # remembered
"""


def test_one_file_and_one_yaml_make_a_memory(tmp_path: Path) -> None:
    (tmp_path / "last_words.py").write_text(MEMORY)
    (tmp_path / "conf" / "method").mkdir(parents=True)
    (tmp_path / "conf" / "method" / "last_words.yaml").write_text(YAML)
    command = ["method=last_words", f"hydra.searchpath=[file://{tmp_path / 'conf'}]", "dataset.limit=2"]
    done = subprocess.run(
        [sys.executable, "-m", "experiments.run", *command, "tracker=none", f"paths.runs={tmp_path / 'runs'}"],
        cwd=ROOT,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin", "TRIMEM_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "LastWords" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("run: ")
