"""What makes two runs the same: a hash over all that changes a result, and nothing else."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from experiments.data.types import Dataset
from trimem.llm.base import LLM
from trimem.prompts import Prompt

SELECTION: Mapping[str, Any] = {
    "split": str,
    "conversations": list[str] | None,
    "categories": list[int] | None,
    "limit": int | None,
}
"""Keys of a `dataset` node that choose questions; the others go to its loader."""
IGNORED = {
    "dataset": ("path", "verify", *SELECTION),
    "embedder": ("device", "batch_size", "timeout"),
    "method": ("gpu",),
}
"""Keys that change where something lies or how long it takes, or (a selection) stand in the hash by what they chose."""


def canonical(value: Any) -> str:
    """JSON in which equal values are equal texts, whatever the order of keys. Raises TypeError on other types."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def content_hash(value: Any) -> str:
    """12 hex digits of the sha256 over `canonical(value)`."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:12]


def method_name(method: Mapping[str, Any]) -> str:
    """What a method's row is called: its class, and where a substitute stands in for a paper's compressor, that too."""
    name, compressor = str(method["_target_"]).rsplit(".", 1)[-1], method.get("compressor", "llmlingua2")
    return name if compressor == "llmlingua2" else f"{name} ({compressor})"


def identity(
    config: Mapping[str, Any], dataset: Dataset, prompts: Mapping[str, Prompt], llm: LLM | None, embeds: bool
) -> dict[str, Any]:
    """All that changes a result: the method with its parts, the questions, the seed, and the services it uses."""
    questions = {id: content_hash([question.id for question in asked]) for id, asked in dataset.questions.items()}
    return {
        "method": _relevant(config, "method"),
        "dataset": {**_relevant(config, "dataset"), "sha256": dataset.sha256, "questions": questions},
        "seed": config["seed"],
        "prompts": {name: prompt.hash for name, prompt in prompts.items()},
        "backbone": dict(llm.identity) if llm else None,
        "embedder": _relevant(config, "embedder") if embeds else None,
    }


def _relevant(config: Mapping[str, Any], name: str) -> Any:
    return _by_name({key: value for key, value in config[name].items() if key not in IGNORED.get(name, ())})


def _by_name(node: Any) -> Any:
    """Files by their name alone: what prompts and data say is hashed apart."""
    if isinstance(node, Mapping):
        return {key: _by_name(value) for key, value in node.items()}
    return node.rsplit("/", 1)[-1] if isinstance(node, str) and node.endswith((".md", ".json")) else node
