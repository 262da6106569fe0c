"""Sums are scaled down as fractions say, rounded towards 0, and nothing about their size can fail."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

import duckdb
import pytest
from sqlglot import exp

from indistinct.queries.engines import integers
from indistinct.queries.engines.integers import at_most, kept, shrunk
from indistinct.queries.engines.words import column
from tests.queries.engines import policy
from tests.queries.test_sensitivity import QUESTIONS, database, exacts, planned, violations, without


def found(
    told: exp.Expression, pieces: Sequence[tuple[int, int]], kind: str, change: Callable[[str], str]
) -> list[int]:
    """What DuckDB makes of an expression of a sum `s` of `n` rows."""
    text = change(told.sql("duckdb"))
    with duckdb.connect() as engine:
        engine.execute(f"CREATE TABLE pieces (number BIGINT, s {kind}, n BIGINT)")
        engine.executemany("INSERT INTO pieces VALUES (?, ?, ?)", [(i, *each) for i, each in enumerate(pieces)])
        return [int(row[0]) for row in engine.execute(f"SELECT {text} FROM pieces ORDER BY number").fetchall()]


def pieces(largest: int, number: int = 300) -> list[tuple[int, int]]:
    """Sums of n numbers of at most this size."""
    chance = random.Random(largest)  # noqa: S311  # a test's own numbers
    counts = [chance.choice([1, 2, 3, 7, 10, 11, 999, 2**29]) for _ in range(number)]
    return [(chance.choice([-1, 1]) * chance.randint(0, largest * n), n) for n in counts]


def expected(total: int, count: int, rows: int) -> int:
    return total if count <= rows else int(Fraction(total * rows, count))  # int() rounds towards 0


@pytest.mark.parametrize("rows", [1, 2, 10, 2**20])
def test_sums_are_scaled_as_fractions_are(rows: int) -> None:
    total, count = column("s"), column("n")
    small = pieces(2**32)
    for most, kind in ((2**32, "BIGINT"), (2**33, "HUGEINT"), (2**60, "HUGEINT"), (2**62, "HUGEINT")):
        some = pieces(most)
        told = shrunk(total, count, rows, most, "duckdb")
        assert found(told, some, kind, str) == [expected(s, n, rows) for s, n in some]
    assert found(at_most(count, rows), small, "BIGINT", str) == [min(n, rows) for _, n in small]


def test_sums_rounded_otherwise_are_told_from_these() -> None:
    told = shrunk(column("s"), column("n"), 10, 2**32, "duckdb")
    small = pieces(2**32)
    right = [expected(s, n, 10) for s, n in small]
    for fault in (("* 10) //", "* 9) //"), ("%", "//"), ("> 10", "> 11")):
        assert found(told, small, "BIGINT", lambda sound, fault=fault: sound.replace(*fault)) != right  # type: ignore[misc]  # bound at once


def test_sums_beyond_64_bits_move_towards_zero() -> None:
    sums = [(s, 1) for s in (0, -5, 2**62, 2**62 + 1, -(2**63), 2**90, -(2**100))]
    assert found(kept(column("s"), 2**32, "duckdb"), sums, "HUGEINT", str) == [
        min(max(s, -(2**62)), 2**62) for s, _ in sums
    ]


@pytest.mark.parametrize("name", ["sums", "moments"])
def test_sums_that_are_moved_stay_within_the_claim(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integers, "_LARGEST", 100_000)
    broken = []
    for seed in range(3):
        plan = planned(QUESTIONS[name], policy(groups=2, rows=2))
        tables = database(77 + seed)
        pair = [tables, without(tables, 1)]
        assert violations(plan, *exacts("duckdb", pair, plan)) == []
        broken += violations(
            plan, *exacts("duckdb", pair, plan, lambda sound: sound.replace("THEN 100000", f"THEN {10**12}"))
        )
    assert broken
