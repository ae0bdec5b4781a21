"""`python -m experiments.data.leaks {make locomo10.json | check my_prompt.md}`: benchmark text in prompts.

The guard knows it by hashes, which `make` writes and the tree carries.
Hashed are runs of four words of every question and gold, and, from one to three words, short golds, names and titles.
What everyday English consists of is left out: a run of common words alone, a short answer that the dialogues use
freely, a bare number, a letter.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.console import say
from experiments.data.files import read_bytes
from experiments.data.locomo import load
from experiments.data.types import Dataset, GoldBook
from experiments.exits import exit_code
from trimem.evolution.guard import FILE, RUN, Leaks, benchmark, windows_of, words

ALLOWED = Path(__file__).parent / "common_words.txt"
EVERYDAY = 4
"""Conversations whose dialogue uses a word freely: then it is everyday English, not a mark of one of them."""
NAME = re.compile(r"(?<!^)(?<![.!?:] )(?<![\w'’])[A-Z][\w'’-]+(?: (?:(?:of|the|and|in|to) )?[A-Z][\w'’-]+)*", re.M)
QUOTED = re.compile(r"[\"“]([^\"”\n]{2,80})[\"”]")


def collect(dataset: Dataset, golds: GoldBook) -> set[str]:
    """All runs, in plain text."""
    allowed = set(ALLOWED.read_text(encoding="utf-8").split())
    questions = [question.text for asked in dataset.questions.values() for question in asked]
    answers = [gold.answer for gold in golds.values()]
    everyday = allowed | _everyday(dataset)
    speakers = {speaker for conversation in dataset.conversations for speaker in conversation.speakers}
    long = {run for text in (*questions, *answers) for run in windows_of(words(text), RUN)}
    names = {" ".join(words(name)) for text in (*questions, *answers) for name in _names(text)}
    short = {" ".join(words(part)) for answer in answers for part in re.split(r"[,;]| and ", answer)}
    singles = {word for answer in answers for word in words(" ".join(re.findall(r"\b[A-Z][\w'’-]+", answer)))}
    phrases = {
        run for run in names | short | singles if 1 <= len(run.split()) < RUN and not run.isdigit() and len(run) > 1
    }
    return (
        {run for run in long if not set(run.split()) <= allowed}
        | {run for run in phrases if not set(run.split()) <= everyday}
        | {" ".join(words(name)) for name in speakers}
    )


def _names(text: str) -> Iterator[str]:
    """Capitalised words inside a sentence, and what stands in quotes; of a long title each run of three words."""
    for found in (*NAME.findall(text), *QUOTED.findall(text)):
        spoken = words(found)
        yield from windows_of(spoken, RUN - 1) if len(spoken) >= RUN else [" ".join(spoken)]


def _everyday(dataset: Dataset) -> set[str]:
    """Lower-case words that several conversations use."""
    used: Counter[str] = Counter()
    for conversation in dataset.conversations:
        text = " ".join(turn.content for turn in conversation.turns)
        used.update(set(words(" ".join(re.findall(r"(?<!\w)[a-z][\w'’-]*", text)))))
    return {word for word, count in used.items() if count >= EVERYDAY}


def _make(path: str) -> int:
    leaks = Leaks.of(collect(*load(path)))
    leaks.save(FILE)
    say(f"{len(leaks.hashes):,} runs, {FILE.stat().st_size:,} bytes: {FILE}")
    return 0


def _check(paths: Sequence[str]) -> int:
    found = {path: benchmark().found_in(read_bytes(path, "Give a prompt file").decode()) for path in paths}
    for path, runs in found.items():
        say(f"{path}: {', '.join(map(repr, runs)) or 'no benchmark text'}")
    return 1 if any(found.values()) else 0


def _main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.data.leaks", description=(__doc__ or "").split("\n")[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("make", help="write the hashes anew").add_argument("data", help="locomo10.json")
    commands.add_parser("check", help="look for benchmark text; exit 1 if there is any").add_argument(
        "prompts", nargs="+"
    )
    chosen = parser.parse_args(arguments)
    return _make(chosen.data) if chosen.command == "make" else _check(chosen.prompts)


if __name__ == "__main__":
    sys.exit(exit_code(_main))
