"""What is left of a graph after its sketch: public numbers that answer for every cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.sketches import storage
from indistinct.mechanisms.sketches.drawing import Sketched, graph_grid

if TYPE_CHECKING:
    from indistinct.mechanisms.sketches.cut import CutSketch

__all__ = ["CutSynopsis"]

_SLAB = 1 << 14
_KIND = "cut"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class CutSynopsis:
    """The released sketch of a graph. It is public: whatever is computed from it, and kept, costs nothing.

    Answers are debiased, so they may be below 0. The numbers are whole multiples of `grid`, which is public.

    >>> from indistinct import CutSketch
    >>> sketch = CutSketch(nodes=4, r=50_000, w="0.25")
    >>> synopsis = sketch.release(([0, 1, 2], [1, 2, 3]))  # a path
    >>> abs(synopsis.cut([0, 1]) - 1) < 0.1
    True
    """

    sketch: CutSketch
    numbers: Sketched = field(repr=False)
    names: tuple[str | int, ...] | None = field(default=None, repr=False)
    _places: Mapping[str | int, int] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places = None if self.names is None else {name: place for place, name in enumerate(self.names)}
        object.__setattr__(self, "_places", places)

    @property
    def grid(self) -> float:
        """The step that the numbers are rounded to."""
        return graph_grid(self.sketch.nodes, self.sketch.w)

    def cut(self, nodes: Iterable[object]) -> float:
        """About the weight of the edges between these nodes and all others.

        Nodes are given by their numbers, by their names if they have any, or as one indicator for each node. The same
        for a set and for its complement.
        """
        inside = self._inside(nodes)
        count = inside.size
        if self._is_large(count, has_first=count > 0 and int(inside[0]) == 0):
            outside = np.ones(self.sketch.nodes, dtype=bool)
            outside[inside] = False
            inside = np.flatnonzero(outside)
        sums = np.asarray(np.sum(self.numbers[inside], axis=0, dtype=np.int64), dtype=np.float64)
        return self._debiased(sums, count * (self.sketch.nodes - count) / self.sketch.nodes)

    def cuts(self, indicators: Any) -> Floats:
        """The same for each row of a matrix of indicators, 0 or 1, with a column for each node; sparse or not."""
        if callable(getattr(indicators, "tocsr", None)):
            matrix = indicators.tocsr()
            if matrix.shape[1] != self.sketch.nodes or not np.all(np.isin(matrix.data, (0, 1))):
                raise _not_indicators(matrix.shape, self.sketch.nodes)
            spans = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
            rows = [matrix.indices[a:b][matrix.data[a:b] != 0] for a, b in spans]
            return np.array([self.cut(row) for row in rows], dtype=np.float64)
        inside = np.asarray(indicators)
        if inside.ndim != 2 or inside.shape[1] != self.sketch.nodes or not np.all((inside == 0) | (inside == 1)):
            raise _not_indicators(inside.shape, self.sketch.nodes)
        counts = [int(np.count_nonzero(row)) for row in inside]
        large = np.array(
            [self._is_large(count, has_first=bool(row[0])) for count, row in zip(counts, inside, strict=True)]
        )
        sums = self._combined((inside != 0) ^ large[:, None])
        added = [count * (self.sketch.nodes - count) / self.sketch.nodes for count in counts]
        return np.array([self._debiased(row, share) for row, share in zip(sums, added, strict=True)])

    def form(self, x: Any) -> float:
        """About x^T L x, the sum over edges of weight times (x_u - x_v)^2; any real vector.

        A cut is that of an indicator. The bound on a cut's error holds with the sum of (x - mean x)^2 in the place of
        s (1 - s/n).
        """
        vector = np.asarray(x, dtype=np.float64)
        if vector.shape != (self.sketch.nodes,) or not np.all(np.isfinite(vector)):
            raise InvalidParameter("x", vector.shape, f"be a vector of {self.sketch.nodes} finite numbers")
        centred = vector - np.mean(vector)
        return self._debiased(self._combined(centred[None])[0], float(centred @ centred))

    def save(self, path: str | Path) -> None:
        """Writes a file that `load` reads, on any machine."""
        facts = {"nodes": self.sketch.nodes, "w": str(self.sketch.w), "names": self.names}
        storage.save(path, _KIND, facts, self.numbers)

    @staticmethod
    def load(path: str | Path) -> CutSynopsis:
        """Reads what `save` wrote; a file of another kind or version, or a damaged one, is refused."""
        from indistinct.mechanisms.sketches.cut import CutSketch

        facts, numbers = storage.load(path, _KIND, np.dtype("<i4"))
        try:
            sketch = CutSketch(facts["nodes"], numbers.shape[1], Fraction(str(facts["w"])))
            names = _names_of(facts["names"], sketch.nodes)
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise storage.unreadable(path) from None
        if len(numbers) != sketch.nodes:
            raise storage.unreadable(path)
        return CutSynopsis(sketch, numbers, names)

    def _is_large(self, count: int, *, has_first: bool) -> bool:
        """Whether the complement is used: of a set and its complement always the same one."""
        return 2 * count > self.sketch.nodes or (2 * count == self.sketch.nodes and not has_first)

    def _debiased(self, sums: Floats, added: float) -> float:
        w, kept = float(self.sketch.w), float(1 - self.sketch.w / self.sketch.nodes)
        measured = float(sums @ sums) * self.grid**2 / self.sketch.r
        return (measured - w * added) / kept

    def _combined(self, rows: NDArray[Any]) -> Floats:
        """Rows of coefficients times the numbers, in slabs of nodes; exact for indicators."""
        total = np.zeros((len(rows), self.sketch.r))
        for start in range(0, self.sketch.nodes, _SLAB):
            part = slice(start, start + _SLAB)
            total += rows[:, part].astype(np.float64) @ self.numbers[part].astype(np.float64)
        return total

    def _inside(self, nodes: Iterable[object]) -> NDArray[np.int64]:
        given = nodes if isinstance(nodes, np.ndarray) else list(nodes)
        if self._places is not None and not isinstance(given, np.ndarray):
            missing = [name for name in given if name not in self._places]
            if missing:
                raise InvalidParameter("a node", missing[0], "be one of the graph's, by its name")
            given = np.array([self._places[name] for name in given], dtype=np.int64)  # type: ignore[index]  # checked
        found = np.asarray(given)
        if found.dtype == bool:
            if found.shape != (self.sketch.nodes,):
                raise _not_indicators(found.shape, self.sketch.nodes)
            return np.flatnonzero(found)
        if found.size == 0:
            return np.zeros(0, dtype=np.int64)
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise InvalidParameter("nodes", found.dtype.name, "be the numbers of nodes, or an indicator for each node")
        if found.min() < 0 or found.max() >= self.sketch.nodes:
            worst = int(found.min() if found.min() < 0 else found.max())
            raise InvalidParameter("a node", worst, f"lie from 0 to {self.sketch.nodes - 1}")
        return np.unique(found).astype(np.int64)


def _names_of(told: Any, nodes: int) -> tuple[str | int, ...] | None:
    """The names in a file: one for each node, all different, or none at all."""
    if told is None:
        return None
    names = tuple(told)
    if not all(isinstance(name, str | int) for name in names) or not len(set(names)) == len(names) == nodes:
        raise ValueError(nodes)
    return names


def _not_indicators(shape: object, nodes: int) -> InvalidParameter:
    return InvalidParameter("indicators", shape, f"be 0 or 1, with a column for each of the {nodes} nodes")
