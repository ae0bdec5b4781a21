"""Importing the library is light: what is heavy is loaded when it is first needed."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "faiss", "hydra", "omegaconf", "wandb", "sentence_transformers", "transformers", "spacy", "openai")


@pytest.mark.parametrize("statement", ["import trimem", "from trimem import TriMem; import baselines.naive_rag"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    script = f"{statement}\nimport sys\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
