"""h12: no, on and 4.10 are not text in YAML: a text option refuses them by name, and our files quote such values."""

import re
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from experiments.assemble import assemble
from tests.experiments.harness import ROOT, config_of, run_mini
from trimem.errors import BadInput

TYPES = "answer_prefix: no\nversion: 4.10\nflag: on\n"


class Texts:
    """Wants text."""

    def __init__(self, answer_prefix: str = "", version: str = "", flag: str = "") -> None:
        self.all = (answer_prefix, version, flag)


@pytest.mark.parametrize(("key", "read"), [("answer_prefix", False), ("version", 4.1), ("flag", True)])
def test_a_text_option_refuses_what_yaml_made_of_it_and_names_the_key(key: str, read: Any) -> None:
    value = OmegaConf.select(OmegaConf.create(TYPES), key)
    assert value == read
    node = {"_target_": "tests.cases.test_case_h12.Texts", "_partial_": True, key: value}
    with pytest.raises(BadInput, match=rf"method\.{key}={read}: .*quote it"):
        assemble({"method": node}, "method", {})


def test_a_harness_option_does_so_too(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"name=False: .*quote it"):
        run_mini(tmp_path, "name=false")
    assert config_of("cache.mode=off")["cache"]["mode"] == "off"


def test_our_own_files_quote_words_that_yaml_takes_for_booleans() -> None:
    for path in (ROOT / "conf").rglob("*.yaml"):
        assert not re.search(r"(?m)^[^#]*: *\[?(no|yes|on|off)\s*(#|,|\]|$)", path.read_text(encoding="utf-8")), path
