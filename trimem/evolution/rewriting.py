"""The control: the same model rewrites the prompt as often, under the same rules, and sees no failure."""

from collections.abc import Sequence

from trimem import prompts
from trimem.evolution.base import Candidate, Case, Proposal, constraints
from trimem.evolution.patterns import FOLDER
from trimem.llm.base import LLM, Request
from trimem.prompts import Prompt

OPEN, CLOSE = "<IMPROVED_VARIABLE>", "</IMPROVED_VARIABLE>"
NO_TAGS = f"the reply has no text between {OPEN} and {CLOSE}"
VARIED = 0.7
"""Temperature of all candidates but the first, which would otherwise be the same text again."""


class RewriteOptimizer:
    """Rewrites without failures. What TextGrad gains is told over what this gains."""

    needs_cases = False

    def __init__(self, llm: LLM, candidates: int = 2, growth: float = 0.15, max_tokens: int = 8192) -> None:
        self.llm, self.candidates, self.growth, self.max_tokens = llm, candidates, growth, max_tokens

    def propose(self, prompt: Prompt, cases: Sequence[Case], history: Sequence[str]) -> Proposal:  # noqa: ARG002
        template = prompts.load(FOLDER / "rewrite.md")
        rules = "\n".join(f"- {rule}" for rule in constraints(prompt, self.growth))
        messages = template.render({"prompt": prompt.text, "purpose": prompt.purpose, "constraints": rules})
        sample = len(history) * self.candidates  # each step asks anew, also where the prompt stayed the same
        requests = [
            Request(messages, "evolve", max_tokens=self.max_tokens, temperature=VARIED if n else 0.0, sample=n)
            for n in range(sample, sample + self.candidates)
        ]
        replies = self.llm.complete_many(requests)
        texts = [tagged(r.text) if r.status == "ok" else Candidate(problem=f"{r.status}: {r.error}") for r in replies]
        return Proposal(tuple(texts), critique="rewritten without a look at failures")


def tagged(text: str) -> Candidate:
    """The text of the first pair of tags."""
    _, opened, rest = text.partition(OPEN)
    inside, closed, _ = rest.partition(CLOSE)
    return Candidate(inside.strip()) if opened and closed and inside.strip() else Candidate(problem=NO_TAGS)
