"""No unit changes what an engine returns by more than is claimed: by brute force, for every aggregate, bound and join.

For random small databases, every unit is removed in turn, and the exact whole numbers, before any noise, are compared.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from indistinct.queries.answers.evaluation import Released, value_of
from indistinct.queries.answers.quantiles import losses
from indistinct.queries.answers.release import Exact, exact_of
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.plans.measures import CELL_WEIGHT, Sum, UnitTotal, change
from indistinct.queries.plans.plan import Plan
from indistinct.queries.policy import Policy
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.queries.engines import EACH, ENGINES, Rows, policy

QUESTIONS = {
    "counts": "SELECT ward, COUNT(*), COUNT(cost), COUNT(DISTINCT who) FROM visits GROUP BY ward",
    "no groups": "SELECT COUNT(*), SUM(cost), COUNT(DISTINCT who) FROM visits",
    "sums": "SELECT ward, SUM(cost), SUM(CLAMP(days, -3, 7)) FROM visits GROUP BY ward",
    "moments": "SELECT ward, AVG(cost), VARIANCE(cost), STDDEV(CLAMP(days, 0, 30)) FROM visits GROUP BY ward",
    "several keys": "SELECT ward, day, urgent, COUNT(*), SUM(cost) FROM visits GROUP BY 1, 2, 3",
    "buckets": "SELECT WIDTH_BUCKET(cost, 0, 40, 4) AS b, COUNT(*), SUM(cost) FROM visits GROUP BY b",
    "small whole keys": "SELECT CASE WHEN urgent THEN 7 ELSE 1234567 END AS k, COUNT(*) FROM visits GROUP BY k",
    "quantiles": "SELECT ward, QUANTILE(cost, [0.1, 0.5]), MEDIAN(CLAMP(days, 0, 9)) FROM visits GROUP BY ward",
    "where": "SELECT ward, SUM(cost) FROM visits WHERE days / 2 > 1 OR NOT urgent GROUP BY ward",
    "filters": (
        "SELECT COUNT(*) FILTER (WHERE urgent), SUM(cost) FILTER (WHERE days > 2), COUNT_IF(days = 3) FROM visits"
    ),
    "expressions": (
        "SELECT SUM(CLAMP(cost * days - 5 / days, -20, 20)), SUM(CASE WHEN urgent THEN 3 ELSE -2 END) FROM visits"
    ),
    "public join": "SELECT canton, COUNT(*) FROM people JOIN towns USING (town) GROUP BY canton",
    "private join": (
        "SELECT town, COUNT(*), SUM(cost) FROM visits v JOIN people p ON v.who = p.id AND v.days > 1 GROUP BY town"
    ),
    "left join": (
        "SELECT canton, SUM(cost) FROM visits LEFT JOIN people ON who = id LEFT JOIN towns USING (town) GROUP BY canton"
    ),
    "sub-query": "SELECT w, SUM(c) FROM (SELECT who, ward AS w, cost AS c FROM visits WHERE days > 0) AS s GROUP BY w",
    "per unit": (
        "SELECT ward, SUM(CLAMP(total, 0, 60)), COUNT(*) FROM "
        "(SELECT who, ward, SUM(days) AS total, MAX(cost) AS top FROM visits GROUP BY who, ward) AS s GROUP BY ward"
    ),
    "sums per unit": (
        "SELECT SUM(CLAMP(a, 0, 9)), SUM(CLAMP(b, -5, 5)), AVG(CLAMP(c, 0, 9)) FROM (SELECT who, SUM(cost * 1e10) AS a,"
        " AVG(cost) AS b, SUM(days * cost) AS c FROM visits GROUP BY who) AS s"
    ),
    "a name like ours": (
        'SELECT "UNIT OF PRIVACY" AS w, COUNT(*), SUM("C0") FROM (SELECT ward AS "UNIT OF PRIVACY", days AS x,'
        ' CLAMP(days, 0, 9) AS "C0" FROM visits) AS s GROUP BY w'
    ),
    "a number for ours": 'SELECT COUNT(*) FROM (SELECT days AS "Unit Of Privacy" FROM visits) AS s',
    "totals of units": (
        "SELECT ward, SUM_PER_UNIT(cost, -20, 60), SUM_PER_UNIT(days, 2, 9), COUNT(*), COUNT(DISTINCT who)"
        " FROM visits GROUP BY ward"
    ),
    "named": "WITH big AS (SELECT * FROM visits WHERE cost > 0) SELECT ward, AVG(cost) FROM big GROUP BY ward",
}
BOUNDS = [(1, 1), (1, 3), (2, 2), (3, 1)]


def database(seed: int) -> dict[str, Rows]:
    """Few units, many ties, and everything that a column may hold."""
    chance = random.Random(seed)  # noqa: S311  # a test's own rows
    costs = [None, math.nan, math.inf, -math.inf, 1e308, -1e308, 0.1, 50.0, -10.0, 7.5, 49.99]
    visits = [
        (
            chance.choice([1, 1, 1, 2, 3, 4, None]),
            chance.choice(["a", "b", "c", None, "it's; --"]),
            chance.choice(costs),
            chance.choice([None, -(2**63), 2**63 - 1, 0, 1, 2, 3, 5]),
            chance.choice([None, date(2020, 1, 1), date(1, 1, 1), date(9999, 12, 31)]),
            chance.choice([None, True, False]),
        )
        for _ in range(chance.randrange(1, 30))
    ]
    towns = ["x", "y", None]
    people = [
        (i, chance.choice([None, 20, 70]), chance.choice(towns)) for i in (1, 1, 2, 3, None) if chance.random() < 0.9
    ]
    return {"visits": visits, "people": people, "towns": [("x", "A"), ("x", "B"), ("y", "A"), (None, "A")]}


def without(tables: Mapping[str, Rows], unit: int) -> dict[str, Rows]:
    """The neighbour in which one unit has no row."""
    return {name: rows if name == "towns" else [row for row in rows if row[0] != unit] for name, rows in tables.items()}


Change = Callable[[str], str]


def planned(question: str, rules: Policy) -> Plan:
    return plan_question(read_statement(question), rules)


def exacts(engine: str, neighbours: Sequence[Mapping[str, Rows]], plan: Plan, change: Change = str) -> list[Exact]:
    """What an engine returns for the same statement on each of several databases, which it holds side by side."""
    together = {f"{name} {i}": rows for i, tables in enumerate(neighbours) for name, rows in tables.items()}
    opened = ENGINES[engine](together)
    statement = change(statement_of(plan, opened.dialect, 1))
    names = "|".join(neighbours[0])
    try:
        told = [
            re.sub(rf'(FROM|JOIN) ("main"[.])?(["`])({names})\3', rf"\1 \3\4 {i}\3", statement)
            for i in range(len(neighbours))
        ]
        return [exact_of(plan, opened.run(each, seconds=60)) for each in told]
    finally:
        opened.close()


def violations(plan: Plan, here: Exact, there: Exact) -> list[str]:  # noqa: C901  # one branch for each claim
    """Every claim that two neighbours break."""
    broken = []
    groups = plan.groups
    nothing = (0,) * len(plan.measures)
    keys = set(here.units) | set(there.units)
    moved = [key for key in keys if here.units.get(key, 0) != there.units.get(key, 0)]
    if any(abs(here.units.get(key, 0) - there.units.get(key, 0)) > 1 for key in keys) or (
        plan.keys and len(moved) > groups
    ):
        broken.append("units")
    touched = [key for key in keys if here.numbers.get(key, nothing) != there.numbers.get(key, nothing)]
    if len(touched) > groups:
        broken.append("groups of all measures together")
    for index, measure in enumerate(plan.measures):
        differences = [
            abs(here.numbers.get(key, nothing)[index] - there.numbers.get(key, nothing)[index]) for key in keys
        ]
        most = change(measure, plan.contribution)
        if max(differences, default=0) > most or sum(differences) > groups * most:
            broken.append(f"measure {index}, l1")
        if sum(each**2 for each in differences) > groups * most**2:
            broken.append(f"measure {index}, l2")
    for quantiles, left, right in zip(plan.quantiles, here.weights, there.weights, strict=True):
        changed = 0
        for key in set(left) | set(right):
            grids = [[cells.get(key, {}).get(i, 0) for i in range(quantiles.cells.number)] for cells in (left, right)]
            distance = sum(abs(a - b) for a, b in zip(*grids, strict=True))
            changed += distance > 0
            if distance > CELL_WEIGHT * plan.contribution.rows:
                broken.append("cells")
            for share in quantiles.shares:
                most = CELL_WEIGHT * plan.contribution.rows * max(share.numerator, share.denominator - share.numerator)
                pairs = zip(losses(grids[0], share), losses(grids[1], share), strict=True)
                if any(abs(a - b) > most for a, b in pairs):
                    broken.append("losses")
        if changed > groups:
            broken.append("cells of groups")
    return broken


def bounds_for(engine: str, name: str) -> list[tuple[int, tuple[int, int]]]:
    """All bounds; on Spark, where each statement takes long, another one for each question."""
    bounds = list(enumerate(BOUNDS))
    return [bounds[len(name) % len(bounds)]] if engine == "spark" else bounds


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_unit_changes_more_than_is_claimed(engine: str, name: str) -> None:
    for seed, (groups, rows) in bounds_for(engine, name):
        plan = planned(QUESTIONS[name], policy(groups=groups, rows=rows))
        tables = database(1000 * seed + len(name))
        units = (1, 2) if engine == "spark" else (1, 2, 3)
        here, *fewer = exacts(engine, [tables, *(without(tables, unit) for unit in units)], plan)
        for there in fewer:
            assert violations(plan, here, there) == []


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("name", ["counts", "sums", "moments", "quantiles", "two public keys"])
def test_no_unit_changes_more_than_is_claimed_where_keys_are_public(engine: str, name: str) -> None:
    buckets = "SELECT ward, WIDTH_BUCKET(cost, 0, 40, 4) AS b, COUNT(*), SUM(cost) FROM visits GROUP BY ward, b"
    for seed, (groups, rows) in bounds_for(engine, name):
        plan = planned(QUESTIONS.get(name, buckets), policy(groups=groups, rows=rows, keys=True))
        assert plan.placed
        tables = database(1000 * seed + len(name) + 1)
        units = (1, 2) if engine == "spark" else (1, 2, 3)
        here, *fewer = exacts(engine, [tables, *(without(tables, unit) for unit in units)], plan)
        assert here.units.keys() <= set(plan.public_groups())
        for there in fewer:
            assert violations(plan, here, there) == []


@pytest.mark.parametrize("engine", EACH)
def test_a_row_that_is_a_unit_changes_one_group(engine: str) -> None:
    for question in ("moments",) if engine == "spark" else ("counts", "sums", "moments", "quantiles", "several keys"):
        text = QUESTIONS[question].replace(", COUNT(DISTINCT who)", "")
        plan = planned(text, policy(row=True))
        tables = database(7)
        rows = tables["visits"]
        step = len(rows) // 3 if engine == "spark" else 3
        fewer = [{**tables, "visits": [*rows[:place], *rows[place + 1 :]]} for place in range(0, len(rows), step)]
        here, *others = exacts(engine, [tables, *fewer], plan)
        for there in others:
            assert violations(plan, here, there) == []


ROW_JOINS = {
    "a table": "SELECT canton, COUNT(*), SUM(cost) FROM visits JOIN towns ON ward >= town GROUP BY canton",
    "two keys": "SELECT canton, town, COUNT(*) FROM visits JOIN towns ON ward <> town GROUP BY canton, town",
    "quantiles": "SELECT canton, MEDIAN(cost) FROM visits JOIN towns ON ward <> town GROUP BY canton",
    "a sub-query": (
        'SELECT canton, COUNT(*) FROM (SELECT ward AS w, days AS "UNIT OF PRIVACY" FROM visits) AS s'
        " JOIN towns ON w > town GROUP BY canton"
    ),
}
CANTONS = ("A", "B", "C", None)
FAN: Rows = [("a", canton) for canton in CANTONS] + [("b", canton) for canton in CANTONS]


def row_violations(engine: str, name: str, change: Change = str) -> list[str]:
    """What is broken where rows are units, are joined with several public ones each, and one of them is removed."""
    broken = []
    for groups, keys in ((1, True),) if engine == "spark" else ((1, False), (2, False), (1, True), (2, True)):
        plan = planned(ROW_JOINS[name], policy(row=True, groups=groups, rows=groups, cantons=CANTONS if keys else None))
        assert plan.by_rows
        tables = {**database(11), "towns": FAN}
        rows = tables["visits"]
        fewer = [{**tables, "visits": [*rows[:place], *rows[place + 1 :]]} for place in range(0, len(rows), 4)][
            : 2 if engine == "spark" else None
        ]
        here, *others = exacts(engine, [tables, *fewer], plan, change)
        broken += [each for there in others for each in violations(plan, here, there)]
    return broken


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("name", ROW_JOINS)
def test_a_joined_row_changes_its_own_groups_alone(engine: str, name: str) -> None:
    assert row_violations(engine, name) == []


@pytest.mark.parametrize("name", ROW_JOINS)
def test_choosing_by_the_numbers_of_rows_is_caught(name: str) -> None:
    """The number of a row is another one where a row before it is removed."""

    def by_number(sound: str) -> str:
        broken = re.sub(r'(PARTITION BY "u" ORDER BY) (.+?) ASC', r'\1 hash("u", \2) ASC', sound)
        assert broken != sound
        return broken

    assert row_violations("duckdb", name, by_number) != []


@pytest.mark.parametrize("engine", EACH)
def test_a_row_that_is_a_unit_stays_one_when_joined(engine: str) -> None:
    plan = planned(
        "SELECT canton, COUNT(*) FROM visits JOIN towns ON ward >= towns.town GROUP BY canton",
        policy(row=True, groups=1),
    )
    rows: Rows = [(1, "z", 1.0, 1, None, True), (1, "z", 2.0, 1, None, True)]
    tables: dict[str, Rows] = {"visits": rows, "people": [], "towns": [("x", "A"), ("x", "A"), ("y", "B")]}
    here, there = exacts(engine, [tables, {**tables, "visits": rows[:1]}], plan)
    assert violations(plan, here, there) == []
    assert sum(here.units.values()) == 2


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize(
    "source",
    [
        "visits JOIN towns ON ward = town",
        "(SELECT ward FROM visits) AS s JOIN towns ON s.ward = town",
        "towns JOIN (SELECT ward AS w FROM (SELECT ward FROM visits) AS i) AS s ON w = town",
    ],
)
def test_a_joined_row_counts_once(engine: str, source: str) -> None:
    plan = planned(f"SELECT COUNT(*) FROM {source}", policy(row=True, rows=1))
    tables: dict[str, Rows] = {"visits": [(1, "x", 1.0, 1, None, True)], "towns": [("x", "A"), ("x", "B"), ("x", "C")]}
    here, there = exacts(engine, [tables, {**tables, "visits": []}], plan)
    assert violations(plan, here, there) == []
    assert here.numbers[()] == (1,)


@pytest.mark.parametrize("engine", EACH)
def test_the_bounds_are_attained(engine: str) -> None:
    """The claim is not only safe but exact: there are neighbours that differ by all of it."""
    plan = planned("SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward", policy(groups=2, rows=3))
    rows: Rows = [(1, ward, 1e9, 1, None, True) for ward in "abcd" for _ in range(5)]
    (here,) = exacts(engine, [{"visits": rows}], plan)
    assert len(here.units) == 2
    for numbers in here.numbers.values():
        assert numbers == tuple(change(measure, plan.contribution) for measure in plan.measures)


def undeclared(engine: str, change: Change = str) -> bool:
    """Whether groups are returned whose ward is none of the declared ones, where other keys are private."""
    text = "SELECT ward, urgent, day, COUNT(*), SUM(cost), MEDIAN(cost) FROM visits GROUP BY ward, urgent, day"
    found = False
    for seed, (groups, rows) in enumerate(BOUNDS[:1] if engine == "spark" else BOUNDS):
        plan = planned(text, policy(groups=groups, rows=rows, keys=True))
        tables = database(500 + seed)
        here, *fewer = exacts(engine, [tables, *(without(tables, unit) for unit in (1, 2, 3))], plan, change)
        for there in fewer:
            assert violations(plan, here, there) == []
        found |= not {key[0] for key in here.units} <= {"a", "b", "c", None}
    return found


@pytest.mark.parametrize("engine", EACH)
def test_declared_keys_hold_beside_private_ones(engine: str) -> None:
    assert not undeclared(engine)


def test_keys_that_are_not_declared_are_told() -> None:
    assert undeclared("duckdb", lambda sound: re.sub(r'\("r1"."ward" IN .*? IS NULL\)', "TRUE", sound))


FAULTS: dict[str, tuple[str, str]] = {
    "groups are not bounded": (r'WHERE "place" <= \d+', ""),
    "rows are not bounded": (r'CASE WHEN "n" > \d+ THEN \d+ ELSE "n" END', '"n"'),
    "sums are not scaled down": (r'CASE WHEN "n1" > 2 THEN .*? ELSE "s1" END AS "b1"', '"s1" AS "b1"'),
    "values are not clamped": (r'CASE WHEN "v0" >= .*? ELSE (TRY_CAST\(FLOOR.*? AS BIGINT\)) END', r"\1"),
    "units are forgotten": (r'GROUP BY "u", "k0"', 'GROUP BY "u", "k0", "v0"'),
}
TOTAL_FAULTS: dict[str, tuple[str, str]] = {
    "totals are not bounded": (r'CASE WHEN "s0" > \d+ THEN \d+ WHEN .*? END AS "b0"', '"s0" AS "b0"'),
    "totals are bounded above alone": (r'WHEN "s0" < \(-\d+\) THEN \(-\d+\) ', ""),
    "rows of a unit are totals": FAULTS["units are forgotten"],
}
PUBLIC_FAULTS: dict[str, tuple[str, str]] = {
    "groups are not bounded": FAULTS["groups are not bounded"],
    "units are forgotten": FAULTS["units are forgotten"],
    "sums are not scaled down": FAULTS["sums are not scaled down"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(fault: str) -> None:
    plan = planned("SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward", policy(groups=2, rows=2))
    pattern, instead = FAULTS[fault]
    assert re.search(pattern, statement_of(plan, "duckdb", 1))
    rows: Rows = [(1, ward, cost, 1, None, True) for ward in "abcd" for cost in (500.0, 400.0, 30.0, 20.0)]
    tables: dict[str, Rows] = {"visits": [*rows, (2, "a", 3.0, 1, None, True)]}
    pair = [tables, without(tables, 1)]
    assert violations(plan, *exacts("duckdb", pair, plan)) == []
    assert violations(plan, *exacts("duckdb", pair, plan, lambda sound: re.sub(pattern, instead, sound))) != []


@pytest.mark.parametrize("fault", TOTAL_FAULTS)
def test_a_planted_fault_in_totals_of_units_is_caught(fault: str) -> None:
    plan = planned("SELECT ward, SUM_PER_UNIT(cost, -30, 60) FROM visits GROUP BY ward", policy(groups=2, rows=1))
    pattern, instead = TOTAL_FAULTS[fault]
    assert re.search(pattern, statement_of(plan, "duckdb", 1))
    rows: Rows = [(1, ward, cost, 1, None, True) for ward in "ab" for cost in (45.0, 50.0, 46.0)]
    low: Rows = [(2, ward, -cost, 1, None, True) for ward in "ab" for cost in (25.0, 26.0, 27.0)]
    tables: dict[str, Rows] = {"visits": [*rows, *low, (3, "a", 3.0, 1, None, True)]}
    pairs = [[tables, without(tables, unit)] for unit in (1, 2)]
    assert [violations(plan, *exacts("duckdb", pair, plan)) for pair in pairs] == [[], []]
    faulty = [violations(plan, *exacts("duckdb", pair, plan, lambda s: re.sub(pattern, instead, s))) for pair in pairs]
    assert any(faulty)


@pytest.mark.parametrize("engine", EACH)
def test_totals_of_units_are_those_of_arithmetic(engine: str) -> None:
    plan = planned("SELECT ward, SUM_PER_UNIT(cost, -30, 60) AS s FROM visits GROUP BY ward", policy(groups=9, rows=1))
    costs: dict[tuple[int, str], list[float | None]] = {
        (1, "a"): [45.0, 50.0],
        (2, "a"): [-25.0, -26.0, 5.5],
        (3, "a"): [7.25, None],
        (3, "b"): [math.nan],
    }
    rows: Rows = [(who, ward, cost, 1, None, True) for (who, ward), each in costs.items() for cost in each]
    (found,) = exacts(engine, [{"visits": rows}], plan)
    measure = plan.measures[0]
    assert isinstance(measure, UnitTotal)
    told = {key[0]: numbers[0] * measure.of.step for key, numbers in found.numbers.items()}
    assert told == {"a": 60 - 30 + Fraction(29, 4), "b": 0}


@pytest.mark.parametrize("fault", PUBLIC_FAULTS)
def test_a_planted_fault_is_caught_where_keys_are_public(fault: str) -> None:
    question = "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward"
    plan = planned(question, policy(groups=2, rows=2, keys=True))
    pattern, instead = PUBLIC_FAULTS[fault]
    assert re.search(pattern, statement_of(plan, "duckdb", 1))
    rows: Rows = [
        (1, ward, cost, 1, None, True) for ward in ("a", "b", "c", None) for cost in (500.0, 400.0, 45.0, 60.0)
    ]
    tables: dict[str, Rows] = {"visits": [*rows, *((unit, "a", 3.0, 1, None, True) for unit in (2, 3, 4))]}
    pair = [tables, without(tables, 1)]
    assert violations(plan, *exacts("duckdb", pair, plan)) == []
    assert violations(plan, *exacts("duckdb", pair, plan, lambda sound: re.sub(pattern, instead, sound))) != []


@pytest.mark.parametrize("engine", EACH)
@pytest.mark.parametrize("counted", ["COUNT(cost), AVG(cost)", "COUNT(*)", "NULL"])
def test_the_numbers_are_those_of_arithmetic(engine: str, counted: str) -> None:
    """Against sums of fractions, where no bound is reached but that of values; whatever a sum is taken from."""
    tables = database(3)
    plan = planned(f"SELECT ward, SUM(cost), {counted} FROM visits GROUP BY ward", policy(groups=9, rows=99))
    (found,) = exacts(engine, [tables], plan)
    (step,) = {measure.of.step for measure in plan.measures if isinstance(measure, Sum)}

    def moved(value: Any) -> Fraction:
        return Fraction(0) if value is None or math.isnan(value) else Fraction(min(max(value, -10.0), 50.0))

    for ward in {row[1] for row in tables["visits"] if row[0] is not None}:
        values = [row[2] for row in tables["visits"] if row[1] == ward and row[0] is not None]
        known = [value for value in values if value is not None and not math.isnan(value)]
        told = Released((ward,), found.numbers[(ward,)], ())
        total, count = (value_of(output.outcome, told, plan) for output in plan.outputs[1:3])
        assert isinstance(total, Fraction)
        assert abs(total - sum(map(moved, values))) <= len(values) * step / 2
        assert count is None or count == (len(values) if counted == "COUNT(*)" else len(known))
