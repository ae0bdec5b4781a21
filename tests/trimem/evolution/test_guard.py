"""What may not become a prompt, and that nothing which ships holds benchmark text."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import baselines
import trimem
from experiments.data import leaks, locomo
from trimem import prompts
from trimem.evolution import guard
from trimem.evolution.guard import FILE, Guard, Leaks, benchmark

FOLDERS = [Path(str(package.__file__)).parent / "prompts" for package in (trimem, baselines)]
SHIPPED = sorted([*(path for f in FOLDERS for path in f.glob("*.md")), *(FILE.parent / "prompts").glob("*.md")])
EXTRACT = prompts.load("extract")
GUARD = Guard((benchmark(),))
SUPPLY = [
    "Pomodoro",
    "John Williams",
    "House of MinaLima",
    "Mafia",
    "UNO",
    "Voyageurs",
    "Minnesota",
    "obesity",
    "trans",
]
"""Words of the examples in the authors' released prompts, by which their leak is known."""


def with_rule(rule: str) -> str:
    return EXTRACT.text.replace("\n\nExample.", f"\n{rule}\n\nExample.", 1)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_no_shipped_prompt_holds_benchmark_text(path: Path) -> None:
    assert benchmark().found_in(path.read_text(encoding="utf-8")) == []


def test_all_prompts_are_looked_at() -> None:
    assert len(SHIPPED) > 30


@pytest.mark.parametrize("word", SUPPLY)
def test_the_examples_of_the_authors_prompts_fail(word: str) -> None:
    assert benchmark().found_in(f"for instance, write {word} where it was only described")


def test_the_hashes_are_small_and_many() -> None:
    assert FILE.stat().st_size <= 120_000
    assert len(benchmark().hashes) > 14_000


@pytest.mark.realdata
def test_the_committed_hashes_are_those_of_the_data(data_dir: Path) -> None:
    dataset, golds = locomo.load(data_dir / "locomo10.json")
    assert Leaks.of(leaks.collect(dataset, golds)).hashes == benchmark().hashes
    questions = [question.text for asked in dataset.questions.values() for question in asked]
    assert sum(bool(benchmark().found_in(text)) for text in questions) / len(questions) > 0.99


def test_a_bounded_rule_is_let_through() -> None:
    assert GUARD.problems(with_rule("- Write the reason of an action where it is given."), EXTRACT) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        (EXTRACT.text, "it is the same text"),
        (with_rule("- Write down what John Williams composed."), "it holds text of the data: 'john', 'williams'"),
        (EXTRACT.text.replace("{dialogue}", ""), "the part from '=== data ===' on"),
        (EXTRACT.text.partition(prompts.DATA)[0], "the part from '=== data ===' on"),
        (EXTRACT.text.replace('"keywords"', '"tags"'), "no longer names the output key(s) keywords"),
        (with_rule("- " + "Take great care. " * 60), "longer, more than the 15%"),
    ],
)
def test_what_is_refused_and_why(text: str, reason: str) -> None:
    assert any(reason in problem for problem in GUARD.problems(text, EXTRACT))


def test_what_the_parent_already_said_is_not_held_against_an_edit() -> None:
    parent = replace(EXTRACT, text=with_rule("- Ask for Ida."))
    edit = parent.text.replace("- Ask for Ida.", "- Ask for Ida.\n- Ask twice.")
    assert Guard((Leaks.of(["Ida"]),)).problems(edit, parent) == []
    assert Guard((Leaks.of(["twice"]),)).problems(edit, parent) == ["it holds text of the data: 'twice'"]


@given(st.lists(st.from_regex(r"[a-z]{2,6}( [a-z]{2,6}){0,6}", fullmatch=True), min_size=1, max_size=6), st.text())
def test_every_known_run_is_found_wherever_it_stands(runs: list[str], noise: str) -> None:
    known = Leaks.of(runs)
    for run in runs:
        assert run in known.found_in(f"{noise} — {run.upper()}! {noise}")


def test_equal_sets_give_equal_files(tmp_path: Path) -> None:
    runs = [f"a run of {n}" for n in range(50)]
    Leaks.of(runs).save(tmp_path / "a")
    Leaks.of(reversed(runs)).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert Leaks.read(tmp_path / "a").hashes == Leaks.of(runs).hashes


def test_a_possessive_and_an_apostrophe_hide_nothing() -> None:
    assert guard.words("Ida’s well-kept O'Neil") == ["ida", "well-kept", "o", "neil"]
