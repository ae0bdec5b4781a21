"""`python -m experiments.cache`: a run's replies travel as a cassette, and the cache can be seen and pruned."""

from pathlib import Path

import pytest

from experiments.cache import KEYS, KeyFile, main
from experiments.runner import run
from tests.experiments.harness import config_of, read, rows_of
from trimem.errors import BadInput

SMALL = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=2", "embedder=hash", "tracker=none")


def test_a_run_is_replayed_from_its_cassette_without_its_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    config = config_of(*SMALL, "backbone=simulated", "cache.mode=use", "paths.cache=.cache")
    first = run(config, here)
    run(config_of(*SMALL, "backbone=simulated", "paths.cache=.cache", "dataset.limit=5"), here)
    cassette = tmp_path / "cassette.jsonl"
    assert main(["--cache", str(here / ".cache"), "export", first["run"], str(cassette)]) == 0
    lines = cassette.read_text().splitlines()
    assert len(lines) == len((Path(first["run"]) / KEYS).read_text().split())
    main(["--cache", str(there / ".cache"), "import", str(cassette)])
    assert f"{len(lines)} new replies" in capsys.readouterr().out
    again = run({**config, "cache": {"mode": "replay"}}, there)
    assert rows_of(again) == rows_of(first)
    assert all(stage["calls"] == 0 for stage in read(again, "metrics.json")["usage"].values())


def test_size_and_prune_say_what_they_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(config_of(*SMALL, "backbone=simulated", "paths.cache=.cache"), tmp_path)
    folder = ["--cache", str(tmp_path / ".cache")]
    main([*folder, "size"])
    shown = capsys.readouterr().out
    assert "simulated" in shown and "extract" in shown
    with pytest.raises(BadInput, match="--model, --days"):
        main([*folder, "prune"])
    main([*folder, "prune", "--model", "simulated"])
    assert "0 replies deleted" not in capsys.readouterr().out


def test_a_run_whose_replies_are_gone_says_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(config_of(*SMALL, "backbone=simulated", "paths.cache=.cache"), tmp_path)
    folder = ["--cache", str(tmp_path / ".cache")]
    main([*folder, "prune", "--days", "0"])
    assert main([*folder, "export", status["run"], str(tmp_path / "c.jsonl")]) == 1
    assert "no longer in" in capsys.readouterr().err


def test_a_run_without_a_model_has_no_cassette(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="used no kept replies"):
        main(["export", str(tmp_path), str(tmp_path / "c.jsonl")])


def test_keys_are_noted_once_over_all_starts(tmp_path: Path) -> None:
    for key in ("b", "a", "b"):
        KeyFile(tmp_path / KEYS)(key)
    assert (tmp_path / KEYS).read_text().split() == ["b", "a"]
