"""What is kept of the statements of earlier questions never changes the statement of a later one."""

from __future__ import annotations

from itertools import permutations

import pytest

from indistinct.queries import Column, Contribution, Policy, PrivateTable
from indistinct.queries.engines import statement
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.engines.words import Dialect
from indistinct.queries.plans.plan import Plan
from indistinct.queries.policy import Budget
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement

POLICY = Policy(
    tables=(
        PrivateTable(
            name="t",
            unit="u",
            columns={
                "u": Column(type="integer"),
                "g": Column(type="text", keys=("a", "b", "c")),
                "h": Column(type="integer", keys=(1, 2)),
                "f": Column(type="boolean", keys=(True, False)),
                "k": Column(type="text"),
                "x": Column(type="real", low=0, high=10),
                "y": Column(type="integer", low=0, high=10),
            },
            contribution=Contribution(groups=2, rows=3),
        ),
    ),
    budget=Budget(epsilon=1, delta=1e-6),
)
QUESTIONS = [
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE x > 1",
    "SELECT COUNT(*) FROM t WHERE f",
    "SELECT COUNT(*) AS n FROM (SELECT u, y FROM t WHERE y > 3) s LIMIT 1",
    "SELECT SUM(x), COUNT(x) FROM t",
    "SELECT SUM(y), COUNT(y) FROM t WHERE y <> 1",
    "SELECT g, COUNT(*) FROM t GROUP BY g ORDER BY 2",
    "SELECT h, COUNT(*) FROM t GROUP BY h",
    "SELECT f, COUNT(*) FROM t GROUP BY f",
    "SELECT k, COUNT(*) FROM t GROUP BY k HAVING COUNT(*) > 3",
    "SELECT k, COUNT(*) FROM t WHERE x = 1 GROUP BY k",
    "SELECT k, AVG(x), MEDIAN(x) FROM t GROUP BY k",
    "SELECT g, h, SUM(x) FROM t GROUP BY g, h",
    "SELECT TOP_K(g, 2) FROM t",
    "SELECT TOP_K(k, 2) FROM t WHERE x > 1",
    "SELECT SUM_PER_UNIT(x, 0, 5) FROM t",
    "SELECT SUM_PER_UNIT(x, 0, 6) FROM t",
    "SELECT QUANTILE(x, 0.25), QUANTILE(x, 0.5), QUANTILE(x, 0.9) FROM t",
]


def plan_of(question: str) -> Plan:
    return plan_question(read_statement(question), POLICY)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_a_statement_is_the_same_whatever_was_asked_before(dialect: Dialect) -> None:
    plans = [plan_of(question) for question in QUESTIONS]
    alone = []
    for plan in plans:
        statement._after_rows.cache_clear()  # noqa: SLF001  # as if nothing had been asked
        alone.append(statement_of(plan, dialect, 1))
    assert len(set(alone)) == len(alone)
    for before, then in permutations(range(len(plans)), 2):
        statement._after_rows.cache_clear()  # noqa: SLF001
        statement_of(plans[before], dialect, 1)
        assert statement_of(plans[then], dialect, 1) == alone[then]


def test_something_is_kept() -> None:
    statement._after_rows.cache_clear()  # noqa: SLF001
    for bound in range(5):
        statement_of(plan_of(f"SELECT COUNT(*) FROM t WHERE x > {bound}"), "duckdb", 1)
    told = statement._after_rows.cache_info()  # noqa: SLF001
    assert (told.misses, told.hits) == (1, 4)
