"""The LLMLingua-2 token classifier: which words it would keep, and how its attention runs between turns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trimem.errors import BadInput

KEEP = 1
"""The classifier's label for a token that is worth keeping."""
LAYERS = slice(8, 12)
"""Layers whose attention is averaged (LightMem: 8 to 11)."""
EDGE = 3
"""Tokens at either end of the input whose attention is masked: they soak up attention whatever they say."""


class Lingua:
    """Weights from a local folder (`microsoft/llmlingua-2-bert-base-multilingual-cased-meetingbank`), on the CPU."""

    def __init__(self, folder: str) -> None:
        if not (Path(folder) / "config.json").is_file():
            raise BadInput(f"lightmem: no LLMLingua-2 weights in {folder!r}: download them and name their folder.")
        from transformers import AutoModelForTokenClassification, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForTokenClassification.from_pretrained(folder, attn_implementation="eager")
        self.model: Any = model.eval()
        self.window = int(self.model.config.max_position_embeddings)

    def length(self, text: str) -> int:
        """Tokens of the classifier, its two special ones among them."""
        return len(self.tokenizer(text)["input_ids"])

    def keep_probabilities(self, words: Sequence[str]) -> list[float]:
        """For each word the mean probability of its pieces; words beyond the window are judged window by window."""
        import torch

        kept: list[float] = []
        while len(kept) < len(words):
            batch = self._encode(words[len(kept) :])
            with torch.no_grad():
                logits = self.model(**batch).logits[0]
            probabilities = logits.softmax(-1)[:, KEEP].numpy()
            owners = batch.word_ids(0)
            whole = max((owner for owner in owners if owner is not None), default=0) + 1
            for word in range(whole):
                pieces = probabilities[[owner == word for owner in owners]]
                kept.append(float(pieces.mean()) if len(pieces) else 0.0)
        return kept

    def turn_attention(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Shape (n, n): how much the tokens of turn i attend to those of each earlier turn; rows sum to 1 (or 0)."""
        import torch

        words = [(turn, word) for turn, text in enumerate(texts) for word in text.split()]
        batch = self._encode([word for _, word in words])
        with torch.no_grad():
            layers = self.model(**batch, output_attentions=True).attentions[LAYERS]
        attention = torch.stack(layers).mean(dim=(0, 1, 2)).numpy()
        owners = np.array([-1 if word is None else words[word][0] for word in batch.word_ids(0)])
        owners[:EDGE] = owners[-EDGE:] = -1
        matrix = np.zeros((len(texts), len(texts)))
        for i in range(len(texts)):
            for j in range(i):
                block = attention[np.ix_(owners == i, owners == j)]
                matrix[i, j] = block.mean() if block.size else 0.0
        sums = matrix.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0))

    def _encode(self, words: Sequence[str]) -> Any:
        settings = {"is_split_into_words": True, "truncation": True, "max_length": self.window}
        return self.tokenizer(list(words), return_tensors="pt", **settings)
