"""xMemory (arXiv 2602.02007): messages, episodes, semantics, themes; read from the top down, as deep as needed."""

from baselines.xmemory.memory import XMemory

__all__ = ["XMemory"]
