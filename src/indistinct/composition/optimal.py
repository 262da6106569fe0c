r"""Optimal composition, as the theorem prints it: KOV, Theorem 3.3, equations (5) and (6).

k uses of an (epsilon, delta)-private mechanism are ((k - 2 i) epsilon, 1 - (1 - delta)^k (1 - delta_i))-private
for every i = 0 .. floor(k/2), where

    delta_i = sum over l < i of C(k, l) (e^((k-l) epsilon) - e^((k-2i+l) epsilon)) / (1 + e^epsilon)^k,

and no mechanism-independent statement is stronger. `compose` answers the same for any epsilon and for
unequal mechanisms; here the levels of the theorem are summed term by term, in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.compose import compose
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.guarantees import ApproximateDP
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_count, read_delta, read_epsilon
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.numbers.bracket import float_below
from indistinct.numbers.logarithm import ball_of, enclosure, exponential, logarithm_of
from indistinct.numbers.reading import LARGEST_EPSILON

__all__ = ["Level", "optimal_composition", "optimal_share"]

_MOST_LEVELS = 1_000_000
_BITS = 128


@dataclass(frozen=True, slots=True)
class Level:
    """One of the regions whose intersection the composition is: at `epsilon`, exactly `delta`."""

    epsilon: Bracket
    delta: Bracket


def optimal_composition(epsilon: object, delta: object, times: object) -> tuple[Level, ...]:
    """All levels of Theorem 3.3, from (k epsilon, i = 0) down to epsilon or 0.

    >>> for level in optimal_composition("0.1", "0.001", 3):
    ...     print(f"{level.epsilon:.3g} {level.delta:.6g}")
    0.3 0.00299701
    0.1 0.0291456
    """
    level, own, count = (
        read_epsilon("epsilon", epsilon),
        read_delta("delta", delta),
        read_count("times", times),
    )
    if count > 2 * _MOST_LEVELS:
        raise InvalidParameter(
            "times",
            times,
            f"be at most {2 * _MOST_LEVELS}",
            instead="compose answers any number at one epsilon.",
        )
    return tuple(_levels(level, ApproximateDP(level, own), count))


def _levels(epsilon: Epsilon, guarantee: ApproximateDP, times: int) -> Iterator[Level]:
    size = (epsilon if isinstance(epsilon, Fraction) else epsilon.argument).denominator.bit_length()
    with precision(128 + 2 * times.bit_length() + size):
        e, odds = ball_of(epsilon), exponential(epsilon)
        disclosure = ball(1)
        if guarantee.delta < 1:
            disclosure = -(times * logarithm_of(1 - guarantee.delta)).expm1()
        elif times == 0:
            disclosure = ball(0)
        # Relative to (1 + odds)^k: the term C(k, l) odds^(k - l), and the sums over l < i of the two kinds.
        term = (odds / (1 + odds)) ** times
        mirrored = 1 / (1 + odds) ** times
        upper, lower = ball(0), ball(0)
        for i in range(times // 2 + 1):
            pure = upper - odds ** (times - 2 * i) * lower
            delta = bracket_of(disclosure + (1 - disclosure) * pure)
            yield Level(bracket_of((times - 2 * i) * e), Bracket(max(delta.lower, 0.0), min(delta.upper, 1.0)))
            upper += term
            lower += mirrored
            term *= ball(times - i) / (i + 1) / odds
            mirrored *= ball(times - i) / (i + 1) * odds


def optimal_share(epsilon: object, delta: object, times: object, each_delta: object = 0) -> Bracket:
    """The largest epsilon that each of so many mechanisms may have for (epsilon, delta) in all.

    The lower end is the claim: with it the composition is proven (epsilon, delta)-private. `each_delta` is
    the delta that each mechanism has besides.

    >>> print(optimal_share(1, "1e-6", 1000).lower)
    0.0074951001...
    """
    level, budget = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
    count, own = read_count("times", times, least=1), read_delta("each_delta", each_delta)
    if budget == 1:
        return Bracket(math.inf, math.inf)
    match Disclosure([(own, count)]).compared_with(budget):
        case 0:
            with precision(_BITS):
                return bracket_of(ball_of(level) / count)
        case -1 | None:
            raise InvalidParameter(
                "each_delta",
                each_delta,
                "compose to no more than delta",
                instead="Each may have delta / times, at least.",
            )

    def proven(each: float, *, fits: bool) -> bool:
        composed = compose({ApproximateDP(each, own): count}).delta(level)
        return composed.upper <= budget if fits else composed.lower > budget

    # Each epsilon / times fits, by basic composition; with more than the whole of it, one alone does not.
    least = float_below(enclosure(level)[0] / count)
    high = max(2 * least, 1.0 / count)
    while not proven(high, fits=False):
        high *= 2
        if high > LARGEST_EPSILON:
            return Bracket(least, math.inf)
    lower = _last(lambda each: proven(each, fits=True), least, high)
    return Bracket(lower, math.nextafter(_last(lambda each: not proven(each, fits=False), lower, high), math.inf))


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last float up to which a condition holds that holds at `low` and does not at `high`."""
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
