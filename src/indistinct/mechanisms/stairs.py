"""Where stairs are best placed, and how large staircase noise gets (Geng and Viswanath 2012)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from indistinct.mechanisms.quantiles import BITS, each_of
from indistinct.numbers import Bracket
from indistinct.numbers.balls import arb, ball, bracket_of, precision

__all__ = ["best_share", "best_step", "stair_quantile", "stair_tail"]


def best_share(epsilon: Fraction, *, squared: bool = False) -> Fraction:
    """The gamma of the least expected size, or of the least variance, to some 15 digits.

    The first is 1 / (1 + e^(epsilon / 2)). With b = e^-epsilon, the second is
    (-b + ((b - 2 b^2 + 2 b^4 - b^5) / 2)^(1/3) / (1 - b)) / (1 - b); at b next to 1 it is next to 1/2.

    >>> round(float(best_share(Fraction(1))), 9), round(float(best_share(Fraction(1), squared=True)), 9)
    (0.377540669, 0.416737435)
    """
    if not squared:
        return Fraction(1 / (1 + math.exp(float(epsilon) / 2)))
    with precision(BITS):
        b = (-ball(epsilon)).exp()
        # b - 2 b^2 + 2 b^4 - b^5 = b (1 - b)^3 (1 + b)
        found = (-b + (b * (1 + b) / 2).root(3)) / (1 - b)
        return Fraction(float(found.mid()))


def best_step(width: int, epsilon: float, *, squared: bool = False) -> int:
    """The step on the whole numbers with the least expected size, or the least variance: all of them are compared."""
    b = math.exp(-epsilon)
    r = np.arange(1, width + 1, dtype=np.float64)

    def weighed(power: int) -> np.typing.NDArray[np.float64]:
        """The sums of x^power over the first period, those on the lower stair times b."""
        sums = np.cumsum(np.arange(width, dtype=np.float64) ** power)
        upper = sums[:width]
        result: np.typing.NDArray[np.float64] = upper + b * (sums[-1] - upper)
        return result

    mass, first = weighed(0), weighed(1)
    total = 2 * mass / (1 - b) - 1
    falls = b / (1 - b) ** 2
    if squared:
        cost = weighed(2) / (1 - b) + 2 * width * first * falls + width**2 * mass * falls * (1 + b) / (1 - b)
    else:
        cost = first / (1 - b) + width * mass * falls
    return int(r[np.argmin(cost / total)])


def stair_tail(width: Fraction, epsilon: Fraction, share: Fraction, distance: Fraction) -> arb:
    """P(|Y| > distance) of real staircase noise, at the working precision."""
    period, place = divmod(max(distance, Fraction(0)) / width, 1)
    fall = (-ball(epsilon)).exp()
    inside = ball(min(place, share)) + fall * ball(max(place - share, Fraction(0)))
    return (-ball(epsilon) * int(period)).exp() * (1 - (1 - fall) * inside / _mass(fall, share))


def stair_quantile(width: Fraction, epsilon: Fraction, share: Fraction, beta: Fraction, count: int) -> Bracket:
    """The size that the largest of so many exceeds with probability beta: the tail is linear between the stairs."""
    with precision(BITS + 2 * math.ceil(1 / beta).bit_length()):
        each = each_of(beta, count)
        fall = (-ball(epsilon)).exp()
        period = math.floor(bracket_of(-each.log() / ball(epsilon)).lower)
        inside = (1 - each * (ball(epsilon) * period).exp()) / (1 - fall) * _mass(fall, share)
        upper = inside <= ball(share)
        place = inside if upper else ball(share) + (inside - ball(share)) / fall
        return bracket_of(ball(width) * (period + place))


def _mass(fall: arb, share: Fraction) -> arb:
    """Of one period, the upper stair having height 1."""
    return ball(share) + fall * ball(1 - share)
