r"""What one guarantee implies: Kairouz, Oh, Viswanath, Remark A.1.

R(epsilon, delta) lies inside R(epsilon', delta') if and only if delta' >= delta and
(1 - delta') / (1 + e^epsilon') <= (1 - delta) / (1 + e^epsilon). Values are exact where e^epsilon is
rational, else brackets; `upper` is what may be claimed.
"""

from __future__ import annotations

import math
from fractions import Fraction

from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import ball
from indistinct.numbers.logarithm import exponential, sign_of_sum
from indistinct.numbers.reading import read_delta, read_epsilon
from indistinct.regions.ratios import epsilon_of, order, rational_ratio
from indistinct.regions.sharp import sharp_bracket

__all__ = ["implied_delta", "implied_epsilon", "total_variation_bound"]


def implied_delta(epsilon: object, delta: object, at_epsilon: object) -> Fraction | Bracket:
    """The least delta' for which every (epsilon, delta)-private mechanism is (at_epsilon, delta')-private.

    >>> implied_delta("ln(3)", 0, "ln(2)"), implied_delta(1, "1/10", 2)
    (Fraction(1, 4), Fraction(1, 10))
    """
    given, failure = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
    asked = read_epsilon("at_epsilon", at_epsilon)
    if failure == 1 or sign_of_sum((1, asked), (-1, given)) >= 0:
        return failure
    ratio, asked_ratio = rational_ratio(given), rational_ratio(asked)
    if ratio is not None and asked_ratio is not None:
        return 1 - (1 - failure) * (1 + asked_ratio) / (1 + ratio)
    return sharp_bracket(lambda: 1 - ball(1 - failure) * (1 + exponential(asked)) / (1 + exponential(given)))


def implied_epsilon(epsilon: object, delta: object, at_delta: object) -> Epsilon | Bracket | float:
    """The least epsilon' for which every (epsilon, delta)-private mechanism is (epsilon', at_delta)-private.

    Infinite if at_delta is below delta.

    >>> implied_epsilon("ln(3)", 0, "1/4"), implied_epsilon("ln(3)", 0, "1/2"), implied_epsilon(1, 0.1, 0)
    (ln(2), Fraction(0, 1), inf)
    """
    given, failure = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
    asked = read_delta("at_delta", at_delta)
    if asked < failure:
        return math.inf
    if asked == 1 or order(2 * (1 - failure) / (1 - asked) - 1, given) >= 0:
        return Fraction(0)
    if asked == failure:
        return given
    share = (1 - asked) / (1 - failure)
    ratio = rational_ratio(given)
    if ratio is not None:
        return epsilon_of(share * (1 + ratio) - 1)
    return sharp_bracket(lambda: (ball(share) * (1 + exponential(given)) - 1).log())


def total_variation_bound(epsilon: object, delta: object = 0) -> Fraction | Bracket:
    """The largest total variation between the laws of an (epsilon, delta)-private mechanism: Remark A.1 (b).

    1 - 2 (1 - delta) / (1 + e^epsilon), attained by the dominating pair.

    >>> total_variation_bound("ln(3)"), total_variation_bound(0, 0.125)
    (Fraction(1, 2), Fraction(1, 8))
    """
    return implied_delta(epsilon, delta, 0)
