r"""The judgement of events: counted on answers that had no part in choosing them, bounded exactly.

Each event gets an equal share of the false-alarm rate, half for either of its two one-sided bounds by Clopper and
Pearson. So all of the bounds hold together, except with a probability of at most that rate (the union bound), whatever
the mechanism is. If it keeps its claim, the true errors of every event lie in the claim's region, and hence
some point of the box that the bounds leave: a box that lies outside convicts it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition import clopper_pearson
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.regions import Region, Tangent

__all__ = ["Event", "judged", "least_epsilon", "visible_epsilon"]

SEEN = Fraction(19, 20)
"""With this probability, what is called visible is seen."""

_BITS = 96


@dataclass(frozen=True, slots=True)
class Event:
    """An event, how often each input led to it in `trials` answers each, and what that proves.

    It speaks for one of the inputs: `likely` is a lower bound of its probability there, `unlikely` an upper bound of
    its probability on the other.
    """

    name: str
    speaks_for: str
    first: int
    second: int
    trials: int
    likely: float
    unlikely: float

    @property
    def point(self) -> tuple[Fraction, Fraction]:
        """(missed detection, false alarm) of the test that the event makes, at most."""
        return 1 - Fraction(self.likely), Fraction(self.unlikely)

    def breaks(self, region: Region) -> bool:
        """Whether its box lies outside a claim's region; decided exactly."""
        missed, alarm = self.point
        return missed + alarm <= 1 and not region.contains(missed, alarm)

    def __str__(self) -> str:
        return f"{self.name}: {self.first:,} and {self.second:,} of {self.trials:,}"


def judged(name: str, first: int, second: int, trials: int, *, speaks_for_first: bool, tail: Fraction) -> Event:
    """An event with its two bounds, each of which fails with probability at most `tail`."""
    mine, other = (first, second) if speaks_for_first else (second, first)
    return Event(
        name,
        "first" if speaks_for_first else "second",
        first,
        second,
        trials,
        clopper_pearson(mine, trials, 2 * tail).lower,
        clopper_pearson(other, trials, 2 * tail).upper,
    )


def least_epsilon(event: Event, delta: Fraction) -> float:
    """An epsilon that is surely not enough at this delta, or 0: ln((p - delta) / q), rounded down."""
    gap = Fraction(event.likely) - delta
    if not gap > Fraction(event.unlikely):
        return 0.0
    with precision(_BITS):
        return max(bracket_of(ball(gap / Fraction(event.unlikely)).log()).lower, 0.0)


def visible_epsilon(event: Event, tangent: Tangent, tail: Fraction) -> float:
    """From which epsilon on, at the delta of the line, this event would have convicted with probability 19/20.

    That is: had the event this probability p = `likely` on one input and (p - delta) e^-epsilon on the other. Infinity
    where so few answers never convict. The claim is a line (ratio, delta), counts are binomial, and each of the two
    may be on the wrong side with half of the 1/20.
    """
    p, n = Fraction(event.likely), event.trials
    wrong = (1 - SEEN) / 2
    gap = p - tangent.delta
    if gap <= 0:
        return math.inf
    fewest = _most(n, lambda k: _at_least(k, n, p) >= 1 - wrong)  # P(count >= k) is still nearly certain
    low = Fraction(clopper_pearson(fewest, n, 2 * tail).lower) - tangent.delta
    target = low / tangent.ratio  # an upper bound below this convicts
    if not 0 < target < 1 or _at_least(1, n, target) < 1 - tail:
        return math.inf
    # The most hits that still convict: P_target(count <= b) <= tail.
    most = _most(n - 1, lambda b: _at_least(b + 1, n, target) >= 1 - tail)
    q = Fraction(clopper_pearson(most + 1, n, 2 * wrong).lower)  # P_q(count <= most) >= 1 - wrong
    if not q > 0:
        return math.inf
    with precision(_BITS):
        return max(bracket_of(ball(gap / q).log()).upper, 0.0)


def _at_least(successes: int, trials: int, chance: Fraction) -> Fraction:
    """About the probability of so many successes or more."""
    if successes <= 0:
        return Fraction(1)
    with precision(_BITS):
        tail = ball(chance).beta_lower(ball(successes), ball(trials - successes + 1), regularized=True)
        return Fraction(float(tail.mid()))


def _most(largest: int, holds: Callable[[int], bool]) -> int:
    """The largest k up to a bound for which something holds, that holds for 0 and stops holding once."""
    low, high = 0, largest + 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
