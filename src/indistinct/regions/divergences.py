r"""How far apart two laws are, in the measures of Dwork & Roth 3.5.1 and their relatives.

Y is the pair's null law and Z its alternative law; `pair.swapped()` gives the other direction. Rational
values are exact; irrational ones are brackets that contain the truth.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import ball
from indistinct.numbers.logarithm import ball_of, bracket_of, exponential
from indistinct.numbers.reading import read_epsilon, read_number
from indistinct.regions.laws import DiscretePair, integers
from indistinct.regions.ratios import epsilon_of, rational_ratio
from indistinct.regions.region import Region
from indistinct.regions.sharp import sharp_bracket

__all__ = [
    "approximate_max_divergence",
    "hockey_stick",
    "kl_bound",
    "kl_divergence",
    "kl_of_randomized_response",
    "max_divergence",
    "renyi_divergence",
    "statistical_distance",
]

_LARGEST_ORDER = 10**6
_INFINITE = Bracket(math.inf, math.inf)


def kl_divergence(pair: DiscretePair) -> Bracket:
    """D(Y || Z) = E_Y ln(P[Y = y] / P[Z = y]) (DR Definition 3.5); infinite if Y can leave Z's support.

    >>> kl_divergence(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]))
    Bracket(lower=0.5493061443340548, upper=0.5493061443340549)
    """
    if any(p and not q for p, q in zip(pair.null, pair.alternative, strict=True)):
        return _INFINITE
    if pair.null == pair.alternative:
        return Bracket(0.0, 0.0)
    terms = Counter((p, q) for p, q in zip(pair.null, pair.alternative, strict=True) if p)
    return sharp_bracket(lambda: sum((n * ball(p) * ball(p / q).log() for (p, q), n in terms.items()), ball(0)))


def max_divergence(pair: DiscretePair) -> Epsilon | float:
    """D_inf(Y || Z) = max_S ln(P[Y in S] / P[Z in S]) (DR Definition 3.6); exact.

    The least epsilon at which (epsilon, 0) holds in this direction.

    >>> max_divergence(DiscretePair(["3/4", "1/4"], ["1/2", "1/2"]))
    ln(3/2)
    """
    return approximate_max_divergence(pair, 0)


def approximate_max_divergence(pair: DiscretePair, delta: object) -> Epsilon | float:
    """D_inf^delta(Y || Z) = max over P[Y in S] >= delta of ln((P[Y in S] - delta) / P[Z in S]); exact.

    Negative where delta exceeds the statistical distance, and -infinity at delta = 1. Dwork & Roth
    (Definition 3.6) let a fraction with denominator zero be infinite, "the numerators will always be
    positive"; where P[Y in S] = delta and P[Z in S] = 0 the numerator is zero, and such a set is left out
    here: only so does the divergence stay below epsilon if and only if (epsilon, delta) holds (Remark 3.1).

    >>> approximate_max_divergence(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]), "1/4")
    ln(2)
    """
    ratio = Region.of(pair).profile().least_ratio(delta, "null")
    if not isinstance(ratio, Fraction):
        return ratio
    return epsilon_of(ratio) if ratio else -math.inf


def statistical_distance(pair: DiscretePair) -> Fraction:
    """max_S P[Y in S] - P[Z in S], the total variation, the same in either direction; exact.

    >>> statistical_distance(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]))
    Fraction(1, 2)
    """
    differences, denominator = integers([p - q for p, q in zip(pair.null, pair.alternative, strict=True)])
    return Fraction(sum(difference for difference in differences if difference > 0), denominator)


def hockey_stick(pair: DiscretePair, epsilon: object) -> Fraction | Bracket:
    """max_S P[Y in S] - e^epsilon P[Z in S], the least delta in this direction.

    Exact where e^epsilon is rational, else a bracket of relative width at most 2^-50.

    >>> hockey_stick(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]), "ln(2)")
    Fraction(1, 4)
    """
    level = read_epsilon("epsilon", epsilon)
    ratio = rational_ratio(level)
    profile = Region.of(pair).profile()
    return profile.delta(level, "null") if ratio is None else profile.delta_at_ratio(ratio, "null")


def renyi_divergence(pair: DiscretePair, order: object) -> Bracket:
    r"""ln(sum_y P[Y = y]^a P[Z = y]^(1-a)) / (a - 1) of order a > 0; order 1 is KL, math.inf the maximum.

    Infinite if a >= 1 and Y can leave Z's support, or if a < 1 and the supports are disjoint.

    >>> renyi_divergence(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]), 2)
    Bracket(lower=0.8472978603872036, upper=0.8472978603872037)
    """
    if order == math.inf:
        level = max_divergence(pair)
        return Bracket(level, level) if isinstance(level, float) else bracket_of(level)
    a = read_number("order", order)
    if not 0 < a <= _LARGEST_ORDER:
        raise InvalidParameter("order", order, f"lie in (0, {_LARGEST_ORDER}] or be infinite")
    if a == 1:
        return kl_divergence(pair)
    both = [(p, q) for p, q in zip(pair.null, pair.alternative, strict=True) if p and q]
    if not both or (a > 1 and any(p and not q for p, q in zip(pair.null, pair.alternative, strict=True))):
        return _INFINITE
    if pair.null == pair.alternative:
        return Bracket(0.0, 0.0)
    terms = Counter(both)
    return sharp_bracket(
        lambda: (
            sum((n * ball(q) * (ball(a) * ball(p / q).log()).exp() for (p, q), n in terms.items()), ball(0)).log()
            / ball(a - 1)
        )
    )


def kl_bound(epsilon: object) -> Bracket:
    """epsilon (e^epsilon - 1), which bounds the KL divergence of an epsilon-private pair (DR Lemma 3.18).

    Larger than need be, for small epsilon twice: `kl_of_randomized_response` is what is attained.

    >>> kl_bound("ln(3)").upper / kl_of_randomized_response("ln(3)").upper
    4.0
    """
    level = read_epsilon("epsilon", epsilon)
    if level == 0:
        return Bracket(0.0, 0.0)
    return sharp_bracket(lambda: ball_of(level) * (exponential(level) - 1))


def kl_of_randomized_response(epsilon: object) -> Bracket:
    """epsilon tanh(epsilon / 2), the largest KL divergence of any epsilon-private pair.

    Randomised response has it, and randomised response dominates every such pair (KOV, equations 12-13).
    """
    level = read_epsilon("epsilon", epsilon)
    if level == 0:
        return Bracket(0.0, 0.0)
    return sharp_bracket(lambda: ball_of(level) * (1 - 2 / (exponential(level) + 1)))
