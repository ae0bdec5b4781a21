"""MemoryOS: short-term queue, mid-term segments with heat, long-term persona. `memory` tells how it works."""

from baselines.memoryos.memory import MemoryOS

__all__ = ["MemoryOS"]
