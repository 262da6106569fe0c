r"""Quantiles from the cells of a public grid, each by the exponential mechanism (Dwork and Roth, section 3.4).

A cell loses what is missing for it to hold the quantile q: with weight A below it, B above it and C in it,
max(0, (1 - q) A - q (B + C), q B - (1 - q) (A + C)). One unit adds a weight of at most R rows to some cells, and so
changes the loss of any cell by at most R max(q, 1 - q). The grid is public, so the cells are candidates that do not
depend on the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.mechanisms import ExponentialMechanism, PermuteAndFlip
from indistinct.queries.plans.measures import CELL_WEIGHT, Cells

__all__ = ["cell_ends", "cell_value", "losses", "rank_error", "select_quantile"]

_LARGEST = 2**62


def losses(weights: Sequence[int], share: Fraction) -> NDArray[Any]:
    """Of every cell, times the share's denominator: whole numbers, exactly, Python's own where 64 bits may not do.

    >>> losses([1, 1, 1], Fraction(1, 2)).tolist()
    [1, 0, 1]
    """
    p, d = share.numerator, share.denominator
    small = sum(weights) * d < _LARGEST
    own = np.array(weights, dtype=np.int64 if small else object)
    up_to = np.cumsum(own)
    below, above = up_to - own, up_to[-1] - up_to
    least = np.zeros_like(own)
    found: NDArray[Any] = np.maximum(
        np.maximum((d - p) * below - p * (above + own), p * above - (d - p) * up_to), least
    )
    return found


def select_quantile(weights: Sequence[int], share: Fraction, epsilon: Fraction, rows: int, *, pure: bool) -> int:
    """A cell that holds the quantile, or nearly; costs epsilon.

    For a pure guarantee permute-and-flip is used, whose error is at most the exponential mechanism's.
    """
    mechanism = _mechanism(share, epsilon, rows, pure=pure)
    told = losses(weights, share)
    if told.max() < 2**53:
        return mechanism.release(-told.astype(np.float64))
    return mechanism.release([Fraction(-int(loss)) for loss in told])


def rank_error(share: Fraction, epsilon: Fraction, rows: int, cells: int, level: Fraction, *, pure: bool) -> float:
    """How many rows the chosen cell is from holding the quantile at most, with such a probability."""
    found = _mechanism(share, epsilon, rows, pure=pure).accuracy(1 - level, candidates=cells)
    return float(found.alpha) / (CELL_WEIGHT * share.denominator)


def cell_value(cells: Cells, index: int) -> float:
    """The middle of a cell; of whole numbers, the number."""
    width = (Fraction(cells.high) - Fraction(cells.low)) / cells.number
    return float(Fraction(cells.low) + width * index + width / 2)


def cell_ends(cells: Cells, index: int) -> tuple[Fraction, Fraction]:
    """The lower and the upper end of a cell; of whole numbers, the number."""
    low, width = Fraction(cells.low), (Fraction(cells.high) - Fraction(cells.low)) / cells.number
    if cells.value.type == "integer" and width == 1:
        return low + index + width / 2, low + index + width / 2
    return low + width * index, low + width * (index + 1)


def _mechanism(share: Fraction, epsilon: Fraction, rows: int, *, pure: bool) -> ExponentialMechanism | PermuteAndFlip:
    change = CELL_WEIGHT * rows * max(share.numerator, share.denominator - share.numerator)
    return PermuteAndFlip(epsilon, change) if pure else ExponentialMechanism(epsilon, change)
