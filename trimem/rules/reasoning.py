"""The shortest answer that the best-ranked sentences hold, by the question's type."""

from collections.abc import Iterator, Sequence

from trimem import people
from trimem.reasoning import ABSTAIN
from trimem.rules import spans
from trimem.rules.evidence import Scored, rank, read
from trimem.rules.question_types import Asked, read_question
from trimem.rules.spans import Span
from trimem.types import Answer, Context, Question

_READ = 12  # sentences, best first: behind them an answer is a guess
_LISTED = 4
_NEAR = 0.5  # how far behind the best an answer may stand and still belong to a list


class RulesReasoner:
    """Question and context -> a span of the context, blind to categories. No LLM."""

    def answer(self, question: Question, context: Context) -> Answer:
        """Says that nothing is mentioned where no sentence shares a word with the question or tells of who it names."""
        sentences = read(context)
        speakers = tuple(dict.fromkeys(s.speaker for s in sentences if s.speaker))
        persons = people.mentioned(question.text, speakers) or (context.plan.persons if context.plan else ())
        names = frozenset(word for person in (*speakers, *persons) for word in people.key(person).split())
        asked = read_question(question.text, names)
        known = not persons or any(s.about(person) for s in sentences for person in persons)
        ranked = [item for item in rank(sentences, asked.stems, persons) if item.overlap or not asked.stems]
        if not ranked or not known:
            return Answer(ABSTAIN, "no sentence shares a word with the question about this person", context)
        text = _text(asked, ranked[:_READ], names) or ABSTAIN
        return Answer(text, f"{asked.kind}: {ranked[0].sentence.text}", context)


def _text(asked: Asked, ranked: Sequence[Scored], names: frozenset[str]) -> str | None:
    if asked.kind == "when":
        return spans.when(ranked)
    if asked.kind == "yes/no":
        return spans.polarity(ranked[0], asked.unsure)
    found = [span for item in ranked for span in _candidates(asked, item, names) if span.text]
    found = found or [span for item in ranked for span in spans.of_predicates(item, names)]
    found.sort(key=lambda span: -span.score)
    if asked.plural and asked.kind != "how many":
        near = [span.text for span in found if span.score > found[0].score - _NEAR]
        return ", ".join(list(dict.fromkeys(near))[:_LISTED])
    return found[0].text if found else None


def _candidates(asked: Asked, item: Scored, names: frozenset[str]) -> Iterator[Span]:
    match asked.kind:
        case "who":
            yield from spans.of_people(item, names)
        case "where":
            yield from spans.of_places(item, names)
        case "how many":
            yield from spans.of_numbers(item, asked.noun)
        case "how long":
            yield from spans.of_durations(item)
        case "why":
            yield from spans.of_reasons(item)
        case "how":
            yield from spans.of_predicates(item, names)
        case _:
            yield from spans.of_arguments(item, asked, names)
            yield from spans.of_things(item, asked, names)
