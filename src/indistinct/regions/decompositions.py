r"""Approximate privacy as exact privacy of something close: the lemmas, as constructions.

Source: Dwork & Roth, Lemma 3.17, and the slides' lemma on the events E and E'. Y is the pair's null law P
and Z its alternative law Q.

The papers work at the ratio e^epsilon. Here every law is rational, so a rational ratio r <= e^epsilon takes
its place: e^epsilon itself where it is rational, else the larger of e^epsilon rounded down by a share of
2^-128 and the least ratio at which delta suffices. Then all divergences are at most ln r <= epsilon exactly,
and part 1 and the events keep their delta exactly; part 2 keeps delta / (r + 1), which is within a share
of 2^-128 of delta / (e^epsilon + 1).

Without a delta the pair's own at the ratio r is taken.

Part 2 as printed asks only for D_inf(Y' || Z') <= epsilon, and then its converse fails: Y = (1, 0) and
Z = (1/2, 1/2) have D_inf(Y || Z) = ln 2 but D_inf^delta(Z || Y) = infinity for delta < 1/2. The
construction gives the other direction too, which its proof of the converse uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_epsilon
from indistinct.regions.divergences import statistical_distance
from indistinct.regions.laws import DiscretePair, Outcome, integers
from indistinct.regions.profile import Direction
from indistinct.regions.ratios import ratio_below
from indistinct.regions.region import Region

__all__ = [
    "BothTruncated",
    "ConditioningEvents",
    "Truncated",
    "both_truncated",
    "conditioning_events",
    "truncated",
]


@dataclass(frozen=True, slots=True)
class Truncated:
    """Y' in the place of Y: `pair` is (Y', Z), `distance` is between Y and Y'."""

    original: DiscretePair
    pair: DiscretePair
    ratio: Fraction
    distance: Fraction

    def verify(self) -> bool:
        """Whether D_inf(Y' || Z) <= ln(ratio), Z is untouched, and the distance is as said."""
        return (
            _bounded(self.pair.null, self.pair.alternative, self.ratio)
            and self.pair.alternative == self.original.alternative
            and self.distance == _distance(self.original.null, self.pair.null)
        )


@dataclass(frozen=True, slots=True)
class BothTruncated:
    """(Y', Z') in the place of (Y, Z), with the distances from Y to Y' and from Z to Z'."""

    original: DiscretePair
    pair: DiscretePair
    ratio: Fraction
    distances: tuple[Fraction, Fraction]

    def verify(self) -> bool:
        """Whether D_inf(Y' || Z') and D_inf(Z' || Y') are at most ln(ratio), the distances as said."""
        return _mutually_bounded(self.pair, self.ratio) and self.distances == (
            _distance(self.original.null, self.pair.null),
            _distance(self.original.alternative, self.pair.alternative),
        )


@dataclass(frozen=True, slots=True)
class ConditioningEvents:
    """Events E of Y and E' of Z, as outcome -> probability of the event; both have `probability`."""

    original: DiscretePair
    null_event: Mapping[Outcome, Fraction]
    alternative_event: Mapping[Outcome, Fraction]
    ratio: Fraction
    probability: Fraction

    def conditioned(self) -> DiscretePair:
        """The laws of Y given E and of Z given E'."""
        return DiscretePair(
            self._given(self.original.null, self.null_event),
            self._given(self.original.alternative, self.alternative_event),
        )

    def verify(self) -> bool:
        """Whether both events have the probability, and bounded conditional laws in both directions."""
        events = (self.original.null, self.null_event), (self.original.alternative, self.alternative_event)
        return (
            all(0 <= chance <= 1 for _, event in events for chance in event.values())
            and all(_total(list(self._joint(*each).values())) == self.probability for each in events)
            and _mutually_bounded(self.conditioned(), self.ratio)
        )

    def _joint(self, law: Sequence[Fraction], event: Mapping[Outcome, Fraction]) -> dict[Outcome, Fraction]:
        return {y: p * event[y] for y, p in zip(self.original.outcomes, law, strict=True)}

    def _given(self, law: Sequence[Fraction], event: Mapping[Outcome, Fraction]) -> dict[Outcome, Fraction]:
        return {y: joint / self.probability for y, joint in self._joint(law, event).items()}


def truncated(pair: DiscretePair, epsilon: object, delta: object = None) -> Truncated:
    """Y' within statistical distance delta of Y with D_inf(Y' || Z) <= epsilon (DR Lemma 3.17, part 1).

    Requires D_inf^delta(Y || Z) <= epsilon. The distance is the pair's own delta at the ratio used.

    >>> made = truncated(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]), "ln(2)", "1/4")
    >>> made.pair.null, made.distance
    ((Fraction(1, 2), Fraction(1, 2)), Fraction(1, 4))
    """
    ratio = _ratio(pair, epsilon, delta, "null")
    lowered = [min(p, ratio * q) for p, q in zip(pair.null, pair.alternative, strict=True)]
    missing = 1 - _total(lowered)
    raised = _moved(lowered, pair.alternative, missing)
    made = _pair(pair, raised, pair.alternative)
    return Truncated(pair, made, ratio, missing)


