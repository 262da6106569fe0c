"""Where on its period a lattice transform can matter.

The tilted transform of a sum of lattice losses is phi(theta) = prod (1 - a_i + a_i e^(i m_i theta))^n_i,
and |1 - a + a e^(i m theta)|^2 = 1 - 4 a (1 - a) sin^2(m theta / 2), so that

    -log |phi(theta)| >= sum of n_i 2 a_i (1 - a_i) sin^2(m_i theta / 2).

On an interval of theta each sine moves by at most m_i times half the width. Intervals on which the
bound is large are dropped whole, the others are cut in four, down to single nodes: the work depends
on the shape of the law, hardly on the number of nodes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.nodes import Integers, TooManyNodes, distinct, surviving

__all__ = ["TooManyNodes", "active_nodes"]

_BLOCK = 64
_MOST_WORK = 60_000_000

Floats = NDArray[np.float64]


def active_nodes(multiples: Floats, strengths: Floats, nodes: int, negligible: float, most: int) -> Integers:
    """The n in [0, nodes / 2] for which |phi(2 pi n / nodes)| may exceed e^-negligible.

    `strengths` are the n_i 2 a_i (1 - a_i). The bound is computed in floats with a margin for their
    rounding. More than `most` such nodes, or too much work to find them, raise TooManyNodes.
    """
    order = np.argsort(-strengths)
    multiples, strengths = multiples[order], strengths[order]
    enough = negligible * 1.001
    half = nodes // 2 + 1
    edges = distinct(np.linspace(0, half, min(half, 64) + 1).astype(np.int64))

    def log_bound(starts: Integers, ends: Integers) -> Floats:
        return -_bounds(multiples, strengths, starts, ends, nodes, enough)

    work = _MOST_WORK // min(multiples.size, _BLOCK)
    return surviving(edges, log_bound, enough, most, work)


def _bounds(
    multiples: Floats, strengths: Floats, starts: Integers, ends: Integers, nodes: int, enough: float
) -> Floats:
    """A lower bound of -log |phi| on each interval of nodes, taken no further than is enough."""
    centre = math.pi / nodes * (starts + ends - 1)
    reach = math.pi / nodes * (ends - starts - 1)
    bound = np.zeros(starts.size)
    open_ = np.arange(starts.size)
    for first in range(0, multiples.size, _BLOCK):
        m = multiples[first : first + _BLOCK]
        sines = np.abs(np.sin(np.outer(centre[open_], m / 2)))
        margin = np.outer(reach[open_], m / 2) + 1e-15 * m + 1e-14
        bound[open_] += np.maximum(sines - margin, 0) ** 2 @ strengths[first : first + _BLOCK]
        open_ = open_[bound[open_] < enough]
        if not open_.size:
            break
    return bound
