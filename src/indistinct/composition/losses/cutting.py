"""Cutting the line where the loss of a pair of densities passes lattice points.

Where exactly it is cut matters for the width of the bracket, not for its truth: the masses are those of the cells
as they are cut, and the losses those at their edges, as the loss is monotone between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.cells import Cells
from indistinct.composition.losses.densities import LinePair
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import Floats
from indistinct.composition.nodes import distinct
from indistinct.errors import InvalidParameter

__all__ = ["cut"]

_HALVINGS = 70
_FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Neighbouring cells: their edges, and the least and largest loss in each."""

    edges: Floats
    low: Floats
    high: Floats


def cut(pair: LinePair, count: int) -> tuple[Cells, Cells]:
    """The cells of about so many lattice steps over the range of the loss, in both directions."""
    edges = _inside(pair, np.array([end for piece in pair.line.pieces for end in piece]))
    at = pair.loss(edges) if edges.size else np.zeros(1)
    error = pair.loss_error(edges) if edges.size else 0.0
    top, bottom = float(np.max(at)), float(np.min(at))
    step = (top - bottom) / count if top - bottom > 1e-12 * max(1.0, abs(top)) + 4 * error else 1.0
    ranges = [(float(a), float(b)) for a, b in at.reshape(-1, 2)] if edges.size else []
    stretches = [
        _of_piece(pair, piece, ends, top, step, error) for piece, ends in zip(pair.line.pieces, ranges, strict=True)
    ]
    if ranges:
        stretches += _beyond(pair, ranges[0], ranges[-1], error)
    nothing = len(stretches)
    for interval in pair.line.null_alone:
        stretches.append(_single(interval, math.inf, math.inf))
    for interval in pair.line.alternative_alone:
        stretches.append(_single(interval, pair.untouched, pair.untouched))
    left, right = (np.concatenate([s.edges[side] for s in stretches]) for side in (slice(None, -1), slice(1, None)))
    p, p_error, q, q_error = pair.masses(left, right)
    alone = left.size - (len(stretches) - nothing)
    # Where one of the laws is 0 it is exactly so.
    first = slice(alone, alone + len(pair.line.null_alone))
    q[first] = q_error[first] = 0.0
    if pair.rate == 1:
        second = slice(alone + len(pair.line.null_alone), None)
        p[second] = p_error[second] = 0.0
    cells = Cells(
        LossLattice(Fraction(step), Fraction(top)),
        np.concatenate([s.low for s in stretches]),
        np.concatenate([s.high for s in stretches]),
        p,
        p_error,
        q,
        q_error,
        error,
    )
    return cells, cells.swapped()


def _single(interval: tuple[float, float], low: float, high: float) -> _Stretch:
    return _Stretch(np.array(interval), np.array([low]), np.array([high]))


def _inside(pair: LinePair, x: Floats) -> Floats:
    """The points, those at an end of a support moved inwards by the least step."""
    a, b = pair.line.ends
    return np.clip(x, math.nextafter(a, math.inf), math.nextafter(b, -math.inf))


def _of_piece(
    pair: LinePair, piece: tuple[float, float], at: tuple[float, float], top: float, step: float, error: float
) -> _Stretch:
    """A piece cut where its monotone loss passes the lattice top - i step, found by halving in arcsinh."""
    (a, b), (low, high) = piece, sorted(at)
    first, last = math.ceil((top - high) / step + _FLAT), math.floor((top - low) / step - _FLAT)
    # The ends of a flat stretch, at the least or the largest loss, are places to cut at as well.
    flat = [high - _FLAT * step - 2 * error, low + _FLAT * step + 2 * error]
    wanted = np.concatenate([flat, top - step * np.arange(first, last + 1)])
    left, right = np.full(wanted.size, math.asinh(a)), np.full(wanted.size, math.asinh(b))
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        before = (pair.loss(_inside(pair, np.sinh(middle))) < wanted) == (at[1] > at[0])
        left, right = np.where(before, middle, left), np.where(before, right, middle)
    edges: Floats = distinct(np.concatenate([[a], np.clip(np.sinh((left + right) / 2), a, b), [b]]))
    losses = pair.loss(_inside(pair, edges))
    rises = np.diff(losses) * (1 if at[1] > at[0] else -1)
    if not np.all(rises >= -2 * error):
        raise _turning(float(edges[int(np.argmin(rises))]))
    return _Stretch(edges, np.minimum(losses[:-1], losses[1:]), np.maximum(losses[:-1], losses[1:]))


def _beyond(pair: LinePair, first: tuple[float, float], last: tuple[float, float], error: float) -> list[_Stretch]:
    """What lies outside the pieces: the loss goes on as it did, to who knows where."""
    least, largest = pair.limits
    found = []
    for interval, near, inner in (
        ((pair.line.ends[0], pair.line.pieces[0][0]), first[0], first[1]),
        ((pair.line.pieces[-1][1], pair.line.ends[1]), last[1], last[0]),
    ):
        falls, rises = near < inner - 2 * error, near > inner + 2 * error
        if interval[0] < interval[1]:
            found.append(_single(interval, near if rises else min(least, near), near if falls else max(largest, near)))
    return found


def _turning(where: float) -> InvalidParameter:
    return InvalidParameter(
        "the ratio of the densities",
        f"turning near {where!r}",
        "be monotone between the turns",
        instead="Name every point at which it turns or jumps in `turns`.",
    )
