"""LightMem (arXiv 2510.18866): compress, buffer by topic, store facts softly, update offline."""

from baselines.lightmem.memory import LightMem

__all__ = ["LightMem"]
