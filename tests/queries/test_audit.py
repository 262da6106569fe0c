"""The auditor, as an adversary who only asks in SQL: from `.sql` to the noisy numbers, with the ledger in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import indistinct
from indistinct import PureDP
from indistinct.audit import by_test
from indistinct.queries import PrivateDatabase
from indistinct.queries.answers.allotment import Allotment
from indistinct.queries.answers.prices import Price
from indistinct.queries.plans.plan import Plan

GROUPS = 2000
EPSILON = Fraction(1)
QUESTIONS = {
    "count": "SELECT g, COUNT(*) FROM people GROUP BY g",
    "count and sum": "SELECT g, COUNT(*), SUM(CLAMP(x, 0, 10)) FROM people GROUP BY g",
}


class Asked:
    """Answers about as many groups as are needed: each group is a database of its own, with or without one person.

    A group of the first table holds three people, of the second a fourth, whose value is the largest; as groups get
    independent noise, each is one answer about one of two neighbours.
    """

    def __init__(self, database: PrivateDatabase, question: str) -> None:
        self.database, self.question = database, question
        self.answers: Iterator[tuple[Any, ...]] = iter(())

    def __call__(self) -> tuple[Any, ...]:
        for row in self.answers:
            return row[1:]
        keys = {"g": list(range(GROUPS))}
        self.answers = iter(self.database.sql(self.question, keys=keys, epsilon=EPSILON, fresh=True).rows)
        return self()


@pytest.fixture
def neighbours(tmp_path: Path) -> Iterator[tuple[PrivateDatabase, PrivateDatabase]]:
    opened = []
    for people in (3, 4):
        file = tmp_path / f"{people}.parquet"
        duckdb.execute(
            f"COPY (SELECT g * 10 + i AS u, g, CASE WHEN i < 3 THEN 2 ELSE 10 END AS x"
            f" FROM range({GROUPS}) a(g), range({people}) b(i)) TO '{file}'"
        )
        opened.append(indistinct.open(file, unit="u", epsilon=1000, name="people"))
    yield opened[0], opened[1]
    for database in opened:
        database.close()


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_keep_what_is_charged(name: str, neighbours: tuple[PrivateDatabase, PrivateDatabase]) -> None:
    with_one_less, with_one_more = (Asked(each, QUESTIONS[name]) for each in neighbours)
    found = by_test(lambda asked: asked(), with_one_less, with_one_more, claim=PureDP(EPSILON), samples=8000)
    assert found.verdict == "consistent", str(found)
    assert found.epsilon > 0.3  # it is not far from what is allowed, so the audit has power


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_with_less_noise_are_convicted(
    name: str, neighbours: tuple[PrivateDatabase, PrivateDatabase], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: noise for twice the epsilon, charged as before."""
    from indistinct.queries import database
    from indistinct.queries.answers import allotment

    sound: Callable[[Plan, Price], Allotment] = allotment.allot

    def careless(plan: Plan, price: Price) -> Allotment:
        return sound(plan, Price(price.currency, 2 * price.amount, price.delta, price.pure))

    monkeypatch.setattr(database, "allot", careless)
    with_one_less, with_one_more = (Asked(each, QUESTIONS[name]) for each in neighbours)
    assert by_test(lambda asked: asked(), with_one_less, with_one_more, PureDP(EPSILON), samples=8000).violates
