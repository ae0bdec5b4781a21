"""Case k06: the cache key holds everything that changes a reply."""

from pathlib import Path
from typing import Any

from tests.cases.replies import CaseFacts, request
from tests.fake_openai import FakeOpenAI
from trimem.llm.base import Message
from trimem.llm.cache import CachedLLM
from trimem.llm.meter import Meter
from trimem.llm.openai_compatible import OpenAICompatible


def test_each_changed_setting_is_asked_and_the_base_setting_is_a_hit(tmp_path: Path) -> None:
    with FakeOpenAI([{"content": "a"}]) as server, FakeOpenAI([{"content": "b"}]) as other:

        def call(url: str = server.url, effort: str = "low", **changes: Any) -> tuple[int, int]:
            llm = OpenAICompatible("fake", url, options={"reasoning_effort": effort})
            meter = Meter(CachedLLM(llm, tmp_path / "llm.sqlite"))
            assert meter.complete(request(**changes)).status == "ok"
            usage = meter.usage()["extract"]
            return usage.calls, usage.cached

        system = (Message("system", "Be brief."), *request().messages)
        asked = [call(), call(temperature=0.7), call(max_tokens=99), call(messages=system), call(other.url)]
        asked += [call(schema=CaseFacts), call(effort="high")]
        assert asked == [(1, 0)] * 7
        assert call() == (0, 1)
        assert len(server.bodies) + len(other.bodies) == 7
