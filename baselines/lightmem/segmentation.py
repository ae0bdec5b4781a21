"""Light1, second half: the sensory buffer is cut where the topic changes; Light2: segments fill the short-term one."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from baselines.lightmem.lingua import Lingua
from trimem.protocols import Embedder, Vectors
from trimem.rendering import turn_item
from trimem.tokens import count_tokens
from trimem.types import Turn

Segment = tuple[Turn, ...]
THRESHOLDS = (0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50)
"""Similarity of adjacent turns below which the topic changes; raised until something falls below."""
NEAR = 3
"""Turns between a change of topic and the attention peak that confirms it, at most."""


class Segmenter:
    """Where the topic changes: adjacent turns unlike each other (B2), near a peak of attention (B1) if there is a
    model to tell. Without one (`segmenter=embedding`) every B2 counts."""

    def __init__(self, embedder: Embedder, lingua: Lingua | None = None) -> None:
        self.embedder = embedder
        self.lingua = lingua

    def boundaries(self, turns: Sequence[Turn]) -> list[int]:
        """Positions (1 … n-1) at which a new segment begins."""
        if len(turns) < 2:
            return []
        texts = [turn.content for turn in turns]
        changes = topic_changes(self.embedder.encode(texts))
        peaks = attention_peaks(self.lingua.turn_attention(texts)) if self.lingua else []
        confirmed = [at for at in changes if any(abs(at - peak) <= NEAR for peak in peaks)]
        return confirmed or changes


def topic_changes(vectors: Vectors) -> list[int]:
    """B2: positions whose turn is less similar to the one before than the lowest threshold that finds any."""
    similarity = (vectors[1:] * vectors[:-1]).sum(axis=1)
    for threshold in THRESHOLDS:
        found = np.flatnonzero(similarity < threshold - 1e-6)
        if len(found):
            return [int(at) + 1 for at in found]
    return []


def attention_peaks(matrix: npt.NDArray[np.float64]) -> list[int]:
    """B1: local maxima of the sub-diagonal, which is how much each turn attends to the one before."""
    toward = np.diag(matrix, k=-1)
    inner = range(1, len(toward) - 1)
    return [at + 1 for at in inner if toward[at] > toward[at - 1] and toward[at] > toward[at + 1]]


def segments_of(turns: Sequence[Turn], size: int, boundaries: Callable[[Sequence[Turn]], list[int]]) -> list[Segment]:
    """The stream of turns as topic segments, by a buffer of `size` tokens.

    A turn that would overflow the buffer has it cut: what lies before the last boundary leaves (all of it, where there
    is none, so that a turn longer than the buffer cannot block it), the rest waits for what follows.
    """
    segments: list[Segment] = []
    buffer: list[Turn] = []
    for turn in turns:
        while buffer and tokens_of([*buffer, turn]) > size:
            cuts = boundaries(buffer) or [len(buffer)]
            segments += split(buffer[: cuts[-1]], cuts[:-1])
            buffer = buffer[cuts[-1] :]
        buffer.append(turn)
    return segments + split(buffer, boundaries(buffer))


def batches_of(segments: Sequence[Segment], size: int) -> list[list[Segment]]:
    """Segments gathered, in order, up to `size` tokens: each batch is one extraction call."""
    batches: list[list[Segment]] = []
    room = 0
    for segment in segments:
        tokens = tokens_of(segment)
        if tokens > room:
            batches.append([])
            room = size
        batches[-1].append(segment)
        room -= tokens
    return batches


def split(turns: Sequence[Turn], cuts: Sequence[int]) -> list[Segment]:
    """The turns in pieces that begin at 0 and at each cut."""
    edges = [0, *cuts, len(turns)]
    return [tuple(turns[start:stop]) for start, stop in pairwise(edges) if stop > start]


def tokens_of(turns: Sequence[Turn]) -> int:
    """o200k_base tokens of the turns as they are rendered."""
    return sum(count_tokens(turn_item(turn).text) for turn in turns)
