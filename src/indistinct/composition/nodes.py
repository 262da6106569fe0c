"""Finding the nodes of a transform that matter, without looking at all the others.

A bound that holds on whole intervals excludes most of them at once; the others are cut in four, down to single
nodes. The work depends on the shape of the law and hardly on how many nodes there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Integers", "TooManyNodes", "distinct", "surviving"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Numbers = TypeVar("Numbers", Integers, Floats)


class TooManyNodes(Exception):
    """The transform does not decay well enough for this method to be of use."""


def surviving(
    edges: Integers, log_bound: Callable[[Integers, Integers], Floats], negligible: float, most: int, work: int
) -> Integers:
    """The nodes n of [edges[0], edges[-1]) that no bound excludes, in order.

    `log_bound(starts, ends)` bounds the log of the integrand on each interval of nodes [start, end); below
    -negligible the interval is dropped. More than `most` nodes, or more than `work` intervals, raise TooManyNodes.
    """
    starts, ends = edges[:-1], edges[1:]
    found: list[Integers] = []
    while starts.size:
        work -= starts.size
        if work < 0 or sum(nodes.size for nodes in found) > most:
            raise TooManyNodes
        kept = log_bound(starts, ends) > -negligible
        starts, ends = starts[kept], ends[kept]
        single = ends - starts == 1
        found.append(starts[single])
        starts, ends = _quartered(starts[~single], ends[~single])
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)


def distinct(values: Numbers) -> Numbers:
    """Each value once, in order: np.unique, but for its import of masked arrays, which takes longer than an answer.

    >>> distinct(np.array([2.0, 1.0, 2.0]))
    array([1., 2.])
    """
    ordered = np.sort(values)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]])


def _quartered(starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    width = ends - starts
    cuts = [starts + width * quarter // 4 for quarter in range(5)]
    firsts, lasts = np.concatenate(cuts[:-1]), np.concatenate(cuts[1:])
    filled = lasts > firsts
    return firsts[filled], lasts[filled]
