"""A command ends with one message and the code that says what kind of end it was."""

from collections.abc import Callable

import pytest

from experiments.data.files import parse_json
from experiments.exits import exit_code
from tests.experiments.harness import config_of
from trimem.errors import BadInput, BudgetReached, LLMUnavailable, TriMemError


def raising(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TriMemError("m"), 1),
        (BadInput("m"), 2),
        (LLMUnavailable("m"), 2),
        (BudgetReached("m"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_error_has_its_code_and_one_line(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(raising(error)) == code
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_success_is_zero_and_a_fault_of_ours_is_raised() -> None:
    assert exit_code(lambda: None) == 0
    assert exit_code(lambda: 1) == 1
    with pytest.raises(ZeroDivisionError):
        exit_code(raising(ZeroDivisionError()))


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("sed=3", "there is no key sed. Did you mean seed?"),
        ("retriever.topk=3", "there is no key retriever.topk. Did you mean retriever.top_k?"),
        ("top_k=3", "Did you mean retriever.top_k?"),
        ("backbone=gpt-4.1", "there is no backbone=gpt-4.1; choose one of"),
        ("backbone=gpt4o", "Did you mean gpt-4o?"),
        ("bakbone=none", "bakbone"),
        ("name=a,b", "two pairs of quotes"),
        ("dataset=locomo", "dataset.path is not set: give it on the command line, dataset.path=…"),
    ],
)
def test_a_typo_in_a_config_is_named_with_the_closest_that_exists(
    override: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(lambda: len(config_of(override))) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_json_nested_without_end_is_no_whole_json() -> None:
    with pytest.raises(BadInput, match=r"deep\.json is not whole JSON"):
        parse_json(b"[" * 100_000, "deep.json", "Get it")


def test_a_key_of_what_a_sweep_chooses_is_told_how_to_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["run", "-m", "method=naive_rag,mem0", "method.top_k=5"])
    assert exit_code(lambda: len(config_of("method.top_k=5"))) == 2
    assert "write ++method.top_k=… there" in capsys.readouterr().err
