"""What an engine is: something that holds tables and runs one planned statement at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from indistinct.queries.engines.words import Dialect
from indistinct.queries.policy.terms import ColumnType

__all__ = ["Engine"]


class Engine(Protocol):
    """Tables, under the names of the policy, with columns of the types of the policy.

    Columns are presented as BIGINT, DOUBLE, text, BOOLEAN, DATE and TIMESTAMP (of UTC, without a zone). What `run` is
    given comes from `statement_of` in the engine's dialect, and nothing else reaches the tables.
    """

    @property
    def dialect(self) -> Dialect:
        """In which a statement is spelled."""
        ...

    def columns(self, table: str) -> Mapping[str, ColumnType]:
        """The columns that can be asked about, and their types: they are taken to be public."""
        ...

    def run(self, statement: str, *, seconds: float) -> list[tuple[Any, ...]]:
        """The rows: a whole number (the part), keys, then whole numbers or None. Cancelled after so many seconds."""
        ...

    def snapshot(self) -> str:
        """Names the state of the data: while it is the same, the same question has the same answer."""
        ...

    def close(self) -> None:
        """Ends all use."""
        ...
