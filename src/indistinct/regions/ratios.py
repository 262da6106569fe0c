r"""Between epsilon and the ratio e^epsilon, which is what geometry can use.

e^epsilon is rational for epsilon = 0 and epsilon = ln(r), and irrational for every other rational epsilon
(Lindemann). So a rational number is never equal to it there, and every comparison is decided by working
at enough precision; where a rational ratio is needed to build something, the direction of rounding is
part of the function's name.
"""

from __future__ import annotations

from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.balls import ball, precision, sign_of
from indistinct.numbers.balls import exact as exact_number
from indistinct.numbers.logarithm import exponential

__all__ = ["epsilon_of", "order", "ratio_above", "ratio_below", "rational_ratio"]

_LARGEST = 20_000
_BITS = 128


def rational_ratio(epsilon: Epsilon) -> Fraction | None:
    """e^epsilon where it is rational, else None."""
    match epsilon:
        case NaturalLog(argument):
            return argument
        case _:
            return Fraction(1) if epsilon == 0 else None


def epsilon_of(ratio: Fraction) -> Epsilon:
    """The exact logarithm of a ratio; 0 rather than ln(1)."""
    return Fraction(0) if ratio == 1 else NaturalLog(ratio)


def order(ratio: Fraction, epsilon: Epsilon) -> int:
    """-1, 0 or 1 as the ratio is below, equal to or above e^epsilon; exact.

    >>> order(Fraction(271828, 100000), Fraction(1)), order(Fraction(3), NaturalLog(Fraction(3)))
    (-1, 0)
    """
    exact = rational_ratio(epsilon)
    if exact is not None:
        return (ratio > exact) - (ratio < exact)
    return sign_of(lambda: ball(ratio) - exponential(epsilon))


def ratio_below(epsilon: Epsilon, bits: int = _BITS) -> Fraction:
    """A rational number at most e^epsilon and within a share of 2^-bits of it; exact where it can be."""
    return _around(epsilon, bits)[0]


def ratio_above(epsilon: Epsilon, bits: int = _BITS) -> Fraction:
    """A rational number at least e^epsilon and within a share of 2^-bits of it; exact where it can be."""
    return _around(epsilon, bits)[1]


def _around(epsilon: Epsilon, bits: int) -> tuple[Fraction, Fraction]:
    exact = rational_ratio(epsilon)
    if exact is not None:
        return exact, exact
    if isinstance(epsilon, Fraction) and epsilon > _LARGEST:
        raise InvalidParameter("epsilon", epsilon, f"be at most {_LARGEST:,} where e^epsilon has to be written out")
    with precision(bits + 32):
        around = exponential(epsilon)
        return exact_number(around.lower()), exact_number(around.upper())
