"""LoCoMo (Maharana et al., ACL 2024), and our bundled sample in the same format.

Read are dialogue, captions, questions and golds. Never read are `query` (the annotators' image search),
`observation`, `session_summary` and `event_summary`: they give golds away.
"""

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from experiments.data.files import parse_json, read_bytes, read_pinned, sha256
from experiments.data.sources import SOURCES
from experiments.data.types import ABSTAIN, Dataset, Gold, GoldBook, Rule
from trimem.errors import BadInput
from trimem.types import Conversation, Question, Session, Turn

log = logging.getLogger(__name__)

SPLITS = {
    "train": ("conv-26", "conv-30", "conv-42"),
    "val": ("conv-44", "conv-49"),
    "test": ("conv-41", "conv-43", "conv-47", "conv-48", "conv-50"),
}
SAMPLE_SPLITS = {"train": ("sample-train",), "val": ("sample-val",), "test": ("sample-test",)}
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
HEADLINE = (1, 2, 3, 4)
RULES: Mapping[int, Rule] = {1: "parts", 3: "before_semicolon", 5: "abstain"}
COUNTS = {
    "conversations": 10,
    "sessions": 272,
    "turns": 5882,
    "category 1": 282,
    "category 2": 321,
    "category 3": 96,
    "category 4": 841,
    "category 5": 446,
}
SOURCE = SOURCES["locomo"]

ImageText = Literal["caption", "caption_if_url", "none"]
"""Which image captions become part of a turn: all, those of images with a URL, none."""


def load(path: str | Path, verify: bool = True, image_text: ImageText = "caption") -> tuple[Dataset, GoldBook]:
    """The ten conversations of `locomo10.json`. BadInput for a missing, cut, foreign or misshapen file.

    `verify=False` takes another file in this format (a corrected or shortened copy) and says how it differs.
    """
    data, digest, verified = read_pinned(path, SOURCE.files[0], verify, SOURCE.get_it)
    dataset, golds = _parse(data, path, image_text)
    _check_counts(dataset, golds, verified)
    dataset = replace(
        dataset,
        sha256=digest,
        verified=verified,
        licence=SOURCE.licence,
        splits=SPLITS if verified else _present(SPLITS, dataset),
    )
    return dataset, golds


def load_sample(image_text: ImageText = "caption") -> tuple[Dataset, GoldBook]:
    """The invented conversations that come with this package: sample-train, sample-val, sample-test."""
    with as_file(files("experiments.data") / "sample" / "sample.json") as path:
        data = read_bytes(path, "Install the package again")
        dataset, golds = _parse(data, path, image_text, logging.INFO)  # its bad evidence is there on purpose
    return replace(dataset, name="sample", sha256=sha256(data), verified=True, splits=SAMPLE_SPLITS), golds


def _parse(
    data: bytes, path: str | Path, image_text: ImageText, told: int = logging.WARNING
) -> tuple[Dataset, GoldBook]:
    """What every file in this format has; name, digest, licence and splits are the caller's to fill in."""
    conversations, questions, golds = [], {}, {}
    unreadable: list[str] = []
    try:
        for sample in parse_json(data, path, SOURCE.get_it):
            conversation = _conversation(sample["sample_id"], sample["conversation"], image_text)
            ids = [f"{conversation.id}:{index}" for index in range(len(sample["qa"]))]
            turns = frozenset(turn.id for turn in conversation.turns)
            conversations.append(conversation)
            pairs = list(zip(ids, sample["qa"], strict=True))
            questions[conversation.id] = tuple(Question(id, qa["question"].strip()) for id, qa in pairs)
            golds.update({id: _gold(id, qa, turns, unreadable) for id, qa in pairs})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            f"{path} is not in LoCoMo's format ({type(error).__name__}: {error}). {SOURCE.get_it}"
        ) from error
    if unreadable:
        log.log(told, "%s: evidence that points at no turn is left out: %s", Path(path).name, ", ".join(unreadable))
    dataset = Dataset(
        name="locomo",
        sha256="",
        verified=False,
        conversations=tuple(conversations),
        questions=questions,
        categories=CATEGORIES,
        headline=HEADLINE,
        rules=RULES,
        licence="MIT",
    )
    return dataset, golds


def _conversation(id: str, raw: Mapping[str, Any], image_text: ImageText) -> Conversation:
    """Sessions by number; dates without a session are ignored."""
    numbers = sorted(int(key[8:]) for key in raw if re.fullmatch(r"session_\d+", key))
    sessions = []
    for number in numbers:
        stamp = raw.get(f"session_{number}_date_time")
        time = datetime.strptime(stamp.strip(), "%I:%M %p on %d %B, %Y") if stamp else None
        turns = tuple(_turn(turn, str(number), time, image_text) for turn in raw[f"session_{number}"])
        sessions.append(Session(str(number), time, turns))
    return Conversation(id, (raw["speaker_a"], raw["speaker_b"]), tuple(sessions))


def _turn(raw: Mapping[str, Any], session: str, time: datetime | None, image_text: ImageText) -> Turn:
    shown = image_text == "caption" or (image_text == "caption_if_url" and raw.get("img_url"))
    caption = raw.get("blip_caption") if shown else None
    return Turn(raw["dia_id"], raw["speaker"], raw["text"].strip(), time, session, caption)


def _gold(id: str, qa: Mapping[str, Any], turns: Set[str], unreadable: list[str]) -> Gold:
    """Answers as text (some are numbers); category 5 has one gold, whatever the file says."""
    category = qa["category"]
    if category not in CATEGORIES:
        raise ValueError(f"{id} has category {category!r}")
    answer = ABSTAIN if category == 5 else str(qa["answer"]).strip()
    return Gold(answer, _evidence(id, qa["evidence"], turns, unreadable), category)


def _evidence(id: str, raw: Sequence[str], turns: Set[str], unreadable: list[str]) -> tuple[str, ...]:
    """Turn ids that exist, without repetition: `D8:6; D9:17`, `D:11:26` and `D30:05` are read as meant."""
    found: dict[str, None] = {}
    for text in raw:
        ids = [f"D{session}:{turn}" for session, turn in re.findall(r"D:?\s*(\d+)\s*:\s*0*(\d+)", text)]
        found.update(dict.fromkeys(turn for turn in ids if turn in turns))
        unreadable += [f"{id} {turn!r}" for turn in ids or [text] if turn not in turns]
    return tuple(found)


def _present(splits: Mapping[str, tuple[str, ...]], dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Splits of a file that may lack conversations."""
    there = {name: tuple(id for id in ids if id in dataset.questions) for name, ids in splits.items()}
    return {name: ids for name, ids in there.items() if ids}


def _check_counts(dataset: Dataset, golds: GoldBook, verified: bool) -> None:
    """The pinned file must give the known counts; of another file the differences are told."""
    by_category = Counter(gold.category for gold in golds.values())
    counts = {
        "conversations": len(dataset.conversations),
        "sessions": sum(len(conversation.sessions) for conversation in dataset.conversations),
        "turns": sum(len(conversation.turns) for conversation in dataset.conversations),
        **{f"category {category}": by_category[category] for category in CATEGORIES},
    }
    wrong = [f"{name} {counts[name]} (locomo10: {right})" for name, right in COUNTS.items() if counts[name] != right]
    if wrong and verified:
        raise BadInput(f"locomo10.json was read wrongly: {'; '.join(wrong)}; please report this")
    if wrong:
        log.warning("not the counts of locomo10.json: %s", "; ".join(wrong))
