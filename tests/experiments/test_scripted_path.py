"""The whole path on the scripted model: a better extraction prompt gives better facts, and better answers."""

from pathlib import Path
from typing import Any

from experiments.data.locomo import load_sample
from experiments.data.sample import FACTS
from experiments.metrics.extraction import ExtractionScores, extraction_scores
from trimem import TriMem
from trimem.embedding import HashEmbedder
from trimem.extraction import LLMExtractor
from trimem.llm.scripted import Scripted
from trimem.reasoning import LLMReasoner

PROMPT = """---
purpose: window of turns -> facts
fields: speakers dialogue
schema: ExtractedFacts
---
List the facts of the dialogue as JSON. {rules}
=== data ===
{{speakers}}
{{dialogue}}
"""
TRAIN = "sample-train"


def run(folder: Path, prompt: str) -> tuple[int, ExtractionScores]:
    """Questions of the train conversation that are answered to the letter, and the scores of the facts behind them."""
    model = Scripted(FACTS)
    dataset, golds = load_sample()
    (conversation,) = (c for c in dataset.conversations if c.id == TRAIN)
    parts: dict[str, Any] = {"extractor": LLMExtractor(model, prompt), "reasoner": LLMReasoner(model)}
    with TriMem(folder, model, HashEmbedder(dim=256), **parts) as memory:
        report = memory.build(conversation)
        assert (report.turns, report.failed_windows, report.facts_without_source) == (70, 0, 0)
        right = 0
        for question in dataset.questions[TRAIN]:
            answer = memory.answer(question)
            assert (answer.status, answer.problems) == ("ok", ())
            right += answer.text == golds[question.id].answer
        return right, extraction_scores(memory.store.facts(), model.script.conversations[TRAIN])


def test_each_rule_added_to_the_prompt_answers_more_questions(tmp_path: Path) -> None:
    rules = ["", "Turn relative dates into absolute ones.", "Keep numbers and modifiers.", "One fact per entry."]
    results = []
    for n in range(len(rules)):
        prompt = tmp_path / f"rules{n}.md"
        prompt.write_text(PROMPT.format(rules=" ".join(rules[: n + 1])), encoding="utf-8")
        results.append(run(tmp_path / f"memory{n}", str(prompt)))
    right = [count for count, _ in results]
    assert right == sorted(right) and right[0] + 8 <= right[2]
    recalls = [scores.recall for _, scores in results]
    assert recalls == sorted(recalls) and recalls[0] < 0.7


def test_the_shipped_prompt_gets_every_fact_and_time(tmp_path: Path) -> None:
    right, scores = run(tmp_path / "memory", "extract")
    assert scores.recall == scores.time == 1.0
    assert right >= 24
