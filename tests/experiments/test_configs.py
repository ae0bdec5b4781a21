"""Every file under conf/ composes, names what exists, and says how it is used."""

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import get_object
from omegaconf import OmegaConf

from tests.experiments.harness import ROOT, config_of

CONF = ROOT / "conf"
FILES = sorted(path.relative_to(CONF) for path in CONF.rglob("*.yaml"))
CHOICES = [path for path in FILES if len(path.parts) == 2 and path.parts[0] != "hydra"]
PARTS = ("extractor", "profiler", "planner", "retriever", "reasoner")


def compose_choice(path: Path) -> dict[str, Any]:
    group, name = path.parts[0], path.stem
    return config_of(f"{group}={name}", *given_for(path))


def given_for(path: Path) -> list[str]:
    """What a choice needs to be composed: a data set's file, a model's name."""
    text = (CONF / path).read_text(encoding="utf-8")
    missing = [f"{path.parts[0]}.{key}=given" for key in ("path", "model") if f"{key}: ???" in text]
    missing += ["evolved=given"] if "\nevolved: ???" in text else []
    return [*missing, *(["dataset.path=given"] if "override /dataset:" in text else [])]


def grid_of(path: Path) -> dict[str, list[str]]:
    """What an experiment sweeps: key -> values."""
    node = OmegaConf.to_container(OmegaConf.load(CONF / path))
    assert isinstance(node, dict)
    params = node.get("hydra", {}).get("sweeper", {}).get("params", {})
    parser = OverridesParser.create()
    swept = [parser.parse_override(f"{key}={values}") for key, values in params.items()]
    return {one.get_key_element(): [str(v) for v in one.sweep_string_iterator()] for one in swept}


def targets(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        if "_target_" in node:
            yield node
        for value in node.values():
            yield from targets(value)


@pytest.mark.parametrize("path", FILES, ids=str)
def test_every_file_is_short_and_shows_the_command_that_uses_it(path: Path) -> None:
    lines = (CONF / path).read_text(encoding="utf-8").splitlines()
    comments = [line for line in lines[:2] if line.startswith("#")]
    assert any("python -m experiments." in line for line in comments) or path.parts[0] == "hydra"
    assert len(lines) <= (80 if path.name == "config.yaml" else 40)


@pytest.mark.parametrize("path", CHOICES, ids=str)
def test_every_choice_composes_and_names_what_exists(path: Path) -> None:
    for node in targets(compose_choice(path)):
        target = get_object(node["_target_"])
        assert node.get("_partial_") or node["_target_"].startswith("hydra.")
        signature = inspect.signature(target)
        if not any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values()):
            signature.bind_partial(**{key: value for key, value in node.items() if not is_ours(key, node)})


def is_ours(key: str, node: Mapping[str, Any]) -> bool:
    selection = ("split", "conversations", "categories", "limit")
    return key in ("_target_", "_partial_") or (node["_target_"].startswith("experiments.data") and key in selection)


def test_without_a_model_all_parts_are_rules() -> None:
    config = config_of()
    assert all(".rules." in config[part]["_target_"] for part in PARTS if part != "retriever")
    assert config["backbone"] is None


@pytest.mark.parametrize("backbone", ["gpt-4.1-mini", "qwen3-8b", "smollm2", "simulated", "scripted"])
def test_a_backbone_alone_makes_every_part_llm(backbone: str) -> None:
    config = config_of(f"backbone={backbone}")
    assert not any(".rules." in config[part]["_target_"] for part in PARTS)


def test_a_part_on_the_command_line_wins_over_the_backbone() -> None:
    config = config_of("backbone=simulated", "extractor=rules")
    assert ".rules." in config["method"]["extractor"]["_target_"]
    assert ".rules." not in config["method"]["reasoner"]["_target_"]


