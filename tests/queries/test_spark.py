"""Private tables in Spark: types, settings of the user's session, and jobs that are slow or fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import indistinct
from indistinct.errors import AnswerFailed, InvalidParameter
from indistinct.ledger import Ledger
from indistinct.queries import PrivateDatabase
from indistinct.queries.answers.release import exact_of
from indistinct.queries.engines.engine import Engine
from indistinct.queries.engines.spark import SparkEngine
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.plans.plan import Plan
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.queries.engines import duckdb_of, policy, spark_of, spark_session
from tests.queries.test_sensitivity import QUESTIONS, database

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture
def spark() -> Any:
    return spark_session()


@pytest.fixture
def sales(spark: Any) -> Any:
    return spark.sql(
        "SELECT id % 500 AS user_id, concat('r', id % 3) AS region, CAST(id % 100 AS DECIMAL(9, 2)) AS amount"
        " FROM range(5000)"
    )


def opened(frame: Any, tmp_path: Path, **options: Any) -> PrivateDatabase:
    given = {"unit": "user_id", "epsilon": 1, "delta": 1e-6, "ledger": tmp_path / "s.ledger", "name": "sales"}
    return indistinct.open(frame, **{**given, **options})


COUNT = "SELECT COUNT(*) FROM sales"


def test_a_frame_is_asked_and_a_repeated_question_is_paid_for(sales: Any, tmp_path: Path) -> None:
    """That a frame has not changed cannot be known, so there is nothing to repeat."""
    with opened(sales, tmp_path, groups=3, rows=10) as shop:
        answer = shop.sql(
            "SELECT region, COUNT(*) AS n, AVG(CLAMP(amount, 0, 100)) AS mean FROM sales GROUP BY region",
            keys={"region": ["r0", "r1", "r2"]},
            rho="0.015",
        )
        assert [row[0] for row in answer.rows] == ["r0", "r1", "r2"]
        assert sum(row[1] for row in answer.rows) == pytest.approx(5000, abs=1500)
        assert not shop.sql(COUNT).receipt.free
        assert not shop.sql(COUNT).receipt.free
        left = shop.remaining
    with opened(sales, tmp_path, groups=3, rows=10) as shop:
        assert shop.remaining == left


def test_a_table_of_a_session_is_asked(spark: Any, sales: Any, tmp_path: Path) -> None:
    sales.createOrReplaceTempView("sales")
    with indistinct.open(spark, table="sales", unit="user_id", epsilon=1, delta=1e-6) as shop:
        assert shop.sql(COUNT).rows
    rules = indistinct.queries.Policy(
        tables=(
            indistinct.queries.PrivateTable(
                name="orders",
                unit="user_id",
                columns={"user_id": indistinct.queries.Column(type="integer")},
                source="sales",
            ),
        ),
        budget=indistinct.queries.Budget(epsilon=1, delta=1e-6),
    )
    with indistinct.open(spark, policy=rules, ledger=tmp_path / "s.ledger") as shop:
        assert shop.sql("SELECT COUNT(*) FROM orders").rows
    with pytest.raises(InvalidParameter, match="Say table"):
        indistinct.open(spark, unit="user_id", epsilon=1, delta=1e-6)
    with pytest.raises(InvalidParameter, match="name a table or view"):
        indistinct.open(spark, table="nowhere", unit="user_id", epsilon=1, delta=1e-6)
    spark.catalog.dropTempView("sales")


def exact(engine: Engine, plan: Plan) -> tuple[Any, ...]:
    found = exact_of(plan, engine.run(statement_of(plan, engine.dialect, 1), seconds=60))
    return found.units, found.numbers, found.weights


USERS_OWN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
}


@pytest.fixture
def settings_of_the_user(spark: Any) -> Iterator[dict[str, str]]:
    before = {key: spark.conf.get(key, None) for key in USERS_OWN}
    yield USERS_OWN
    for key, value in before.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)


def test_the_users_settings_change_nothing_and_stay(spark: Any, settings_of_the_user: dict[str, str]) -> None:
    """Also with compiled plans and adaptive execution, which the rest of the suite does without."""
    plans = [plan_question(read_statement(QUESTIONS[name]), policy(groups=1)) for name in ("moments", "expressions")]
    backslash = "SELECT COUNT(*) FROM visits WHERE ward <> 'it''s; --' AND ward <> 'a\\'"
    plans.append(plan_question(read_statement(backslash), policy()))
    tables = database(3)
    frames = spark_of(tables)
    frames.close()
    for key, value in settings_of_the_user.items():
        spark.conf.set(key, value)
    views = {each.name for each in spark.catalog.listTables("global_temp")}
    with closing(duckdb_of(tables)) as here, closing(spark_of_frames(tables, settings_of_the_user, spark)) as there:
        assert [exact(here, plan) for plan in plans] == [exact(there, plan) for plan in plans]
    assert {key: spark.conf.get(key) for key in settings_of_the_user} == settings_of_the_user
    assert {each.name for each in spark.catalog.listTables("global_temp")} == views


def spark_of_frames(tables: Any, settings: dict[str, str], spark: Any) -> Engine:
    """The frames are made with literals that only the default settings read."""
    spark.conf.set("spark.sql.parser.escapedStringLiterals", "false")
    try:
        return spark_of(tables)
    finally:
        spark.conf.set("spark.sql.parser.escapedStringLiterals", settings["spark.sql.parser.escapedStringLiterals"])


ODD_TYPES = {
    "tiny": ("CAST(1 AS TINYINT)", "integer", 1),
    "single": ("CAST(0.1 AS FLOAT)", "real", 0.10000000149011612),
    "exact": ("CAST(0.1 AS DECIMAL(38, 18))", "real", 0.1),
    "folded": ("'A' COLLATE UTF8_LCASE", "text", "A"),
    "broken": ("CAST(X'ff41' AS STRING)", "text", None),
    "yes": ("TRUE", "boolean", True),
    "day": ("DATE'-0044-03-15'", "date", None),
    "local": ("TIMESTAMP'2020-02-29 23:30:00-05:00'", "timestamp", "2020-03-01T04:30:00"),
    "plain": ("TIMESTAMP_NTZ'2020-02-29 23:30:00'", "timestamp", "2020-02-29T23:30:00"),
    "far": ("TIMESTAMP_NTZ'+12020-02-29 23:30:00'", "timestamp", None),
    "we`ird n.ame": ("1", "integer", 1),
}
LEFT_OUT = ["array(1)", "map(1, 2)", "named_struct('a', 1)", "X'00'", "INTERVAL '1' DAY", "NULL"]


def test_every_type_is_presented_or_left_out(spark: Any) -> None:
    odd = [f"{told} AS `{name.replace('`', '``')}`" for name, (told, _, _) in ODD_TYPES.items()]
    frame = spark.sql(f"SELECT {', '.join(odd)}, {', '.join(f'{each} AS left{i}' for i, each in enumerate(LEFT_OUT))}")
    with closing(SparkEngine({"od`d": frame})) as engine:
        assert dict(engine.columns("od`d")) == {name: kind for name, (_, kind, _) in ODD_TYPES.items()}
        ((*found,),) = engine.run("SELECT * FROM `od``d`", seconds=60)
        assert engine.run("SELECT COUNT(*) FROM `od``d` WHERE folded = 'a'", seconds=60) == [(0,)]
    told = [each.isoformat() if hasattr(each, "isoformat") else each for each in found]
    assert told == [value for _, _, value in ODD_TYPES.values()]


def test_a_question_that_takes_too_long_is_stopped_and_charged(spark: Any, tmp_path: Path) -> None:
    slow = spark.sql("SELECT id AS user_id FROM range(1000000000000)")
    with opened(slow, tmp_path, seconds=1) as shop:
        left = shop.remaining
        start = time.monotonic()
        with pytest.raises(AnswerFailed):
            shop.sql(COUNT)
        assert time.monotonic() - start < 30
        assert shop.remaining["rho"] < left["rho"]
    assert not jobs(spark)


def jobs(spark: Any) -> list[int]:
    return list(spark.sparkContext.statusTracker().getActiveJobsIds())


def test_the_users_own_jobs_are_left_alone(spark: Any, tmp_path: Path) -> None:
    mine = spark.sparkContext
    mine.setJobGroup("mine", "the user's own")
    slow = spark.sql("SELECT id AS user_id FROM range(1000000000000)")
    with opened(slow, tmp_path, seconds=0.5) as shop, pytest.raises(AnswerFailed):
        shop.sql(COUNT)
    assert mine.getLocalProperty("spark.jobGroup.id") == "mine"
    assert spark.sql("SELECT COUNT(*) FROM range(10)").collect()[0][0] == 10
    mine.setLocalProperty("spark.jobGroup.id", None)


def test_a_task_that_fails_is_charged_and_says_nothing(spark: Any, tmp_path: Path) -> None:
    broken = spark.sql("SELECT id AS user_id, IF(id = 42, raise_error('Ann, 42, diabetes'), 1) AS x FROM range(100)")
    with opened(broken, tmp_path) as shop:
        left = shop.remaining
        with pytest.raises(AnswerFailed) as failed:
            shop.sql("SELECT SUM(CLAMP(x, 0, 1)) FROM sales")
        assert "Ann" not in str(failed.value)
        assert failed.value.__context__ is None
        assert shop.remaining["rho"] < left["rho"]
        assert shop.sql(COUNT).rows
    with Ledger.open(tmp_path / "s.ledger") as book:
        assert book.verify().charges == 2


def test_jobs_that_somebody_else_cancels_are_charged(spark: Any, tmp_path: Path) -> None:
    over = threading.Event()

    def cancel() -> None:
        while not over.wait(0.1):
            if jobs(spark):
                spark.sparkContext.cancelAllJobs()

    slow = spark.sql("SELECT id AS user_id FROM range(1000000000000)")
    thread = threading.Thread(target=cancel)
    with opened(slow, tmp_path, seconds=60) as shop:
        left = shop.remaining
        thread.start()
        try:
            with pytest.raises(AnswerFailed):
                shop.sql(COUNT)
        finally:
            over.set()
            thread.join()
        assert shop.remaining["rho"] < left["rho"]


def test_private_groups_of_few_units_stay_inside(spark: Any, tmp_path: Path) -> None:
    few = spark.sql("SELECT id AS user_id, IF(id < 2000, 'many', concat('name ', id)) AS g FROM range(2500)")
    seen: list[int] = []
    with opened(few, tmp_path) as shop:
        inner: Callable[..., list[tuple[Any, ...]]] = shop.engine.run

        def spy(statement: str, *, seconds: float) -> list[tuple[Any, ...]]:
            rows = inner(statement, seconds=seconds)
            seen.append(len(rows))
            return rows

        shop.engine.run = spy  # type: ignore[method-assign]
        answer = shop.sql("SELECT g, COUNT(*), QUANTILE(CLAMP(user_id, 0, 9), 0.5) FROM sales GROUP BY g")
    assert [row[0] for row in answer.rows] == ["many"]
    assert seen[0] <= 11


def test_what_spark_cannot_hold_is_refused(spark: Any, sales: Any, tmp_path: Path) -> None:
    class DataFrame:
        """A frame of Spark Connect, as far as can be seen."""

    DataFrame.__module__ = "pyspark.sql.connect.dataframe"
    for wrong, said in (
        (DataFrame(), "this process"),
        (spark.readStream.format("rate").load(), "no stream|not a stream"),
        (sales.select("user_id", "user_id"), "different names"),
        (spark.sql("SELECT array(1) AS x"), "column of numbers"),
        ({"sales": sales, "more": tmp_path / "x.csv"}, "several tables|one place"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            opened(wrong, tmp_path)
    assert not (tmp_path / "s.ledger").exists()
    with opened(sales, tmp_path) as shop:
        shop.engine.close()
        with pytest.raises(AnswerFailed):
            shop.sql(COUNT)
