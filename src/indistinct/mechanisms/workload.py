"""Many linear queries of a histogram, as whole numbers of a common unit: true answers are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.selecting import at_least
from indistinct.noise.table import Integers
from indistinct.numbers import read_count

__all__ = ["Workload"]

Reals = NDArray[np.float64]
_UNIT_BITS = 20
_EXACT = 2.0**53
_BLOCK = 256
_MOST_QUERIES = 10**8


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Queries by their rows in blocks: each a dense or sparse matrix of whole numbers, kept as floats.

    >>> queries = Workload.read([[1, 0.5], [0, 1]], 2, Fraction(1), None)
    >>> queries.unit, queries.exact_answers(np.array([3, 5]), 100).tolist()
    (Fraction(1, 2), [11, 10])
    """

    unit: Fraction
    """What all numbers in the queries are multiples of."""
    count: int
    rows: Callable[[int, int], Any]
    """The queries from one number to before another, as a matrix in units."""

    @classmethod
    def read(cls, queries: object, cells: int, sensitivity: Fraction, count: object) -> Workload:
        """Checks every row once, before anything private is looked at."""
        if callable(queries):
            if count is None:
                raise InvalidParameter("count", count, "tell how many queries the function gives")
            rows, many = _called(queries, cells), at_least("count", count, 1, _MOST_QUERIES)
        else:
            matrix = queries if _is_sparse(queries) else _dense(queries, (None, cells))
            rows, many = _sliced(matrix, cells)
            if count is not None and read_count("count", count) != many:
                raise InvalidParameter("count", count, f"be the number of rows, {many}")
        bits = 0
        for start in range(0, many, _BLOCK):
            bits = max(bits, _checked(rows(start, min(start + _BLOCK, many)), sensitivity))
        if not bits:
            return cls(Fraction(1), many, rows)
        return cls(Fraction(1, 2**bits), many, lambda start, end: rows(start, end) * 2.0**bits)

    def row(self, at: int) -> Reals:
        """One query, in units."""
        return _row(self.rows(at, at + 1))

    def answers(self, histogram: Reals) -> Reals:
        """Of a histogram of floats, in units."""
        return np.concatenate([np.asarray(block @ histogram).ravel() for block in self._blocks()])

    def exact_answers(self, histogram: Integers, most: int) -> Integers:
        """Of a histogram of counts, in units, exactly; those beyond `most` are moved there.

        Moving them brings no two histograms further apart, and there is nothing to refuse that would tell of the data.
        Sums of whole numbers below 2^53 are exact in floats, in whichever order; larger ones are made of Python's own.
        """
        total = int(histogram.astype(object).sum())
        largest = max(float(abs(block).max()) for block in self._blocks())
        if largest * total < _EXACT:
            exact = self.answers(histogram.astype(np.float64)).astype(np.int64)
        else:
            whole = histogram.astype(object)
            sums = [[sum(_whole(row) * whole) for row in _dense_rows(block)] for block in self._blocks()]
            exact = np.array([each for block in sums for each in block], dtype=object)
        return np.clip(exact, -most, most).astype(np.int64)

    def _blocks(self) -> Any:
        return (self.rows(start, min(start + _BLOCK, self.count)) for start in range(0, self.count, _BLOCK))


def _is_sparse(queries: object) -> bool:
    return hasattr(queries, "tocsr")


def _called(give: Callable[[int], object], cells: int) -> Callable[[int, int], Any]:
    return lambda start, end: np.array([_dense(give(at), (cells,)) for at in range(start, end)])


def _sliced(matrix: Any, cells: int) -> tuple[Callable[[int, int], Any], int]:
    if not _is_sparse(matrix):
        return (lambda start, end: matrix[start:end]), len(matrix)
    if matrix.ndim != 2 or matrix.shape[1] != cells or not matrix.shape[0]:
        raise InvalidParameter("queries", matrix.shape, f"have at least one row, and {cells} columns")
    if matrix.dtype.kind not in "iuf":
        raise InvalidParameter("queries", matrix.dtype, "hold whole numbers or floats")
    compressed = matrix.tocsr().astype(np.float64)
    return (lambda start, end: compressed[start:end]), compressed.shape[0]


def _dense(queries: object, shape: tuple[int | None, ...]) -> Reals:
    try:
        matrix = np.asarray(queries)
    except ValueError:
        matrix = np.zeros(0)
    fits = matrix.ndim == len(shape) and all(
        wanted is None or wanted == size for wanted, size in zip(shape, matrix.shape, strict=True)
    )
    if not fits or not matrix.size or matrix.dtype.kind not in "iuf":
        requirement = f"give one number for each of the {shape[-1]} cells, whole or a float"
        raise InvalidParameter("queries", queries, requirement)
    return matrix.astype(np.float64)


def _checked(block: Any, sensitivity: Fraction) -> int:
    """How many binary digits the numbers of a block have after the point; at most _UNIT_BITS, and none too large."""
    numbers = block.data if _is_sparse(block) else block
    if not np.isfinite(numbers).all():
        raise InvalidParameter("queries", "a row with a number that is not", "be finite")
    if len(numbers) and Fraction(float(np.abs(numbers).max())) > sensitivity:
        raise InvalidParameter(
            "queries",
            float(np.abs(numbers).max()),
            f"hold no number above the sensitivity, {sensitivity}",
            instead="Scale the queries down, or declare a larger sensitivity.",
        )
    for bits in range(_UNIT_BITS + 1):
        units = numbers * 2.0**bits
        if (np.floor(units) == units).all():
            return bits
    raise InvalidParameter("queries", "a row with finer ones", f"hold multiples of 2^-{_UNIT_BITS}")


def _dense_rows(block: Any) -> Any:
    return block.toarray() if _is_sparse(block) else block


def _whole(row: Reals) -> Any:
    """Floats that are whole numbers, as Python's own."""
    return np.array([int(value) for value in row.tolist()], dtype=object)


def _row(block: Any) -> Reals:
    return np.asarray(_dense_rows(block), dtype=np.float64).ravel()
