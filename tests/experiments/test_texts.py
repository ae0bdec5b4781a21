"""Item texts of a run, each kept once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from experiments.texts import TextFile
from trimem.types import Item


def items(*ids: int) -> list[Item]:
    return [Item("fact", f"f{id}", f"text {id}\nwith “quotes”") for id in ids]


def test_threads_keep_each_text_once_and_equal_runs_have_equal_files(tmp_path: Path) -> None:
    for name, order in (("a", range(40)), ("b", reversed(range(40)))):
        file = TextFile(tmp_path / name)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n, file=file: file.keep("talk", items(n, n + 1, n // 2)), order))
        file.finish()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes().count(b"\n") == 41


def test_half_a_line_of_a_killed_process_is_dropped_and_kept_again(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    TextFile(path).keep("talk", items(1, 2))
    path.write_bytes(path.read_bytes()[:-9])
    again = TextFile(path)
    assert set(again.read()) == {("talk", "fact", "f1")}
    again.keep("talk", items(1, 2))
    assert TextFile(path).read()["talk", "fact", "f2"] == items(2)[0].text


def test_the_same_id_in_two_conversations_is_two_texts(tmp_path: Path) -> None:
    file = TextFile(tmp_path / "texts.jsonl")
    file.keep("one", [Item("turn", "D1:1", "here")])
    file.keep("two", [Item("turn", "D1:1", "there")])
    assert file.read() == {("one", "turn", "D1:1"): "here", ("two", "turn", "D1:1"): "there"}
