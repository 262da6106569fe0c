"""Odd questions, options and data: an answer or one clear sentence, and nothing that is charged is lost."""

from __future__ import annotations

import datetime as dt
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import indistinct
from indistinct.errors import DataUnavailable, InvalidParameter
from indistinct.queries import Budget, Column, Policy, PrivateDatabase, PrivateTable, QueryRefused

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]
KEYS: dict[str, Any] = {"k": [0, 1], "d": DAYS}
FRAME = pa.table(
    {
        "u": range(300),
        "x": [float(i % 10) for i in range(300)],
        "k": [i % 2 for i in range(300)],
        "s": ["a", "b", "c"] * 100,
        "d": [DAYS[i % 2] for i in range(300)],
    }
)


@pytest.fixture
def database() -> Iterator[PrivateDatabase]:
    with indistinct.open(FRAME, unit="u", epsilon=100, delta=1e-6) as opened:
        yield opened


HUGE = "COUNT(*) * 1e149 * 1e149 * 1e149"
ANSWERED = [
    f"SELECT {HUGE} AS a FROM data",
    f"SELECT SQRT({HUGE}) AS a, {HUGE} + 1 AS b, ROUND({HUGE}, 2) AS c FROM data",
    f"SELECT COUNT(*) AS n FROM data HAVING {HUGE} > 1",
    f"SELECT COUNT(*) AS n FROM data ORDER BY {HUGE}",
    "SELECT k, d, COUNT(*) AS n FROM data GROUP BY k, d ORDER BY CASE WHEN k = 1 THEN d ELSE n END",
    "SELECT k, d, COUNT(*) AS n FROM data GROUP BY k, d ORDER BY CASE WHEN k = 1 THEN 'x' ELSE d END DESC",
    "SELECT k, d, CASE WHEN k = 1 THEN 'a' ELSE COUNT(*) END AS c FROM data GROUP BY k, d",
    "SELECT k, d, CASE WHEN k = 1 THEN d ELSE COUNT(*) END AS c FROM data GROUP BY k, d",
    "SELECT COUNT(*) AS n, COUNT(x) AS N FROM data",
    "SELECT 'with' AS differential_privacy, COUNT(*) FROM data",
]


@pytest.mark.parametrize("question", ANSWERED)
def test_whatever_was_charged_is_answered_in_every_form(database: PrivateDatabase, question: str) -> None:
    keys = KEYS if "GROUP BY" in question else None
    answer = database.sql(question, epsilon=1, keys=keys)
    assert str(answer)
    assert answer._repr_html_()
    ends = answer.intervals()
    assert set(ends) == set(answer.columns)
    for table in (pa.table(answer), answer.to_arrow()):
        assert tuple(table.column_names) == answer.columns
        assert table.num_rows == len(answer)
    assert len(answer.to_pandas()) == len(answer.to_polars()) == len(answer)


def test_numbers_beyond_the_doubles_are_null_and_their_ends_infinite(database: PrivateDatabase) -> None:
    answer = database.sql(f"SELECT {HUGE} AS a FROM data")
    assert answer.rows == ((None,),)
    whole = database.sql("SELECT COUNT(*) * 1e149 / 3 * 1e149 * 1e12 AS a FROM data")
    assert whole.rows == ((None,),)
    assert all(low is None or math.isinf(low) or low > 1e300 for low, _ in whole.intervals()["a"])


@pytest.mark.parametrize(
    "question",
    [
        "SELECT " + "+".join(["COUNT(*)"] * 600) + " FROM data",
        "SELECT MEDIAN(CLAMP(x, 1, 1.0000000000000000000001)) FROM data",
        "SELECT SUM(CLAMP(x, 1, 1.0000000000000000000001)) FROM data",
        "SELECT QUANTILE(x) FROM data",
        "SELECT COUNT(*) FROM (SELECT u FROM data GROUP BY ) s",
        'SELECT COUNT(*) AS "" FROM data',
        "SELECT COUNT(*) FROM data WHERE s = '\ud800'",
        'SELECT COUNT(*) AS "\ud800" FROM data',
        "SELECT COUNT(*) FROM data WHERE x BETWEEN -2 2",
        "SELECT COUNT(*) FROM data WHERE x BETWEEN (-2)",
        "SELECT COUNT(*) FROM data WHERE LEAST(, 2, x) = 1",
        "SELECT COUNT(*) FROM data WHERE x IN (, NULL)",
        "SELECT COUNT(*), , COUNT(x) FROM data",
        "SELECT k, COUNT(*) FROM data GROUP BY k ORDER BY , k",
        "SET x = 1",
        "SELECT COUNT(*) FROM data; SET x = 1",
    ],
)
def test_odd_questions_are_refused(database: PrivateDatabase, question: str, caplog: pytest.LogCaptureFixture) -> None:
    left = database.remaining
    with pytest.raises(QueryRefused):
        database.sql(question)
    assert database.remaining == left
    assert not caplog.records  # nor is the question written anywhere


