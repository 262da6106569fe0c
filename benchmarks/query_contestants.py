"""One measurement of `queries.py`, in a process of its own: reads what is asked as JSON, prints what was found."""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import query_errors

Found = dict[str, Any]
REGIONS = query_errors.REGIONS
EPSILON, DELTA = 1, 1e-6
CLAMPED = "least(greatest(amount, 0), 100)"

# One row of each user, by a salted hash; then the regions of the list.
ONE_ROW_BY_HAND = f"""
    WITH one AS (
        SELECT arg_min(region, hash(order_id, 42)) AS region, arg_min({CLAMPED}, hash(order_id, 42)) AS amount
        FROM sales GROUP BY user_id
    )
    SELECT region, count(*), sum(amount) FROM one WHERE region IN (SELECT unnest(?)) GROUP BY region
"""

# Ten rows of a user and product, then five products of each user, as every tutorial bounds contributions.
WINDOWS_BY_HAND = f"""
    WITH rows_of AS (
        SELECT user_id, product, {CLAMPED} AS amount,
               row_number() OVER (PARTITION BY user_id, product ORDER BY hash(order_id, 42)) AS place
        FROM sales
    ), groups_of AS (
        SELECT user_id, product, count(*) AS n, sum(amount) AS total,
               row_number() OVER (PARTITION BY user_id ORDER BY hash(product, user_id, 42)) AS place
        FROM rows_of WHERE place <= 10 GROUP BY user_id, product
    )
    SELECT product, count(*) AS users, sum(n), sum(total) FROM groups_of WHERE place <= 5
    GROUP BY product HAVING count(*) >= 30
"""


# The same in Spark: the row of each user with the least hash, and windows.
ONE_ROW_IN_SPARK = f"""
    WITH one AS (
        SELECT min_by(region, xxhash64(order_id, 42)) AS region, min_by({CLAMPED}, xxhash64(order_id, 42)) AS amount
        FROM sales GROUP BY user_id
    )
    SELECT region, count(*), sum(amount) FROM one WHERE region IN ({", ".join(map(repr, REGIONS))}) GROUP BY region
"""
WINDOWS_IN_SPARK = WINDOWS_BY_HAND.replace("hash(", "xxhash64(")


def timed(work: Callable[[], Any], runs: int) -> Found:
    """The median of so many runs, and how many rows come of it."""
    seconds, rows = [], 0
    for _ in range(runs):
        start = time.perf_counter()
        rows = len(work())
        seconds.append(time.perf_counter() - start)
    return {"s": statistics.median(seconds), "rows": rows, "MiB": peak_mib()}


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def by_hand(task: str, table: Path, runs: int) -> Found:
    """What somebody writes who knows DuckDB: bounded, and without noise."""
    import duckdb

    engine = duckdb.connect(config={"threads": 1})
    engine.read_parquet(str(table)).create_view("sales")
    if task == "regions":
        return timed(lambda: engine.execute(ONE_ROW_BY_HAND, [REGIONS]).fetchall(), runs)
    return timed(lambda: engine.execute(WINDOWS_BY_HAND).fetchall(), runs)


def spark_session() -> Any:
    """Two cores of this machine, compiled, and nothing else that differs from what Spark is by itself."""
    import os
    import subprocess

    from pyspark.sql import SparkSession

    java = Path(__file__).parent.parent / "scripts" / "java"
    os.environ["JAVA_HOME"] = subprocess.run([java], capture_output=True, text=True, check=True).stdout.strip()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "8",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def spark_by_hand(task: str, table: Path, runs: int) -> Found:
    """What somebody writes who knows Spark: bounded, and without noise."""
    session = spark_session()
    session.read.parquet(str(table)).createOrReplaceTempView("sales")
    question = ONE_ROW_IN_SPARK if task == "regions" else WINDOWS_IN_SPARK
    session.sql(question).collect()  # the first run compiles
    return timed(lambda: session.sql(question).collect(), runs)


def spark(task: str, table: Path, runs: int) -> Found:
    """Ours, on Spark."""
    frame = spark_session().read.parquet(str(table))
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder, "sales.ledger")
        with opened(task, table, ledger, questions=20, frame=frame) as database:
            database.sql(QUESTIONS[task], fresh=True)
            return timed(lambda: database.sql(QUESTIONS[task], fresh=True).rows, runs)


