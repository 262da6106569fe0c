"""All engines return the same whole numbers, to the last digit: for every question, bound, type and odd value."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indistinct.queries.answers.release import Exact, exact_of
from indistinct.queries.engines.engine import Engine
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.plans.measures import change
from indistinct.queries.plans.plan import Plan
from indistinct.queries.policy import ROW, Budget, Column, Contribution, Policy, PrivateTable
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.queries.engines import ENGINES, NAMES, OTHERS, TYPES, Rows, policy
from tests.queries.test_sensitivity import BOUNDS, QUESTIONS, database, planned

Told = tuple[Any, ...]


def told(exact: Exact) -> Told:
    return exact.units, exact.numbers, exact.weights


def asked(engine: Engine, plan: Plan) -> Told:
    return told(exact_of(plan, engine.run(statement_of(plan, engine.dialect, 1), seconds=60)))


def answers(tables: Mapping[str, Rows], plans: list[Plan], engine: str) -> list[tuple[Told, Told]]:
    """What DuckDB and another engine return for each plan."""
    both = [ENGINES[name](tables) for name in ("duckdb", engine)]
    try:
        return [(asked(both[0], plan), asked(both[1], plan)) for plan in plans]
    finally:
        for each in both:
            each.close()


@pytest.mark.parametrize("engine", OTHERS)
def test_engines_agree_on_every_question(engine: str) -> None:
    """Also on which groups of a unit are chosen, as the salt is the same."""
    for seed, (groups, rows) in enumerate(BOUNDS if engine == "postgres" else BOUNDS[:1]):
        plans = [planned(question, policy(groups=groups, rows=rows)) for question in QUESTIONS.values()]
        for here, there in answers(database(100 + seed), plans, engine):
            assert here == there


@pytest.mark.parametrize("engine", OTHERS)
def test_engines_agree_on_rows_that_are_units(engine: str) -> None:
    texts = [QUESTIONS[name].replace(", COUNT(DISTINCT who)", "") for name in ("moments", "quantiles", "several keys")]
    for here, there in answers(database(7), [planned(text, policy(row=True)) for text in texts], engine):
        assert here == there


@pytest.mark.parametrize("engine", OTHERS)
def test_engines_agree_on_declared_keys(engine: str) -> None:
    plans = [planned(QUESTIONS[name], policy(groups=1, keys=True)) for name in ("counts", "quantiles")]
    for here, there in answers(database(8), plans, engine):
        assert here == there


@pytest.mark.parametrize("engine", OTHERS)
def test_engines_agree_on_large_numbers(engine: str) -> None:
    """A million million steps, of units that might have a million rows."""
    visits = PrivateTable(
        name="visits",
        unit="who",
        columns={
            "who": Column(type="integer"),
            "ward": Column(type="text"),
            "cost": Column(type="real", low=-(10**6), high=10**6, step=1e-6),
        },
        contribution=Contribution(groups=2, rows=2**20),
    )
    rules = Policy(tables=(visits,), budget=Budget(epsilon=1, delta=1e-6))
    plan = planned("SELECT ward, VARIANCE(cost), SUM(cost) FROM visits GROUP BY ward", rules)
    assert max(change(measure, plan.contribution) for measure in plan.measures) > 2**59
    rows: Rows = [
        (who, "ab"[i % 2], (-1) ** i * (10**6 - who / 7 - i / 3), i, None, True) for who in range(5) for i in range(11)
    ]
    ((here, there),) = answers({"visits": rows}, [plan], engine)
    assert here == there
    assert max(max(numbers) for numbers in here[1].values()) > 2**41


TEXTS = [
    None, "", " ", "a", "A", "aé", "ÀÉÎ", "Ωμέγα", "Straße", "ЖУК", "İI", "it's", 'say "x"', "a\\b", "100%", "a_b",
    "\t5", "5", " 5 ", "+5", "-5.", ".5", "5e3", "1e400", "1e-400", "5d", "0x1F", "nan", "inf", "1_000", "5\n",
    "\u0661", "  x  ", "\u2003x", "2020-02-29", "2021-02-29", "2020-01-31", "2020-04-31", "0000-01-01", "0001-01-01",
    "9999-12-31", "2020-1-1", "2020-01-01 00:00", "${x}", ":x", "--", "\U0001f926\U0001f3fc\u200d\u2642\ufe0f",
]  # fmt: skip
REALS = [
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-200, -1e-160, 1e-150, 1e150, -1e160,
    1.7e308, -1.7e308,
    0.1, 0.5, 1.5, 2.5, -0.5, -1.5, 4503599627370496.0, -4503599627370497.0, 9.3e18, 1e15, 0.30000000000000004,
]  # fmt: skip
WHOLES = [None, 0, 1, -1, 2, 7, -7, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 10**18]
DATES = [
    None,
    dt.date(1, 1, 1),
    dt.date(1582, 10, 10),
    dt.date(1900, 2, 28),
    dt.date(2020, 2, 29),
    dt.date(9999, 12, 31),
]
TIMES = [
    None,
    dt.datetime(1, 1, 1, 0, 0, 1),  # noqa: DTZ001  # of UTC, as the policy says
    dt.datetime(1999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001
    dt.datetime(2020, 3, 29, 2, 30),  # noqa: DTZ001  # in no European clock
]
ODD: dict[str, Rows] = {
    "odd": [
        (i, TEXTS[i % len(TEXTS)], REALS[i % len(REALS)], WHOLES[i % len(WHOLES)], DATES[i % len(DATES)],
         TIMES[i % len(TIMES)], (None, True, False)[i % 3])
        for i in range(len(REALS) * len(WHOLES))
    ]
}  # fmt: skip
TYPES["odd"] = {
    "i": "BIGINT",
    "t": "VARCHAR",
    "x": "DOUBLE",
    "n": "BIGINT",
    "d": "DATE",
    "at": "TIMESTAMP",
    "b": "BOOLEAN",
}
ODDITIES = Policy(
    tables=(
        PrivateTable(
            name="odd",
            unit=ROW,
            columns={name: Column(type=NAMES[kind]) for name, kind in TYPES["odd"].items()},  # type: ignore[arg-type]
            contribution=Contribution(),
        ),
    ),
    budget=Budget(epsilon=1, delta=1e-6),
)
NUMBERS = """
x; n; x + 1; x - n; x * x; x * x * x; n * n; n * n * n * n * n * n * n * n * n * n * n * n * n * n * n * n; x / n; n /
x; 1 / x; x / x; (x - 0.1) * (x - 0.1) * (x - 0.5); x + x + x - x; -x; -n; n % 7; n % 2147483647; ABS(x); ABS(n);
FLOOR(x); CEIL(x); FLOOR(n); CEIL(x * 10); FLOOR(x / 3); LEAST(x, n); GREATEST(x, n); LEAST(n, 5); GREATEST(x, 0.5);
CLAMP(x, -2, 2); WIDTH_BUCKET(x, -3, 3, 7); WIDTH_BUCKET(x, -1e149, 1e149, 9); WIDTH_BUCKET(n, 0, 10, 10); LENGTH(t);
LENGTH(TRIM(t)); LENGTH(SUBSTRING(t, 2)); LENGTH(t || t); CAST(t AS DOUBLE); CAST(t AS BIGINT); CAST(x AS BIGINT);
CAST(b AS BIGINT); CAST(b AS DOUBLE); CAST(n AS DOUBLE); YEAR(d); MONTH(d); DAY(d); YEAR(at); HOUR(at); DAY(CAST(at AS
DATE)); YEAR(CAST(t AS DATE)); COALESCE(x, n); COALESCE(n, 3); NULLIF(n, 7); NULLIF(x, 0); CASE WHEN b THEN n ELSE x
END; CASE WHEN n > 0 THEN 3 ELSE -2 END; CASE n WHEN 7 THEN 1.5 END
""".replace("\n", " ").split("; ")
CONDITIONS = """
x = x; x > 0; x <= n; x <> 0.1; x < 1e140; n = 9223372036854775807; n > 9007199254740993; n IN (1, 7, -7); x IN (0,
1.5); x BETWEEN -1 AND 1; t = 'a'; t < 'a'; t >= 'É'; t > 'Z'; t LIKE 'a%'; t LIKE '%é'; t LIKE '_'; t LIKE '%''%'; t
LIKE '100%'; t IN ('A', '', 'it''s'); t IS NULL; NOT b; b OR x > 1; b AND t <> ''; b IS TRUE; b IS FALSE; d >
'1999-01-01'; d = at; at >= '2020-03-29 02:30:00'; at < d; d IN ('2020-02-29'); LOWER(t) = 'straße'; UPPER(t) < 'ж'; t
|| 'x' < t; CASE WHEN b THEN 'ä' ELSE 'Z' END < 'a'; COALESCE(t, 'z') > 'Z'; TRIM(t) = 'x'; t = '${x}'; t = 'a\\b';
CAST(n AS VARCHAR) < '5'; CAST(d AS VARCHAR) LIKE '%-29'; CAST(b AS VARCHAR) = 'true'; CAST(t AS DATE) = d; CAST(t AS
DOUBLE) > 4; 1 < 2; x / 0 IS NULL; NULLIF(t, 'a') IS NULL
""".replace("\n", " ").split("; ")
KEYS = [
    "SELECT LOWER(t) AS a, UPPER(t) AS b, TRIM(t) AS c, COUNT(*) FROM odd GROUP BY 1, 2, 3",
    "SELECT SUBSTRING(t, 2, 2) AS a, t || '''' AS b, CAST(n AS TEXT) AS c, COUNT(*) FROM odd GROUP BY 1, 2, 3",
    "SELECT CAST(d AS TEXT) AS a, CAST(b AS TEXT) AS c, COUNT(*) FROM odd GROUP BY 1, 2",
    "SELECT d, b, n, CAST(at AS DATE) AS a, CAST(t AS DATE) AS c, COUNT(*) FROM odd GROUP BY 1, 2, 3, 4, 5",
    "SELECT CASE WHEN b THEN 3 ELSE -2 END AS k, WIDTH_BUCKET(x, 0, 1, 3) AS w, COUNT(x) FROM odd GROUP BY k, w",
    "SELECT YEAR(d) AS y, QUANTILE(CLAMP(x, -1, 3), [0.5]), QUANTILE(CLAMP(x, 0, 1e14), 0.1) FROM odd GROUP BY y",
]


def row_by_row(what: list[str]) -> list[Plan]:
    """Each expression for each row, at two sizes of the lattice."""
    plans = []
    for first in range(0, len(what), 15):
        some = what[first : first + 15]
        sums = [f"SUM(CLAMP({each}, {low}, {high}))" for each in some for low, high in ((-9, 9), (-(10**14), 10**14))]
        text = f"SELECT i, {', '.join(sums)}, {', '.join(f'COUNT({each})' for each in some)} FROM odd GROUP BY i"
        plans.append(plan_question(read_statement(text), ODDITIES))
    return plans


@pytest.mark.parametrize("engine", OTHERS)
def test_engines_agree_on_every_expression(engine: str) -> None:
    truths = [f"CASE WHEN {each} THEN 1 WHEN NOT ({each}) THEN -1 END" for each in CONDITIONS]
    plans = row_by_row([*NUMBERS, *truths])
    plans += [plan_question(read_statement(text), ODDITIES) for text in KEYS]
    plans += [
        plan_question(read_statement(f"SELECT COUNT(*) FROM odd WHERE {each}"), ODDITIES) for each in CONDITIONS[::9]
    ]
    for plan, (here, there) in zip(plans, answers(ODD, plans, engine), strict=True):
        different = [
            (key, index)
            for key in here[1] | there[1]
            for index, pair in enumerate(zip(here[1].get(key, ()), there[1].get(key, ()), strict=True))
            if pair[0] != pair[1]
        ]
        assert not different, (different[:9], plan.measures[different[0][1]])
        assert here == there


COLUMNS = st.tuples(
    st.sampled_from([1, 1, 2, 3, None]),
    st.sampled_from(["a", "b", "É", "it's", "", None]) | st.text("ab\\'\"%_ ", max_size=3),
    st.sampled_from(REALS) | st.floats(-20, 60),
    st.sampled_from(WHOLES) | st.integers(-5, 40),
    st.sampled_from(DATES),
    st.sampled_from([None, True, False]),
)
PEOPLE = st.tuples(st.sampled_from([1, 2, 3, None]), st.integers(0, 99), st.sampled_from(["x", "y", None]))


def property_of(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


def check_random(engine: str, visits: Rows, people: Rows, names: list[str], bound: tuple[int, int]) -> None:
    tables = {"visits": visits, "people": people, "towns": [("x", "A"), ("y", "A"), ("x", "B")]}
    plans = [planned(QUESTIONS[name], policy(groups=bound[0], rows=bound[1])) for name in names]
    for here, there in answers(tables, plans, engine):
        assert here == there


RANDOM = (
    st.lists(COLUMNS, max_size=25),
    st.lists(PEOPLE, max_size=4),
    st.lists(st.sampled_from(sorted(QUESTIONS)), min_size=1, max_size=3),
    st.sampled_from(BOUNDS),
)


@property_of(40)
@given(*RANDOM)
def test_postgres_agrees_on_random_rows(visits: Rows, people: Rows, names: list[str], bound: tuple[int, int]) -> None:
    check_random("postgres", visits, people, names, bound)


@pytest.mark.xdist_group("spark")
@property_of(8)
@given(*RANDOM)
def test_spark_agrees_on_random_rows(visits: Rows, people: Rows, names: list[str], bound: tuple[int, int]) -> None:
    check_random("spark", visits, people, names[:1], bound)


FAULTS = {
    "another salt": ("counts", r"(?<=\* \()\d{6,}", "7"),
    "rounded to the nearest": ("sums", r"FLOOR", "CEIL"),
    "values beyond are left": ("sums", r"WHEN \"v0\" >= CAST\('50.0'[^)]*\) THEN \d+", "WHEN FALSE THEN 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_difference_is_seen(fault: str) -> None:
    name, pattern, instead = FAULTS[fault]
    plan = planned(QUESTIONS[name], policy(groups=1, rows=2))
    visits: Rows = [(who, ward, 10.3 * (who + i), i, None, True) for who in range(9) for i, ward in enumerate("abcd")]
    here, there = ENGINES["duckdb"]({"visits": visits}), ENGINES["postgres"]({"visits": visits})
    statement = statement_of(plan, "postgres", 1)
    broken = re.sub(pattern, instead, statement)
    assert broken != statement
    assert asked(here, plan) == asked(there, plan) != told(exact_of(plan, there.run(broken, seconds=60)))
    here.close()
    there.close()
