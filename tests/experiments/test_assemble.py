"""Parts get the services that they name, and options are checked against what a part really takes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from experiments.assemble import assemble
from experiments.runner import run
from tests.experiments.harness import config_of
from trimem.errors import BadInput


class Needy:
    """Names a service and has options of some types."""

    def __init__(self, llm: str, size: int = 3, names: Sequence[str] = ()) -> None:
        self.llm, self.size, self.names = llm, size, names


class Whole:
    """Has a part, and waits for a directory."""

    def __init__(self, directory: str, part: Needy, extra: int = 1) -> None:
        self.directory, self.part, self.extra = directory, part, extra


class Heir(Needy):
    """Hands its settings on."""

    def __init__(self, llm: str, own: int = 1, **settings: Any) -> None:
        super().__init__(llm, **settings)
        self.own = own


class Refusing:
    """A component that knows better."""

    def __init__(self) -> None:
        raise BadInput("choose another one")


def node(target: str, **options: Any) -> dict[str, Any]:
    return {"_target_": f"tests.experiments.test_assemble.{target}", "_partial_": True, **options}


def services(asked: list[str]) -> dict[str, Any]:
    def make(part: str) -> str:
        asked.append(part)
        return "the model"

    return {"llm": make}


def test_a_service_reaches_every_part_that_names_it_and_the_rest_stays_open() -> None:
    asked: list[str] = []
    method = assemble({"method": node("Whole", part=node("Needy", size=4))}, "method", services(asked))
    assert isinstance(method, partial)
    whole = method(directory="here")
    assert (whole.directory, whole.part.llm, whole.part.size) == ("here", "the model", 4)
    assert asked == ["part"]


def test_a_service_that_nobody_names_is_never_made() -> None:
    asked: list[str] = []
    assemble({"method": node("Whole")}, "method", services(asked))
    assert asked == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sise": 4}, r"m\.sise: Needy has no such option; did you mean size\?"),
        ({"size": "many"}, r"m\.size='many': input should be a valid integer"),
        ({"names": [False]}, r"m\.names\.0=False: input should be a valid string; quote it in YAML"),
    ],
)
def test_a_wrong_option_is_named_with_its_key(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        assemble({"m": node("Needy", **options)}, "m", services([]))


def test_an_option_of_a_base_has_the_base_s_type() -> None:
    with pytest.raises(BadInput, match=r"m\.size='many': input should be a valid integer"):
        assemble({"m": node("Heir", own=2, size="many")}, "m", services([]))


def test_a_class_that_does_not_exist_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"Nowhere"):
        assemble({"m": node("Nowhere")}, "m", {})


def test_a_component_s_own_refusal_arrives_as_it_is() -> None:
    with pytest.raises(BadInput, match=r"^choose another one$"):
        assemble({"m": node("Refusing")}, "m", {})


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (["retriever.top_k=-3"], "retriever.top_k"),
        (["context.facts=-5"], "facts"),
        (["extractor.window=0", "extractor.overlap=0"], "extractor.window"),
        (["profiler.min_facts=0"], "profiler.min_facts"),
        (["backbone=simulated", "backbone.latency=-1"], "backbone.latency"),
        (["backbone=simulated", "backbone.fault_rate=2"], "backbone.fault_rate"),
        (["backbone=simulated", "backbone.concurrency=0"], "backbone.concurrency"),
        (["backbone=simulated", "planner.max_queries=-1"], "planner.max_queries"),
        (["backbone=simulated", "retriever.top_k=-3"], "retriever.top_k"),
        (["backbone=simulated", "method=mem0", "method.top_k=-3"], "method.top_k"),
        (["seed=-1"], "seed"),
        (["dataset.conversations=[]"], "no conversation is left"),
    ],
)
def test_a_number_out_of_its_bounds_is_refused_by_name_before_any_work(
    tmp_path: Path, overrides: list[str], named: str
) -> None:
    with pytest.raises(BadInput, match=named):
        run(config_of("method=trimem", "dataset=sample", "embedder=hash", "tracker=none", *overrides), tmp_path)
    assert not list(tmp_path.glob("runs/*/*/memory"))
