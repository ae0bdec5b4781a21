"""How many calls may be under way at once: one at first, halved when the server says "too many", won back slowly."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """At most `limit` calls inside.

    The first call goes alone until it comes back, or for `patience` seconds: a wrong key or an empty account costs one
    request where the server says so at once, and a burst of refused ones where it takes longer. `slow_down` halves the
    limit (once a second at most); each success adds 1/limit.
    """

    def __init__(self, limit: int, patience: float = 0.1) -> None:
        self.full = limit
        self.patience = patience
        self._limit = float(limit)
        self._opens: float | None = None  # when patience ends
        self._inside = 0
        self._halved = float("-inf")
        self._changed = threading.Condition()

    @property
    def limit(self) -> int:
        """Calls allowed now."""
        return int(self._limit) if self._is_open else 1

    @property
    def _is_open(self) -> bool:
        return self._opens is not None and time.monotonic() >= self._opens

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a place, hold it for the block."""
        with self._changed:
            if self._opens is None:
                self._opens = time.monotonic() + self.patience
            while self._inside >= self.limit:
                self._changed.wait(None if self._is_open else self._opens - time.monotonic())
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify()

    def open(self) -> None:
        """A first call came back: whoever waits may go."""
        with self._changed:
            if not self._is_open:
                self._opens = float("-inf")
                self._changed.notify_all()

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
