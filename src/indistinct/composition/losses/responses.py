r"""The summed loss of any number of randomised responses, equal or not, as one law.

M(t + i y) / M(t) is the product of cosh((t + 1/2 + i y) e) / cosh((t + 1/2) e), to the powers n, and each factor
is cos(y e) + i T sin(y e) with T = tanh((t + 1/2) e): its modulus and its phase come out without cancellation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from indistinct.composition.lattice import Lattice
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Doubt, Floats
from indistinct.composition.nodes import Integers, distinct
from indistinct.composition.responses import Responses

__all__ = ["ResponsesLoss"]

_MOST_ON_LATTICE = 128
_BLOCK = 64
_AT_ONCE = 1 << 17
_BUNDLES = 128
_MOST_SINGLES = 2048
_USEFUL = 0.5
_ENOUGH = 60.0
_ACUTE = 1.0


class ResponsesLoss:
    """Randomised responses: (epsilon, 0) black boxes, geometric noise, pure mechanisms of any kind."""

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self._e = responses.epsilons
        self._n = responses.times
        self._latest: tuple[float, Floats, Integers] = math.nan, np.zeros(0), np.zeros(0, np.int64)

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @property
    def largest(self) -> float:
        return float(np.sum(self._e * self._n)) * (1 + 1e-12)

    @cached_property
    def lattice(self) -> LossLattice | None:
        """Twice the common spacing of the epsilons, if there is one and they are few: else smoothing costs less."""
        if len(self.responses.levels) > _MOST_ON_LATTICE:
            return None
        lattice = Lattice.common(self.responses)
        if lattice is None or not isinstance(lattice.spacing, Fraction):
            return None
        return LossLattice(2 * lattice.spacing, -lattice.top * lattice.spacing)

    @property
    def steepest(self) -> float:
        return self.responses.steepest

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return len(self.responses.levels)

    def cumulants(self, tilt: float) -> Cumulants:
        x = (tilt + 0.5) * self._e
        tangents = np.tanh(x)
        falls = 1 / np.cosh(np.minimum(x, 350.0)) ** 2
        return Cumulants(
            self.responses.cumulant(tilt),
            float(np.sum(self._n * self._e * tangents)),
            float(np.sum(self._n * self._e**2 * falls)),
        )

    def doubt(self, tilt: float) -> Doubt:
        return Doubt(64 * UNIT * self.responses.cumulant(tilt), 0.0, 64 * UNIT, 16 * UNIT * self.largest)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        tangents = np.tanh((tilt + 0.5) * self._e)
        falls = 1 / np.cosh(np.minimum((tilt + 0.5) * self._e, 350.0)) ** 2
        result = np.empty(y.size, dtype=complex)
        rows = max(1, _AT_ONCE // self._e.size)
        for first in range(0, y.size, rows):
            angles = np.outer(y[first : first + rows], self._e)
            sines = np.sin(angles)
            if np.max(angles) < _ACUTE:  # then the phase has an arctangent that takes a quarter of the time
                turned = np.arctan(tangents * sines / np.sqrt((1 - sines) * (1 + sines)))
            else:
                turned = np.arctan2(tangents * sines, np.cos(angles))
            phases = np.sum(turned * self._n, axis=1)
            moduli = np.sum(np.log1p(-falls * sines * sines) * self._n, axis=1) / 2
            result[first : first + rows] = moduli + 1j * phases
        return result

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        """log |cos + i T sin| <= -(1 - T^2) sin^2 / 2; each sine moves by at most e times the reach.

        First all of them in bundles of nearly equal epsilons, each sine moved by the bundle's width as well; then,
        where that does not settle it, one by one, the strongest first, and no further than is of use.
        """
        strengths, order = self._strengths(tilt)
        bundles = np.add.reduceat(strengths, self._bundles.starts)
        bound = -_squares(centres, self._bundles.centres, reach, self._bundles.radii) @ bundles
        if self._bundles.centres.size == self._e.size:
            return bound
        open_ = np.flatnonzero(bound > -_ENOUGH)
        one_by_one = np.zeros(open_.size)
        order = order[self._e[order] * reach < _USEFUL][:_MOST_SINGLES]
        for first in range(0, order.size, _BLOCK):
            block = order[first : first + _BLOCK]
            left = np.flatnonzero(one_by_one > -_ENOUGH)
            if not left.size:
                break
            one_by_one[left] -= _squares(centres[open_[left]], self._e[block], reach) @ strengths[block]
        bound[open_] = np.minimum(bound[open_], one_by_one)
        return np.asarray(bound)

    def _strengths(self, tilt: float) -> tuple[Floats, Integers]:
        """n (1 - T^2) / 2, rounded down a little, and their order, the largest first."""
        if tilt != self._latest[0]:
            strengths = self._n / (2 * np.cosh(np.minimum((tilt + 0.5) * self._e, 350.0)) ** 2) * (1 - 1e-9)
            self._latest = tilt, strengths, np.argsort(-strengths, kind="stable")
        return self._latest[1:]

    @cached_property
    def _bundles(self) -> _Bundles:
        """The sorted epsilons cut where a new one would widen its bundle by too much."""
        e = self._e
        if e.size <= _BUNDLES:
            return _Bundles(np.arange(e.size), e, np.zeros(e.size))
        edges = np.linspace(e[0], e[-1], _BUNDLES + 1)[1:-1]
        starts = distinct(np.concatenate([[0], np.searchsorted(e, edges)]))
        starts = starts[starts < e.size]
        lasts = np.append(starts[1:], e.size) - 1
        return _Bundles(starts, (e[starts] + e[lasts]) / 2, (e[lasts] - e[starts]) / 2 * (1 + 1e-9))

    def __repr__(self) -> str:
        return f"ResponsesLoss({math.floor(self.responses.count):,} responses)"


@dataclass(frozen=True, slots=True)
class _Bundles:
    """Runs of the sorted epsilons: where they start, their centres and half widths."""

    starts: Integers
    centres: Floats
    radii: Floats


def _squares(centres: Floats, epsilons: Floats, reach: float, radii: Floats | float = 0.0) -> Floats:
    """Lower bounds of sin^2(y e) for y within reach of each centre and e within a radius of each epsilon.

    By |sin(pi d)| >= d (3 - 4 d^2) for d in [0, 1/2], the distance from the nearest whole number.
    """
    turns = np.outer(centres, epsilons / math.pi)
    far = float(np.max(np.abs(centres), initial=0.0)) + reach
    margin = (epsilons * reach + far * radii) / math.pi + 1e-15 * far * epsilons + 1e-14
    distance = np.abs(turns - np.rint(turns), out=turns)
    distance -= margin
    np.maximum(distance, 0.0, out=distance)
    square = distance * distance
    square *= -4.0
    square += 3.0
    square *= distance
    square *= square
    return square
