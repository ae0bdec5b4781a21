"""Case k07: failures are not cached."""

from pathlib import Path

from tests.cases.replies import request, scenario
from trimem.llm.cache import CachedLLM


def test_failed_replies_leave_no_entry_and_the_good_one_does(tmp_path: Path) -> None:
    with scenario("k07_fail_then_ok", max_retries=0) as (provider, server):
        llm = CachedLLM(provider, tmp_path / "llm.sqlite")
        statuses = [llm.complete(request()).status for _ in range(3)]
        fourth = llm.complete(request())
    assert statuses == ["empty", "content_filter", "ok"]
    assert (fourth.status, fourth.cached, len(server.bodies)) == ("ok", True, 3)
