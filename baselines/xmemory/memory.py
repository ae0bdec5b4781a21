"""xMemory itself: its settings, and the way down from themes to messages for a question."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import NonNegativeInt, PositiveInt

from baselines.base import as_context, load_prompts, nearest
from baselines.xmemory.gate import Gate, Mode
from baselines.xmemory.selection import min_max, representatives
from baselines.xmemory.themes import Shape
from baselines.xmemory.writing import XMemoryWriter
from trimem.errors import BadInput
from trimem.llm.base import LLM
from trimem.protocols import Embedder, Reasoner
from trimem.rendering import turn_item
from trimem.types import Context, Item, Plan, Question


class XMemory(XMemoryWriter):
    """Four levels (messages, episodes, semantics, themes), read from the top and only as deep as lowers uncertainty.

    Build: 1. each message may close the open episode (one call, at most `max_episode` messages); 2. a closed episode is
    told in one call; 3. predict and calibrate: it is predicted from the statements known (similarity from
    `relevant_similarity`) and only what the prediction lacked becomes new semantics; 4. semantics gather in themes of
    at most `theme_size`, attached by similarity, then split and merged where the objective gains (`themes.py`).

    Read: 5. of the themes that hold the `pool` most similar semantics, representatives (`theme_limit`); of their pool
    members, again (`semantic_limit`); 6. the episodes behind them and the most similar ones, best `probes` of them;
    7. the uncertainty gate keeps an episode, or reads its messages too (`gate.py`). Themes serve the gate alone.

    Defaults are those of the authors' code of February 2026. Deviations: an episode's date is its session's, not the
    model's; the cap on an episode really holds, and a boundary is decided with the newest message in sight (in their
    code neither is so); a theme is summed up once its members are settled, as earlier summaries decide nothing; a
    statement learnt again word for word gains a source; building is in order, where theirs races; the image search
    query is not shown. `boundary=heuristic` (session ends, or adjacent turns unlike each other) and the gate's
    `fallback`, where the model tells no log-probabilities, are ours.
    """

    prompts = load_prompts(
        "xmemory", "boundary", "episode", "semantics", "predict", "compare", "theme", "probe", "verdict"
    )

    def __init__(
        self,
        directory: Path,
        llm: LLM,
        embedder: Embedder,
        reasoner: Reasoner,
        boundary: Literal["llm", "heuristic"] = "llm",
        boundary_similarity: float = 0.1,
        max_episode: PositiveInt = 20,
        relevant: PositiveInt = 10,
        relevant_similarity: float = 0.7,
        neighbours: NonNegativeInt = 10,
        attach: float = 0.62,
        attach_if_room: float = 0.52,
        theme_size: PositiveInt = 12,
        split_link: float = 0.66,
        split_below: float = 0.72,
        merge: float = 0.78,
        alpha: float = 0.7,
        pool: PositiveInt = 40,
        theme_limit: PositiveInt = 5,
        semantic_limit: PositiveInt = 20,
        episode_pool: PositiveInt = 10,
        parent_weight: float = 0.5,
        probes: PositiveInt = 10,
        gate: Mode = "logprobs",
        fallback: Mode = "topk",
        fallback_top: PositiveInt = 5,
        keep: float = -0.40,
        expand: float = 0.25,
        probe_tokens: PositiveInt = 20,
    ) -> None:
        super().__init__(directory, llm, embedder, reasoner)
        if boundary not in ("llm", "heuristic"):
            raise BadInput(f"xmemory: boundary={boundary}: choose llm or heuristic.")
        self.boundary, self.boundary_similarity, self.max_episode = boundary, boundary_similarity, max_episode
        self.relevant, self.relevant_similarity, self.neighbours = relevant, relevant_similarity, neighbours
        self.shape = Shape(attach, attach_if_room, theme_size, split_link, split_below, merge=merge)
        self.alpha, self.pool = alpha, pool
        self.theme_limit, self.semantic_limit = theme_limit, semantic_limit
        self.episode_pool, self.parent_weight, self.probes = episode_pool, parent_weight, probes
        prompts = (self.prompts["probe"], self.prompts["verdict"])
        self.gate = Gate(llm, *prompts, gate, fallback, keep, expand, probe_tokens, fallback_top)

    def retrieve(self, question: Question) -> Context:
        """Semantics, the episodes that pass the gate, and the messages of those that are read in full (rank 0)."""
        query = self._embed(question.text, query=True)
        ids, vectors = self.journal.vectors("semantic")
        scores = dict(nearest(query, ids, vectors, len(ids)))
        themes, chosen = self._from_the_top(list(scores)[: self.pool], scores, query)
        semantics = self.journal.records("semantic")
        facts = [
            Item("fact", id, semantics[id]["text"], tuple(semantics[id]["sources"]), scores[id], rank)
            for rank, id in enumerate(chosen, start=1)
        ]
        parents = {id: scores[s] for s in reversed(chosen) for id in semantics[s]["episodes"]}
        episodes = self._episodes(query, parents, len(facts))
        passed = self.gate.choose(question, [*themes, *(fact.text for fact in facts)], episodes)
        turns = {turn.id: turn for turn in self.journal.turns()}
        read = [item for item in episodes if item.id in passed.kept]
        full = dict.fromkeys(id for item in read if item.id in passed.expanded for id in item.sources)
        messages = [turn_item(turn) for id, turn in turns.items() if id in full]
        return as_context([*facts, *read, *messages], plan=Plan((question.text,), problems=passed.problems))

    def _from_the_top(
        self, pool: Sequence[str], scores: Mapping[str, float], query: Any
    ) -> tuple[list[str], list[str]]:
        """Summaries of the representative themes, and the representative semantics among the pool's in them."""
        themes, members = self.journal.records("theme"), set(pool)
        candidates = [id for id, theme in themes.items() if members.intersection(theme["members"])]
        summaries = self.journal.vectors("summary")
        likeness = dict(nearest(query, *summaries, len(summaries[0])))
        near = {id: theme["near"] for id, theme in themes.items()}
        best = representatives(candidates, near, likeness, self.theme_limit, self.alpha)
        inside = {id for theme in best for id in themes[theme]["members"]}
        edges = {id: semantic["near"] for id, semantic in self.journal.records("semantic").items()}
        left = [id for id in pool if id in inside]
        chosen = representatives(left, edges, scores, self.semantic_limit, self.alpha)
        return [themes[theme]["summary"] for theme in best], chosen

    def _episodes(self, query: Any, parents: Mapping[str, float], ranked: int) -> list[Item]:
        """The episodes to probe, best first: similarity (0-1) and the best score of a semantic that came from them."""
        records = self.journal.records("episode")
        ids, vectors = self.journal.vectors("episode")
        likeness = dict(nearest(query, ids, vectors, len(ids)))
        pool = list(dict.fromkeys([*list(likeness)[: self.episode_pool], *parents]))
        similar = dict(zip(pool, min_max(likeness[id] for id in pool), strict=True))
        priority = {id: similar[id] + self.parent_weight * parents.get(id, 0.0) for id in pool}
        best = sorted(pool, key=lambda id: -priority[id])[: self.probes]
        return [
            Item("episode", id, _told(records[id]), tuple(records[id]["sources"]), priority[id], ranked + n)
            for n, id in enumerate(best, start=1)
        ]


def _told(episode: Mapping[str, Any]) -> str:
    return f"{episode['title']} ({episode['time']}): {episode['content']}"
