"""Edges from files: CSV, or Parquet with the extra `arrow`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from indistinct.errors import InvalidParameter, MissingExtra
from indistinct.mechanisms.sketches.graph import Edges, read_graph

__all__ = ["read_edges"]

_LARGEST_NODE = 2**53
_COLUMNS = "have columns u, v and perhaps weight, one edge in each row"


def read_edges(path: str | Path, nodes: int) -> Edges:
    """A graph from a file of edges, its nodes numbered from 0.

    In CSV the first line may name the columns, and lines from # on are comments. In Parquet the first two columns are
    the nodes, the third, if any, the weights. The number of nodes is public and given: the file would tell it only by
    the edges that it has.
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidParameter("the file of edges", str(path), "exist")
    columns = _parquet(file) if file.suffix.lower() in (".parquet", ".pq") else _csv(file)
    if len(columns) not in (2, 3):
        raise InvalidParameter("the file of edges", str(path), _COLUMNS)
    return read_graph(tuple(columns), nodes)


def _csv(file: Path) -> list[Any]:
    try:
        skip = _lines_before_numbers(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's, of a file without edges
            table = np.loadtxt(file, delimiter=",", comments="#", skiprows=skip, ndmin=2, dtype=np.float64)
    except (OSError, ValueError):
        raise InvalidParameter("the file of edges", str(file), _COLUMNS) from None
    if table.size == 0:
        return [[], []]
    if table.shape[1] < 2:
        raise InvalidParameter("the file of edges", str(file), _COLUMNS)
    nodes = table[:, :2]
    if not np.array_equal(nodes, np.rint(nodes)) or np.abs(nodes).max() >= _LARGEST_NODE:
        raise InvalidParameter("the file of edges", str(file), "name nodes by whole numbers from 0")
    return [*nodes.astype(np.int64).T, *table.T[2:]]


def _lines_before_numbers(file: Path) -> int:
    """Comments, and one line of names."""
    with file.open(encoding="utf-8") as lines:
        for place, line in enumerate(lines):
            text = line.partition("#")[0].strip()
            if text:
                return place + (not _is_number(text.split(",")[0]))
    return 0


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet(file: Path) -> list[Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "arrow") from error
    try:
        table = parquet.read_table(file)
        return [column.to_numpy() for column in table.columns]
    except (pa.ArrowException, OSError, ValueError):
        raise InvalidParameter("the file of edges", str(file), _COLUMNS) from None
