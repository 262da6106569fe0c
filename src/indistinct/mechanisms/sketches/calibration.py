r"""How much weight a sketch must add to be private: by two theorems about composition, and exactly.

A graph's sketch has r rows of the law N(0, L), L the Laplacian of the graph with w/n added to every pair of nodes and
all else scaled by 1 - w/n. Two accountings take each row for an (epsilon_0, delta_0)-private answer and compose r of
them. The exact one composes the rows themselves: the worst pair of graphs, the empty one and one edge, gives
N(0, 1)^r against N(0, 1 + x)^r, and how far apart those are is a difference of chi-square tails. What follows is the
largest x that keeps a budget; 2/x is the weight w where there are many nodes.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from indistinct.composition.alone import Alone
from indistinct.composition.losses.chi_square import ChiSquareLoss
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import arb, ball, bracket_of, floor_of, precision
from indistinct.numbers.logarithm import ball_of

__all__ = [
    "MOST_ROWS",
    "Accounting",
    "advanced_weight",
    "exact_delta",
    "largest_excess",
    "optimal_weight",
    "read_accounting",
    "rows_for",
]

MOST_ROWS = 1_000_000
_BITS = 128
_NARROW = 1e-9
_LEAST, _LARGEST = 1e-18, 1e15


class Accounting(Enum):
    """How the privacy of r rows is added up."""

    ADVANCED = "advanced"
    """KOV, appendix D, line 1, and equation (10): advanced composition (Blocki, Blum, Datta and Sheffet 2012)."""
    OPTIMAL = "optimal"
    """KOV, equation (11): Theorem 3.4, the closed form of optimal composition."""
    EXACT = "exact"
    """The rows' own law, by chi-square tails."""


def read_accounting(value: object) -> Accounting:
    """An accounting, given as itself or by its name.

    >>> read_accounting("exact")
    <Accounting.EXACT: 'exact'>
    """
    try:
        return Accounting(value)
    except ValueError:
        names = ", ".join(repr(each.value) for each in Accounting)
        raise InvalidParameter("accounting", value, f"be one of {names}") from None


def rows_for(eta: Fraction, nu: Fraction) -> int:
    """r = 8 ln(2/nu) / eta^2, rounded up (KOV, Lemma 1; line 1 of the algorithm is misprinted).

    >>> rows_for(Fraction(1, 4), Fraction(1, 20))
    473
    """
    rows = floor_of(lambda: 8 * (2 / ball(nu)).log() / ball(eta) ** 2) + 1  # ln of a rational is no integer
    if rows > MOST_ROWS:
        raise InvalidParameter(
            "eta", float(eta), f"ask for at most {MOST_ROWS:,} rows", instead=f"With this nu it asks for {rows:,}."
        )
    return rows


def advanced_weight(rows: int, epsilon: Epsilon, delta: Fraction) -> Bracket:
    """w = sqrt(32 r ln(2/delta)) ln(4r/delta) / epsilon, as published.

    >>> print(f"{advanced_weight(473, Fraction(1), Fraction(1, 10**6)):.6g}")
    10010.2
    """
    with precision(_BITS):
        height = (32 * rows * (2 / ball(delta)).log()).sqrt()
        return bracket_of(height * _per_row(rows, epsilon, delta))


def optimal_weight(rows: int, epsilon: Epsilon, delta: Fraction) -> Bracket:
    """w = 4 sqrt(4 r ln(e + 2 epsilon / delta)) ln(4r/delta) / epsilon, as appendix D derives it from Lemma 1.

    >>> print(f"{optimal_weight(473, Fraction(1), Fraction(1, 10**6)):.6g}")
    14156.5
    """
    with precision(_BITS):
        ratio = ball(1).exp() + 2 * ball_of(epsilon) / ball(delta)
        return bracket_of(4 * (4 * rows * ratio.log()).sqrt() * _per_row(rows, epsilon, delta))


def _per_row(rows: int, epsilon: Epsilon, delta: Fraction) -> arb:
    return (4 * rows / ball(delta)).log() / ball_of(epsilon)


def exact_delta(rows: int, excess: Fraction, epsilon: Epsilon) -> Bracket:
    """The least delta of N(0, 1)^r against N(0, 1 + x)^r at an epsilon, both ways.

    >>> print(f"{exact_delta(473, Fraction(2000, 141053), Fraction(1)):.3g}")
    1e-06
    """
    with precision(_BITS):
        both = [bracket_of(Alone(ChiSquareLoss(rows, excess, back)).delta(epsilon)) for back in (False, True)]
    return Bracket(max(max(each.lower for each in both), 0.0), max(each.upper for each in both))


@lru_cache(maxsize=256)
def largest_excess(rows: int, epsilon: Epsilon, delta: Fraction) -> Bracket:
    """The largest x that keeps (epsilon, delta): its lower end is proven to, its upper end is proven not to.

    A smaller x is post-processing of a larger one: scale y by sqrt(x'/x) and add an independent N(0, 1 - x'/x).

    >>> print(f"{2 / largest_excess(473, Fraction(1), Fraction(1, 10**6)).lower:.5g}")
    141.05
    """
    if not delta < 1:
        return Bracket(_LARGEST, math.inf)

    def keeps(excess: float) -> bool:
        return exact_delta(rows, Fraction(excess), epsilon).upper <= delta

    low = high = 1.0
    if keeps(low):
        while high < _LARGEST and keeps(high):
            low, high = high, high * 16
        if not high < _LARGEST:
            return Bracket(_LARGEST, math.inf)
    else:
        while not keeps(low):
            low, high = low / 16, low
            if low < _LEAST:
                raise InvalidParameter(
                    "delta", float(delta), "be large enough for a weight below 1e18", instead="Ask for a larger one."
                )
    while high > low * (1 + _NARROW):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return Bracket(low, high)
