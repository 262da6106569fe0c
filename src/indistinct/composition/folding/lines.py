r"""Noise on the line, whole or run on a Poisson sample, cut into cells whose masses are known in balls.

A pair (P, Q) of laws with a loss that rises along the line, and (1 - q) Q + q P in the place of P on a sample of rate
q. With w = 1 - q + q dP/dQ, which rises as well, a cell between two points has masses p and q' under both laws, and
w is between w_a and w_b there:

- from above it is put on its two ends, with masses under Q of (q' w_b - p) / (w_b - w_a) and
  (p - q' w_a) / (w_b - w_a), which are the same for all q;
- from below it is one outcome of the ratio p / q'.

All this in balls of so many bits that the smallest losses, which are differences of numbers near 1, are known to
more digits than a float has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from indistinct.composition.folding.outcomes import Outcomes
from indistinct.composition.losses.law import UNIT, Floats
from indistinct.numbers import Bracket
from indistinct.numbers.balls import arb, ball, bracket_of, precision

__all__ = ["GaussianLine", "LaplaceLine", "Line", "SampledLine"]

_BITS = 256
_REACH = 37.4
"""Beyond so many sigma there is less than 1e-305."""
_RUNGS = 225
_NEAR = 0.1


@dataclass(frozen=True, slots=True)
class Masses:
    """Of the cells between points, and outside: of the null law and of the alternative, in balls."""

    cells: list[arb]
    below: arb
    above: arb


class Line(Protocol):
    """A pair of laws on the line whose ratio P / Q does not fall."""

    def rungs(self) -> Floats:
        """Some hundreds of points, from one end of what matters to the other."""
        ...

    def ratio(self, x: arb) -> arb:
        """log dP/dQ at a point."""
        ...

    def about(self, points: Floats) -> Floats:
        """The same in floats."""
        ...

    def masses(self, points: Sequence[float]) -> tuple[Masses, Masses]:
        """Of P and of Q."""
        ...

    @property
    def solid(self) -> bool:
        """Whether the ratio is constant outside the outermost points, so that what is there is known exactly."""
        ...


@dataclass(frozen=True)
class GaussianLine:
    """N(mu, 1) against N(0, 1)."""

    mu_squared: Fraction

    @property
    def solid(self) -> bool:
        return False

    def rungs(self) -> Floats:
        mu = math.sqrt(self.mu_squared)
        around = np.linspace(-_REACH, _REACH, _RUNGS)
        rising = np.sort(np.concatenate([around, around + mu]))
        kept = np.concatenate([[True], np.diff(rising) > _NEAR])
        kept[-1] = True
        return np.asarray(rising[kept])

    def ratio(self, x: arb) -> arb:
        return ball(self.mu_squared).sqrt() * x - ball(self.mu_squared) / 2

    def about(self, points: Floats) -> Floats:
        return np.asarray(math.sqrt(self.mu_squared) * points - float(self.mu_squared) / 2)

    def masses(self, points: Sequence[float]) -> tuple[Masses, Masses]:
        return _gaussian(points, ball(self.mu_squared).sqrt()), _gaussian(points, ball(0))


@dataclass(frozen=True)
class LaplaceLine:
    """Noise of scale 1 about epsilon against noise about 0; points are in units of epsilon, between the two."""

    epsilon: Fraction

    @property
    def solid(self) -> bool:
        return True

    def rungs(self) -> Floats:
        level = float(self.epsilon)
        evenly = np.linspace(0.0, 1.0, _RUNGS)
        if level < _RUNGS:
            return evenly
        near = np.arange(0.0, min(720.0, level / 2), 3.0) / level
        return np.unique(np.concatenate([evenly, near, 1 - near]))

    def ratio(self, x: arb) -> arb:
        return ball(self.epsilon) * (2 * x - 1)

    def about(self, points: Floats) -> Floats:
        return np.asarray(float(self.epsilon) * (2 * points - 1))

    def masses(self, points: Sequence[float]) -> tuple[Masses, Masses]:
        level = ball(self.epsilon)
        rising = [(-level * (1 - arb(x))).exp() / 2 for x in points]
        falling = [(-level * arb(x)).exp() / 2 for x in points]
        first = Masses([b - a for a, b in pairwise(rising)], rising[0], ball(1) / 2)
        second = Masses([a - b for a, b in pairwise(falling)], ball(1) / 2, falling[-1])
        return first, second


def _gaussian(points: Sequence[float], centre: arb) -> Masses:
    """The masses of N(centre, 1): differences of whichever tail is the smaller."""
    root = ball(2).sqrt()
    away = [(arb(x) - centre) / root for x in points]
    left = [bool(t < 0) for t in away]
    tails = [(-t if is_left else t).erfc() / 2 for t, is_left in zip(away, left, strict=True)]
    cells = []
    for i in range(len(points) - 1):
        if left[i + 1]:
            cells.append(tails[i + 1] - tails[i])
        elif left[i]:
            cells.append(1 - tails[i] - tails[i + 1])
        else:
            cells.append(tails[i] - tails[i + 1])
    below = tails[0] if left[0] else 1 - tails[0]
    above = 1 - tails[-1] if left[-1] else tails[-1]
    return Masses(cells, below, above)


@dataclass(frozen=True)
class SampledLine:
    """(1 - rate) Q + rate P against Q, or the two exchanged where `back`."""

    line: Line
    rate: Fraction
    back: bool

    def rungs(self) -> Floats:
        """The line's own."""
        return self.line.rungs()

    def about(self, points: Floats) -> Floats:
        """About the loss at some points."""
        ratios = self.line.about(points)
        share = float(self.rate)
        direct = np.log1p(np.maximum(share * np.expm1(np.minimum(ratios, 600.0)), -1 + UNIT))
        found = np.where(ratios < 600.0, direct, math.log(share) + ratios)
        return np.asarray(-found if self.back else found)

    @cached_property
    def largest(self) -> Bracket:
        """Around the largest loss there is; infinite where there is none."""
        with precision(_BITS):
            if self.line.solid:
                rise = ball(self.rate) * self.line.ratio(arb(0.0 if self.back else 1.0)).expm1()
                return bracket_of(-rise.log1p() if self.back else rise.log1p())
            if self.back and self.rate < 1:
                return bracket_of(-(-ball(self.rate)).log1p())
        return Bracket(math.inf, math.inf)

    def cut(self, points: Floats) -> tuple[Outcomes, Outcomes]:
        """From above and from below, the line cut at the points, which include the outermost rungs."""
        with precision(_BITS):
            places = points.tolist()
            share = ball(self.rate)
            ratios = [self.line.ratio(arb(x)) for x in places]
            rises = [share * ratio.expm1() for ratio in ratios]  # w - 1
            odds = [ratio.exp() for ratio in ratios]
            # At a rate of 1 this is the ratio, which 1 + (w - 1) forgets where it is small.
            whole = self.rate == 1
            losses = ratios if whole else [rise.log1p() for rise in rises]
            weights = odds if whole else [1 + rise for rise in rises]
            first, second = self.line.masses(places)
            p = [(1 - share) * b + share * a for a, b in zip(first.cells, second.cells, strict=True)]
            q = second.cells
            widths = [b - a for a, b in pairwise(odds)]
            excess = [share * (a - b) for a, b in zip(first.cells, second.cells, strict=True)]
            # Under Q, at the lower and at the upper end of each cell; the rate cancels.
            low = [(b * o - a) / w for a, b, o, w in zip(first.cells, q, odds[1:], widths, strict=True)]
            high = [(a - b * o) / w for a, b, o, w in zip(first.cells, q, odds[:-1], widths, strict=True)]
            at = [a + b for a, b in zip([*low, ball(0)], [ball(0), *high], strict=True)]
            outside = [
                ((1 - share) * b + share * a, b) for a, b in ((first.below, second.below), (first.above, second.above))
            ]
            sign = -1 if self.back else 1
            merged = [sign * _logarithm(a, b, e) for a, b, e in zip(p, q, excess, strict=True)]
            heights = at if self.back else [m * w for m, w in zip(at, weights, strict=True)]
            own = [pair[1] if self.back else pair[0] for pair in outside]
            upper = _floats([sign * loss for loss in losses], 1), _floats(heights, 1)
            lower = _floats(merged, -1), _floats(q if self.back else p, -1)
            ends = _floats(own, 1).tolist(), _floats(own, -1).tolist()
            edges = _floats([sign * losses[0], sign * losses[-1]], -1)
        return self._upper(*upper, ends[0]), self._lower(*lower, ends[1], edges)

    def _upper(self, losses: Floats, masses: Floats, ends: list[float]) -> Outcomes:
        """What is outside is put on the nearest point where the loss there is no larger, and else is lost."""
        below, above = ends
        if self.back:
            losses, masses, below, above = losses[::-1], masses[::-1].copy(), above, below
        masses[0] += below
        if self.line.solid:
            masses[-1] += above
            above = 0.0
        masses *= 1 + 8 * UNIT
        used = masses > 0
        return Outcomes(np.maximum.accumulate(losses)[used], masses[used], above)

    def _lower(self, losses: Floats, masses: Floats, ends: list[float], edges: Floats) -> Outcomes:
        """What is outside is left out unless its loss is known."""
        below, above = ends
        if self.line.solid:
            losses = np.concatenate([edges[:1], losses, edges[1:]])
            masses = np.concatenate([[below], masses, [above]])
        if self.back:
            losses, masses = losses[::-1], masses[::-1]
        used = (masses > 0) & np.isfinite(losses)
        rising = np.minimum.accumulate(losses[used][::-1])[::-1]
        return Outcomes(rising, masses[used])


def _logarithm(p: arb, q: arb, excess: arb) -> arb:
    """log(p / q), of which p - q is known more closely where it is small."""
    ratio = p / q
    return (excess / q).log1p() if 0.5 < ratio < 2 else ratio.log()


def _floats(balls: Sequence[arb], side: int) -> Floats:
    """The ends of balls, rounded to a side; a ball that says nothing becomes an infinity."""
    middles = np.array([float(x.mid()) for x in balls])
    radii = np.array([float(x.rad()) for x in balls])
    found = middles + side * (4 * UNIT * np.abs(middles) + 2 * radii + 5e-324)
    return np.asarray(np.where(np.isfinite(found), found, side * math.inf))
