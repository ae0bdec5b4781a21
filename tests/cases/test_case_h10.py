"""h10: what leaves a config is plain JSON, and equal configs have equal hashes whatever the order of their keys."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, ListConfig, OmegaConf

from experiments.identity import canonical, content_hash
from tests.experiments.harness import config_of, read, run_mini


def reverse(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: reverse(value) for key, value in reversed(list(node.items()))}
    return node


def types(node: Any) -> set[type]:
    if isinstance(node, Mapping):
        return {type(node), *(kind for value in node.values() for kind in types(value))}
    if isinstance(node, list | ListConfig):
        return {type(node), *(kind for value in node for kind in types(value))}
    return {type(node)}


def test_a_config_is_json_with_its_nested_keys(tmp_path: Path) -> None:
    config = config_of("backbone=simulated")
    assert json.loads(json.dumps(config)) == config
    assert not {DictConfig, ListConfig} & types(config)
    assert read(run_mini(tmp_path), "manifest.json")["config"]["method"]["_target_"].endswith("StandIn")


def test_equal_configs_hash_equally_whatever_the_order_of_keys() -> None:
    config = config_of("backbone=simulated")
    assert content_hash(config) == content_hash(reverse(config))
    assert content_hash({**config, "seed": 1}) != content_hash(config)
    assert content_hash({"views": ["dense", "lexical"]}) != content_hash({"views": ["lexical", "dense"]})


def test_an_omegaconf_object_in_a_hash_is_an_error_not_a_text() -> None:
    with pytest.raises(TypeError):
        canonical({"method": OmegaConf.create({"a": 1})})