def both_truncated(pair: DiscretePair, epsilon: object, delta: object = None) -> BothTruncated:
    """Y', Z', each within delta / (e^epsilon + 1) of Y, Z, epsilon-private together (DR Lemma 3.17, part 2).

    Requires (epsilon, delta)-privacy in both directions; gives both D_inf(Y' || Z') and D_inf(Z' || Y') at
    most epsilon. On rounding see the head of this file.

    >>> made = both_truncated(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]), "ln(2)", "1/4")
    >>> made.pair.null, made.distances
    ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 12), Fraction(1, 12)))
    """
    ratio = _ratio(pair, epsilon, delta, "both")
    high, low = ratio / (1 + ratio), 1 / (1 + ratio)
    null, alternative = [], []
    for p, q in zip(pair.null, pair.alternative, strict=True):
        if p > ratio * q:
            p, q = high * (p + q), low * (p + q)
        elif q > ratio * p:
            p, q = low * (p + q), high * (p + q)
        null.append(p)
        alternative.append(q)
    missing = 1 - _total(null)
    null, alternative = _moved(null, alternative, missing), _moved(alternative, null, -missing)
    made = _pair(pair, null, alternative)
    distances = _distance(pair.null, made.null), _distance(pair.alternative, made.alternative)
    return BothTruncated(pair, made, ratio, distances)


def conditioning_events(pair: DiscretePair, epsilon: object, delta: object = None) -> ConditioningEvents:
    """Events E, E' of probability at least 1 - delta given which the laws are epsilon-private (slides).

    The slides lower Y to e^epsilon Z, then Z by as much, and treat one direction only. Here
    min(P, r Q) and min(Q, r P), which bound each other in both directions, are taken, and then the heavier
    of the two is lowered towards the other until they weigh the same. An outcome that cannot happen is
    given probability 1.

    >>> made = conditioning_events(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]), "ln(2)", "1/4")
    >>> made.null_event, made.probability
    ({0: Fraction(2, 3), 1: Fraction(1, 1)}, Fraction(3, 4))
    """
    ratio = _ratio(pair, epsilon, delta, "both")
    both = list(zip(pair.null, pair.alternative, strict=True))
    null = [min(p, ratio * q) for p, q in both]
    alternative = [min(q, ratio * p) for p, q in both]
    excess = _total(null) - _total(alternative)
    if excess > 0:
        null = _moved(null, alternative, -excess)
    else:
        alternative = _moved(alternative, null, excess)
    probability = _total(null)
    if probability == 0:
        raise InvalidParameter("the pair", pair, "have an outcome that is possible under both laws")
    return ConditioningEvents(
        pair,
        _event(pair.outcomes, null, pair.null),
        _event(pair.outcomes, alternative, pair.alternative),
        ratio,
        probability,
    )


def _ratio(pair: DiscretePair, epsilon: object, delta: object, direction: Direction) -> Fraction:
    below = ratio_below(read_epsilon("epsilon", epsilon))
    if delta is None:
        return below
    return max(below, Region.of(pair).profile().sufficient_ratio(epsilon, delta, direction))


def _moved(law: Sequence[Fraction], towards: Sequence[Fraction], amount: Fraction) -> list[Fraction]:
    """The law with so much mass added (or, below 0, removed), in proportion to the gaps to another law."""
    sign = 1 if amount > 0 else -1
    gaps = [max(Fraction(0), sign * (q - p)) for p, q in zip(law, towards, strict=True)]
    share = amount / _total(gaps) if amount else Fraction(0)
    return [p + share * gap for p, gap in zip(law, gaps, strict=True)]


def _event(outcomes: Sequence[Outcome], joint: Sequence[Fraction], law: Sequence[Fraction]) -> dict[Outcome, Fraction]:
    return {y: part / p if p else Fraction(1) for y, part, p in zip(outcomes, joint, law, strict=True)}


def _pair(original: DiscretePair, null: Sequence[Fraction], alternative: Sequence[Fraction]) -> DiscretePair:
    return DiscretePair(
        dict(zip(original.outcomes, null, strict=True)),
        dict(zip(original.outcomes, alternative, strict=True)),
    )


def _mutually_bounded(pair: DiscretePair, ratio: Fraction) -> bool:
    return _bounded(pair.null, pair.alternative, ratio) and _bounded(pair.alternative, pair.null, ratio)


def _bounded(law: Sequence[Fraction], other: Sequence[Fraction], ratio: Fraction) -> bool:
    return all(p <= ratio * q for p, q in zip(law, other, strict=True))


def _distance(law: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return statistical_distance(DiscretePair(law, other))


def _total(values: Sequence[Fraction]) -> Fraction:
    numerators, denominator = integers(values)
    return Fraction(sum(numerators), denominator)
