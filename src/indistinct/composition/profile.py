"""The privacy of a composition: delta for every epsilon, epsilon for every delta, certified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from indistinct.composition.assembly import directions_of
from indistinct.composition.parts import Thing, contributions_of
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, NaturalLog, read_delta, read_epsilon
from indistinct.numbers.balls import arb, exact, precision
from indistinct.numbers.logarithm import bracket_of as floats_around
from indistinct.numbers.logarithm import exponential
from indistinct.numbers.reading import LARGEST_COUNT, LARGEST_EPSILON
from indistinct.regions import Region, Tangent, TradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from indistinct.composition.explanation import Explanation

__all__ = ["PrivacyProfile"]

_TANGENTS = 200
_INVISIBLE = Fraction(1, 10**9)


class PrivacyProfile:
    """What k-fold adaptive composition of mechanisms promises; made by `compose`.

    Guaranteed: every bracket contains the exact value for the mechanisms composed and, where only guarantees
    are given, for *any* mechanisms that keep them (KOV, Theorem 3.3, and its heterogeneous form), against an
    adaptive adversary. The upper ends are the claims; no claim that follows from the same can be below the lower
    ends. Guarantees in the currencies of Renyi divergence are upper bounds alone: there the lower ends are what
    the other parts reveal.

    >>> from indistinct import ApproximateDP, compose
    >>> profile = compose({ApproximateDP("0.1", "0.001"): 30})
    >>> print(profile.epsilon("0.05"))
    0.846302634475
    >>> print(profile.delta(1))
    0.0398184105222
    """

    def __init__(self, parts: Iterable[tuple[Thing, int]]) -> None:
        self._things: list[Thing] = []
        self._counts: list[int] = []
        for thing, times in parts:
            self._things.append(thing)
            self._counts.append(times)
        self._contributions = contributions_of(zip(self._things, self._counts, strict=True))
        self._directions = directions_of(self._contributions)

    @cached_property
    def parts(self) -> tuple[tuple[Thing, int], ...]:
        """What is composed, and how often each."""
        return tuple(zip(self._things, self._counts, strict=True))

    @cached_property
    def times(self) -> int:
        """How many mechanisms are composed."""
        return sum(self._counts)

    @cached_property
    def disclosure(self) -> Bracket:
        """The delta that remains at every epsilon: 1 - prod (1 - delta_i), what the parts' own deltas make."""
        return _worst(direction.disclosed() for direction in self._directions)

    @cached_property
    def largest_epsilon(self) -> Bracket:
        """The largest loss that can occur: from here on delta is the disclosure alone. Often infinite."""
        return _worst(direction.largest for direction in self._directions)

    def delta(self, epsilon: object) -> Bracket:
        """The least delta for which the composition is (epsilon, delta)-private."""
        level = read_epsilon("epsilon", epsilon, largest=LARGEST_EPSILON * LARGEST_COUNT)
        return _worst(direction.delta(level) for direction in self._directions)

    def deltas(self, epsilons: Iterable[object]) -> list[Bracket]:
        """delta at many epsilons, in their order: a curve costs hardly more than a point.

        >>> from indistinct import Laplace, compose
        >>> [f"{delta:.3g}" for delta in compose({Laplace(scale=10): 100}).deltas([1, 2, 3])]
        ['0.122', '0.0186', '0.00118']
        """
        levels = [read_epsilon("epsilon", epsilon, largest=LARGEST_EPSILON * LARGEST_COUNT) for epsilon in epsilons]
        around = [floats_around(level) for level in levels]
        floats = sorted({end for bracket in around for end in (bracket.lower, bracket.upper)})
        found, *others = (direction.deltas(np.array(floats)) for direction in self._directions)
        if others:
            found = [_worst(brackets) for brackets in zip(found, *others, strict=True)]
        worst = dict(zip(floats, found, strict=True))
        return [Bracket(worst[each.upper].lower, worst[each.lower].upper) for each in around]

    def epsilon(self, delta: object) -> Bracket:
        """The least epsilon for which the composition is (epsilon, delta)-private.

        Infinite where delta is below what the parts' own deltas add up to (`disclosure`).
        """
        target = read_delta("delta", delta)
        found = self._directions[0].epsilon(target)
        for direction in self._directions[1:]:
            if not direction.is_certainly_within(found.upper, target):
                found = _worst([found, direction.epsilon(target)])
        return found

    def region(self) -> Region:
        """The privacy region (KOV, Figure 2), from tangents at up to some 200 epsilons.

        Each tangent is certified, so the region is never smaller than the true one; with equal
        mechanisms, up to 400 of them, it has a tangent at each of the true region's edges.
        """
        tangents = []
        for tangent in self._tangents():
            tangents += [tangent, tangent.swapped()]
        return Region.of_tangents(tangents)

    def tradeoff(self) -> TradeOff:
        """The least missed detection at each false alarm rate, never above the true one."""
        return self.region().tradeoff()

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draws the region's lower boundary; needs the extra `plot`."""
        from indistinct.composition.display import draw

        return draw(self.region(), axes, label=f"{self.times:,} uses")

    def explain(self, delta: object = None, *, epsilon: object = None) -> Explanation:
        """What each part makes of the loss and of the disclosure, at a delta or at an epsilon.

        >>> from indistinct import ApproximateDP, PureDP, compose
        >>> print(compose({PureDP("0.1"): 100, ApproximateDP("0.01", "1e-9"): 500}).explain(delta="1e-6"))
        epsilon 5.05962 at delta 1e-06; the bracket's relative width is ..., as asked
        <BLANKLINE>
        part                            uses   loss  disclosure  method
        PureDP('0.1')                    100  94.8%        0.0%  exact transform
        ApproximateDP('0.01', '1e-09')   500   5.2%      100.0%  exact transform
        """
        if (delta is None) == (epsilon is None):
            raise InvalidParameter("what to explain", (delta, epsilon), "be given by either delta or epsilon")
        from indistinct.composition.explanation import explanation_of

        if epsilon is None:
            target = read_delta("delta", delta)
            around = Bracket.exactly(target)
            return explanation_of(self.parts, self._directions, self.epsilon(target), around)
        level = read_epsilon("epsilon", epsilon, largest=LARGEST_EPSILON * LARGEST_COUNT)
        return explanation_of(self.parts, self._directions, floats_around(level), self.delta(level))

    def __repr__(self) -> str:
        shown = ", ".join(f"{part!r}: {times:,}" for part, times in self.parts[:3])
        more = f", and {len(self.parts) - 3:,} more" if len(self.parts) > 3 else ""
        return f"PrivacyProfile({{{shown}{more}}})"

    def _repr_html_(self) -> str:
        from indistinct.composition.display import as_html

        return as_html(self)

    def _tangents(self) -> Iterator[Tangent]:
        """Where the region is touched: at every knot if there are few, else spread over what matters."""
        groups = self._contributions.responses.groups
        if self._contributions.are_equal_responses and groups[0].times <= 2 * _TANGENTS:
            for knot in range(groups[0].times, -1, -2):
                level = groups[0].epsilon
                ratio = level.argument**knot if isinstance(level, NaturalLog) else _about(exponential(knot * level))
                yield Tangent(ratio, Fraction(self.delta(NaturalLog(ratio)).upper))
            if groups[0].times % 2:
                yield Tangent(Fraction(1), Fraction(self.delta(0).upper))
            return
        visible = self.epsilon(min(Fraction(1), Fraction(self.disclosure.upper) + _INVISIBLE)).upper
        epsilons = [visible * i / _TANGENTS for i in range(_TANGENTS + 1)]
        for epsilon, delta in zip(epsilons, self.deltas(epsilons), strict=True):
            # Not below e^epsilon, so that delta is enough for it.
            with precision(64):
                yield Tangent(exact((exponential(Fraction(epsilon)) * 1).upper()), Fraction(delta.upper))


def _worst(brackets: Iterable[Bracket]) -> Bracket:
    """The bracket of the largest of several numbers."""
    found = list(brackets)
    return Bracket(max(bracket.lower for bracket in found), max(bracket.upper for bracket in found))


def _about(value: arb) -> Fraction:
    """A short exact number within the last places of a float of a ball: any number will do for a tangent."""
    with precision(64):
        return exact((value * 1).mid())
