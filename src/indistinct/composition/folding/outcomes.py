r"""Losses with finitely many values, and what bounds a sum of such losses from either side.

Everything here rests on one function. With L and L' independent, delta(eps) of their sum is the mean over L of
g(L), g(l) = E (1 - e^(eps - l - L'))_+, which rises with l and is convex in e^-l. So delta can only rise

- when an outcome is moved to a larger loss;
- when an outcome between two losses a < b is split between them, such that its mass under both laws is kept: then
  b has the share (1 - e^(a - l)) / (1 - e^(a - b)) of its mass under the null law (Jensen);

and it can only fall

- when an outcome is moved to a smaller loss, or left out;
- when outcomes are merged into one that has their masses under both laws together: that is post-processing.

All masses are positive and nothing is ever subtracted, so rounding is a matter of factors 1 + O(2^-53), and of losses
that are moved by some last places in the direction of the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indistinct.composition.losses.law import UNIT, Floats

__all__ = ["CERTAIN", "Hinged", "Outcomes", "coalesced", "in_order", "merged", "raised", "summed"]

CERTAIN = 1e300
"""The loss of an outcome that tells everything."""
_UNDERFLOW = 5e-324
_ALIKE = 2.0**-42
"""Relative to the largest loss."""


@dataclass(frozen=True, eq=False, slots=True)
class Outcomes:
    """Rising losses with their masses under the null law."""

    losses: Floats
    masses: Floats
    lost: float = 0.0
    """The mass of outcomes that are not here; from above they may tell everything, from below nothing."""

    @property
    def size(self) -> int:
        return int(self.losses.size)


def summed(first: Outcomes, second: Outcomes, side: int) -> Outcomes:
    """All sums of the two, not in order, each moved to a side by what rounding may do to it."""
    if first is second:
        # A loss with itself: each pair of outcomes once, twice its mass.
        size = first.size
        losses = np.concatenate([first.losses[i] + first.losses[i:] for i in range(size)])
        masses = np.concatenate([first.masses[i] * first.masses[i:] for i in range(size)])
        alone = np.cumsum(np.arange(size, 0, -1)) - np.arange(size, 0, -1)
        masses *= 2 * (1 + side * 4 * UNIT)
        masses[alone] /= 2
    else:
        losses = np.add.outer(first.losses, second.losses).ravel()
        masses = np.multiply.outer(first.masses, second.masses).ravel()
        masses *= 1 + side * 4 * UNIT
    sizes = np.abs(losses)
    losses += side * 2 * UNIT * sizes
    if side > 0:
        masses += _UNDERFLOW
    return Outcomes(losses, masses, (first.lost + second.lost) * (1 + 4 * UNIT))


def in_order(outcomes: Outcomes) -> Outcomes:
    """The same by rising loss."""
    order = np.argsort(outcomes.losses, kind="stable")
    return Outcomes(outcomes.losses[order], outcomes.masses[order], outcomes.lost)


def coalesced(outcomes: Outcomes, side: int) -> Outcomes:
    """By rising loss, those that are all but equal as one, at the end of theirs that is on the side."""
    ordered = in_order(outcomes)
    losses, masses = ordered.losses, ordered.masses
    least = _alike(losses)
    with np.errstate(over="ignore", invalid="ignore"):  # what tells everything is far away
        starts = np.flatnonzero(np.diff(np.floor(losses / least), prepend=-np.inf)) if least > 0 else np.array([0])
    ends = np.append(starts[1:], losses.size) - 1
    doubt = (int(np.max(ends - starts)) + 4) * UNIT
    together = np.asarray(np.add.reduceat(masses, starts) * (1 + side * doubt), dtype=np.float64)
    return Outcomes(losses[ends] if side > 0 else losses[starts], together, ordered.lost)


def _alike(losses: Floats) -> float:
    """How near losses are that count as equal: relative to the largest that is one."""
    sizes = np.abs(losses)
    return float(np.max(sizes, where=sizes < CERTAIN / 2, initial=0.0)) * _ALIKE


def raised(outcomes: Outcomes, grid: Floats) -> Outcomes:
    """Split between the neighbouring points of a rising grid: not below the outcomes given.

    What is below the grid is raised to its first point, and what is above it is lost.
    """
    losses, masses = outcomes.losses, outcomes.masses
    above = np.searchsorted(grid, losses, side="left")
    beyond = above == grid.size
    lost = outcomes.lost
    if np.any(beyond):
        lost += float(np.sum(masses[beyond])) * (1 + masses.size * UNIT)
        kept = ~beyond
        losses, masses, above = losses[kept], masses[kept], above[kept]
    # The share of the upper point, with d = l - a and w = b - a: expm1(-d) / expm1(-w). What remains is right up to a
    # few units of the whole, which are added: more mass cannot make delta less.
    first = above == 0
    below = np.maximum(above - 1, 0, out=above.copy())
    share = np.expm1(grid[below] - losses)
    share /= np.concatenate([[-1.0], np.expm1(-np.diff(grid))])[above]
    np.minimum(share, 1.0, out=share)
    share[first] = 1.0
    upper = masses * share
    np.subtract(1 + 16 * UNIT, share, out=share)
    share *= masses
    found = np.zeros(grid.size)
    found += np.bincount(above, upper, grid.size)
    found += np.bincount(below, share, grid.size)
    found *= 1 + (losses.size + 32) * UNIT
    used = found > 0
    return Outcomes(grid[used], found[used] + _UNDERFLOW * losses.size, lost)


def merged(outcomes: Outcomes, grid: Floats) -> Outcomes:
    """Merged between neighbouring points of a rising grid: not above the outcomes given.

    What is below the grid is left out.
    """
    # A little lower, so that what rounding has moved below a point, as it does to atoms, is not merged with others.
    grid = grid - _alike(outcomes.losses)
    cell = np.asarray(np.searchsorted(grid, outcomes.losses, side="right") - 1)
    kept = cell >= 0
    losses, masses, cell = outcomes.losses[kept], outcomes.masses[kept], cell[kept]
    count = np.bincount(cell, minlength=grid.size)
    null = np.bincount(cell, masses, grid.size)
    # What the masses under the alternative are less, relative to those at the cell's lower end.
    less = np.bincount(cell, masses * -np.expm1(grid[cell] - losses), grid.size)
    used = null > 0
    count, null, less = count[used], null[used], less[used]
    doubt = 4 * (count + 16) * UNIT
    start = grid[used]
    away = -np.log1p(-np.maximum(less / null * (1 - doubt), 0.0))
    moved = start + away
    moved -= 4 * UNIT * (np.abs(start) + away)
    null = np.maximum(null * (1 - doubt) - _UNDERFLOW * count, 0.0)
    return Outcomes(np.minimum.accumulate(moved[::-1])[::-1], np.asarray(null, dtype=np.float64), outcomes.lost)


@dataclass(frozen=True, eq=False, slots=True)
class Hinged:
    """Outcomes with what their delta is made of at each of their losses, between which it is straight in e^eps."""

    outcomes: Outcomes
    exceeding: Floats
    """The mass from a loss on."""
    at: Floats
    """delta at a loss."""

    @classmethod
    def of(cls, outcomes: Outcomes) -> Hinged:
        """From the right, by positive terms alone."""
        exceeding = np.cumsum(outcomes.masses[::-1])[::-1]
        gaps = np.diff(outcomes.losses)
        keeps, gains = np.exp(-gaps).tolist(), (-np.expm1(-gaps) * exceeding[1:]).tolist()
        at = [0.0] * outcomes.size
        for j in range(outcomes.size - 2, -1, -1):
            at[j] = keeps[j] * at[j + 1] + gains[j]
        return cls(outcomes, exceeding, np.asarray(at))

    def deltas(self, epsilons: Floats) -> Floats:
        """delta at many epsilons, up to a relative (8 size + 16) 2^-53."""
        losses = self.outcomes.losses
        place = np.searchsorted(losses, epsilons, side="right")
        inside = place < losses.size
        place = np.minimum(place, losses.size - 1)
        gap = np.where(inside, losses[place] - epsilons, 0.0)
        values = -np.expm1(-gap) * self.exceeding[place] + np.exp(-gap) * self.at[place]
        return np.asarray(np.where(inside, values, 0.0))

    def delta_with(self, first: Outcomes, epsilon: float, side: int) -> float:
        """A bound from a side of delta(epsilon) of the sum with another, what is lost left to the caller."""
        wanted = epsilon - first.losses
        wanted -= side * 2 * UNIT * (abs(epsilon) + np.abs(first.losses))
        values = self.deltas(wanted)
        found = float(np.sum(first.masses * values))
        doubt = (8 * self.outcomes.size + first.size + 64) * UNIT
        underflow = 8 * _UNDERFLOW * (first.size + self.outcomes.size) if np.any(values) else 0.0
        return max(found * (1 + side * doubt) + side * underflow, 0.0)
