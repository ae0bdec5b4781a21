"""Textual gradients by the library itself: `Variable`, `TextLoss`, backward and `TGD` over one of our models.

Per failed question a loss (a critique) is carried back through what the memory made to the prompt; the gradients are
reduced to patterns, and one optimizer step a candidate writes them into the prompt.
"""

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from trimem import prompts
from trimem.concurrency import fan_out
from trimem.evolution.base import Candidate, Case, Proposal, constraints
from trimem.evolution.patterns import FOLDER, Pattern, find_patterns
from trimem.evolution.rewriting import NO_TAGS, VARIED
from trimem.llm.base import LLM, Message, Request
from trimem.prompts import Prompt


class BackwardFailed(Exception):
    """One backward call came back without text; its case is left out, and counted."""


@lru_cache(maxsize=1)
def textgrad() -> Any:
    """The library, imported on first use: it takes seconds, asks for a price list and opens a log file otherwise."""
    with (
        tempfile.TemporaryDirectory() as logs,
        _environment(TEXTGRAD_LOG_DIR=logs, LITELLM_LOCAL_MODEL_COST_MAP="True"),
    ):
        import textgrad as library

        log = logging.getLogger("textgrad")
        for handler in list(log.handlers):  # it would write every prompt to a file
            log.removeHandler(handler)
            handler.close()
        log.disabled = True
    return library


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class Engine:
    """One of our models as TextGrad calls it. No cache of TextGrad's: its keys ignore the temperature."""

    llm: LLM
    max_tokens: int
    temperature: float = 0.0
    sample: int = 0

    @property
    def model_string(self) -> str:
        return self.llm.model

    def __call__(self, prompt: str, system_prompt: str | None = None, **_: Any) -> str:
        system = (Message("system", system_prompt),) if system_prompt else ()
        request = Request(
            messages=(*system, Message("user", prompt)),
            stage="evolve",
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            sample=self.sample,
        )
        reply = self.llm.complete(request)
        if reply.status != "ok":
            raise BackwardFailed(f"{reply.status}: {reply.error}")
        return reply.text

    generate = __call__


class TextGradOptimizer:
    """TextGrad with two bounds of ours: only what several failures share moves the prompt, and by a bounded edit."""

    needs_cases = True

    def __init__(
        self, llm: LLM, candidates: int = 2, growth: float = 0.15, memory: int = 2, max_tokens: int = 8192
    ) -> None:
        self.llm, self.candidates, self.growth, self.max_tokens = llm, candidates, growth, max_tokens
        self.memory = memory

    def propose(self, prompt: Prompt, cases: Sequence[Case], history: Sequence[str]) -> Proposal:
        textgrad()  # before the threads: an import that two threads begin at once can fail
        outcomes = list(fan_out(lambda case: self._gradient(prompt, case), cases, self.llm.concurrency))
        critiques = [(case, text) for case, text in zip(cases, outcomes, strict=True) if isinstance(text, str)]
        problems = [
            f"{case.id}: {text}" for case, text in zip(cases, outcomes, strict=True) if not isinstance(text, str)
        ]
        patterns, causes = find_patterns(self.llm, prompt, critiques, self.max_tokens)
        return Proposal(
            candidates=tuple(
                self._step(prompt, patterns, history, n) for n in range(self.candidates if patterns else 0)
            ),
            critique="\n".join(pattern.advice for pattern in patterns),
            cases=tuple(dict.fromkeys(case.id for pattern in patterns for case in pattern.cases)),
            problems=(*problems, *causes),
        )

    def _gradient(self, prompt: Prompt, case: Case) -> str | BackwardFailed:
        """The feedback that reaches the prompt from one failure: three calls."""
        from textgrad.autograd.function import BackwardContext
        from textgrad.autograd.llm_ops import LLMCall

        engine = Engine(self.llm, self.max_tokens)
        variable = _whole(prompt)
        made = textgrad().Variable(
            case.made, predecessors=[variable], role_description="what the memory made, and the answer given from it"
        )
        call = LLMCall(engine, system_prompt=variable)
        back = BackwardContext(call.backward, response=made, prompt=case.given, system_prompt=variable.value)
        made.set_grad_fn(back)
        system, user = prompts.load(FOLDER / "loss.md").render({"wanted": case.wanted})
        try:
            textgrad().TextLoss(f"{system.content}\n\n{user.content}", engine=engine)(made).backward(engine)
        except BackwardFailed as error:
            return error
        return str(variable.get_gradient_text())

    def _remembered(self, history: Sequence[str]) -> list[str]:
        """Gradient memory, as constraints: TGD of textgrad 0.1.8 keeps its own and leaves it out of what it sends."""
        past = history[-self.memory :] if self.memory else ()
        return [
            f"An earlier step was told: {' '.join(critique.split())} Do not undo what it wrote." for critique in past
        ]

    def _step(self, prompt: Prompt, patterns: Sequence[Pattern], history: Sequence[str], n: int) -> Candidate:
        """One step of TGD along the patterns."""
        tg = textgrad()
        variable = _whole(prompt)
        role = f"feedback to {variable.get_role_description()}"
        gradients = {tg.Variable(pattern.advice, role_description=role): pattern.cases[0] for pattern in patterns}
        variable.gradients = gradients  # a dict keeps the order, which the set of TextGrad does not
        variable.gradients_context = {
            gradient: {
                "context": f"<LM_INPUT> {case.given} </LM_INPUT>\n\n<LM_OUTPUT> {case.made} </LM_OUTPUT>",
                "response_desc": "facts and profiles that questions are answered from",
                "variable_desc": variable.get_role_description(),
            }
            for gradient, case in gradients.items()
        }
        engine = Engine(self.llm, self.max_tokens, VARIED if n else 0.0, n)
        rules = [*constraints(prompt, self.growth), *self._remembered(history)]
        optimizer = tg.TGD([variable], engine=engine, constraints=rules)
        try:
            optimizer.step()
        except BackwardFailed as error:
            return Candidate(problem=str(error))
        except IndexError:  # TextGrad's word for a reply without its tags
            return Candidate(problem=NO_TAGS)
        return Candidate(variable.value) if variable.value else Candidate(problem=NO_TAGS)


def _whole(prompt: Prompt) -> Any:
    """A prompt as TextGrad's variable. Its optimizer would be shown only the first and last ten words of it."""
    variable = textgrad().Variable(prompt.text, role_description=f"instructions for this step: {prompt.purpose}")
    variable.get_short_value = lambda *_: variable.value
    return variable
