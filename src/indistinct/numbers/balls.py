"""The one door to Arb's ball arithmetic (python-flint): nothing else in the package imports it.

A ball is a midpoint and a radius, and every operation widens the radius by whatever rounding it did:
the ball of a result contains the true result. Working precision only decides how narrow the balls
are, never whether they are right, so it may be shared between threads.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import cast

from flint import acb, arb, ctx, fmpq, fmpz

from indistinct.errors import InternalError
from indistinct.numbers.bracket import Bracket, float_below

__all__ = [
    "acb",
    "arb",
    "ball",
    "bracket_of",
    "decided",
    "exact",
    "floor_of",
    "precision",
    "root_of_unity",
    "sign_of",
    "working_bits",
]

_MOST_BITS = 1 << 16
_RESTING_BITS = 53


_lock = threading.Lock()
_wanted: Counter[int] = Counter()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with at least so many bits inside the block; other threads' blocks may make it more."""
    with _lock:
        _wanted[bits] += 1
        ctx.prec = max((_RESTING_BITS, *_wanted))
    try:
        yield
    finally:
        with _lock:
            _wanted[bits] -= 1
            if not _wanted[bits]:
                del _wanted[bits]
            ctx.prec = max((_RESTING_BITS, *_wanted))


def ball(value: Fraction | int | float | arb) -> arb:
    """The ball of an exact number, as narrow as the working precision allows."""
    match value:
        case arb():
            return value
        case float():
            return arb(value)
        case int():
            return arb(fmpz(value))
        case Fraction():
            return arb(fmpq(value.numerator, value.denominator))


def working_bits() -> int:
    """The precision in force, for series that know when to stop; another thread may make it more at any time."""
    return int(ctx.prec)


def root_of_unity(numerator: int, denominator: int) -> acb:
    """e^(2 pi i numerator / denominator)."""
    return acb(arb(fmpq(2 * (numerator % denominator), denominator))).exp_pi_i()


def bracket_of(value: arb) -> Bracket:
    """The floats around a ball, rounded outwards; a ball without an end becomes an infinity."""
    if not value.is_finite():
        return Bracket(-math.inf, math.inf)
    return Bracket(_float_below(value.lower()), 0.0 - _float_below(-value.upper()))


def sign_of(expression: Callable[[], arb]) -> int:
    """The sign of a number that is known not to be zero, by working at ever more precision.

    >>> sign_of(lambda: ball(2).exp() - ball(Fraction("7.389056098930650227230")))
    1
    """
    value = decided(expression, lambda ball: not ball.contains(0))
    return 1 if value > 0 else -1


def floor_of(expression: Callable[[], arb]) -> int:
    """The floor of a number that is known to be no integer (or an exact ball)."""
    value = decided(expression, lambda ball: ball.floor().unique_fmpz() is not None)
    with precision(_MOST_BITS):  # at less than it was decided with, the floor itself would be rounded
        return int(cast(fmpz, value.floor().unique_fmpz()))


def decided(expression: Callable[[], arb], enough: Callable[[arb], bool]) -> arb:
    """The expression at the first precision at which its ball is narrow enough to decide."""
    bits = 128
    while bits <= _MOST_BITS:
        with precision(bits):
            value = expression()
            if enough(value):
                return value
        bits *= 2
    raise InternalError(f"a comparison was not decided at {_MOST_BITS} bits")


def exact(point: arb) -> Fraction:
    """The number that a ball of radius zero is."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    return mantissa * Fraction(2) ** exponent


def _float_below(point: arb) -> float:
    """The largest float not above a point, also where that is far outside the range of floats."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    size = mantissa.bit_length() + exponent
    if mantissa == 0:
        return 0.0
    if size > 1100:
        return math.nextafter(math.inf, 0) if mantissa > 0 else -math.inf
    if size < -1200:
        return 0.0 if mantissa > 0 else -math.nextafter(0, 1)
    power = Fraction(2) ** exponent
    return float_below(mantissa * power)
