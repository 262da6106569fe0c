"""How samplers hand out their draws: arrays in blocks, and single numbers drawn ahead of their use."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.table import BLOCK, SurvivalLaw, Table

__all__ = ["Block", "Drawn", "Shape", "accepted", "many", "one", "table_of"]

Drawn = NDArray[Any]
"""64-bit integers, or Python's own where these may not suffice."""

Shape = int | tuple[int, ...]
Block = Callable[[int, BitSource], Drawn]

_AHEAD = 2048
_TABLES = 48


def one(block: Block, ahead: Ahead[int], source: BitSource) -> int:
    """One draw: from the stock, or from the bits of a test."""
    if source is not SYSTEM:
        return int(block(1, source)[0])
    return ahead.take(lambda: block(_AHEAD, SYSTEM).tolist())


def many(shape: Shape, block: Block, source: BitSource) -> Drawn:
    """An array of draws, made in blocks that fit the cache.

    Whole numbers of 64 bits; Python's own where a block holds one that does not fit.
    """
    sizes = (shape,) if isinstance(shape, int) else shape
    if not all(size >= 0 for size in sizes):
        raise InvalidParameter("the shape", shape, "be a whole number from 0 or a tuple of them")
    count = math.prod(sizes)
    if count <= BLOCK:
        return block(count, source).reshape(sizes)
    blocks = [block(min(BLOCK, count - start), source) for start in range(0, count, BLOCK)]
    return np.concatenate(blocks).reshape(sizes)


def accepted(count: int, propose: Callable[[int], Drawn]) -> Drawn:
    """So many accepted proposals: each round proposes as many as are missing.

    How many rounds there are depends on which proposals are rejected, which is independent of the accepted ones.
    """
    found = propose(count)
    if len(found) == count:
        return found
    parts = [found]
    while (missing := count - sum(map(len, parts))) > 0:
        parts.append(propose(max(2 * missing, 16))[:missing])
    return np.concatenate(parts)


@lru_cache(maxsize=_TABLES)
def table_of(law: SurvivalLaw) -> Table:
    """The table of a law, kept for as long as it is among the last that were used."""
    return Table.of(law)
