"""A small file in LoCoMo's format with what its annotators would have noted, and a finished run on it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import locomo
from experiments.data.observations import Observations
from experiments.runner import run
from experiments.stored import StoredRun
from tests.experiments.builders import locomo_file, qa
from tests.experiments.harness import config_of
from trimem.store import Store

QUESTIONS = (
    qa(answer="a pear tree"),
    qa(question="What does Per have?", answer="cacti", evidence=["D1:2"]),
    qa(1, question="Which plants do they have?", answer="pear tree, cacti", evidence=["D1:1", "D1:2"]),
    qa(2, question="When was the tree planted?", answer="4 January 2024"),
    qa(5),
)
NOTED = {
    "session_1_observation": {
        "Ida": [["Ida planted a pear tree.", "D1:1"]],
        "Per": [["Per keeps cacti only.", "D1:02; D1:1"], ["Per is fond of plants.", "D"]],
    }
}
CHOSEN = ("dataset=locomo", "dataset.verify=false", "extractor=observations", "embedder=hash", "tracker=none")


def observed_file(folder: Path, id: str = "conv-26") -> Path:
    path = locomo_file(folder / "observed.json", {id: QUESTIONS})
    samples = json.loads(path.read_text())
    samples[0]["observation"] = NOTED
    path.write_text(json.dumps(samples))
    return path


def observed_run(folder: Path, *overrides: str) -> dict[str, Any]:
    """A run by rules on those facts; its status."""
    return run(config_of(*CHOSEN, f"dataset.path={observed_file(folder)}", "max_failed=1", *overrides), folder)


def locomo_with_observations(folder: Path, data_dir: Path) -> StoredRun:
    """The real file with all its annotators' facts stored, as far as the analyses look at a run."""
    path = data_dir / "locomo10.json"
    dataset, golds = locomo.load(path)
    for conversation in dataset.conversations:
        with Store(folder / "memory" / conversation.id) as store:
            store.add_turns(conversation.turns)
            noted = Observations(conversation.id, str(path), window=10_000).extract(conversation.turns)
            vectors = np.ones((len(noted.facts), 1), np.float32)
            store.put_window(0, len(conversation.turns), noted, vectors, False)
    return StoredRun(folder, {}, {}, (), dataset, golds)
