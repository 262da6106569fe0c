r"""The Johnson-Lindenstrauss mechanism for variances of a matrix in any direction (KOV, section 4.2).

r random combinations of the rows of A and of w times the unit vectors: each row of the sketch is N(0, A^T A + w^2 I).
A record more adds v v^T, and stretches the variance in one direction by x = v^T (A^T A + w^2 I)^-1 v: at most
B^2 / w^2, which is attained where A is empty. So its exact calibration is that of the graph's sketch.

The law depends on A by A^T A alone: that is added up block by block, and a root of A^T A + w^2 I is multiplied with r
times d Gaussian numbers, instead of A with r times n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.losses import Adjacency, PrivacyLoss
from indistinct.composition.losses.chi_square import chi_square_loss
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.sketches import storage
from indistinct.mechanisms.sketches.accuracy import SketchAccuracy, accuracy_of, read_share
from indistinct.mechanisms.sketches.calibration import MOST_ROWS, largest_excess, rows_for
from indistinct.mechanisms.sketches.drawing import grid_for
from indistinct.mechanisms.sketches.normals import normals
from indistinct.noise import SYSTEM, BitSource
from indistinct.numbers import read_count, read_epsilon
from indistinct.numbers.balls import ball, bracket_of, precision

__all__ = ["CovarianceSketch", "CovarianceSynopsis"]

_KIND = "covariance"
_LEAST_SHARE = 10**6
_MOST_COLUMNS = 20_000
_SAFE = 1 - 2.0**-40
_SLAB = 1 << 14
_LARGEST = float(2**62)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, init=False)
class CovarianceSketch:
    """A synopsis of an n x d matrix A that answers for x^T A^T A x in any direction x.

    Neighbours are matrices that differ by one row added or removed. Rows longer than `bound` in the l2 norm are scaled
    down to it: the data cannot break the promise. Nothing is subtracted: where columns have means, so have the answers.

    >>> from indistinct import CovarianceSketch, compose
    >>> sketch = CovarianceSketch.plan(columns=100, bound=1, epsilon=1, delta="1e-6", eta="0.25", nu="0.05")
    >>> print(sketch.r, f"{float(sketch.w):.5g}", f"{compose([sketch]).delta(1):.6g}")
    473 8.398 1e-06
    """

    columns: int
    r: int
    w: Fraction
    bound: Fraction

    def __init__(self, columns: object, r: object, w: object, bound: object = 1) -> None:
        count, rows = read_count("columns", columns, least=1), read_count("r", r, least=1)
        if count > _MOST_COLUMNS:
            raise InvalidParameter("columns", columns, f"be at most {_MOST_COLUMNS:,}")
        if rows > MOST_ROWS:
            raise InvalidParameter("r", r, f"be at most {MOST_ROWS:,}")
        object.__setattr__(self, "columns", count)
        object.__setattr__(self, "r", rows)
        weight, longest = read_positive("w", w), read_positive("bound", bound)
        if weight < longest / _LEAST_SHARE:
            raise InvalidParameter(
                "w", w, "be at least a millionth of the bound", instead="Less hides next to nothing."
            )
        object.__setattr__(self, "w", weight)
        object.__setattr__(self, "bound", longest)

    @staticmethod
    def plan(
        *, columns: object, epsilon: object, delta: object, eta: object, nu: object, bound: object = 1
    ) -> CovarianceSketch:
        """The sketch with r = 8 ln(2/nu) / eta^2 rows and the least w that is (epsilon, delta)-private."""
        level, failure = read_epsilon("epsilon", epsilon), read_share("delta", delta)
        longest, rows = read_positive("bound", bound), rows_for(read_share("eta", eta), read_share("nu", nu))
        excess = Fraction(largest_excess(rows, level, failure).lower)
        with precision(128):
            weight = bracket_of((ball(longest**2) / ball(excess)).sqrt()).upper
        return CovarianceSketch(columns, rows, Fraction(weight), longest)

    @property
    def excess(self) -> Fraction:
        """x = bound^2 / w^2."""
        return (self.bound / self.w) ** 2

    @property
    def loss(self) -> PrivacyLoss:
        """N(0, 1)^r against N(0, 1 + x)^r, both ways; for rows added or removed."""
        return chi_square_loss(self.r, self.excess, Adjacency.ADD_REMOVE)

    def accuracy(self, *, nu: object, length: object = 1, questions: object = 1) -> SketchAccuracy:
        """The promise for so many directions of an l2 norm `length`: tau = eta w^2 length^2."""
        added = (self.w * read_positive("length", length)) ** 2
        return accuracy_of(self.r, added, read_count("questions", questions, least=1), read_share("nu", nu))

    def release(self, rows: Any, *, source: BitSource = SYSTEM) -> CovarianceSynopsis:
        """The synopsis of a matrix, whole or as an iterable of blocks of its rows, each looked at once."""
        gram = np.zeros((self.columns, self.columns))
        for block in _blocks(rows):
            gram += self._gram(block)
        w, d = float(self.w), self.columns
        # No eigenvalue is below w^2 but by rounding; unlike Cholesky's, this root exists whatever the data are.
        squares, directions = np.linalg.eigh(gram + w**2 * np.identity(d))
        root = directions * np.sqrt(np.maximum(squares, w**2))
        step = grid_for(w)
        drawn = normals(source, self.r * d).reshape(self.r, d).astype(np.float64) @ root.T
        return CovarianceSynopsis(self, np.clip(np.rint(drawn / step), -_LARGEST, _LARGEST).astype(np.int64))

    def _gram(self, block: Any) -> Floats:
        """A^T A of the rows, each made no longer than the bound."""
        try:
            rows = np.asarray(block, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter("rows", type(block).__name__, "be a matrix of numbers, or blocks of one") from None
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            raise InvalidParameter("rows", rows.shape, f"be a matrix of {self.columns} columns, or blocks of one")
        total = np.zeros((self.columns, self.columns))
        for start in range(0, len(rows), _SLAB):
            part = rows[start : start + _SLAB]
            lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
            if not np.all(np.isfinite(lengths)):
                raise InvalidParameter("rows", "infinite", "be finite numbers, none beyond 1e150")
            longest = float(self.bound) * _SAFE
            if np.any(lengths > longest):
                part = part * (longest / np.maximum(lengths, longest))[:, None]
            total += part.T @ part
        return total


@dataclass(frozen=True, eq=False, slots=True)
class CovarianceSynopsis:
    """The released sketch of a matrix. It is public: whatever is computed from it, and kept, costs nothing.

    >>> import numpy as np
    >>> from indistinct import CovarianceSketch
    >>> synopsis = CovarianceSketch(columns=2, r=50_000, w=1).release(np.array([[0.6, 0.8]] * 1000))
    >>> abs(synopsis.variance([0.6, 0.8]) / 1000 - 1) < 0.1
    True
    """

    sketch: CovarianceSketch
    numbers: NDArray[np.int64] = field(repr=False)

    @property
    def grid(self) -> float:
        """The step that the numbers are rounded to."""
        return grid_for(float(self.sketch.w))

    def variance(self, x: Any) -> float:
        """About x^T A^T A x, debiased: it may be below 0."""
        vector = np.asarray(x, dtype=np.float64)
        if vector.shape != (self.sketch.columns,) or not np.all(np.isfinite(vector)):
            raise InvalidParameter("x", vector.shape, f"be a vector of {self.sketch.columns} finite numbers")
        image = (self.numbers @ vector) * self.grid
        return float(image @ image) / self.sketch.r - float(self.sketch.w) ** 2 * float(vector @ vector)

    def matrix(self) -> Floats:
        """About A^T A as a whole, debiased; its forms are the variances."""
        image = self.numbers * self.grid
        return np.asarray(image.T @ image / self.sketch.r - float(self.sketch.w) ** 2 * np.identity(image.shape[1]))

    def save(self, path: str | Path) -> None:
        """Writes a file that `load` reads, on any machine."""
        storage.save(path, _KIND, {"w": str(self.sketch.w), "bound": str(self.sketch.bound)}, self.numbers)

    @staticmethod
    def load(path: str | Path) -> CovarianceSynopsis:
        """Reads what `save` wrote; a file of another kind or version, or a damaged one, is refused."""
        facts, numbers = storage.load(path, _KIND, np.dtype("<i8"))
        try:
            sketch = CovarianceSketch(numbers.shape[1], len(numbers), Fraction(facts["w"]), Fraction(facts["bound"]))
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise storage.unreadable(path) from None
        return CovarianceSynopsis(sketch, numbers)


def _blocks(rows: Any) -> Iterable[Any]:
    """A matrix is one block; a generator or list of matrices is many."""
    if isinstance(rows, np.ndarray) or not isinstance(rows, Iterable):
        return [rows]
    return rows
