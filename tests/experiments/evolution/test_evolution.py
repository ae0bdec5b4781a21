"""Full evolutions of up to 4 steps with the real textgrad on the sample set, a weakness planted in the seed prompt."""

import os
from pathlib import Path

import pytest

from experiments.settings import absolute
from tests.experiments.evolution import evolving
from tests.experiments.evolution.evolving import BULLETS, Result, drawn, evolved, model
from tests.experiments.harness import config_of
from trimem import prompts
from trimem.llm.scripted import Scripted, rules_in


@pytest.fixture(scope="module", params=sorted(BULLETS))
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Result]:
    """An evolution from a prompt with the weakness."""
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, evolved(folder, request.param, backbone=model(evolving.Spy))


def test_the_planted_weakness_is_found_and_the_untouched_test_conversation_rises(found: tuple[str, Result]) -> None:
    weakness, result = found
    seed = prompts.load(result.directory / "seed" / "extract.md")
    assert getattr(rules_in(seed.rules), weakness) is False
    assert all(rules_in(result.rules))
    assert result.score("best", "test") > result.score("seed", "test") + 0.1
    assert result.score("best", "test") > 0.95
    assert result.report["stamp"] == ""


def test_the_lineage_tells_everything_about_the_edit(found: tuple[str, Result]) -> None:
    _, result = found
    (kept,) = [version for version in result.lineage if version.accepted]
    seed = prompts.load(result.directory / "seed" / "extract.md")
    assert (kept.step, kept.prompt, kept.parent) == (1, "extract", seed.hash)
    assert kept.id == prompts.load(result.directory / "best" / "extract.md").hash
    assert kept.diff.count("\n+") == 1
    assert kept.critique
    assert len(kept.caused_by) >= 2 and set(kept.caused_by) <= set(kept.won)
    assert all(id.startswith("sample-train:") for id in kept.caused_by)
    assert kept.train is not None and kept.val is not None and kept.train_parent is not None
    assert kept.train > kept.train_parent
    assert kept.look == 1 and kept.calls > 0 and kept.prompt_tokens
    assert result.report["looks_at_validation"] == 1
    rejected = [version for version in result.lineage if not version.accepted]
    assert all(version.reason for version in rejected)
    assert (result.directory / "step-1" / "extract.md").exists()


def test_the_critic_saw_no_name_of_the_data(found: tuple[str, Result]) -> None:
    said = "\n".join(evolving.Spy.seen)
    assert "PERSON_1" in said
    assert [name for name in ("Ottilie", "Bram", "Corrie Maid", "Pendrake", "Pilchard") if name in said] == []
    assert "sample-val" not in said and "Rafiq" not in said and "Leocadia" not in said


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_draws_a_weakness(seed: int) -> None:
    assert drawn(seed) == drawn(seed)
    assert {drawn(n) for n in range(12)} == set(BULLETS)


def test_rewriting_without_failures_gains_less(found: tuple[str, Result], tmp_path: Path) -> None:
    weakness, result = found
    control = evolved(tmp_path, weakness, "evolution.steps=2", optimizer="rewrite")
    assert control.score("seed", "test") == result.score("seed", "test")
    gain = control.score("best", "test") - control.score("seed", "test")
    assert gain < result.score("best", "test") - result.score("seed", "test")
    assert control.lineage[0].critique == "rewritten without a look at failures"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (evolving.Harmful, "it lost on the train questions"),
        (evolving.Leaking, "it holds text of the data"),
        (evolving.Untagged, "no text between <IMPROVED_VARIABLE>"),
        (evolving.Unstructured, "no longer names the output key(s) topic"),
        (evolving.Rambling, "the patterns could not be read"),
    ],
)
def test_an_edit_that_goes_wrong_is_a_recorded_rejected_step(tmp_path: Path, kind: type[Scripted], reason: str) -> None:
    result = evolved(
        tmp_path,
        "resolve",
        "evolution.steps=1",
        "evolution.test=false",
        "evolution.prompts=[extract]",
        evolution__backward=model(kind),
    )
    assert [version.accepted for version in result.lineage] == [False]
    assert reason in result.lineage[0].reason
    assert result.lineage[0].look == 0, "validation was not looked at"
    assert result.rules == prompts.load(result.directory / "seed" / "extract.md").rules


def test_from_answers_alone_a_fault_of_the_entries_is_not_seen(tmp_path: Path) -> None:
    """The limit that the paper's authors name: the response does not show which stage was at fault."""
    result = evolved(tmp_path, "split", "evolution.signal=response", "evolution.steps=1", "evolution.test=false")
    assert not any(version.accepted for version in result.lineage)


PHASES = {
    "forward, building": ("extract", 2),
    "forward, answering": ("answer", 12),
    "backward": ("evolve", 9),
    "checking the candidate": ("extract", 4),
    "validation": ("answer", 70),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The evolution that nobody killed."""
    evolving.Dying.plan = None
    return evolved(tmp_path_factory.mktemp("whole"), "resolve", "evolution.test=false", backbone=model(evolving.Dying))


@pytest.mark.parametrize("phase", PHASES)
def test_a_kill_in_any_phase_changes_nothing(tmp_path: Path, whole: Result, phase: str) -> None:
    evolving.Dying.counts.clear()
    evolving.Dying.plan = PHASES[phase]
    with pytest.raises(evolving.Killed):
        evolved(tmp_path, "resolve", "evolution.test=false", backbone=model(evolving.Dying))
    evolving.Dying.plan = None
    again = evolved(tmp_path, "resolve", "evolution.test=false", backbone=model(evolving.Dying))
    assert again.directory.name == whole.directory.name
    assert without_cost(again) == without_cost(whole)
    assert again.rules == whole.rules
    assert again.report["scores"] == whole.report["scores"]


def without_cost(result: Result) -> list[dict[str, object]]:
    cost = ("calls", "prompt_tokens", "completion_tokens", "usd")
    return [{key: value for key, value in vars(version).items() if key not in cost} for version in result.lineage]


def test_a_finished_evolution_asks_nothing_again(whole: Result, tmp_path: Path) -> None:
    evolving.Dying.plan = ("answer", 0)  # any call would die
    evolving.Dying.counts.clear()
    folder = whole.directory.parents[2]
    assert evolved(folder, "resolve", "evolution.test=false", backbone=model(evolving.Dying)).lineage == whole.lineage
    assert not evolving.Dying.counts


def test_an_evolved_prompt_is_used_by_its_name(whole: Result, tmp_path: Path) -> None:
    config = absolute(config_of("backbone=scripted", f"prompts.extract={whole.directory}@best"), tmp_path)
    assert config["method"]["extractor"]["prompt"] == str(whole.directory / "best" / "extract.md")
    assert config["method"]["profiler"]["prompt"] == "profile"
    relative = os.path.relpath(whole.directory, tmp_path)
    step = absolute(config_of("backbone=scripted", f"prompts.profile={relative}@step-1"), tmp_path)
    assert Path(step["method"]["profiler"]["prompt"]).samefile(whole.directory / "step-1" / "profile.md")