SUMS = "COUNT(*) AS orders, SUM(CLAMP(amount, 0, 100)) AS amount"
QUESTIONS = {
    "regions": f"SELECT region, {SUMS} FROM sales GROUP BY region",
    "products": f"SELECT product, {SUMS} FROM sales GROUP BY product",
    "orders": "SELECT order_id, COUNT(*) AS n FROM sales GROUP BY order_id",
    "overhead": f"SELECT region, {SUMS} FROM sales GROUP BY region",
}
CONTRIBUTIONS = {"regions": (1, 1), "products": (5, 10), "orders": (5, 1), "overhead": (1, 1)}


class Watched:
    """An engine that knows how long its statements took."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.seconds = 0.0

    def run(self, statement: str, *, seconds: float) -> list[Any]:
        start = time.perf_counter()
        try:
            return self._engine.run(statement, seconds=seconds)
        finally:
            self.seconds += time.perf_counter() - start

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def opened(task: str, table: Path, ledger: Path, *, questions: int, frame: object = None) -> Any:
    from indistinct import queries
    from indistinct.queries.engines.duckdb import DuckDBEngine

    groups, rows = CONTRIBUTIONS[task]
    sales = queries.PrivateTable(
        name="sales",
        unit="user_id",
        columns={
            "user_id": queries.Column(type="integer"),
            "region": queries.Column(type="text", keys=tuple(REGIONS)),
            "product": queries.Column(type="integer"),
            "amount": queries.Column(type="real", low=0, high=100, step=0.01),
            "order_id": queries.Column(type="integer"),
        },
        contribution=queries.Contribution(groups=groups, rows=rows),
    )
    policy = queries.Policy(tables=(sales,), budget=queries.Budget(epsilon=EPSILON, delta=DELTA, rule="zcdp"))
    if frame is not None:
        return queries.open({"sales": frame}, policy=policy, ledger=ledger, questions=questions)
    engine = Watched(DuckDBEngine({"sales": table}, threads=1))
    return queries.open({"sales": table}, policy=policy, ledger=ledger, questions=questions, engine=engine)


def indistinct(task: str, table: Path, runs: int) -> Found:
    """Ours. Each run is a question of its own, so that no answer is repeated for free."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder, "sales.ledger")
        if task == "error":
            return {**query_errors.ours(table, Path(folder), rule=None), "MiB": peak_mib()}
        if task == "overhead":
            return overhead(table, ledger)
        with opened(task, table, ledger, questions=20) as database:
            return timed(lambda: database.sql(QUESTIONS[task], fresh=True).rows, runs)


def overhead(table: Path, ledger: Path) -> Found:
    """What a question takes beside its statement: each is another text, so nothing is remembered."""
    with opened("overhead", table, ledger, questions=200) as database:
        database.sql(QUESTIONS["overhead"])
        spent = []
        for number in range(40):
            database.engine.seconds = 0.0
            start = time.perf_counter()
            database.sql(f"SELECT region, {SUMS} FROM sales WHERE product > {number} GROUP BY region")
            spent.append(1000 * (time.perf_counter() - start - database.engine.seconds))
    return {"ms": statistics.median(spent), "ms at most": max(spent), "MiB": peak_mib()}


def in_rho(_: str, table: Path, __: int) -> Found:
    """Ours with a budget of zero-concentrated privacy, which is made for many questions, spent on one."""
    with tempfile.TemporaryDirectory() as folder:
        return {**query_errors.ours(table, Path(folder), rule="zcdp"), "MiB": peak_mib()}


def agreement(_: str, table: Path, __: int) -> Found:
    """Ours and OpenDP's, where both are nearly exact."""
    with tempfile.TemporaryDirectory() as folder:
        return query_errors.agreement(table, Path(folder))


def peer(answer: Callable[[Path], Found]) -> Callable[[str, Path, int], Found]:
    """Another library, asked for its errors."""
    return lambda _, table, __: {**answer(table), "MiB": peak_mib()}


CONTESTANTS: dict[str, Callable[[str, Path, int], Found]] = {
    "indistinct": indistinct,
    "indistinct, in rho": in_rho,
    "indistinct and opendp": agreement,
    "by hand": by_hand,
    "indistinct on Spark": spark,
    "by hand in Spark": spark_by_hand,
    "opendp": peer(query_errors.opendp),
    "diffprivlib": peer(query_errors.diffprivlib),
    "pipelinedp": peer(query_errors.pipelinedp),
}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    answer = CONTESTANTS[asked["contestant"]](asked["task"], Path(asked["table"]), asked["runs"])
    print("\nRESULT " + json.dumps(answer))