def test_a_preset_sets_the_mechanics_and_the_command_line_wins() -> None:
    paper = config_of("preset=paper", "backbone=simulated")
    assert paper["planner"]["calls"] == 2
    assert "Qwen3" in paper["embedder"]["model"]
    mine = config_of("preset=paper", "backbone=simulated", "planner.calls=1", "embedder=minilm", "context.facts=9")
    assert (mine["planner"]["calls"], mine["embedder"]["model"]) == (1, "minilm")
    assert mine["method"]["retriever"]["budget"]["facts"] == 9


def test_presets_have_the_same_keys_so_that_they_can_be_compared() -> None:
    keys = [config_of(f"preset={path.stem}")["preset"].keys() for path in (CONF / "preset").glob("*.yaml")]
    assert len(keys) == 3
    assert all(one == keys[0] for one in keys)


def test_toggles_reach_the_parts_that_they_concern() -> None:
    config = config_of("method.use_raw=false", "method.use_profiles=false")
    assert config["method"]["retriever"]["use_raw"] is False
    assert config["method"]["retriever"]["use_profiles"] is False


@pytest.mark.parametrize("path", [path for path in CHOICES if path.parts[0] == "experiment"], ids=str)
def test_an_experiment_is_named_like_its_file_and_can_be_narrowed(path: Path) -> None:
    config = config_of(f"experiment={path.stem}", "seed=7", "backbone=none", *given_for(path))
    assert config["name"] == path.stem
    assert config["seed"] == 7
    assert config["backbone"] is None


EXPERIMENTS = [path for path in CHOICES if path.parts[0] == "experiment"]
POINTS = [(path, f"{key}={value}") for path in EXPERIMENTS for key, values in grid_of(path).items() for value in values]


@pytest.mark.parametrize(("path", "point"), POINTS, ids=lambda value: getattr(value, "stem", value))
def test_every_point_of_an_experiment_s_grid_composes(path: Path, point: str) -> None:
    config_of(f"experiment={path.stem}", *given_for(path), point)


def test_the_tables_hold_all_nine_methods_and_the_paper_s_models() -> None:
    methods = sorted(path.stem for path in (CONF / "method").glob("*.yaml"))
    models = []
    for table in ("table1_high_capability", "table2_efficient", "table3_perltqa"):
        grid = grid_of(Path("experiment") / f"{table}.yaml")
        assert sorted(grid["method"]) == methods
        models += grid.get("backbone", [])
    assert models == ["gpt-4o", "gpt-4.1-mini", "gpt-5-nano", "qwen3-8b", "llama-3.1-8b-instruct"]


def test_equal_context_is_all_nine_methods_and_each_searches_more_widely_than_by_itself() -> None:
    grid = grid_of(Path("experiment/equal_context.yaml"))
    assert grid["reasoner.max_context"] == ["1200", "3200"]
    methods = {}
    for variant in grid["variant"]:
        wide = config_of("backbone=simulated", f"variant={variant}", "reasoner.max_context=1200")["method"]
        methods[wide["_target_"]] = wide
        assert wide["reasoner"]["max_context"] == 1200
    for path in (CONF / "method").glob("*.yaml"):
        plain = config_of("backbone=simulated", f"method={path.stem}", "reasoner.max_context=1200")["method"]
        assert (methods.pop(plain["_target_"]) == plain) == (path.stem == "full_context")
    assert not methods


def test_no_config_holds_a_secret_or_a_value_that_yaml_reads_as_another_type() -> None:
    for path in FILES:
        text = (CONF / path).read_text(encoding="utf-8")
        assert "sk-" not in text
        assert "api_key:" not in text
    assert config_of("cache.mode=off")["cache"]["mode"] == "off"


def test_what_else_a_request_carries_can_be_given_on_the_command_line() -> None:
    assert config_of("backbone=qwen3-8b", "backbone.options.thinking=true")["backbone"]["options"] == {"thinking": True}
    given = config_of("backbone=gpt-4.1-mini", "+backbone.options.top_p=0.9")["backbone"]["options"]
    assert given == {"top_p": 0.9}
