"""Case j01: no key is asked for at import, and any server's model can be the critic."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.services import backbone_node
from tests.cases.prompts import REPLIES, SEED
from tests.experiments.harness import ROOT, clean_environment
from tests.fake_openai import FakeOpenAI
from trimem.errors import BadInput
from trimem.evolution.base import Case
from trimem.evolution.gradients import TextGradOptimizer
from trimem.llm.openai_compatible import OpenAICompatible

CASES = [Case(f"q{n}", f"s{n}", "extraction", 1.0, "given", "made", "wanted") for n in range(2)]


def test_importing_asks_for_no_key() -> None:
    code = "import trimem.evolution.gradients, trimem.evolution.rewriting, experiments.evolve"
    result = subprocess.run([sys.executable, "-c", code], env=clean_environment(), cwd=ROOT, check=False)
    assert result.returncode == 0


def test_a_step_runs_against_a_local_server_with_a_name_that_no_engine_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(key)
    gradients = [{"content": "It is vague."}] * 6
    patterns = {"content": '{"patterns": [{"advice": "Be exact.", "cases": [1, 2]}]}'}
    with FakeOpenAI([*gradients, patterns, {"content": REPLIES["single_braces"]}]) as server:
        llm = OpenAICompatible("Qwen/Qwen3-8B", endpoint=server.url, concurrency=1)
        proposal = TextGradOptimizer(llm, candidates=1).propose(SEED, CASES, ())
    assert proposal.candidates[0].text.startswith("You extract facts.")
    assert {body["model"] for body in server.bodies} == {"Qwen/Qwen3-8B"}
    assert len(server.bodies) == 8


def test_an_unknown_critic_gets_the_list_of_those_there_are() -> None:
    with pytest.raises(BadInput, match=r"no backbone gpt-9; choose one of .*gpt-4o, .*scripted, simulated"):
        backbone_node("gpt-9")
    assert backbone_node("gpt-4o")["model"] == "gpt-4o"
    assert Path(ROOT / "conf/backbone/gpt-4o.yaml").exists()
