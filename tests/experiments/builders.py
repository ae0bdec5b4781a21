"""Small data sets and rows for the tests of `experiments`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.data import locomo
from experiments.data.types import Dataset, GoldBook

CASES = Path(__file__).parents[1] / "cases" / "data"


def mini() -> tuple[Dataset, GoldBook]:
    """The invented conversation of the cases, `mini-dev-1`: 7 turns, 13 questions."""
    return locomo.load(CASES / "mini_locomo.json", verify=False)


def mini_predictions() -> list[str]:
    predictions: list[str] = json.loads((CASES / "mini_predictions.json").read_text())
    return predictions


def row(id: str, prediction: str = "", items: Sequence[Mapping[str, Any]] = (), **more: Any) -> dict[str, Any]:
    """A predictions row; `more` overrides any key."""
    base = {"question_id": id, "conversation": id.rsplit(":", 1)[0], "category": 4, "prediction": prediction}
    return base | {"status": "ok", "items": list(items), "context_tokens": {}, "commit": ""} | more


def item(rank: int, *sources: str) -> dict[str, Any]:
    return {"kind": "turn", "id": f"i{rank}", "rank": rank, "score": 1.0, "sources": list(sources)}


def locomo_file(path: Path, conversations: Mapping[str, Sequence[Mapping[str, Any]]]) -> Path:
    """A file in LoCoMo's format: each conversation has two turns and the given `qa` list."""
    samples = [
        {
            "sample_id": id,
            "conversation": {
                "speaker_a": "Ida",
                "speaker_b": "Per",
                "session_1_date_time": "9:05 am on 4 January, 2024",
                "session_1": [
                    {"speaker": "Ida", "dia_id": "D1:1", "text": "I planted a pear tree."},
                    {"speaker": "Per", "dia_id": "D1:2", "text": "I only have cacti."},
                ],
            },
            "qa": list(qa),
        }
        for id, qa in conversations.items()
    ]
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def qa(category: int = 4, answer: Any = "a pear tree", **more: Any) -> dict[str, Any]:
    return {"question": "What did Ida plant?", "answer": answer, "evidence": ["D1:1"], "category": category} | more
