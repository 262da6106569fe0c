"""A unit's groups are chosen by its own rows alone, without ties, and about evenly."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from datetime import date

import duckdb
import pytest

from indistinct.queries.engines.choosing import order_of_groups, places_of
from indistinct.queries.plans.expressions import Field
from indistinct.queries.plans.plan import GroupKey, Plan
from indistinct.queries.policy import Column, Contribution, Policy, PrivateTable
from indistinct.queries.policy.terms import Budget, Key
from indistinct.queries.questions.planner import Wishes, plan_question
from indistinct.queries.questions.reading import read_statement
from tests.queries.engines import EACH, Rows, policy
from tests.queries.test_sensitivity import exacts, planned

HARD_UNITS = [
    0,
    1,
    -1,
    2**31 - 2,
    2 - 2**31,
    2**31 - 3,
    2**31 - 1,
    -(2**31 - 1),
    2**31,
    2**62,
    -(2**63),
    2**63 - 1,
    4 * (2**31 - 2),
    12345,
]


def placed_plan(keys: int, cells: int) -> Plan:
    columns = {
        "who": Column(type="integer"),
        "ward": Column(type="integer", keys=tuple(range(keys))),
        "cost": Column(type="real", low=0, high=1),
    }
    table = PrivateTable(name="visits", unit="who", columns=columns, contribution=Contribution())
    return planned(
        f"SELECT ward, WIDTH_BUCKET(cost, 0, 1, {cells}) AS b, COUNT(*) FROM visits GROUP BY ward, b",
        Policy(tables=(table,), budget=Budget(epsilon=1)),
    )


def ties(plan: Plan, change: Callable[[str], str] = str) -> int:
    """How many pairs of a unit and a group have the place of another group of the unit."""
    first, second = (len(key.public or ()) for key in plan.keys)
    order = order_of_groups(plan, ["k0", "k1"], "duckdb").expressions[0].this.sql("duckdb")
    groups = f"range({first}) a(k0), range({second}) b(k1), (SELECT unnest({HARD_UNITS}::BIGINT[]) AS u) c"
    told = f"SELECT count(*) - count(DISTINCT (u, {change(order)})) FROM {groups}"
    return int(duckdb.execute(told).fetchall()[0][0])


def test_no_two_public_groups_of_a_unit_tie() -> None:
    plan = placed_plan(251, 20)
    assert plan.placed
    assert ties(plan) == 0
    assert ties(plan, lambda sound: sound.replace("+ 1)", "+ 0)")) > 0
    assert ties(plan, lambda sound: sound.replace(str(2**31 - 2), str(2**31 - 1))) > 0
    assert ties(plan, lambda sound: sound.replace("* 20", "* 19")) > 0


def chosen(engine: str, rows: Rows, plan: Plan, change: Callable[[str], str] = str) -> set[object]:
    (found,) = exacts(engine, [{"visits": rows}], plan, change)
    return set(found.units)


def alike() -> tuple[str, str]:
    """Two texts with the same first digits of their MD5."""
    seen: dict[str, str] = {}
    for number in range(10**6):
        text = f"ward {number}"
        digits = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:7]
        if digits in seen:
            return seen[digits], text
        seen[digits] = text
    raise AssertionError


@pytest.mark.parametrize("engine", EACH)
def test_the_order_of_rows_decides_nothing(engine: str) -> None:
    plan = planned("SELECT ward, COUNT(*) FROM visits GROUP BY ward", policy(groups=1, rows=1))
    rows = [(unit, ward, 1.0, 1, None, True) for ward in alike() for unit in range(50)]
    assert chosen(engine, rows, plan) == chosen(engine, rows[::-1], plan)


def test_ties_that_the_order_of_rows_decides_are_told() -> None:
    plan = planned("SELECT ward, COUNT(*) FROM visits GROUP BY ward", policy(groups=1, rows=1))
    rows = [(unit, ward, 1.0, 1, None, True) for ward in alike() for unit in range(50)]
    broken = [
        chosen("duckdb", each, plan, lambda sound: sound.replace(', "k0" ASC', "")) for each in (rows, rows[::-1])
    ]
    assert broken[0] != broken[1]


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("public", [False, True])
def test_groups_are_chosen_about_evenly(engine: str, public: bool) -> None:
    wards = ["a", "b", "c", None]
    plan = planned("SELECT ward, COUNT(*) FROM visits GROUP BY ward", policy(groups=1, rows=1, keys=public))
    assert plan.placed is public
    rows: Rows = [(unit, ward, 1.0, 1, None, True) for unit in range(400) for ward in wards]

    def even(change: Callable[[str], str] = str) -> bool:
        (found,) = exacts(engine, [{"visits": rows}], plan, change)
        counts = Counter(found.units)
        return sum(counts.values()) == 400 and all(60 <= counts[(ward,)] <= 140 for ward in wards)

    assert even()
    assert not even(lambda sound: re.sub(r'CAST\(["`]u["`] AS', "CAST(7 AS", sound))


KEYS: dict[str, tuple[Key, ...]] = {
    "day": (date(1, 1, 1), date(2020, 2, 29), None, date(9999, 12, 31)),
    "urgent": (True, None, False),
    "days": (-(2**63), -1, 0, 1, 2**31, 2**63 - 1),
    "ward": ("it's; --", "", "ä", "A", "a", "a ", "'), ('x', 9"),
}


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("name", KEYS)
def test_public_keys_of_every_kind_are_told_apart(engine: str, name: str) -> None:
    question = read_statement(f"SELECT {name}, COUNT(*) FROM visits GROUP BY {name}")
    plan = plan_question(question, policy(groups=2, rows=9), Wishes(keys={name: KEYS[name]}))
    assert plan.placed
    columns = {"ward": "a", "day": None, "days": 3, "urgent": True}
    values = [*KEYS[name], *KEYS[name][::-1], "elsewhere" if name == "ward" else KEYS[name][0]]
    rows: Rows = []
    for unit, value in enumerate(values):
        row = columns | {name: value}
        rows = [*rows, (unit, row["ward"], 1.0, row["days"], row["day"], row["urgent"])]
    (found,) = exacts(engine, [{"visits": rows}], plan)
    assert found.units == dict(Counter((value,) for value in values if value in KEYS[name]))


def test_keys_that_are_equal_in_python_have_tables_of_their_own() -> None:
    whole, truth = GroupKey(Field("r1", "x", "integer"), (1, 0)), GroupKey(Field("r1", "x", "boolean"), (True, False))
    assert places_of(whole, "keys", "duckdb").sql("duckdb") != places_of(truth, "keys", "duckdb").sql("duckdb")
