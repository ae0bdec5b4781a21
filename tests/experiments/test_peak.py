"""The peak covers what was held and given back, and can be begun anew where the system allows it."""

import sys

import pytest

from experiments.peak import forget_peak, peak_bytes

HELD = 200_000_000


def hold() -> int:
    return len(bytearray(b"\1" * HELD))


def test_what_was_given_back_stays_in_the_peak() -> None:
    before = peak_bytes()
    assert hold() == HELD
    assert peak_bytes() >= before
    assert peak_bytes() >= HELD


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can begin anew")
def test_another_job_s_peak_is_forgotten() -> None:
    hold()
    high = peak_bytes()
    forget_peak()
    assert peak_bytes() <= high - HELD / 2
