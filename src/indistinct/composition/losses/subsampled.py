r"""The loss of Gaussian noise on a Poisson sample: each record takes part with probability q, independently.

With Q = N(0, sigma^2), P = N(1, sigma^2), r = dP/dQ and s = 1 - q + q r, adding or removing a record gives
(1 - q) Q + q P against Q when it is removed, and the two exchanged when it is added:

    removing: M(z) = E_Q s^(z + 1),     adding: M(z) = E_Q s^(-z).

*The sum.* E_Q is taken by the trapezoidal rule at points x = j h. Moving the path of integration to x + i a,
a = theta sigma^2 with 0 < theta < pi, turns r into r e^(i theta): s has no zero on the way, |s| shrinks at most to
s cos(theta / 2) and its argument is between 0 and theta. So the rule's error, relative to M(t), is at most
twice the geometric series of e^(-a (2 pi / h - |y| / sigma^2) + a^2 / (2 sigma^2)), times cos(theta / 2)^-t for adding:
the step is chosen for each tilt, and for each octave of y, so that this is below e^-50. A step that does not
know of y would see losses on a lattice, whose transform returns where the true one has vanished.

*The bound.* On the path on which |s^(i y)| = e^(-y arg s) is small, the integral of the moduli bounds |M(t + i y)|;
it decreases in y, and so holds for everything beyond.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Doubt, Floats, bound_by_spread
from indistinct.composition.losses.sums import Tilted
from indistinct.composition.nodes import TooManyNodes, distinct
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball
from indistinct.numbers.logarithm import exponential

__all__ = ["SubsampledLoss"]

_EXPONENT = 50.0
_REACH = 11.0
_NARROW = 0.03
_MATTERS = 100.0
_MOST_POINTS = 1 << 18
_MOST_WORK = 1 << 25
_LOW = 64.0
_WIDTHS = (0.5, 1.0, 2.0, 4.0)
_WIDEST = 1.5
_ANGLES = np.linspace(0.1, 3.1, 31)


@dataclass(frozen=True, eq=False)
class _Points:
    """The sum at one tilt: the law of its losses, and at each point the share of q r in s."""

    law: Tilted
    shares: Floats
    step: float


@dataclass(frozen=True, eq=False)
class SubsampledLoss:
    """One direction of the Poisson-subsampled Gaussian pair; sigma in units of the sensitivity, at least 0.001."""

    exact_sigma: Fraction
    exact_rate: Fraction
    removing: bool
    _latest: dict[tuple[float, int], _Points] = field(default_factory=dict, init=False, repr=False)

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @cached_property
    def largest(self) -> float:
        """Removing a record has none; one that is added was not taken, at most."""
        if self.removing or self.exact_rate == 1:
            return math.inf
        exact = -math.log1p(-self._rate) if self._rate < 0.5 else -math.log(self._keep)
        return exact * (1 + 16 * UNIT)

    @cached_property
    def steepest(self) -> float:
        return 30 * self._sigma + 60

    @property
    def smoothness(self) -> float:
        return 0.0

    @cached_property
    def size(self) -> int:
        return int(self._points(1.0, 0).shares.size)

    def cumulants(self, tilt: float) -> Cumulants:
        return self._points(tilt, 0).law.cumulants

    def delta_of_one(self, epsilon: Epsilon) -> arb:
        """The loss passes epsilon at one x, on whose sides the four probabilities are Gaussian tails.

        s rises with x, and is e^eps where r = 1 + (e^eps - 1) / q when removing, e^-eps where r = 1 - (1 - e^-eps) / q
        when adding.
        """
        q, sigma, odds = ball(self.exact_rate), ball(self.exact_sigma), exponential(epsilon)
        ratio = 1 + (odds - 1) / q if self.removing else 1 - (1 - 1 / odds) / q
        if not ratio > 0:
            return ball(0) if ratio <= 0 else ball(0).union(ball(1))
        x = sigma**2 * ratio.log() + ball(Fraction(1, 2))
        if self.removing:
            return q * _tail((x - 1) / sigma) + (1 - q - odds) * _tail(x / sigma)
        return (1 - odds * (1 - q)) * _tail(-x / sigma) - odds * q * _tail((1 - x) / sigma)

    def doubt(self, tilt: float) -> Doubt:
        """That of the sum, with room for what rounding does to the points' places."""
        found = self._points(tilt, 0).law.doubt
        return Doubt(found.value * 4, found.constant, found.relative, found.slope * 4)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        octaves = np.ceil(np.log2(np.maximum(y / (4 * self._sigma), 1.0))).astype(np.int64)
        result = np.empty(y.size, dtype=np.complex128)
        work = 0
        for octave in distinct(octaves)[::-1].tolist():
            chosen = octaves == octave
            law = self._points(tilt, octave).law
            work += law.losses.size * int(np.count_nonzero(chosen))
            if work > _MOST_WORK:
                raise TooManyNodes
            result[chosen] = law.log_ratio(y[chosen])
        return result

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        """By the best of a few paths, at the nearest y; where y is small, by the law's spread too."""
        points, sigma = self._points(tilt, 0), self._sigma
        nearest = np.maximum(centres - reach, 0.0)
        bound = np.zeros(nearest.size)
        pull = float(np.sum(points.law.weights * points.shares))
        # Near y = 0 the best path is at theta = y pull / sigma^2; some tenths off that cost little.
        best = np.clip(nearest * pull / sigma**2, 1e-300, min(_WIDEST, 12 / sigma))
        rungs = np.floor(2 * np.log2(best)) / 2
        for rung in distinct(rungs).tolist():
            near = rungs == rung
            bound[near] = np.minimum(bound[near], self._on_path(tilt, 1.2 * 2.0**rung, nearest[near]))
        far = nearest * pull > 0.3 * sigma
        for theta in {min(width / sigma, _WIDEST) for width in _WIDTHS} if np.any(far) else ():
            bound[far] = np.minimum(bound[far], self._on_path(tilt, theta, nearest[far]))
        low = (centres + reach < _LOW * sigma) & (bound > -1)
        if np.any(low):
            bound[low] = np.minimum(bound[low], bound_by_spread(self, tilt, centres[low], reach))
        return bound

    def _on_path(self, tilt: float, theta: float, y: Floats) -> Floats:
        """log of the integral of |s^z| on the path turned by theta, relative to M(t); what the rule errs added."""
        points = self._points(tilt, 0)
        p, weights = points.shares, points.law.weights
        relevant = weights > 1e-20
        p, weights = p[relevant], weights[relevant]
        half = math.sin(theta / 2) ** 2
        argument = np.arctan2(p * math.sin(theta), 1 - 2 * p * half)
        power = tilt + 1 if self.removing else -tilt
        shrinks = power * np.log1p(-4 * p * (1 - p) * half) / 2
        excess = np.expm1(np.minimum(shrinks - np.outer(y, argument), 600.0)) @ weights
        missed = math.exp(min(np.min(self._misses(tilt, points.step, theta)), 600.0)) + 1e-15
        excess += missed * np.minimum(1.0, 4 * (y + theta) * (tilt + 1))
        return np.asarray((theta * self._sigma) ** 2 / 2 + np.log1p(excess) * (1 - 1e-9))

    def _angles(self) -> Floats:
        """How far paths are turned to bound the rule's error."""
        moderate = np.arange(2, 25) / self._sigma
        return np.concatenate([moderate[moderate < 3.1], _ANGLES])

    def _misses(self, tilt: float, step: float, theta: float) -> Floats:
        """Logs of bounds of the rule's error for the moduli on a path, by further turns."""
        turns = self._angles()
        turns = np.append(turns[turns < math.pi - theta - 0.05], 0.05)
        lost = np.zeros(turns.size)
        if not self.removing:
            lost = -tilt / 2 * np.log(np.cos((theta + turns) / 2) * np.cos((theta - turns) / 2))
        square = self._sigma**2
        return np.asarray(-2 * math.pi * turns * square / step + turns**2 * square / 2 + lost + math.log(4))

    def _step(self, tilt: float, y: float) -> float:
        """A step of the rule whose error is below e^-50 at all frequencies up to y."""
        angles, square = self._angles(), self._sigma**2
        lost = 0.0 if self.removing else -tilt * np.log(np.cos(angles / 2))
        needed = y / square + (_EXPONENT + angles**2 * square / 2 + lost) / (angles * square)
        return 2 * math.pi / float(np.min(needed))

    def _points(self, tilt: float, octave: int) -> _Points:
        """The points for a tilt and all y up to an octave; the latest few are kept."""
        found = self._latest.get((tilt, octave))
        if found is None:
            if len(self._latest) > 2 * octave + 4:
                self._latest.clear()
            found = self._latest[tilt, octave] = self._laid_out(tilt, 4 * self._sigma * 2.0**octave)
        return found

    def _laid_out(self, tilt: float, y: float) -> _Points:
        sigma, q, keep = self._sigma, self._rate, self._keep
        step = self._step(tilt, y)
        x = self._places(tilt, step)
        r = (2 * x - 1) / (2 * sigma**2)
        # log s, by whichever form is accurate; where r is taken to be less than it is the other form counts.
        excess = q * np.expm1(np.minimum(r, 600.0))
        sum_ = np.logaddexp(math.log(keep), math.log(q) + r) if keep > 0 else r
        logs = np.where(np.abs(excess) < 0.5, np.log1p(np.maximum(excess, -0.9)), sum_)
        log_weights = math.log(step / (sigma * math.sqrt(2 * math.pi))) - (x / sigma) ** 2 / 2
        shares = np.exp(math.log(q) + r - sum_)
        if self.removing:
            under_null = log_weights + logs
            # Where the two are large and cancel, the sum is rounded in units of them.
            cancelled = (np.abs(log_weights) + np.abs(logs) - np.abs(under_null))[under_null > -_MATTERS]
            rounding = (64 + 4 * float(np.max(cancelled, initial=0.0))) * UNIT
            law = Tilted(logs, under_null, tilt, balanced=True, rounding=rounding)
        else:
            law = Tilted(-logs, log_weights, tilt, balanced=True, rounding=64 * UNIT)
        return _Points(law, np.asarray(np.minimum(shares, 1.0)), step)

    def _places(self, tilt: float, step: float) -> Floats:
        """The points within 11 sigma of where the tilted mass is: from 0 to t + 1, or down to -q t.

        And of 2, where that of r^2 is: of that K is made when q is small. If sigma is small there is nothing between
        the two records' own places and t + 1; the place 1 is one of them at every tilt, as all of E e^-L belongs.
        """
        first, last = (0.0, max(tilt + 1, 2.0)) if self.removing else (-self._rate * tilt, 2.0)
        margin = _REACH * self._sigma
        windows = [(first - margin, last + margin)]
        if self._sigma < _NARROW:
            places = [0.0, 1.0, *((2.0, tilt + 1) if self.removing else ())]
            windows = _merged([(place - margin, place + margin) for place in sorted(places)])
        ends = [(math.floor(low / step), math.ceil(high / step)) for low, high in windows]
        if sum(high - low for low, high in ends) > _MOST_POINTS:
            raise TooManyNodes
        return np.concatenate([np.arange(low, high + 1, dtype=np.float64) for low, high in ends]) * step

    @cached_property
    def _sigma(self) -> float:
        return float(self.exact_sigma)

    @cached_property
    def _rate(self) -> float:
        return float(self.exact_rate)

    @cached_property
    def _keep(self) -> float:
        """1 - q, of which a rounded q knows little when it is near 1."""
        return float(1 - self.exact_rate)


def _merged(windows: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Rising windows, those that overlap or are close as one: no point is counted twice."""
    merged = [windows[0]]
    for low, high in windows[1:]:
        if low <= merged[-1][1] + (high - low):
            merged[-1] = merged[-1][0], high
        else:
            merged.append((low, high))
    return merged


def _tail(x: arb) -> arb:
    """The probability that a standard Gaussian is above x; from the ends, as Arb's own ball is wide for large x."""
    low, high = (((end / ball(2).sqrt()).erfc() / 2) for end in (x.lower(), x.upper()))
    return low.union(high)
