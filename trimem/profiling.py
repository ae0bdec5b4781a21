"""Facts about a person -> that person's profile, by a language model (paper, section on profiles; prompt `profile`)."""

from collections.abc import Sequence

from pydantic import PositiveInt

from trimem import prompts, times
from trimem.llm.base import LLM, Request
from trimem.llm.structured import ask
from trimem.rendering import one_line
from trimem.replies import ProfileReply
from trimem.types import Fact, Profile


class LLMProfiler:
    """One call a person and batch of facts; the reply is the whole profile.

    If the call fails, the profile comes back as it was, without the new facts' ids, so that the next build tries again.
    """

    def __init__(
        self, llm: LLM, prompt: str = "profile", min_facts: PositiveInt = 3, max_tokens: PositiveInt = 2048
    ) -> None:
        self.llm = llm
        self.prompt = prompts.load(prompt)
        self.min_facts = min_facts
        self.max_tokens = max_tokens

    @property
    def concurrency(self) -> int:
        """How many people may be asked for at once."""
        return self.llm.concurrency

    def update(self, profile: Profile | None, person: str, facts: Sequence[Fact]) -> Profile:
        before = profile or Profile(person)
        outcome = ask(self.llm, self._request(before, facts))
        if outcome.value is None:
            return before
        sections = {item.section: one_line(item.text) for item in outcome.value.sections if item.text.strip()}
        return Profile(person, sections, (*before.fact_ids, *(fact.id for fact in facts)))

    def _request(self, profile: Profile, facts: Sequence[Fact]) -> Request:
        known = profile.text if profile.sections else "(no profile yet)"
        lines = [f"- {f'({times.say(fact.time)}) ' if fact.time else ''}{fact.statement}" for fact in facts]
        return Request(
            messages=self.prompt.render({"person": profile.person, "profile": known, "facts": "\n".join(lines)}),
            stage="profile",
            schema=ProfileReply,
            fields={
                "person": profile.person,
                "profile": profile.text if profile.sections else "",
                "facts": [fact.statement for fact in facts],
                "fact_ids": [fact.id for fact in facts],
            },
            max_tokens=self.max_tokens,
        )
