"""The uncertainty gate: read an episode unless it leaves the reader less sure; in full if it makes much surer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from trimem.errors import BadInput
from trimem.llm.base import LLM, Request
from trimem.llm.structured import ask
from trimem.prompts import Prompt
from trimem.rendering import one_line
from trimem.replies import ReplySchema
from trimem.types import Item, Question

Mode = Literal["logprobs", "yesno", "topk"]
EARLY, LATE = (3, 1), (10, 2)
"""(probes, misses): the gate stops where so many of the first so many episodes did not help."""


class Verdict(ReplySchema):
    """Reply to `xmemory_verdict`."""

    helps: bool
    detail: bool = Field(default=False)


@dataclass(frozen=True)
class Passed:
    """Episodes to read, those of them to read in full, and what the gate had to do without."""

    kept: tuple[str, ...]
    expanded: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class Gate:
    """Information gain of an episode = H without it - H with it, where H is the mean negative log-probability of at
    most `tokens` greedy tokens of an answer. Kept above `keep`, read in full above `expand` (Llama's thresholds).

    `mode="yesno"` asks for a verdict instead, `"topk"` takes the first `top` episodes and asks nothing; a server that
    tells no log-probabilities puts `fallback` in the place of `"logprobs"`, which is named among the problems.
    """

    def __init__(
        self,
        llm: LLM,
        probe: Prompt,
        verdict: Prompt,
        mode: Mode,
        fallback: Mode,
        keep: float,
        expand: float,
        tokens: int,
        top: int,
    ) -> None:
        if mode not in ("logprobs", "yesno", "topk") or fallback not in ("yesno", "topk"):
            raise BadInput(f"xmemory: gate is logprobs, yesno or topk, fallback yesno or topk; got {mode}, {fallback}.")
        self.llm, self.probe, self.verdict = llm, probe, verdict
        self.mode, self.fallback = mode, fallback
        self.keep, self.expand, self.tokens, self.top = keep, expand, tokens, top

    def choose(self, question: Question, known: Sequence[str], episodes: Sequence[Item]) -> Passed:
        """Which of `episodes` (best first) to read beside what is `known` (themes and semantics)."""
        if not episodes:
            return Passed(())
        if self.mode == "logprobs":
            before = self._uncertainty(question, known)
            if before is not None:
                return self._walk(episodes, lambda episode: self._gain(question, known, episode, before))
            problem = (f"{self.llm.model} tells no log-probabilities: gate={self.fallback}",)
            return self._without(self.fallback, question, known, episodes, problem)
        return self._without(self.mode, question, known, episodes, ())

    def _without(
        self, mode: Mode, question: Question, known: Sequence[str], episodes: Sequence[Item], problems: tuple[str, ...]
    ) -> Passed:
        if mode == "topk":
            return Passed(tuple(item.id for item in episodes[: self.top]), (), problems)
        passed = self._walk(episodes, lambda episode: self._judged(question, known, episode))
        return Passed(passed.kept, passed.expanded, problems + passed.problems)

    def _walk(self, episodes: Sequence[Item], judge: Callable[[Item], tuple[bool, bool]]) -> Passed:
        """Judge one episode after the other, (keep, expand), until too many were of no use; never keep none."""
        kept, expanded, misses = list[str](), list[str](), 0
        for probes, episode in enumerate(episodes, start=1):
            keep, expand = judge(episode)
            misses += not keep
            kept += [episode.id] * keep
            expanded += [episode.id] * (keep and expand)
            if any(probes <= first and misses >= enough for first, enough in (EARLY, LATE)):
                break
        return Passed(tuple(kept or [episodes[0].id]), tuple(expanded))

    def _gain(self, question: Question, known: Sequence[str], episode: Item, before: float) -> tuple[bool, bool]:
        after = self._uncertainty(question, [*known, episode.text])
        gain = before - after if after is not None else 0.0
        return gain > self.keep, gain > self.expand

    def _uncertainty(self, question: Question, known: Sequence[str]) -> float | None:
        """Mean negative log-probability of a short answer's tokens; None where the server does not tell."""
        request = Request(
            messages=self.probe.render({"context": "\n".join(known), "question": one_line(question.text)}),
            stage="baseline:xmemory:probe",
            fields={"question": question.text, "facts": list(known)},
            max_tokens=self.tokens,
            logprobs=True,
        )
        logprobs = self.llm.complete(request).logprobs
        return -sum(logprobs) / len(logprobs) if logprobs else None

    def _judged(self, question: Question, known: Sequence[str], episode: Item) -> tuple[bool, bool]:
        """The model's own verdict; one that cannot be read keeps the episode."""
        values = {"context": "\n".join(known), "episode": episode.text, "question": one_line(question.text)}
        request = Request(
            messages=self.verdict.render(values),
            stage="baseline:xmemory:verdict",
            schema=Verdict,
            fields={"question": question.text, "facts": [*known, episode.text]},
            max_tokens=64,
        )
        said = ask(self.llm, request).value or Verdict(helps=True)
        return said.helps, said.detail
