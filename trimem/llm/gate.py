"""How many calls may be under way at once: halved when the server says "too many", won back one by one."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """At most `limit` calls inside. `slow_down` halves that (once a second at most); each success adds 1/limit."""

    def __init__(self, limit: int) -> None:
        self.full = limit
        self._limit = float(limit)
        self._inside = 0
        self._halved = float("-inf")
        self._changed = threading.Condition()

    @property
    def limit(self) -> int:
        return int(self._limit)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a place, hold it for the block."""
        with self._changed:
            self._changed.wait_for(lambda: self._inside < self.limit)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify()

    def slow_down(self) -> None:
        """The server turned a call away. Calls of the same burst count as one."""
        with self._changed:
            now = time.monotonic()
            if now - self._halved >= 1.0:
                self._halved = now
                self._limit = max(1.0, self._limit / 2)

    def speed_up(self) -> None:
        """A call went well."""
        with self._changed:
            self._limit = min(float(self.full), self._limit + 1.0 / self._limit)
            self._changed.notify()
