"""Case f07: a long turn that is split in pieces."""

from datetime import datetime

from tests.trimem.llm.fakes import Canned
from trimem.extraction import LLMExtractor
from trimem.llm.base import Reply, Request
from trimem.replies import ExtractedFact, ExtractedFacts
from trimem.types import Turn

SAID = datetime(2023, 5, 8, 14)
ALLERGY = "I am allergic to walnuts."
FILLER = "We walked on and on, and I told them of the old mill by the river. "
LONG = Turn("D2:7", "Nadia", FILLER * (9_000 // len(FILLER)) + ALLERGY, SAID, "2")
NEXT = Turn("D2:8", "Omar", "Good to know.", SAID, "2")
MOST = 5_000


class Small(Canned):
    """A model that takes only short prompts, and finds the allergy in the piece that tells of it."""

    def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        dialogue = request.messages[1].content
        if len(dialogue) > MOST:
            return Reply("", status="too_long", error="the prompt is longer than the model takes")
        known = [turn["id"] for turn in request.fields["turns"] if ALLERGY in turn["text"]]
        fact = ExtractedFact(statement="Nadia is allergic to walnuts.", persons=["Nadia"], sources=known)
        return Reply(ExtractedFacts(facts=[fact] if known else []).model_dump_json())


def test_every_piece_carries_speaker_id_and_time_and_the_fact_is_hers() -> None:
    model = Small()
    found = LLMExtractor(model).extract([LONG, NEXT])
    (fact,) = found.facts
    assert (fact.persons, fact.sources) == (("Nadia",), ("D2:7",))
    pieces = [request for request in model.requests if len(request.messages[1].content) <= MOST]
    assert len(pieces) >= 3
    of_hers = [request for request in pieces if "old mill" in request.messages[1].content]
    assert len(of_hers) >= 2
    for request in of_hers:
        assert {(turn["id"], turn["speaker"], turn["time"]) for turn in request.fields["turns"]} == {
            ("D2:7", "Nadia", SAID.isoformat())
        }
        assert "Nadia" in request.messages[1].content and "D2:7" in request.messages[1].content
        assert "8 May 2023" in request.messages[1].content
    said = "".join(turn["text"] for request in of_hers for turn in request.fields["turns"])
    assert said.replace(" ", "") == LONG.text.replace(" ", "")
