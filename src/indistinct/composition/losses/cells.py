r"""A pair of densities, cut into cells of the loss, and the two lattice laws that enclose it.

Of a cell are known the range [a, b] of its loss, its mass p under the null law and its mass q under the
alternative, each with an error. That is all that is used.

*From above*: the cell's mass is moved to lattice points at or outside a and b such that p and q are kept. Every
delta(eps) is the mean under the alternative of a convex function of the ratio, and the mean of a convex function is
largest on the ends: this connects the dots of delta, as a function of e^eps, by straight lines (Doroshenko, Ghazi,
Kamath, Kumar and Manurangsi 2022). Domination survives composition.

*From below*: neighbouring cells are merged, in such shares that what is merged has exactly the ratio of the lattice
point between them. Merging is post-processing, so it can only lose; what does not fit is rounded down.

Both differ from the truth in the second order of the spacing. The errors are taken against the claim, p's and q's
by themselves: a convex mean rises with p and falls with q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.losses.grid import GridLoss
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Floats

__all__ = ["Cells"]

_NEAR = 1e-7
_FROM = 8 * UNIT
_FARTHEST = 1 << 20
"""So many lattice points on either side are enough."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells, and the lattice to use for them."""

    lattice: LossLattice
    low: Floats
    high: Floats
    """The ends of the loss, within `tolerance`; infinite where nothing is known."""
    null: Floats
    null_error: Floats
    alternative: Floats
    alternative_error: Floats
    tolerance: float

    def swapped(self) -> Cells:
        """The other direction."""
        back = LossLattice(self.lattice.exact_spacing, -self.lattice.offset)
        return Cells(
            back,
            -self.high,
            -self.low,
            self.alternative,
            self.alternative_error,
            self.null,
            self.null_error,
            self.tolerance,
        )

    def upper(self) -> GridLoss:
        """A law that dominates the cells."""
        h, anchor = self.lattice.spacing, float(self.lattice.offset)
        slack = _NEAR * h
        most = (self.null + self.null_error) * (1 + _FROM)
        # What is too far for a lattice so fine has next to no mass: above it counts as disclosed, below it is raised.
        farthest = anchor + h * _FARTHEST, anchor - h * _FARTHEST
        hidden = (self.high > farthest[0]) | (self.alternative + self.alternative_error == 0)
        disclosed = min(Fraction(float(np.sum(most[hidden])) * (1 + _FROM)), Fraction(1))
        p, high = most[~hidden], np.maximum(self.high[~hidden], farthest[1])
        low = np.where(self.low[~hidden] < farthest[1], high, self.low[~hidden])
        first = np.floor((low - anchor) / h + _NEAR).astype(np.int64)
        last = np.maximum(np.ceil((high - anchor) / h - _NEAR).astype(np.int64), first)
        # The loss is certainly within [a, b], a little outside the two points.
        margin = slack + self.tolerance
        a = anchor + h * first - margin
        q = np.maximum(self.alternative - self.alternative_error, 0.0)[~hidden] * (1 - _FROM * (2 + np.abs(a)))
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.where(q > 0, q * np.exp(a), 0.0)
            share = np.clip((p - scaled) / -np.expm1(-(h * (last - first) + 2 * margin)), 0.0, p)
        base = int(np.min(first)) if first.size else 0
        masses = np.zeros(int(np.max(last)) - base + 1 if first.size else 1)
        np.add.at(masses, last - base, share)
        np.add.at(masses, first - base, p - share)
        return self._law(masses, base, disclosed, margin, 1)

    def lower(self) -> GridLoss:
        """A law that the cells dominate."""
        h, anchor = self.lattice.spacing, float(self.lattice.offset)
        p = np.maximum(self.null - self.null_error, 0.0) * (1 - _FROM)
        q = (self.alternative + self.alternative_error) * (1 + _FROM)
        disclosed = Fraction(float(np.sum(p[q == 0])) * (1 - _FROM)) if np.any(q == 0) else Fraction(0)
        kept = (p > 0) & (q > 0)
        p, q = p[kept], q[kept]
        if not p.size:
            return self._law(np.ones(1), 0, disclosed, 0.0, -1)
        # The ratio of p and q itself is what counts; the lattice is moved down by what rounding may do to it.
        margin = _NEAR * h + self.tolerance
        place = np.minimum((np.log(p) - np.log(q) - anchor + margin) / h, _FARTHEST)
        near = place >= -_FARTHEST
        p, q, place = p[near], q[near], place[near]
        if not p.size:
            return self._law(np.ones(1), -_FARTHEST, disclosed, 0.0, -1)
        index = np.floor(place).astype(np.int64)
        base = int(np.min(index))
        masses = np.zeros(int(np.max(index)) - base + 2)
        settled = place - index < 4 * _NEAR + 2 * self.tolerance / h
        np.add.at(masses, index[settled] - base, p[settled])
        together_p, together_q = np.zeros(masses.size - 1), np.zeros(masses.size - 1)
        np.add.at(together_p, index[~settled] - base, p[~settled])
        np.add.at(together_q, index[~settled] - base, q[~settled])
        points = np.asarray(anchor - margin + h * (base + np.arange(masses.size)), dtype=np.float64)
        down = _shares_down(together_p, together_q, points)
        masses[:-1] += down * together_p
        masses[1:] += (1 - down) * together_p
        return self._law(masses, base, disclosed, margin, -1)

    def _law(self, masses: Floats, base: int, disclosed: Fraction, margin: float, side: int) -> GridLoss:
        used = masses > 0
        logs = np.full(masses.size, -math.inf)
        if disclosed < 1:
            logs[used] = np.log(masses[used]) - math.log1p(-float(disclosed))
        if not np.any(logs > -math.inf):
            logs[0] = 0.0
        spacing = self.lattice.exact_spacing
        lattice = LossLattice(spacing, self.lattice.offset + base * spacing + side * Fraction(margin))
        rarest = -float(np.min(logs[logs > -math.inf]))
        return GridLoss(lattice, logs, disclosed, side * (256 + 4 * rarest) * UNIT)


def _shares_down(p: Floats, q: Floats, points: Floats) -> Floats:
    """The share of each cell that goes to its lower lattice point; the rest goes to the upper.

    At every lattice point the surplus of ratio from above must outweigh the deficit from below. From the left up to
    the heaviest cell, and from the right down to it, each share follows from the last one with equality; where that
    is impossible, the last one's share is made to fit.
    """
    e = np.exp(np.minimum(points, 700.0))
    surplus = np.maximum(p - e[:-1] * q, 0.0).tolist()
    deficit = np.maximum(e[1:] * q - p, 0.0).tolist()
    size = len(surplus)
    top = int(np.argmax(p))
    down = [0.5] * size
    for j in range(1, top + 1):
        needed = (1 - down[j - 1]) * deficit[j - 1]
        if needed <= surplus[j]:
            down[j] = needed / surplus[j] if surplus[j] > 0 else 0.5
        else:
            down[j - 1], down[j] = 1 - surplus[j] / deficit[j - 1], 1.0
    left = down[top]
    down[-1] = 1.0
    for j in range(size - 1, top, -1):
        available = down[j] * surplus[j]
        down[j - 1] = 1 - min(available / deficit[j - 1], 1.0) if deficit[j - 1] > 0 else 0.5
    down[top] = max(down[top], left)
    return np.asarray(down)
