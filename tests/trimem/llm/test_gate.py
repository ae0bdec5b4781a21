"""How many calls may be under way."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from trimem.llm.gate import Gate


def opened(limit: int) -> Gate:
    gate = Gate(limit)
    with gate.slot():
        gate.open()
    return gate


def test_first_call_goes_alone_until_it_is_back() -> None:
    gate, inside, most = Gate(8), [0], [0]
    lock, first_is_back = threading.Lock(), threading.Event()

    def call(_: int) -> None:
        with gate.slot():
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            first_is_back.wait(1.0)
            with lock:
                inside[0] -= 1
            gate.open()

    with ThreadPoolExecutor(8) as pool:
        work = pool.map(call, range(8))
        time.sleep(0.05)
        assert inside[0] == 1
        first_is_back.set()
        list(work)
    assert gate.limit == 8


def test_a_first_call_that_hangs_lets_others_in_after_patience() -> None:
    gate = Gate(4, patience=0.05)
    with gate.slot(), ThreadPoolExecutor(1) as pool:
        begun = time.monotonic()

        def other() -> float:
            with gate.slot():
                return time.monotonic() - begun

        assert 0.04 < pool.submit(other).result(timeout=5) < 2


def test_burst_of_rejections_halves_once() -> None:
    gate = opened(16)
    for _ in range(10):
        gate.slow_down()
    assert gate.limit == 8


def test_limit_recovers_to_full_and_no_further() -> None:
    gate = opened(4)
    gate.slow_down()
    assert gate.limit == 2
    for _ in range(20):
        gate.speed_up()
    assert gate.limit == 4


def test_never_below_one() -> None:
    gate = opened(1)
    gate.slow_down()
    assert gate.limit == 1


def test_a_failing_call_gives_its_place_back() -> None:
    gate = opened(1)
    with pytest.raises(ZeroDivisionError), gate.slot():
        raise ZeroDivisionError
    with gate.slot():
        assert gate.limit == 1