@pytest.mark.parametrize(
    "options",
    [
        {"cells": "a"},
        {"cells": 3.5},
        {"groups": 0},
        {"rows": True},
        {"keys": {"k": None}},
        {"keys": {"k": [[1]]}},
        {"keys": [1]},
        {"keys": {1: [1]}},
        {"keys": {"s": ["\ud800"]}},
        {"rho": "1e-400"},
        {"epsilon": "1e-400"},
        {"epsilon": "1e400"},
        {"rho": 1, "delta": "1e-400"},
        {"epsilon": [1]},
    ],
)
def test_odd_options_are_refused(database: PrivateDatabase, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        database.sql("SELECT k, COUNT(*), MEDIAN(CLAMP(x, 0, 9)) FROM data GROUP BY k", **options)
    for text in (None, 5, b"SELECT"):
        with pytest.raises(InvalidParameter, match="be text"):
            database.sql(text)  # type: ignore[arg-type]  # which is the point


@pytest.mark.parametrize(
    "options",
    [
        {"questions": 0},
        {"name": 5},
        {"name": "\ud800"},
        {"policy": {}},
        {"policy": 5},
        {"seconds": "x"},
        {"seconds": 0},
        {"seconds": math.nan},
        {"ledger": 5},
        {"unit": ["u"]},
        {"engine": 5},
    ],
)
def test_odd_arguments_of_opening_are_refused(options: dict[str, Any]) -> None:
    threads = threading.active_count()
    with pytest.raises(InvalidParameter):
        indistinct.open(FRAME, **{"unit": "u", "epsilon": 1, "delta": 1e-6, **options})
    assert threading.active_count() == threads


def test_options_are_not_passed_over(database: PrivateDatabase) -> None:
    question = "SELECT COUNT(*) FROM data WITH ERROR 20"
    with pytest.raises(QueryRefused, match="so does rho"):
        database.sql(question, rho="0.1")
    with pytest.raises(QueryRefused, match="so does epsilon"):
        database.watch(question, 5, epsilon=1)
    with pytest.raises(InvalidParameter, match="epsilon"):
        database.watch("SELECT COUNT(*) FROM data", 5, epsilon=None)
    by = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy={}) k, COUNT(*) FROM data GROUP BY k"
    with pytest.raises(QueryRefused, match="PUBLIC_GROUPS"):
        database.sql(by.format("PUBLIC_GROUPS"))
    assert len(database.sql(by.format("PUBLIC_GROUPS"), keys={"k": [0, 1]})) == 2
    answer = database.sql("SELECT 'with' differential_privacy, COUNT(*) FROM data")
    assert answer.columns == ("differential_privacy", "count(*)")


def test_a_delta_of_0_asks_for_noise_without_one(database: PrivateDatabase) -> None:
    asked = database.explain("SELECT COUNT(*) FROM data", epsilon=1, delta=0)
    assert asked.cost == database.explain("SELECT COUNT(*) FROM data", epsilon=1).cost


def test_names_of_tables_and_units(tmp_path: Path) -> None:
    for name in ("copy 0", "frame 0", "rows", "copies", "main"):
        with indistinct.open(FRAME, name=name, unit="U", epsilon=100) as opened:
            assert 200 < opened.sql(f'SELECT COUNT(*) FROM "{name}"').rows[0][0] < 400
    bare = tmp_path / "n.csv"
    bare.write_text("1,2\n3,4\n5,6\n")
    with pytest.raises(InvalidParameter, match="first line"):
        indistinct.open(bare, unit="column0", epsilon=1)
    words = tmp_path / "w.csv"
    words.write_text("u,w\n" + "ada,b\ncarl,d\n" * 50)
    with indistinct.open(words, unit="u", epsilon=1) as opened:
        assert set(opened.policy.tables[0].columns) == {"u", "w"}


def test_data_that_are_gone_cost_nothing(tmp_path: Path) -> None:
    file = tmp_path / "gone.csv"
    file.write_text("u,x\n" + "1,2\n" * 10)
    with indistinct.open(file, unit="u", epsilon=1) as opened:
        file.unlink()
        left = opened.remaining
        with pytest.raises(DataUnavailable, match="nothing was charged"):
            opened.sql("SELECT COUNT(*) FROM gone")
        assert opened.remaining == left


def test_bounds_of_any_size_can_be_rehearsed() -> None:
    with pytest.raises(InvalidParameter, match="finite"):
        Column(type="integer", low=0, high=10**400)
    with pytest.raises(InvalidParameter, match="bound to the other"):
        Column(type="real", low=0, high=1, step=2)
    with pytest.raises(InvalidParameter, match="left out"):
        Column(type="text", step=1)
    columns = {
        "u": Column(type="integer"),
        "k": Column(type="integer", low=-(10**20), high=10**20),
        "x": Column(type="real", low=-1e308, high=1e308),
    }
    rules = Policy(tables=(PrivateTable(name="data", unit="u", columns=columns),), budget=Budget(epsilon=1))
    with indistinct.open(FRAME, policy=rules) as opened:
        assert opened.rehearse("SELECT COUNT(*) FROM data WHERE k > 3 AND x > 0").rows


@pytest.mark.parametrize("chosen", ["ORDER BY n DESC LIMIT 1", "HAVING COUNT(*) > 150", "ORDER BY n OFFSET 1"])
def test_intervals_of_rows_that_noise_chose_hold_for_all_groups_at_once(database: PrivateDatabase, chosen: str) -> None:
    asked = "SELECT k, COUNT(*) AS n FROM data GROUP BY k"
    keys = {"k": list(range(20))}
    every = database.sql(asked, keys=keys)
    some = database.sql(f"{asked} {chosen}", keys=keys)
    assert some.receipt.free
    wide = dict(zip((row[0] for row in every.rows), every.intervals("0.995")["n"], strict=True))
    assert some.intervals("0.9")["n"] == [wide[row[0]] for row in some.rows]
    first = database.sql(f"{asked} ORDER BY k LIMIT 3", keys=keys)
    assert first.intervals("0.9")["n"] == every.intervals("0.9")["n"][:3]


def test_names_of_columns_are_shown_without_control_characters(database: PrivateDatabase) -> None:
    answer = database.sql('SELECT COUNT(*) AS "a\x1b[31mb" FROM data')
    assert answer.columns == ("a\x1b[31mb",)
    for told in (str(answer), answer._repr_html_()):
        assert "\x1b" not in told
        assert "a\N{REPLACEMENT CHARACTER}[31mb" in told
