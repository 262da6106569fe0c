r"""The composed delta of a few losses that no transform is good for: outcome by outcome, on grids made for them.

delta(eps) = E g(L), with L the loss of one half of the uses and g that of the other half. Each half is made by adding
losses, two at a time, all outcomes of the one with all of the other, and putting the sums on a grid: from above split
between its points, from below merged between them (`outcomes`). The last two halves are not added, only met, which
takes no more than sorting: two uses need no grid but their own.

*The grids.* What an interval costs is the mass in it times how far g is from straight there, as a function of e^-l,
where g is the delta of everything else: this is read off a coarse run with some hundreds of outcomes for each. An error
falls with the square of the number of pieces, so each interval is given pieces in proportion to the third root of
its cost. So the scale is found wherever it is: losses of 1e-18, tails of 1e-300, and rare large losses beside common
tiny ones, each with its own. Any grid is right; a good one is narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from indistinct.composition.folding.outcomes import Hinged, Outcomes, coalesced, in_order, merged, raised, summed
from indistinct.composition.folding.sources import Cut, Source, levels, subdivided
from indistinct.composition.losses.law import Floats
from indistinct.composition.nodes import Integers
from indistinct.numbers import Bracket

__all__ = ["FoldedComposition", "Layout"]

Counts = tuple[int, ...]

_NOTHING = Outcomes(np.zeros(1), np.ones(1))
_EVERYTHING: Cut = (_NOTHING, _NOTHING)
_FIRST = 500
_MOST_PIECES = 12_000
_MOST_WORK = 4_000_000
"""How many sums are put on grids in all."""
_WIDER = 1.3
_UNMERGED = 4
"""So many outcomes for each piece may stay as they are."""
_LOOKED_AT = 300_000
_EVENLY = 0.1
_NEXT = 3
_NEGLIGIBLE = 1e-300


class Layout:
    """The two halves at one fineness, cut for one epsilon; right at all of them."""

    def __init__(self, first: Cut, second: Cut, pieces: int) -> None:
        self.pieces = pieces
        self._first = first
        self._second = Hinged.of(second[0]), Hinged.of(second[1])
        self._lost = (first[0].lost + second[0].lost) * (1 + 1e-12)

    def delta(self, low: float, high: float) -> Bracket:
        """delta at every epsilon between two floats."""
        most = self._second[0].delta_with(self._first[0], low, 1) + self._lost
        least = self._second[1].delta_with(self._first[1], high, -1)
        return Bracket(min(least, most), min(most, 1.0))


class FoldedComposition:
    """delta(eps) of so many uses of each source, in one direction."""

    def __init__(self, parts: Sequence[tuple[Source, int]]) -> None:
        self._sources = [source for source, _ in parts]
        self._all: Counts = tuple(times for _, times in parts)
        self._coarse: dict[Counts, Outcomes] = {}
        self._hinged: dict[Counts, Hinged] = {}

    @cached_property
    def _products(self) -> int:
        """How many sums of two are put on a grid."""
        needed: set[Counts] = set()

        def visit(counts: Counts) -> None:
            if sum(counts) > 1 and counts not in needed:
                needed.add(counts)
                for part in _parts(counts):
                    visit(part)

        for half in _halves(self._all):
            visit(half)
        return len(needed)

    @property
    def most_pieces(self) -> int:
        """The finest grids that take no unreasonable work."""
        if not self._products:
            return _MOST_PIECES
        return min(_MOST_PIECES, math.isqrt(_MOST_WORK // self._products))

    def about(self, epsilon: float) -> float:
        """delta on the coarse grids."""
        first, second = _halves(self._all)
        law = self._coarsely(first)
        return float(np.sum(law.masses * self._left(second, epsilon - law.losses)))

    def laid_out(self, epsilon: float, pieces: int = _FIRST) -> Layout:
        """The halves for an epsilon, each grid in about so many pieces."""
        made: dict[Counts, Cut] = {}

        def at(counts: Counts) -> Cut:
            if counts not in made:
                made[counts] = self._made(counts, epsilon, pieces, at)
            return made[counts]

        first, second = _halves(self._all)
        return Layout(at(first), at(second), pieces)

    def narrow(self, epsilon: float, width: float) -> Layout:
        """A layout as fine as it takes for delta to be known to a relative width, or as is reasonable."""
        pieces = min(_FIRST, self.most_pieces)
        while True:
            layout = self.laid_out(epsilon, pieces)
            found = layout.delta(epsilon, epsilon)
            missed = found.relative_width / width
            if missed <= 1 or found.upper < _NEGLIGIBLE or pieces >= self.most_pieces:
                return layout
            pieces = min(max(int(pieces * math.sqrt(missed) * _WIDER), 2 * pieces), self.most_pieces)

    def _made(self, counts: Counts, epsilon: float, pieces: int, at: Callable[[Counts], Cut]) -> Cut:
        if not sum(counts):
            return _EVERYTHING
        if sum(counts) == 1:
            source = self._sources[counts.index(1)]
            return source.fine(self._pieces(counts, source.grid, epsilon, pieces))
        first, second = (at(part) for part in _parts(counts))
        count = first[0].size * second[0].size
        if count <= _UNMERGED * pieces:
            return in_order(summed(first[0], second[0], 1)), in_order(summed(first[1], second[1], -1))
        if count <= _LOOKED_AT:
            # On a lattice most sums are one of few numbers.
            upper, lower = coalesced(summed(first[0], second[0], 1), 1), coalesced(summed(first[1], second[1], -1), -1)
            if upper.size <= _UNMERGED * pieces:
                return upper, lower
        grid = self._coarsely(counts).losses
        points = subdivided(grid, self._pieces(counts, grid, epsilon, pieces))
        upper, lower = summed(first[0], second[0], 1), summed(first[1], second[1], -1)
        # Rounding may have moved the outermost sums past the ends.
        top, bottom = float(np.max(upper.losses)), float(np.min(lower.losses))
        return raised(upper, _with(points, top)), merged(lower, _with(points, bottom))

    def _coarsely(self, counts: Counts) -> Outcomes:
        if counts not in self._coarse:
            if sum(counts) == 0:
                found = _NOTHING
            elif sum(counts) == 1:
                found = self._sources[counts.index(1)].coarse
            else:
                first, second = (self._coarsely(part) for part in _parts(counts))
                whole = in_order(summed(first, second, 1))
                found = raised(whole, levels(whole))
            self._coarse[counts] = found
        return self._coarse[counts]

    def _pieces(self, counts: Counts, grid: Floats, epsilon: float, pieces: int) -> Integers:
        """How many pieces each interval of a grid is to have."""
        law, rest = self._coarsely(counts), _less(self._all, counts)
        if grid.size < 2:
            return np.zeros(0, np.int64)
        middles = (grid[1:] + grid[:-1]) / 2
        ends, inner = self._left(rest, epsilon - grid), self._left(rest, epsilon - middles)
        with np.errstate(over="ignore", invalid="ignore"):
            share = np.expm1(grid[:-1] - middles) / np.expm1(-np.diff(grid))
        straight = share * ends[1:] + (1 - share) * ends[:-1]
        # What a coarse outcome has is spread over the intervals next to it, up to the next ones.
        below = np.interp(grid, law.losses, np.cumsum(law.masses))
        above = np.interp(grid, law.losses, np.cumsum(law.masses[::-1])[::-1])
        masses = np.where(below[1:] < above[1:], np.diff(below), -np.diff(above))
        costs = np.nan_to_num(masses * np.maximum(straight - inner, 0.0))
        largest = float(np.max(costs))
        roots = np.cbrt(costs / largest) if largest > 0 else np.ones(costs.size)
        # g is straight between coarse outcomes and bent at them: what is found at one belongs to its neighbours too.
        roots = np.convolve(roots, np.ones(2 * _NEXT + 1))[_NEXT:-_NEXT]
        roots += _EVENLY * np.mean(roots)
        return np.asarray(np.maximum(np.rint(roots / np.sum(roots) * pieces), 1), dtype=np.int64)

    def _left(self, counts: Counts, epsilons: Floats) -> Floats:
        """About delta of the rest at many epsilons."""
        if counts not in self._hinged:
            self._hinged[counts] = Hinged.of(self._coarsely(counts))
        return self._hinged[counts].deltas(epsilons)


def _with(grid: Floats, point: float) -> Floats:
    """The grid with a point beyond one of its ends, if it is beyond."""
    if point > grid[-1]:
        return np.append(grid, point)
    return np.insert(grid, 0, point) if point < grid[0] else grid


def _halves(counts: Counts) -> tuple[Counts, Counts]:
    """Two parts of a multiset of uses that are to be met, about as large as each other."""
    half = tuple(times // 2 for times in counts)
    return (half, _less(counts, half)) if sum(half) else _one_apart(counts)


def _parts(counts: Counts) -> tuple[Counts, Counts]:
    """Two parts that are to be added: twice the same, which takes half the work, or what is odd by itself."""
    odd = tuple(times % 2 for times in counts)
    if not sum(odd):
        half = tuple(times // 2 for times in counts)
        return half, half
    return (_less(counts, odd), odd) if odd != counts else _one_apart(counts)


def _one_apart(counts: Counts) -> tuple[Counts, Counts]:
    first = counts.index(1)
    alone = tuple(int(i == first) for i in range(len(counts)))
    return alone, _less(counts, alone)


def _less(counts: Counts, part: Counts) -> Counts:
    return tuple(a - b for a, b in zip(counts, part, strict=True))
