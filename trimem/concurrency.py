"""The one way in which work is done side by side: threads, results in the order of the input."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def fan_out(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Yield `function(item)` for each item, in order, computed by `workers` threads (1: in this thread, lazily).

    The first exception (Ctrl-C too) cancels what has not begun and is raised; what has begun runs to its end.
    """
    if workers <= 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(max_workers=workers)
    try:
        futures = [pool.submit(function, item) for item in items]
        for future in futures:
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
