"""Files that are not what they should be: a loader reads them, or says BadInput; it never fails otherwise."""

import copy
import json
import logging
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.data import errata, locomo, longmemeval, perltqa
from experiments.data.sources import SOURCES
from experiments.data.types import Dataset
from trimem.errors import BadInput

SAMPLE = Path(str(files("experiments.data") / "sample"))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))
MEM, QA = (file.name for file in SOURCES["perltqa-en_v2"].files)
Load = Callable[[Path], Any]


def _perltqa(folder: Path) -> Any:
    return perltqa.load(folder, verify=False, ingest="all")


LOADERS: dict[str, tuple[str, Load]] = {
    "locomo": ("sample.json", lambda folder: locomo.load(folder / "sample.json", verify=False)),
    "longmemeval": ("longmemeval.json", lambda folder: longmemeval.load(folder / "longmemeval.json", verify=False)),
    "perltqa memory": ("perltmem.json", _perltqa),
    "perltqa questions": ("perltqa.json", _perltqa),
}


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every node within."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def changed(node: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """A copy in which the parent of `path` was changed at its last key."""
    node = parent = copy.deepcopy(node)
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return node


def laid_out(folder: Path, name: str, content: bytes) -> Path:
    """The bundled files as a data set's own, one of them replaced."""
    for file, called in (("perltmem.json", MEM), ("perltqa.json", QA)):
        (folder / called).write_bytes(content if file == name else (SAMPLE / file).read_bytes())
    (folder / name).write_bytes(content)
    return folder


def read(load: Load, folder: Path) -> None:
    """Either a whole data set, whose parts fit each other, or one clear message."""
    try:
        dataset, golds = load(folder)
    except BadInput as error:
        assert str(error) and "\n" not in str(error)
        return
    assert isinstance(dataset, Dataset)
    assert set(dataset.question_ids) == set(golds)
    for conversation in dataset.conversations:
        ids = [turn.id for turn in conversation.turns]
        assert len(ids) == len(set(ids))
        for question in dataset.questions[conversation.id]:
            assert set(golds[question.id].evidence) <= set(ids)


@pytest.mark.parametrize("name", LOADERS)
def test_the_files_as_they_are_are_read(name: str, tmp_path: Path) -> None:
    file, load = LOADERS[name]
    dataset, _ = load(laid_out(tmp_path, file, (SAMPLE / file).read_bytes()))
    assert dataset.question_ids


@pytest.mark.parametrize("name", LOADERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_node_in_another_s_place_is_read_or_refused(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file, load = LOADERS[name]
    whole = json.loads((SAMPLE / file).read_text(encoding="utf-8"))
    path = data.draw(st.sampled_from(list(places(whole))))
    value = data.draw(st.just(KeyError) | ANYTHING)

    def change(parent: Any, key: Any) -> None:
        if value is KeyError:
            del parent[key]
        else:
            parent[key] = value

    spoilt = json.dumps(changed(whole, path, change)).encode()
    read(load, laid_out(tmp_path_factory.mktemp("fuzz"), file, spoilt))


@pytest.mark.parametrize("name", LOADERS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_that_is_cut_or_has_a_strange_byte_is_read_or_refused(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file, load = LOADERS[name]
    whole = (SAMPLE / file).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    spoilt = data.draw(st.sampled_from([whole[:at], whole[:at] + b"\xff" + whole[at:], whole[:at] + b"\x00"]))
    read(load, laid_out(tmp_path_factory.mktemp("cut"), file, spoilt))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=ANYTHING)
def test_any_json_as_errata_is_read_or_refused(content: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("errata") / "errors.json"
    path.write_text(json.dumps(content))
    try:
        known = errata.read_errata(path)
    except BadInput:
        return
    assert all(isinstance(id, str) for id in known)
