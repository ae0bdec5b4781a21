"""ROUGE-L (Lin 2004): F1 over the longest common subsequence, by Google's rouge-score with Porter stems; 0-1."""

from functools import lru_cache
from typing import Any


def rouge_l(prediction: str, gold: str) -> float:
    """Lower case, letters and digits of ASCII; 0 if either side has no token."""
    return float(_scorer().score(gold, prediction)["rougeL"].fmeasure)


@lru_cache(maxsize=1)
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=True)
