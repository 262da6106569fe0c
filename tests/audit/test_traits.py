"""Faults that hide below the size of an answer: on a coarser lattice, in one bit, in the type, in how it is written."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from random import SystemRandom
from typing import Any

import numpy as np
import pytest

from indistinct import PureDP
from indistinct.audit import by_test
from indistinct.audit.outputs import gather
from indistinct.audit.traits import coded_of
from tests.noise.budget import SHARE

RANDOM = SystemRandom()
BITS = RANDOM.getrandbits
SAMPLES = 2000


def with_bit(number: float, at: int, bit: int) -> float:
    """A float with one of its bits set."""
    (whole,) = struct.unpack("<Q", struct.pack("<d", number))
    (found,) = struct.unpack("<d", struct.pack("<Q", whole & ~(1 << at) | bit << at))
    return float(found)


# Each takes the input, 0 or 1, and tells it, whatever the size of the noise is.
TELLING: dict[str, Callable[[int], Any]] = {
    "the last bit of a whole number": lambda x: 2 * BITS(40) + x,
    "beyond floats": lambda x: 2 * BITS(200) + x,
    "of 64 bits": lambda x: np.int64(2 * BITS(60) + x),
    "modulo 3": lambda x: 3 * BITS(40) + x,
    "modulo 17": lambda x: 17 * BITS(40) + x,
    "in thousands": lambda x: 1000 * (2 * BITS(40) + x) + 7,
    "a middle bit of a whole number": lambda x: BITS(20) << 41 | x << 40 | BITS(40),
    "a middle bit of a float": lambda x: with_bit(RANDOM.gauss(0, 1), 30, x),
    "in halves": lambda x: 0.5 * (3 * BITS(30) + x),
    "in tenths": lambda x: round(0.1 * (2 * BITS(20) + x), 1),
    "the last decimal digit": lambda x: round(BITS(16) / 1000 + 0.0001 * (2 * RANDOM.randrange(5) + x), 4),
    "at one place of two": lambda x: (RANDOM.random(), 2 * BITS(40) + x),
    "5 or 5.0": lambda x: 5 if x else 5.0,
    "True or 1": lambda x: True if x else 1,
    "float32 or float64": lambda x: np.float32(5) if x else np.float64(5),
    "a list or a tuple": lambda x: [1] if x else (1,),
    "a type inside": lambda x: (1, 2) if x else (1, 2.0),
    "a decimal place": lambda x: Decimal("1.1") if x else Decimal("1.10"),
    "the sign of zero": lambda x: -0.0 if x else 0.0,
    "the sign of zero, among others": lambda x: RANDOM.choice([1.5, -1.5, -0.0 if x else 0.0]),
    "the end of a text": lambda x: f"{BITS(40):010x}{'ab'[x]}",
    "near the end of a text": lambda x: f"{BITS(40):010x}{'ab'[x]}{BITS(1)}",
}


@pytest.mark.parametrize("telling", TELLING.values(), ids=TELLING)
def test_what_tells_the_input_is_found(telling: Callable[[int], Any]) -> None:
    audit = by_test(telling, 0, 1, PureDP(1), samples=SAMPLES)
    assert audit.violates
    assert audit.epsilon > 1


@pytest.mark.parametrize("telling", TELLING.values(), ids=TELLING)
def test_the_same_by_the_toss_of_a_coin_is_not_accused(telling: Callable[[int], Any]) -> None:
    """Randomised response of odds 1 to 1: the traits are all there, and tell nothing."""
    audit = by_test(lambda _: telling(BITS(1)), 0, 1, PureDP("0.1"), samples=SAMPLES, false_alarm=SHARE)
    assert audit.verdict == "consistent"
    assert audit.epsilon <= 0.1


def test_in_batches_too() -> None:
    generator = np.random.default_rng()
    for kind in (np.int64, np.uint64, np.float64):
        audit = by_test(
            lambda x, runs, kind=kind: (generator.integers(0, 2**40, runs) * 2 + x).astype(kind),
            0,
            1,
            PureDP(1),
            samples=SAMPLES,
            batch=True,
        )
        assert audit.violates
    audit = by_test(
        lambda x, runs: np.zeros(runs, np.float32 if x else np.float64), 0, 1, PureDP(1), samples=SAMPLES, batch=True
    )
    assert audit.violates
    assert "its type" in audit.event.name


def test_few_events_are_judged_however_many_traits_there_are() -> None:
    """The union bound is over these alone."""
    audit = by_test(lambda x: [17 * BITS(40) + x for _ in range(4)], 0, 1, PureDP(1), samples=400)
    assert audit.violates
    assert len(audit.events) <= 4
    first, second = gather(lambda x: [3 * BITS(40) + x for _ in range(4)], 0, 1, 400, batch=False)
    assert 0 < len(list(coded_of(first, second))) <= 4
    same = gather(lambda _: 3 * BITS(40), 0, 1, 2000, batch=False)
    assert len(list(coded_of(*same))) <= 1
