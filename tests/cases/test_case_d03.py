"""Case d03: strict chat templates take one system message, at the beginning."""

from pathlib import Path

import pytest

from experiments.runner import run
from tests.experiments.harness import ROOT, config_of
from trimem.llm.base import Reply, Request
from trimem.llm.simulated import Simulated

METHODS = sorted(path.stem for path in (ROOT / "conf/method").glob("*.yaml"))
SMALL = ("dataset=sample", "dataset.conversations=[sample-train]", "dataset.limit=1", "embedder=hash", "tracker=none")


@pytest.mark.parametrize("method", METHODS)
def test_every_call_has_at_most_one_system_message_and_it_stands_first(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles: dict[str, set[tuple[str, ...]]] = {}
    complete = Simulated.complete

    def listening(model: Simulated, request: Request) -> Reply:
        roles.setdefault(request.stage, set()).add(tuple(message.role for message in request.messages))
        return complete(model, request)

    monkeypatch.setattr(Simulated, "complete", listening)
    reflecting = ["method.use_reflection=true"] if method == "trimem" else []
    run(config_of(*SMALL, f"method={method}", "backbone=simulated", *reflecting), tmp_path)
    assert roles
    for stage, orders in roles.items():
        assert all("system" not in order[1:] and order[-1] == "user" for order in orders), stage
