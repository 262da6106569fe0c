"""A unit's groups are chosen by its own rows alone, without ties, and about evenly."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import duckdb
import numpy as np
import pytest
from sqlglot import exp

from indistinct.queries.engines import choosing
from indistinct.queries.engines.choosing import order_of_groups, places_of
from indistinct.queries.engines.integers import PRIME
from indistinct.queries.plans.expressions import Field
from indistinct.queries.plans.plan import GroupKey, Plan
from indistinct.queries.policy import Column, Contribution, Policy, PrivateTable
from indistinct.queries.policy.terms import Budget, Key
from indistinct.queries.questions.planner import Wishes, plan_question
from indistinct.queries.questions.reading import read_statement
from tests.noise.budget import SHARE, share
from tests.queries.engines import EACH, Rows, policy
from tests.queries.test_sensitivity import exacts, planned

BUDGET = Budget(epsilon=1)
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
        Policy(tables=(table,), budget=BUDGET),
    )


def hard_units(plan: Plan) -> list[int]:
    """With one among them whose number would be 0, were nothing added to it."""
    salts = choosing._Salts(plan.fingerprint())  # noqa: SLF001  # to find it
    first, second = salts.drawn(), salts.drawn()
    return [*HARD_UNITS, -second * pow(first, -1, PRIME) % PRIME]


def ties(plan: Plan, change: Callable[[str], str] = str) -> int:
    """How many pairs of a unit and a group have the place of another group of the unit."""
    order = order_of_groups(plan, ["k0", "k1"], "duckdb").expressions[0].this.sql("duckdb")
    told = ", ".join(f"(SELECT unnest({list(each)}) AS k{i})" for i, each in enumerate(plan.places))
    units = f"(SELECT unnest({hard_units(plan)}::BIGINT[]) AS u)"
    query = f"SELECT count(*) - count(DISTINCT (u, {change(order)})) FROM {told}, {units}"
    return int(duckdb.execute(query).fetchall()[0][0])


def test_no_two_public_groups_of_a_unit_tie() -> None:
    plan = placed_plan(251, 20)
    assert plan.placed
    assert ties(plan) == 0
    assert ties(plan, lambda sound: sound.replace("+ 1)", "+ 0)")) > 0
    assert ties(plan, lambda sound: sound.replace(' + CAST("k1" AS BIGINT)', "")) > 0


@pytest.mark.parametrize("sizes", [(2,), (1, 3), (12,), (1000, 1000), (1, 1, 7, 2), (3,) * 12, (2,) * 19, (5, 20_000)])
def test_all_public_groups_have_numbers_of_their_own(sizes: tuple[int, ...]) -> None:
    columns = {f"c{i}": Column(type="integer", keys=tuple(range(size))) for i, size in enumerate(sizes)}
    table = PrivateTable(name="t", unit="u", columns={"u": Column(type="integer"), **columns})
    named = ", ".join(columns)
    plan = planned(f"SELECT {named}, COUNT(*) FROM t GROUP BY {named}", Policy(tables=(table,), budget=BUDGET))
    sums = np.zeros(1, dtype=np.int64)
    for places in plan.places:
        sums = (sums[:, None] + np.array(places, dtype=np.int64)[None, :]).ravel()
    assert len(np.unique(sums)) == math.prod(sizes)
    assert 0 <= sums.min() <= sums.max() < 2**30


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


def is_even(counts: Sequence[int], level: float) -> bool:
    """Whether so many choices may have been uniform: by the bound of Chernoff for each."""
    total, chance = sum(counts), 1 / len(counts)

    def distance(found: float) -> float:
        pairs = ((found, chance), (1 - found, 1 - chance))
        return sum(one * math.log(one / other) for one, other in pairs if one)

    return all(total * distance(each / total) <= math.log(2 * len(counts) / level) for each in counts)


def counts_of(plan: Plan, kinds: Sequence[str], units: str, keys: Sequence[str]) -> list[int]:
    """How often each group is among the first of a unit that is in all of them."""
    names = [f"k{i}" for i in range(len(plan.keys))]
    order = order_of_groups(plan, names, "duckdb").sql("duckdb")
    if plan.placed:
        keys = [str(list(places)) for places in plan.places]
        kinds = ["BIGINT" for _ in names]
    lists = ", ".join(
        f"(SELECT unnest({each}::{kind}[]) AS {name})" for each, kind, name in zip(keys, kinds, names, strict=True)
    )
    query = (
        f"SELECT count(*) FILTER (WHERE place <= {plan.contribution.groups}) FROM (SELECT *, row_number() OVER"
        f" (PARTITION BY u {order}) AS place FROM ({units}), {lists}) GROUP BY {', '.join(names)}"
    )
    return [row[0] for row in duckdb.execute(query).fetchall()]


UNITS = {
    "in turn": ("integer", "SELECT i AS u FROM range(15000) t(i)"),
    "from below 0": ("integer", "SELECT 1000 * (i - 7000) AS u FROM range(15000) t(i)"),
    "far apart": ("integer", "SELECT i * 4294967296 + i % 7 AS u FROM range(15000) t(i)"),
    "text": ("text", "SELECT 'person ' || i AS u FROM range(15000) t(i)"),
}
CHOSEN: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "months": ("integer", "BIGINT", tuple(range(1, 13))),
    "around 0": ("integer", "BIGINT", (-2, -1, None, 0, 1, 2)),
    "words and NULL": ("text", "VARCHAR", ("a", None, "c")),
    "truth": ("boolean", "BOOLEAN", (True, None, False)),
}


def plan_of(kind: str, unit: str, keys: tuple[Any, ...] | None, *, groups: int = 1, salt: int = 0) -> Plan:
    columns = {"u": Column(type=unit), "k": Column(type=kind, keys=keys), "x": Column(type="integer")}  # type: ignore[arg-type]
    table = PrivateTable(name="t", unit="u", columns=columns, contribution=Contribution(groups=groups))
    question = f"SELECT k, COUNT(*) FROM t WHERE x <> {salt} GROUP BY k"
    return planned(question, Policy(tables=(table,), budget=BUDGET))


def spelled(keys: tuple[Any, ...]) -> str:
    return "[" + ", ".join("NULL" if each is None else repr(each) for each in keys) + "]"


def test_groups_are_chosen_evenly() -> None:
    level = share() / (4 * len(CHOSEN) * len(UNITS) + 1)
    for (kind, stored, keys), (unit, told) in itertools.product(CHOSEN.values(), UNITS.values()):
        for groups, public in ((1, False), (2, False), (1, True), (2, True)):
            plan = plan_of(kind, unit, keys if public else None, groups=groups)
            counts = counts_of(plan, [stored], told, [spelled(keys)])
            assert sum(counts) == 15_000 * groups
            assert is_even(counts, level)
    assert is_even(counts_of(placed_plan(3, 4), [], UNITS["in turn"][1], []), level)


def over_questions(keys: tuple[Any, ...], units: Sequence[int], *, public: bool) -> dict[int, Counter[int]]:
    """How often each key comes first for a unit, over many questions."""
    found: dict[int, Counter[int]] = {unit: Counter() for unit in units}
    for salt in range(150):
        plan = plan_of("integer", "integer", keys if public else None, salt=salt)
        values = [str(each) if each is not None else "NULL" for each in (plan.places[0] if public else keys)]
        order = order_of_groups(plan, ["k0"], "duckdb").sql("duckdb")
        rows = ", ".join(f"({place}, {value})" for place, value in enumerate(values))
        query = (
            f"SELECT u, place, row_number() OVER (PARTITION BY u {order}) AS turn"
            f" FROM (VALUES {rows}) t(place, k0), (SELECT unnest({list(units)}::BIGINT[]) AS u) QUALIFY turn = 1"
        )
        for unit, place, _ in duckdb.execute(query).fetchall():
            found[unit][place] += 1
    return found


@pytest.mark.parametrize("public", [False, True])
def test_each_unit_has_groups_evenly_over_questions(public: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    keys, units = (-1, None, 0, 1), (0, 1, 17, -(2**62), 2**31 - 1)
    level = share() / len(units)
    for counts in over_questions(keys, units, public=public).values():
        assert is_even([counts[place] for place in range(len(keys))], level)
    monkeypatch.setattr(Plan, "fingerprint", lambda _: "always the same")
    for counts in over_questions(keys, units, public=public).values():
        assert not is_even([counts[place] for place in range(len(keys))], level)


def test_numbers_with_a_pattern_are_uneven(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, stored, keys = CHOSEN["months"]
    unit, told = UNITS["in turn"]
    linear = choosing._numbered  # noqa: SLF001  # to be broken

    def broken(value: Any, *others: Any) -> Any:
        squares = linear(value, *others)
        return squares.this.this.this.this  # without squaring

    monkeypatch.setattr(choosing, "_numbered", broken)
    assert not is_even(counts_of(plan_of(kind, unit, None), [stored], told, [spelled(keys)]), SHARE)
    monkeypatch.undo()
    turns = property(lambda plan: tuple(tuple(range(len(key.public))) for key in plan.keys))
    monkeypatch.setattr(Plan, "places", turns)
    assert not is_even(counts_of(plan_of(kind, unit, keys), [stored], told, [spelled(keys)]), SHARE)


def test_missing_keys_that_come_last_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, stored, keys = CHOSEN["words and NULL"]
    monkeypatch.setattr(exp, "Coalesce", lambda this, **_: this)
    assert not is_even(counts_of(plan_of(kind, "integer", None), [stored], UNITS["in turn"][1], [spelled(keys)]), SHARE)


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
    told = [places_of(key, (1, 2), "keys", "duckdb").sql("duckdb") for key in (whole, truth)]
    assert told[0] != told[1]
