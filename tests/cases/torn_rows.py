"""The results file of cases k01-k03, in our row format."""

import json
from pathlib import Path

from tests.experiments.builders import CASES, row


def write_torn(path: Path) -> Path:
    """`results_torn.jsonl` with our keys: the error becomes the status; the half line at the end stays half."""
    *whole, torn = (CASES / "results_torn.jsonl").read_text(encoding="utf-8").split("\n")
    old = [json.loads(line) for line in whole]
    rows = [row(one["question_id"], one["prediction"] or "", status=one["error"] or "ok") for one in old]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows) + torn, encoding="utf-8")
    return path
