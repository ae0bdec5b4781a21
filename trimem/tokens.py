"""Counting tokens of contexts: o200k_base for every method and backbone, so that budgets compare."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding("o200k_base")


def count_tokens(text: str) -> int:
    """Number of o200k_base tokens of `text`."""
    return len(_encoding().encode_ordinary(text))
