"""TOP_K: the right values, what it costs, and that a unit moves every number by one at most, all in one direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import mpmath
import pytest

import indistinct
from indistinct.errors import InvalidParameter
from indistinct.queries import PrivateDatabase, QueryRefused
from indistinct.queries.answers.allotment import Allotment
from indistinct.queries.answers.peeling import allot_top, peeled
from indistinct.queries.answers.prices import Price
from indistinct.queries.plans.plan import Plan
from indistinct.queries.policy import Policy
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.queries.engines import ENGINES, policy
from tests.queries.test_costs import DELTA, PRICES, ROUNDED, pure, ranged, real, selection_cost, true_cost
from tests.queries.test_sensitivity import database, exacts, violations, without

TOP = "SELECT TOP_K(ward, 3) AS ward FROM visits"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[PrivateDatabase]:
    """Product p has about 4000 / (p + 1) buyers, of 2000 who buy several."""
    file = tmp_path / "shop.parquet"
    duckdb.execute(
        "COPY (SELECT u, p AS product FROM range(2000) a(u), range(40) b(p) WHERE (u * 7919 + p * 31) % (p + 1) = 0)"
        f" TO '{file}'"
    )
    with indistinct.open(file, unit="u", epsilon=30, delta=1e-6, groups=40) as opened:
        yield opened


def test_the_most_frequent_values_come_first(shop: PrivateDatabase) -> None:
    answer = shop.sql("SELECT TOP_K(product, 4) FROM shop", rho=2)
    assert answer.columns == ("top_k(product, 4)",)
    declared = shop.sql("SELECT TOP_K(product, 4) FROM shop", rho=2, keys={"product": list(range(60))})
    assert [row[0] for row in answer.rows] == [row[0] for row in declared.rows] == [0, 1, 2, 3]
    assert shop.sql("SELECT APPROX_TOP_K(product, 4) FROM shop", rho=2).receipt.free
    assert shop.table("shop").top("product", 4).sql() == 'SELECT TOP_K(product, 4) FROM "shop"'
    some = shop.sql("SELECT TOP_K(product, 1000) AS p FROM shop WHERE product > 2", rho=2)
    assert 5 < len(some) < 40
    assert [some.rows[0], len(some.rows[0])] == [(3,), 1]
    assert shop.rehearse("SELECT TOP_K(product, 4) FROM shop").columns == answer.columns


def test_few_of_many_groups_are_chosen_and_many_are_counted(shop: PrivateDatabase) -> None:
    """With 40 groups of a unit, noise on all numbers is larger than what a few choices need."""
    keys = {"product": list(range(40))}
    few, many = (shop.explain(f"SELECT TOP_K(product, {k}) FROM shop", keys=keys).mechanisms[0] for k in (2, 40))
    assert few.startswith("2 values: exponential mechanism")
    assert many.startswith("count of units: discrete Gaussian")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SELECT TOP_K(ward, 3), COUNT(*) FROM visits", "alone"),
        ("SELECT TOP_K(ward, 3) || 'x' FROM visits", "alone"),
        ("SELECT TOP_K(ward, 3) FROM visits GROUP BY ward", "no GROUP"),
        ("SELECT TOP_K(ward, 3) FROM visits LIMIT 1", "no LIMIT"),
        ("SELECT TOP_K(ward, 0) FROM visits", "whole number"),
        ("SELECT TOP_K(ward, 2.5) FROM visits", "whole number"),
        ("SELECT TOP_K(ward) FROM visits", "how many"),
        ("SELECT TOP_K(cost, 2) FROM visits", "not answered"),
        ("SELECT TOP_K(who, 2) FROM visits", "unit of privacy"),
    ],
)
def test_other_questions_are_refused(question: str, said: str) -> None:
    with pytest.raises(QueryRefused, match=said):
        plan_question(read_statement(question), policy())


def test_private_groups_need_delta() -> None:
    with pytest.raises(InvalidParameter, match="Declare the keys"):
        allot_top(planned(policy()), Price("rho", Fraction(1)))


def planned(rules: Policy) -> Plan:
    return plan_question(read_statement(TOP), rules)


def cost_of(plan: Plan, allotment: Allotment, price: Price) -> mpmath.mpf:
    """From the mechanisms alone: each choice is one of bounded range, or, charged as such, a pure one."""
    if allotment.peel is None:
        return true_cost(plan, allotment, price)
    assert plan.top is not None
    level = real(allotment.peel)
    choices = plan.top * (pure(price, level) if price.is_epsilon else ranged(price, level))
    return choices + selection_cost(plan, allotment, price)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("groups", [1, 500])
@pytest.mark.parametrize("keys", [True, False])
def test_no_choice_is_forgotten(price: str, groups: int, keys: bool) -> None:
    plan = planned(policy(groups=groups, keys=keys))
    allotment = allot_top(plan, replace(PRICES[price], delta=DELTA))
    assert cost_of(plan, allotment, PRICES[price]) <= real(allotment.amount) * ROUNDED
    if allotment.peel is not None:
        more = replace(allotment, peel=allotment.peel * Fraction(5, 4))
        assert cost_of(plan, more, PRICES[price]) > real(allotment.amount)
    if price == "rho":
        assert (allotment.peel is not None) == (groups == 500)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_raises_every_number_by_one_at_most(engine: str) -> None:
    """What the price of a choice rests on: by brute force, and never in two directions."""
    for seed, groups in enumerate((1, 2, 5)):
        plan, tables = planned(policy(groups=groups)), database(70 + seed)
        here, *fewer = exacts(engine, [tables, *(without(tables, unit) for unit in (1, 2, 3))], plan)
        for there in fewer:
            assert violations(plan, here, there) == []
            assert all(0 <= here.units[key] - there.units.get(key, 0) <= 1 for key in here.units)
            assert set(there.units) <= set(here.units)


def test_choices_follow_the_numbers() -> None:
    assert peeled([5, 1000, 3, 500], Fraction(1), 2) == [1, 3]
    assert peeled([], Fraction(1), 2) == []
    assert peeled([4], Fraction(1), 9) == [0]
