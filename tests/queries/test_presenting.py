"""Columns are presented as what the policy says, so no row makes a statement fail, and no two units become one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import indistinct
from indistinct.errors import InvalidParameter
from indistinct.queries import Budget, Column, Policy, PrivateTable
from indistinct.queries.answers.release import exact_of
from indistinct.queries.engines.duckdb import DuckDBEngine
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.policy.draft import draft_policy
from indistinct.queries.policy.file import parse_policy
from tests.queries.test_sensitivity import planned, violations

UNITS = {
    "unsigned": ("UBIGINT", ["9223372036854775808", "9223372036854775809", "18446744073709551615"]),
    "huge": ("HUGEINT", ["170141183460469231731687303715884105001", "170141183460469231731687303715884105002"]),
    "decimal": ("DECIMAL(38, 0)", ["12345678901234567890123", "12345678901234567890124"]),
    "fractions": ("DECIMAL(20, 18)", ["1.000000000000000001", "1.000000000000000002"]),
    "doubles": ("DOUBLE", ["1.0", "1.0000000000000002", "9007199254740992", "nan", "inf", "NULL"]),
    "floats": ("FLOAT", ["0.1", "0.10000001", "nan", "-inf"]),
    "nanoseconds": ("TIMESTAMP_NS", ["2024-01-01 00:00:00.000000001", "2024-01-01 00:00:00.000000002"]),
    "wide": ("BIGINT", ["9223372036854775807", "9223372036854775806", "-9223372036854775808"]),
}
NOBODY = {"nan", "inf", "-inf", "NULL"}
QUESTION = "SELECT COUNT(*), COUNT(DISTINCT u), SUM(CLAMP(x, 0, 100)) FROM data"


def listed(kind: str, values: list[str]) -> str:
    """A list in SQL."""
    return "[" + ", ".join(f"CAST({each if each == 'NULL' else repr(each)} AS {kind})" for each in values) + "]"


def opened_with(kind: str, values: list[str], *, units: bool = True) -> DuckDBEngine:
    told = f"SELECT unnest({listed(kind, values)}) AS u, range AS x FROM range(3)"
    return DuckDBEngine({"data": arrow(told)}, units={"data": "U"} if units else None)


def merged(kind: str, values: list[str], *, units: bool) -> bool:
    """Whether removing one of the units leaves others changed, or counts fewer of them than there are."""
    engine = opened_with(kind, values, units=units)
    columns = {"u": Column(type="text"), "x": Column(type="integer")}
    plan = planned(QUESTION, Policy(tables=(PrivateTable(name="data", unit="u", columns=columns),), budget=BUDGET))
    statement = statement_of(plan, "duckdb", 1)
    here = exact_of(plan, engine.run(statement, seconds=60))
    broken = here.numbers[()][1] != len(set(values) - NOBODY)
    for value in values:
        fewer = opened_with(kind, [each for each in values if each != value] or ["NULL"], units=units)
        there = exact_of(plan, fewer.run(statement, seconds=60))
        expected = here.numbers[()][1] - (value not in NOBODY)
        broken |= violations(plan, here, there) != [] or there.numbers[()][1] != expected
    return broken


BUDGET = Budget(epsilon=1, delta=1e-6)


@pytest.mark.parametrize("name", UNITS)
def test_units_are_never_merged(name: str) -> None:
    kind, values = UNITS[name]
    assert not merged(kind, values, units=True)


@pytest.mark.parametrize("name", ["unsigned", "huge", "decimal", "fractions", "doubles", "nanoseconds"])
def test_units_that_are_rounded_are_told(name: str) -> None:
    kind, values = UNITS[name]
    assert merged(kind, values, units=False)


def test_units_of_any_type_are_opened_exactly() -> None:
    for kind, values in UNITS.values():
        table = arrow(f"SELECT unnest({listed(kind, values)}) AS u")
        with indistinct.open(table, unit="u", epsilon=1, delta=1e-6) as database:
            assert database.policy.tables[0].columns["u"].type in {"integer", "text"}
            rows = database.engine.run('SELECT count(DISTINCT "u") FROM data', seconds=60)
            assert rows == [(len(set(values) - NOBODY),)]


def arrow(query: str) -> Any:
    relation = duckdb.sql(query)
    assert relation is not None
    return relation.to_arrow_table()


def test_a_real_unit_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidParameter, match="presented exactly as text"):
        PrivateTable(name="t", unit="u", columns={"u": Column(type="real")})


@pytest.mark.parametrize(
    ("written", "different"),
    [
        (["12345678901234567890", "12345678901234567891", "12345678901234567892"], 3),
        (["1.5", "2", "nan", "", "1e400"], 2),
        (["1", "2", "-3", " 4"], 4),
    ],
)
def test_units_in_csv_files_are_not_rounded(written: list[str], different: int, tmp_path: Path) -> None:
    file = tmp_path / "ids.csv"
    file.write_text("u,x\n" + "".join(f"{each},1\n" for each in written))
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6) as database:
        assert database.engine.run('SELECT count(DISTINCT "u") FROM ids', seconds=60) == [(different,)]


def test_declared_whole_numbers_in_csv_files_are_not_rounded(tmp_path: Path) -> None:
    file = tmp_path / "ids.csv"
    file.write_text("u,x\n1.5,1\n2,1\n2.4,1\nabc,1\n99999999999999999999,1\n")
    engine = DuckDBEngine({"ids": file}, types={"ids": {"u": "integer"}}, units={"ids": "u"})
    assert engine.run('SELECT "u" FROM ids WHERE "u" IS NOT NULL', seconds=60) == [(2,)]


def rules(**columns: Column) -> Policy:
    return Policy(
        tables=(PrivateTable(name="t", unit="u", columns={"u": Column(type="integer"), **columns}),), budget=BUDGET
    )


def test_whole_numbers_that_are_declared_real_cannot_overflow() -> None:
    table = arrow("SELECT i AS u, 9223372036854775807 - i AS x FROM range(100) t(i)")
    policy = rules(x=Column(type="real", low=0, high=100))
    with indistinct.open({"t": table}, policy=policy) as database:
        assert database.engine.columns("t")["x"] == "real"
        for what in ("x * x * x > 10", "x + x > 10", "ABS(x - 1) > 5", "x / 3 = 1", "-x < 0", "FLOOR(x * x) = 1"):
            assert database.sql(f"SELECT COUNT(*), SUM(x), MEDIAN(x) FROM t WHERE {what}", rho="0.0001").rows
    undeclared = DuckDBEngine({"t": table})
    with pytest.raises(InvalidParameter, match="integer"):
        indistinct.open({"t": table}, policy=policy, engine=undeclared)


DATES = ["2024-01-01", "12000-01-01", "infinity", "-infinity", "0044-03-15 (BC)", "290000-01-01", "9999-12-31"]
ODD = [
    "SELECT d, COUNT(*) FROM t GROUP BY d",
    "SELECT d, COUNT(*) FROM t WHERE d < z GROUP BY d",
    "SELECT d, COUNT(*) FROM t WHERE d = z OR z IN ('2024-01-01 00:00:00') GROUP BY d",
    "SELECT CAST(z AS DATE) AS k, COUNT(*) FROM t GROUP BY k",
    "SELECT CAST(s AS DATE) AS k, COUNT(*) FROM t GROUP BY k",
    "SELECT YEAR(d), MONTH(z), COUNT(*) FROM t GROUP BY 1, 2",
    "SELECT COUNT(*) FROM t WHERE d BETWEEN z AND z OR z <= '9999-12-31 23:59:59'",
]


def failures() -> int:
    """How many questions fail, or find keys that are no dates, over dates and times that Python cannot tell."""
    told = ", ".join(repr(each) for each in DATES)
    engine = DuckDBEngine(
        {
            "t": arrow(
                f"SELECT i AS u, d::DATE AS d, CASE WHEN i % 2 = 0 THEN TRY_CAST(d AS TIMESTAMP) END AS z,"
                f" CASE WHEN i % 3 = 0 THEN '0000-02-01' ELSE d END AS s"
                f" FROM (SELECT i, ([{told}])[1 + i % {len(DATES)}] AS d FROM range(70) t(i))"
            )
        }
    )
    policy = rules(d=Column(type="date"), z=Column(type="timestamp"), s=Column(type="text"))
    failed = 0
    for question in ODD:
        plan = planned(question, policy)
        try:
            found = exact_of(plan, engine.run(statement_of(plan, "duckdb", 1), seconds=60)).units
            failed += any(isinstance(key, str) for keys in found for key in keys)
        except duckdb.Error:
            failed += 1
    engine.close()
    return failed


def test_dates_beyond_the_calendar_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert failures() == 0
    monkeypatch.setattr("indistinct.queries.engines.duckdb.presented", lambda column, *_, **__: f"{column}")
    assert failures() >= 3


def test_a_draft_says_what_will_be_found(tmp_path: Path) -> None:
    for name, (kind, values) in UNITS.items():
        file = tmp_path / f"{name}.parquet"
        duckdb.execute(f"COPY (SELECT unnest({listed(kind, values)}) AS u, u AS x) TO '{file}' (FORMAT parquet)")
        text = draft_policy(file, unit="u", epsilon=1, delta="1e-6")
        policy = parse_policy(text, folder=tmp_path).policy
        assert policy is not None
        with indistinct.open(policy=policy) as database:
            assert database.sql(f"SELECT COUNT(*), COUNT(x) FROM {name}").rows


def test_what_a_database_has_written_ahead_is_another_state(tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE shop AS SELECT i AS u FROM range(1000) t(i)")
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6) as database:
        first = database.sql("SELECT COUNT(*) FROM shop")
    program = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute(\"SET wal_autocheckpoint = '1GB'\");"
        "c.execute('INSERT INTO shop SELECT i + 1000 FROM range(9000) t(i)'); os._exit(0)"
    )
    before = file.stat()
    subprocess.run([sys.executable, "-c", program, str(file)], check=True, timeout=60)
    assert Path(f"{file}.wal").stat().st_size > 0
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6) as database:
        again = database.sql("SELECT COUNT(*) FROM shop")
    assert not again.receipt.free
    assert again.rows[0][0] > first.rows[0][0] + 5000
