"""Light3: the offline update. Later facts complete or overrule earlier ones, long after both were stored."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from baselines.base import nearest
from baselines.journal import Journal
from trimem.concurrency import fan_out
from trimem.llm.structured import Outcome
from trimem.protocols import Vectors
from trimem.rendering import one_line
from trimem.replies import ReplySchema

Entry = Mapping[str, Any]


class LightUpdate(ReplySchema):
    """Reply to `lightmem_update`."""

    action: Literal["update", "delete", "ignore"]
    new_memory: str = Field(default="", max_length=1200)


class OfflineUpdate:
    """One call for each entry with sources: later entries that have it among the `queue` earlier ones most similar to
    them, with a similarity of at least `threshold`.

    The calls are independent, `concurrency` at once: they see the entries as they were before the round, whose
    decisions are kept as they come and applied together. An entry is asked about again only when it has new sources.
    `ask` and `embed` are the memory's own.
    """

    def __init__(
        self,
        journal: Journal,
        ask: Callable[..., Outcome[Any]],
        embed: Callable[[str], Vectors],
        concurrency: int,
        queue: int,
        threshold: float,
        reembed: bool,
    ) -> None:
        self.journal, self.ask, self.embed, self.concurrency = journal, ask, embed, concurrency
        self.queue, self.threshold, self.reembed = queue, threshold, reembed

    def run(self) -> None:
        entries = self.journal.records("entry")
        decided, applied = self.journal.records("decision"), self.journal.records("update")
        todo = [
            (target, sources)
            for target, sources in self.sources(entries).items()
            if target not in decided and not set(sources).issubset(applied.get(target, {"sources": ()})["sources"])
        ]

        def decide(job: tuple[str, list[str]]) -> Outcome[LightUpdate]:
            target, sources = job
            return self._decide(target, entries[target], [entries[source] for source in sources])

        for (target, sources), outcome in zip(todo, fan_out(decide, todo, self.concurrency), strict=True):
            said = outcome.value or LightUpdate(action="ignore")
            noted = {"sources": sources, "problems": list(outcome.problems)}
            with self.journal.step():
                self.journal.put("decision", target, said.model_dump() | noted)
        self._apply(entries)

    def sources(self, entries: Mapping[str, Entry]) -> dict[str, list[str]]:
        """Ids of the later entries that bear on each entry, for those that have any."""
        ids, vectors = self.journal.vectors("entry")
        order = sorted(range(len(ids)), key=lambda row: (entries[ids[row]]["position"], row))
        ids, vectors = [ids[row] for row in order], vectors[order]
        sources: dict[str, list[str]] = {}
        for later in range(1, len(ids)):
            for earlier, score in nearest(vectors[later], ids[:later], vectors[:later], self.queue):
                if score >= self.threshold:
                    sources.setdefault(earlier, []).append(ids[later])
        return sources

    def _decide(self, id: str, target: Entry, sources: Sequence[Entry]) -> Outcome[LightUpdate]:
        values = {"target": shown(target), "sources": "\n".join(map(shown, sources))}
        fields = {"memories": [{"id": id, "text": target["text"]}], "facts": [source["text"] for source in sources]}
        return self.ask("update", LightUpdate, values, fields)

    def _apply(self, entries: Mapping[str, Entry]) -> None:
        """An updated entry rests on its sources too; the vector of its old text stays unless `reembed`."""
        with self.journal.step():
            for target, decision in self.journal.records("decision").items():
                entry, text = entries[target], one_line(decision["new_memory"])
                if decision["action"] == "delete":
                    self.journal.remove("entry", target)
                elif decision["action"] == "update" and text:
                    joined = [*entry["sources"], *(id for s in decision["sources"] for id in entries[s]["sources"])]
                    changed = {**entry, "text": text, "sources": list(dict.fromkeys(joined))}
                    vector = self.embed(text) if self.reembed else None
                    self.journal.put("entry", target, changed, vector)
                self.journal.put("update", target, decision)
                self.journal.remove("decision", target)


def shown(entry: Entry) -> str:
    """An entry with its speaker and the day and weekday on which it was recorded."""
    said = ", ".join(part for part in (entry["speaker"], entry["said"]) if part)
    return f"[{said or 'undated'}] {entry['text']}"
