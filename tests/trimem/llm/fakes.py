"""An LLM that says what it is told to, for tests of whatever stands around an LLM."""

import threading
from collections.abc import Mapping
from typing import Any

from trimem.llm.base import Message, Provider, Reply, Request


class Canned(Provider):
    """Gives its replies in order, the last one again and again, and keeps the requests."""

    model = "canned"
    concurrency = 8

    def __init__(self, *replies: Reply) -> None:
        self.replies = replies
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"provider": "canned"}

    def complete(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            return self.replies[min(len(self.requests), len(self.replies)) - 1]


def user(text: str = "hello", **changes: Any) -> Request:
    """A request of one user message."""
    return Request(**({"messages": (Message("user", text),), "stage": "answer"} | changes))
