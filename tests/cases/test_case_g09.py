"""Case g09: faiss and torch in one process."""

import subprocess
import sys
from pathlib import Path

import pytest

SEARCH = """
from trimem.vectors import VectorIndex
index = VectorIndex(384)
index.add(["a"], __import__("numpy").ones((1, 384), "float32"))
"""
ENCODE = """
from trimem.embedding import SentenceTransformerEmbedder
vectors = SentenceTransformerEmbedder(device="cpu").encode(["snow fell", "rain"])
"""


@pytest.mark.parametrize("order", [SEARCH + ENCODE, ENCODE + SEARCH])
def test_faiss_and_torch_live_in_one_process_in_either_order(order: str) -> None:
    subprocess.run([sys.executable, "-c", order + "\nassert len(index.search(vectors, 1)) == 2"], check=True)
    package = Path(__file__).parents[2] / "trimem"
    assert not any("KMP_DUPLICATE_LIB_OK" in file.read_text(encoding="utf-8") for file in package.rglob("*.py"))
