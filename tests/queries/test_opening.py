"""Opening: files and frames, ledgers beside them, and what is refused before anything is made."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

import indistinct
from indistinct.errors import AnswerFailed, DataUnavailable, InvalidParameter
from indistinct.ledger import Ledger
from indistinct.queries.engines.duckdb import DuckDBEngine
from tests.queries.engines import sales

BAD_OPENINGS: dict[str, tuple[dict[str, Any], str]] = {
    "no unit": ({"epsilon": 1, "delta": 1e-6}, "user_id"),
    "unknown unit": ({"unit": "nobody", "epsilon": 1, "delta": 1e-6}, "user_id"),
    "no budget": ({"unit": "user_id"}, "no ledger yet"),
    "negative": ({"unit": "user_id", "epsilon": -1, "delta": 0}, "positive"),
    "infinite": ({"unit": "user_id", "epsilon": math.inf, "delta": 0}, "epsilon"),
    "not a number": ({"unit": "user_id", "epsilon": math.nan, "delta": 0}, "epsilon"),
    "delta of one": ({"unit": "user_id", "epsilon": 1, "delta": 1}, "delta"),
    "no groups": ({"unit": "user_id", "epsilon": 1, "delta": 0, "groups": 0}, "groups"),
}


@pytest.mark.parametrize("case", BAD_OPENINGS)
def test_bad_openings(case: str, tmp_path: Path) -> None:
    options, said = BAD_OPENINGS[case]
    file = sales(tmp_path, rows=10)
    with pytest.raises(InvalidParameter, match=said):
        indistinct.open(file, **options)
    assert not Path(f"{file}.ledger").exists()


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for name, content in (
        ("missing.parquet", None),
        ("broken.parquet", b"nothing"),
        ("x.xlsx", b""),
        ("empty.csv", b""),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidParameter, match=r"source|unit"):
            indistinct.open(tmp_path / name, unit="u", epsilon=1, delta=1e-6)


def test_another_budget_is_refused(tmp_path: Path) -> None:
    file = sales(tmp_path, rows=10)
    place = tmp_path / "b.ledger"
    indistinct.open(file, unit="user_id", epsilon=1, delta=1e-6, ledger=place).close()
    with pytest.raises(InvalidParameter, match="in the ledger already"):
        indistinct.open(file, unit="user_id", epsilon=2, delta=1e-6, ledger=place)


def test_files_keep_their_ledger_beside_them(tmp_path: Path) -> None:
    file = sales(tmp_path, rows=50)
    with indistinct.open(file, unit="user_id", epsilon=1, delta=1e-6) as opened:
        opened.sql("SELECT COUNT(*) FROM sales")
        left = opened.remaining
    with indistinct.open(file, unit="user_id") as opened:
        assert opened.remaining == left
    with Ledger.open(f"{file}.ledger") as book:
        assert book.verify().charges == 1


def test_csv_rows_that_are_no_numbers_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text(
        "u,x,at\n1,5,2020-01-01T10:00:00+02:00\n2,abc,\n3,,x\n4,nan,2020-01-01\n5,inf,\n,7,\n" + "6,3,\n" * 5
    )
    engine = DuckDBEngine({"odd": file}, types={"odd": {"x": "real", "at": "timestamp", "u": "integer"}})
    with indistinct.open(file, unit="u", epsilon=10**6, delta=0, name="odd", engine=engine) as opened:
        answer = opened.sql(
            "SELECT COUNT(*), COUNT(x), SUM(CLAMP(x, 0, 10)) FROM odd WHERE at IS NULL OR HOUR(at) < 9", epsilon=10**5
        )
        # 6 people with a unit; of x: 5, inf (moved to 10), 3
        people, known, total = answer.rows[0]
        assert (people, known) == (6, 3)
        assert abs(total - 18) < 0.01


@pytest.mark.parametrize("kept", [0, 10**6])
@pytest.mark.parametrize("asked", ["SUM(CLAMP(x, 0, 10))", "COUNT(x)", "SUM(CLAMP(k, 0, 10))", "COUNT(at)"])
def test_no_spelling_of_a_csv_value_ends_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int, asked: str
) -> None:
    monkeypatch.setattr("indistinct.queries.engines.duckdb._LARGEST_KEPT", kept)
    file = tmp_path / "odd.csv"
    file.write_text("u,x,k,at\n" + "".join(f"{i},1,1,2020-01-01\n" for i in range(30)) + "30,one,two,three\n,,,\n")
    engine = DuckDBEngine(
        {"odd": file}, types={"odd": {"u": "integer", "x": "real", "k": "integer", "at": "timestamp"}}
    )
    with indistinct.open(file, unit="u", epsilon=10**6, delta=0, name="odd", engine=engine) as opened:
        ((told,),) = opened.sql(f"SELECT {asked} FROM odd", epsilon=10**5).rows
        assert abs(told - 30) < 0.01


@pytest.mark.parametrize("kept", [0, 10**6])
def test_a_csv_file_that_changes_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr("indistinct.queries.engines.duckdb._LARGEST_KEPT", kept)
    file = tmp_path / "people.csv"
    file.write_text("u,age\n" + "".join(f"{i},40\n" for i in range(50)))
    with indistinct.open(file, unit="u", epsilon=10**6, delta=0) as opened:

        def count() -> int:
            found: int = opened.sql("SELECT COUNT(*) FROM people WHERE age = 40", epsilon=10**4).rows[0][0]
            return found

        assert count() == 50
        file.write_text("age;u\n" + "".join(f"40;{i}\n" for i in range(70)))  # written in another way, too
        assert count() == 70
        file.unlink()
        with pytest.raises(DataUnavailable, match="nothing was charged"):
            count()


def test_days_and_times_that_nobody_can_spell_are_missing() -> None:
    table = arrow(
        "SELECT * FROM (VALUES (1, DATE '0044-03-15 (BC)', TIMESTAMP 'infinity'), (2, DATE '294247-01-10', NULL),"
        " (3, 'infinity', '12020-02-29'), (4, '9999-12-31', '9999-12-31 23:59:59.999999')) t(u, d, moment)"
    )
    engine = DuckDBEngine({"days": table})
    assert engine.run("SELECT COUNT(d), COUNT(moment) FROM days", seconds=60) == [(1, 1)]
    engine.close()


def arrow(query: str) -> Any:
    relation = duckdb.sql(query)
    assert relation is not None
    return relation.to_arrow_table()


def test_frames_have_a_ledger_that_is_forgotten() -> None:
    table = arrow("SELECT i AS u, i % 3 AS g FROM range(100) t(i)")
    with indistinct.open(table, unit="u", epsilon=1, delta=1e-6) as opened:
        assert opened.sql("SELECT COUNT(*) FROM data").rows
    with indistinct.open(table.to_pandas(), unit=indistinct.ROW, epsilon=1, delta=1e-6, name="frame") as opened:
        assert len(opened.sql("SELECT g, COUNT(*) FROM frame GROUP BY g", keys={"g": [0, 1, 2]}).rows) == 3
    with pytest.raises(InvalidParameter, match="source"):
        indistinct.open(42, unit="u", epsilon=1, delta=1e-6)


def test_a_duckdb_file_and_a_changed_file(tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE orders AS SELECT i AS u, i % 5 AS x FROM range(200) t(i)")
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6, name="orders") as opened:
        assert opened.sql("SELECT COUNT(*) FROM orders").rows
    parquet = sales(tmp_path, rows=100)
    with indistinct.open(parquet, unit="user_id", epsilon=1, delta=1e-6) as opened:
        opened.sql("SELECT COUNT(*) FROM sales")
        duckdb.execute(f"COPY (SELECT 1 AS user_id, 2 AS renamed) TO '{parquet}'")
        os.utime(parquet, ns=(1, 1))
        with pytest.raises(AnswerFailed):
            opened.sql("SELECT COUNT(*) FROM sales WHERE region = 'r1'")


def test_hostile_names_stay_names() -> None:
    table = arrow("""SELECT i AS "u"";--", i % 2 AS "select", 'x' AS "a'b" FROM range(50) t(i)""")
    with indistinct.open(table, unit='u";--', epsilon=1, delta=1e-6, name='t"; DROP TABLE x; --') as opened:
        name = opened.policy.tables[0].name.replace('"', '""')
        answer = opened.sql(
            f'SELECT "select" AS "g""h", COUNT("a\'b") FROM "{name}" GROUP BY 1', keys={"select": [0, 1]}
        )
        assert answer.columns[0] == 'g"h'
        assert len(answer.rows) == 2
