"""A pair of densities on the line, whole or run on a Poisson sample, and the places where its loss turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from indistinct.composition.losses.law import UNIT, Floats
from indistinct.errors import InvalidParameter

__all__ = ["Density", "Line", "LinePair", "laid_out"]

_TAIL = 1e-60
_FARTHEST = 100.0


class Density(Protocol):
    """A law on the line, as SciPy's frozen distributions are; each function takes an array."""

    def logpdf(self, x: Floats, /) -> Floats:
        """The log of the density."""
        ...

    def cdf(self, x: Floats, /) -> Floats:
        """The probability of at most x, accurate in its own tail."""
        ...

    def sf(self, x: Floats, /) -> Floats:
        """The probability of more than x, accurate in its own tail."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """The outcomes that matter, cut where the loss turns or a law ends."""

    pieces: tuple[tuple[float, float], ...]
    """Where both densities are positive, the loss monotone on each."""
    null_alone: tuple[tuple[float, float], ...]
    alternative_alone: tuple[tuple[float, float], ...]
    ends: tuple[float, float]
    """Of the stretch where both are positive."""


@dataclass(frozen=True, eq=False)
class LinePair:
    """P against Q or, at a rate below 1, (1 - rate) Q + rate P against Q."""

    null: Density
    alternative: Density
    line: Line
    accuracy: float
    """Of the densities' logs (relative to 1 + their size), and relative of cdf and sf."""
    bound: float
    """Of the size of the loss of P against Q."""
    rate: float = 1.0

    def sampled(self, rate: float) -> LinePair:
        """The pair run on a sample that takes the record that differs with a probability."""
        return replace(self, rate=self.rate * rate)

    def loss(self, x: Floats) -> Floats:
        """The log of the ratio of the densities."""
        return self._of_ratio(self._log_ratio(x))

    def loss_error(self, x: Floats) -> float:
        """How far any of them may be off."""
        sizes = np.abs(self.null.logpdf(x)) + np.abs(self.alternative.logpdf(x))
        whole = self._log_ratio(x)
        share = np.exp(np.minimum(math.log(self.rate) + whole - self._of_ratio(whole), 0.0))
        return float(np.max(self.accuracy * (2 + sizes) * share)) + 8 * UNIT

    @property
    def limits(self) -> tuple[float, float]:
        """Between which every loss lies."""
        low, high = self._of_ratio(np.array([-self.bound, self.bound])).tolist()
        return low, high

    @property
    def untouched(self) -> float:
        """The loss of an outcome that P does not allow."""
        return math.log1p(-self.rate) if self.rate < 1 else -math.inf

    def masses(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The mass of each interval under both laws, each with its error."""
        p, p_error = _masses(self.null, a, b, self.accuracy)
        q, q_error = _masses(self.alternative, a, b, self.accuracy)
        return (1 - self.rate) * q + self.rate * p, (1 - self.rate) * q_error + self.rate * p_error, q, q_error

    def _log_ratio(self, x: Floats) -> Floats:
        with np.errstate(invalid="ignore", over="ignore"):
            found = np.asarray(self.null.logpdf(x) - self.alternative.logpdf(x), dtype=np.float64)
        if not np.all(np.isfinite(found)):
            where = int(np.flatnonzero(~np.isfinite(found))[0])
            raise InvalidParameter(
                f"the log of the densities' ratio at {float(x[where])!r}",
                float(found[where]),
                "be finite wherever either law has mass",
                instead="Where a density is 0, say so by the laws' supports.",
            )
        return found

    def _of_ratio(self, whole: Floats) -> Floats:
        if self.rate == 1:
            return whole
        direct = np.log1p(self.rate * np.expm1(np.minimum(whole, 700.0)))
        return np.asarray(np.where(whole > 600, math.log(self.rate) + whole, direct))


def _masses(law: Density, a: Floats, b: Floats, accuracy: float) -> tuple[Floats, Floats]:
    """The law's mass in each interval, from the smaller of the two probabilities, and how far it may be off."""
    below_a, below_b, above_a, above_b = (np.asarray(f(x)) for f in (law.cdf, law.sf) for x in (a, b))
    left = below_b + below_a < above_a + above_b
    mass = np.where(left, below_b - below_a, above_a - above_b)
    error = (accuracy + 2 * UNIT) * np.where(left, below_b + below_a, above_a + above_b)
    if not np.all(mass >= -error):
        worst = int(np.flatnonzero(~(mass >= -error))[0])
        between = f"{float(a[worst])!r} and {float(b[worst])!r}"
        raise InvalidParameter(f"the mass between {between}", float(mass[worst]), "be at least 0")
    return np.maximum(mass, 0.0), np.asarray(error)


def laid_out(
    null: Density,
    alternative: Density,
    supports: tuple[tuple[float, float], tuple[float, float]],
    turns: Sequence[float],
) -> Line:
    """The line of a pair whose densities are positive on their supports."""
    (a0, b0), (a1, b1) = supports
    ends = max(a0, a1), min(b0, b1)
    if not ends[0] < ends[1]:
        return Line((), (supports[0],), (supports[1],), (0.0, 0.0))
    left = max(min(_far(law, left=True) for law in (null, alternative)), ends[0])
    right = min(max(_far(law, left=False) for law in (null, alternative)), ends[1])
    cuts = [left, *sorted({turn for turn in turns if left < turn < right}), right]
    return Line(
        tuple(pairwise(cuts)),
        tuple((a, b) for a, b in ((a0, ends[0]), (ends[1], b0)) if a < b),
        tuple((a, b) for a, b in ((a1, ends[0]), (ends[1], b1)) if a < b),
        ends,
    )


def _far(law: Density, *, left: bool) -> float:
    """A point beyond which, on one side, the law has next to no mass; halving in arcsinh of the point."""
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(80):
        middle = (low + high) / 2
        at = np.array([math.sinh(middle)])
        beyond = float((law.cdf(at) if left else law.sf(at))[0])
        low, high = (middle, high) if (beyond > _TAIL) != left else (low, middle)
    return math.sinh(low if left else high)
