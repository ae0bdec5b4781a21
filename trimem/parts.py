"""The five parts as they are without a word from the user: the method's with a language model, the rules without."""

from typing import Any

from trimem.embedding import SentenceTransformerEmbedder
from trimem.llm.base import LLM
from trimem.protocols import Embedder, Extractor, Planner, Profiler, Reasoner, Retriever


class Parts:
    """Makes default parts on demand, around one model and one embedder. Loads nothing before it is needed."""

    def __init__(
        self, llm: LLM | str | None, embedder: Embedder | None, use_raw: bool, use_profiles: bool, use_reflection: bool
    ) -> None:
        self.llm = _named(llm) if isinstance(llm, str) else llm
        self.embedder: Embedder = embedder or SentenceTransformerEmbedder()
        self.toggles: dict[str, Any] = {"use_raw": use_raw, "use_profiles": use_profiles}
        self.use_reflection = use_reflection

    def extractor(self) -> Extractor:
        from trimem.extraction import LLMExtractor
        from trimem.rules.extraction import RulesExtractor

        return LLMExtractor(self.llm) if self.llm else RulesExtractor()

    def profiler(self) -> Profiler:
        from trimem.profiling import LLMProfiler
        from trimem.rules.profiling import RulesProfiler

        return LLMProfiler(self.llm) if self.llm else RulesProfiler()

    def planner(self) -> Planner:
        from trimem.planning import LLMPlanner
        from trimem.rules.planning import RulesPlanner

        return LLMPlanner(self.llm) if self.llm else RulesPlanner()

    def retriever(self) -> Retriever:
        from trimem.reflection import ReflectiveRetriever
        from trimem.retrieval import HybridRetriever

        if self.llm and self.use_reflection:
            return ReflectiveRetriever(self.llm, self.embedder, use_reflection=True, **self.toggles)
        return HybridRetriever(self.embedder, **self.toggles)

    def reasoner(self) -> Reasoner:
        from trimem.reasoning import LLMReasoner
        from trimem.rules.reasoning import RulesReasoner

        return LLMReasoner(self.llm) if self.llm else RulesReasoner()


def _named(model: str) -> LLM:
    from trimem.llm.openai_compatible import OpenAICompatible

    return OpenAICompatible(model)
