"""Opening, asking, paying: a private database from end to end."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import indistinct
from indistinct.errors import AnswerFailed, BudgetExceeded, InvalidParameter
from indistinct.ledger import Ledger
from indistinct.queries import Policy, PrivateDatabase, QueryRefused
from indistinct.queries.answers.evaluation import Released, value_of
from indistinct.queries.answers.release import exact_of
from indistinct.queries.engines.duckdb import DuckDBEngine
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.noise.budget import SHARE, band
from tests.queries.engines import ENGINES, Rows, policy, sales
from tests.queries.test_sensitivity import QUESTIONS, database, without


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sales(tmp_path_factory.mktemp("sales"))


@pytest.fixture
def shop(file: Path, tmp_path: Path) -> Iterator[PrivateDatabase]:
    with indistinct.open(
        file, unit="user_id", epsilon=1, delta=1e-6, ledger=tmp_path / "s.ledger", groups=3, rows=5
    ) as opened:
        yield opened


KEYS = {"region": [f"r{i}" for i in range(7)]}


def test_an_answer_has_columns_rows_intervals_and_a_receipt(shop: PrivateDatabase) -> None:
    answer = shop.sql(
        "SELECT region, COUNT(*) AS n, AVG(CLAMP(amount, 0, 100)) AS mean FROM sales GROUP BY region", keys=KEYS
    )
    assert answer.columns == ("region", "n", "mean")
    assert [row[0] for row in answer.rows] == KEYS["region"]
    assert all(type(row[1]) is int and 0 <= row[2] <= 100 for row in answer.rows)
    ends = answer.intervals(0.9)
    assert all(low < row[1] < high for row, (low, high) in zip(answer.rows, ends["n"], strict=True))
    assert ends["region"] == [(None, None)] * 7
    assert set(answer.receipt.cost) == {"rho"}
    assert "discrete Gaussian" in str(answer.receipt)
    assert indistinct.ledger.read_receipt(answer.receipt.ledger).key == answer.receipt.charge
    assert "mean" in str(answer)
    assert "<table>" in answer._repr_html_()  # what a notebook calls


def test_the_same_question_is_free_and_has_the_same_answer(shop: PrivateDatabase, file: Path, tmp_path: Path) -> None:
    first = shop.sql("SELECT COUNT(*) FROM sales WHERE age > 30")
    left = shop.remaining
    again = shop.sql("select  count(*)  FROM sales s WHERE 30 < s.age  -- as before")
    assert again.rows == first.rows
    assert again.receipt.free
    assert shop.remaining == left
    assert shop.sql("SELECT COUNT(*) / 2 FROM sales WHERE age > 30").receipt.free
    fresh = shop.sql("SELECT COUNT(*) FROM sales WHERE age > 30", fresh=True)
    assert not fresh.receipt.free
    assert shop.remaining["rho"] < left["rho"]
    shop.close()
    with indistinct.open(file, unit="user_id", ledger=tmp_path / "s.ledger", groups=3, rows=5) as reopened:
        assert reopened.sql("SELECT COUNT(*) FROM sales WHERE age > 30").rows == first.rows
    assert len(shop.history) == 4


def test_nobody_overspends(shop: PrivateDatabase) -> None:
    for age in range(10):
        shop.sql(f"SELECT COUNT(*) FROM sales WHERE age > {age}")
    with pytest.raises(BudgetExceeded):
        shop.sql("SELECT COUNT(*) FROM sales WHERE age > 11")
    assert shop.sql("SELECT COUNT(*) FROM sales WHERE age > 3").receipt.free
    shop.explain("SELECT COUNT(*) FROM sales WHERE age > 11")
    shop.rehearse("SELECT COUNT(*) FROM sales WHERE age > 11")


def test_explanations_and_rehearsals_touch_nothing(shop: PrivateDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    left = shop.remaining
    monkeypatch.setattr(type(shop.engine), "run", refuse_to_run)
    told = shop.explain("SELECT region, COUNT(*) FROM sales GROUP BY region")
    assert "HAVING" in told.statement
    assert "never" in told.suppression
    assert told.errors["count(*)"] > 0
    monkeypatch.undo()
    made = shop.rehearse("SELECT region, COUNT(*) FROM sales GROUP BY region")
    assert made.columns == ("region", "count(*)")
    assert {row[0][:5] for row in made.rows} == {"value"}
    assert shop.remaining == left


def refuse_to_run(*_: object, **__: object) -> object:
    raise AssertionError("the data were touched")


def test_steps_and_sql_are_one_question(shop: PrivateDatabase) -> None:
    written = shop.sql(
        "SELECT region, COUNT(*), SUM(CLAMP(amount, 0, 100)) FROM sales WHERE age > 30 GROUP BY region", keys=KEYS
    )
    stepped = shop.table("sales").where("age > 30").group_by("region").count().sum("amount", 0, 100).answer(keys=KEYS)
    assert stepped.rows == written.rows
    assert stepped.receipt.free
    asked = (
        shop.table("sales")
        .group_by("region")
        .mean("amount", 0, 9, name="m")
        .having("m > 3")
        .order_by("m", descending=True)
        .limit(2)
    )
    assert len(asked.rehearse(keys=KEYS).rows) <= 2
    assert shop.table("sales").count_units().sql() == 'SELECT COUNT(DISTINCT "user_id") FROM "sales"'


def test_a_wanted_error_takes_the_least_cost(shop: PrivateDatabase) -> None:
    question = "SELECT COUNT(*) FROM sales WITH ERROR 300 AT 95%"
    told = shop.explain(question)
    assert 270 < told.errors["count(*)"] <= 300
    low, high = shop.sql(question).intervals(0.95)["count(*)"][0]
    assert (high - low) / 2 <= 300
    with pytest.raises(InvalidParameter, match="counts and sums"):
        shop.explain("SELECT AVG(CLAMP(amount, 0, 1)) FROM sales WITH ERROR 1")


def test_costs_are_what_was_asked(shop: PrivateDatabase) -> None:
    assert shop.explain("SELECT COUNT(*) FROM sales", rho="0.001").cost == {"rho": Fraction(1, 1000)}
    pure = shop.explain("SELECT COUNT(*), COUNT(age) FROM sales", epsilon="0.1")
    assert "geometric" in pure.mechanisms[0]
    assert pure.cost["rho"] < Fraction(1, 200)
    both = shop.explain("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1, delta=1e-7) COUNT(*) FROM sales")
    assert both.cost["rho"] < pure.cost["rho"]
    with pytest.raises(QueryRefused, match="unit of privacy"):
        shop.sql("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=region) COUNT(*) FROM sales")
    for wrong in ({"epsilon": -1}, {"rho": math.nan}, {"epsilon": math.inf}, {"epsilon": 1, "rho": 1}, {"rows": 0.5}):
        with pytest.raises(InvalidParameter):
            shop.sql("SELECT COUNT(*) FROM sales", **wrong)


def test_pure_budgets_take_geometric_noise(file: Path, tmp_path: Path) -> None:
    with indistinct.open(file, unit="user_id", epsilon=1, ledger=tmp_path / "pure.ledger") as opened:
        told = opened.explain("SELECT COUNT(*), MEDIAN(CLAMP(age, 0, 90)) FROM sales")
        assert told.cost == {"epsilon": Fraction(1, 10)}
        assert "geometric" in told.mechanisms[0]
        assert "permute-and-flip" in told.mechanisms[1]
        with pytest.raises(InvalidParameter, match="Declare the keys"):
            opened.explain("SELECT region, COUNT(*) FROM sales GROUP BY region")


def test_a_watch_is_paid_for_once(shop: PrivateDatabase) -> None:
    watch = shop.watch("SELECT COUNT(*) FROM sales", 2 * 10**6, epsilon="0.1")
    left = shop.remaining
    assert [watch.ask() for _ in range(20)] == [False] * 20
    assert shop.remaining == left
    above = shop.watch("SELECT SUM(CLAMP(amount, 0, 100)) FROM sales", -(10**6), epsilon="0.1")
    assert above.ask()
    with pytest.raises(InvalidParameter, match="over"):
        above.ask()
    with pytest.raises(QueryRefused):
        shop.watch("SELECT region, COUNT(*) FROM sales GROUP BY region", 1, epsilon=1)


def test_an_engine_that_fails_is_charged_and_says_nothing(
    shop: PrivateDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = shop.remaining

    def die(*_: object, **__: object) -> object:
        raise RuntimeError("Conversion Error: could not read 'Ann, 42, diabetes'")

    monkeypatch.setattr(type(shop.engine), "run", die)
    with pytest.raises(AnswerFailed) as failed:
        shop.sql("SELECT COUNT(*) FROM sales")
    assert "Ann" not in str(failed.value)
    assert failed.value.__context__ is None
    assert failed.value.__cause__ is None
    assert shop.remaining["rho"] < left["rho"]
    monkeypatch.undo()
    with pytest.raises(AnswerFailed):
        shop.sql("SELECT COUNT(*) FROM sales")
    assert shop.sql("SELECT COUNT(*) FROM sales", fresh=True).rows


def test_a_question_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    file = sales(tmp_path, rows=400_000, users=400_000, regions=40_000)
    with indistinct.open(file, unit="user_id", epsilon=1, delta=1e-6, seconds=0.001) as opened:
        left = opened.remaining
        with pytest.raises(AnswerFailed):
            opened.sql("SELECT region, COUNT(*) FROM sales GROUP BY region")
        assert opened.remaining["rho"] < left["rho"]


NOBODY: dict[str, Rows] = {"visits": [], "people": [], "towns": []}


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_neighbours_look_alike(name: str, engine: str) -> None:
    """Columns, rows' order and refusals are those of the policy: an empty database shows the same, on every engine."""
    shapes = [shape_of(tables, name, engine) for tables in (database(5), without(database(5), 1), NOBODY)]
    assert shapes[0] == shapes[1] == shapes[2] == shape_of(NOBODY, name, "duckdb")


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("name", ["counts", "left join"])
def test_neighbours_look_alike_on_spark(name: str) -> None:
    test_neighbours_look_alike(name, "spark")


def shape_of(tables: Mapping[str, Rows], name: str, engine: str) -> Any:
    rules = policy(keys=True)
    with indistinct.open({table: [] for table in tables}, policy=rules, engine=ENGINES[engine](tables)) as opened:
        answer = opened.sql(QUESTIONS[name], keys=public_keys(name))
        return answer.columns, [row[: len(public_keys(name))] for row in answer.rows]


def public_keys(name: str) -> dict[str, list[Any]]:
    found: dict[str, dict[str, list[Any]]] = {
        "several keys": {"day": [None], "urgent": [True, False, None]},
        "public join": {"canton": ["A", "B"]},
        "left join": {"canton": ["A", "B"]},
        "private join": {"town": ["x", "y"]},
        "sub-query": {},
    }
    return found.get(name, {})


def test_private_groups_of_few_units_stay_inside(tmp_path: Path) -> None:
    file = tmp_path / "few.parquet"
    duckdb.execute(
        f"COPY (SELECT i AS u, CASE WHEN i < 2000 THEN 'many' ELSE 'name ' || i END AS g"
        f" FROM range(2500) t(i)) TO '{file}'"
    )
    seen: list[int] = []
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6, name="few") as opened:
        inner: Callable[..., list[tuple[Any, ...]]] = opened.engine.run
        spy = Spy(inner, seen)
        opened.engine.run = spy  # type: ignore[method-assign]
        answer = opened.sql("SELECT g, COUNT(*) FROM few GROUP BY g")
    assert [row[0] for row in answer.rows] == ["many"]
    assert seen == [1]


class Spy:
    def __init__(self, run: Callable[..., list[tuple[Any, ...]]], seen: list[int]) -> None:
        self.run, self.seen = run, seen

    def __call__(self, statement: str, *, seconds: float) -> list[tuple[Any, ...]]:
        rows = self.run(statement, seconds=seconds)
        self.seen.append(len(rows))
        return rows


def noisy_and_exact(path: Path, question: str, *, groups: int) -> tuple[Any, list[Released], Any]:
    file = path / "many.parquet"
    duckdb.execute(
        f"COPY (SELECT i AS u, i % {groups} AS g, (i * 31) % 97 AS x, (i * 7) % 50 AS y"
        f" FROM range({40 * groups}) t(i)) TO '{file}'"
    )
    with indistinct.open(file, unit="u", epsilon=20, delta=1e-6, name="many") as opened:
        keys = {"g": list(range(groups))}
        answer = opened.sql(question, keys=keys)
        plan = answer._plan  # noqa: SLF001  # to compare with the exact numbers
        rows = exact_of(plan, opened.engine.run(statement_of(plan, "duckdb", 1), seconds=60))
        return answer, [Released(key, rows.numbers[key], ()) for key in plan.public_groups()], plan


def coverage(answer: Any, truth: list[Released], plan: Any, *, narrowed: float = 1) -> dict[str, float]:
    """How often the interval holds what the exact numbers give."""
    found = {}
    for output, ends in zip(plan.outputs[1:], list(answer.intervals(0.9).values())[1:], strict=True):
        hits = 0
        for group, (low, high) in zip(truth, ends, strict=True):
            value: Any = value_of(output.outcome, group, plan)
            middle, reach = (low + high) / 2, (high - low) / 2 * narrowed
            hits += middle - reach <= value <= middle + reach
        found[output.name] = hits / len(truth)
    return found


def test_intervals_hold_the_exact_value_as_often_as_they_say(tmp_path: Path) -> None:
    question = (
        "SELECT g, COUNT(*) AS n, SUM(CLAMP(x, 0, 96)) AS s, AVG(CLAMP(y, 0, 49)) AS a, STDDEV(CLAMP(y, 0, 49)) AS d,"
        " SUM(CLAMP(x, 0, 96)) / COUNT(*) AS r, ROUND(ABS(COUNT(*) - 100), 0) AS p FROM many GROUP BY g"
    )
    answer, truth, plan = noisy_and_exact(tmp_path, question, groups=2000)
    slack = math.sqrt(math.log(1 / SHARE) / (2 * len(truth)))
    found = coverage(answer, truth, plan)
    assert all(share >= 0.9 - slack for share in found.values()), found
    too_narrow = coverage(answer, truth, plan, narrowed=0.4)
    assert too_narrow["n"] < 0.9 - slack
    assert too_narrow["s"] < 0.9 - slack


def test_the_noise_of_answers_has_the_stated_law(tmp_path: Path) -> None:
    """From the SQL to the rows: the distance from the exact counts is Gaussian of the sigma that is charged for."""
    answer, truth, plan = noisy_and_exact(tmp_path, "SELECT g, COUNT(*) AS n FROM many GROUP BY g", groups=20_000)
    noise = [row[1] - group.numbers[0] for row, group in zip(answer.rows, truth, strict=True)]
    sigma = float(answer._noises[0].sigma)  # noqa: SLF001  # of the receipt
    assert float(answer.receipt.cost["rho"]) >= plan.groups / (2 * sigma**2) * (1 - 1e-12)

    def distance(deviation: float) -> float:
        steps = range(-int(8 * sigma), int(8 * sigma) + 1)
        weights = [math.exp(-(i**2) / (2 * deviation**2)) for i in steps]
        total, below, worst = sum(weights), 0.0, 0.0
        for i, weight in zip(steps, weights, strict=True):
            below += weight / total
            worst = max(worst, abs(sum(1 for each in noise if each <= i) / len(noise) - below))
        return worst

    allowed = band(len(noise))
    assert distance(sigma) <= allowed
    assert distance(0.8 * sigma) > allowed
    assert distance(1.25 * sigma) > allowed


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


def test_another_budget_is_refused(file: Path, tmp_path: Path) -> None:
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


def test_the_engine_cannot_reach_other_files(shop: PrivateDatabase, tmp_path: Path) -> None:
    other = tmp_path / "secret.csv"
    other.write_text("a\n1\n")
    for statement in (
        f"SELECT * FROM read_csv('{other}')",
        f"ATTACH '{other}.db'",
        f"COPY (SELECT 1) TO '{other}'",
        "SET enable_external_access = true",
        "SET threads = 9",
        "INSTALL httpfs",
    ):
        with pytest.raises(duckdb.Error):
            shop.engine.run(statement, seconds=10)


def test_hostile_names_stay_names() -> None:
    table = arrow("""SELECT i AS "u"";--", i % 2 AS "select", 'x' AS "a'b" FROM range(50) t(i)""")
    with indistinct.open(table, unit='u";--', epsilon=1, delta=1e-6, name='t"; DROP TABLE x; --') as opened:
        name = opened.policy.tables[0].name.replace('"', '""')
        answer = opened.sql(
            f'SELECT "select" AS "g""h", COUNT("a\'b") FROM "{name}" GROUP BY 1', keys={"select": [0, 1]}
        )
        assert answer.columns[0] == 'g"h'
        assert len(answer.rows) == 2


def test_threads_share_a_database(shop: PrivateDatabase) -> None:
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(shop.sql("SELECT COUNT(*) FROM sales WHERE age < 9").rows))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert len(set(answers)) == 1


def test_answers_are_arrow_tables(shop: PrivateDatabase) -> None:
    answer = shop.sql("SELECT region, COUNT(*) AS n FROM sales GROUP BY region", keys=KEYS)
    read = duckdb.connect(":memory:")
    read.register("answer", answer)
    assert read.execute("SELECT * FROM answer").fetchall() == list(answer.rows)


def test_policies_keep_analysts_apart(file: Path, tmp_path: Path) -> None:
    rules = Policy(
        tables=(
            indistinct.queries.PrivateTable(
                name="sales",
                unit="user_id",
                columns={
                    "user_id": indistinct.queries.Column(type="integer"),
                    "age": indistinct.queries.Column(type="integer"),
                },
            ),
        ),
        budget=indistinct.queries.Budget(epsilon=1, delta=1e-6),
        analysts=(
            indistinct.queries.Analyst(name="ann", budget=indistinct.queries.Budget(epsilon=0.1, delta=1e-7)),
            indistinct.queries.Analyst(name="bob"),
        ),
    )
    with indistinct.open(file, policy=rules, ledger=tmp_path / "p.ledger", analyst="ann") as ann:
        least = ann.remaining["rho"]
        ann.sql("SELECT COUNT(*) FROM sales", rho=least)
        with pytest.raises(BudgetExceeded):
            ann.sql("SELECT COUNT(*) FROM sales WHERE age > 1", rho="0.00001")
    with (
        indistinct.open(file, policy=rules, ledger=tmp_path / "p.ledger", analyst="eve") as eve,
        pytest.raises(InvalidParameter),
    ):
        eve.sql("SELECT COUNT(*) FROM sales")
    with indistinct.open(file, policy=rules, ledger=tmp_path / "p.ledger", analyst="bob") as bob:
        assert bob.remaining["rho"] > least
        assert bob.sql("SELECT COUNT(*) FROM sales WHERE age > 1", rho="0.00001").rows


def test_plans_of_equal_questions_are_equal() -> None:
    first, second = (
        plan_question(read_statement(text), policy())
        for text in (
            "SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 1 GROUP BY ward ORDER BY n",
            "select count(*), v.ward from visits as v where 1 < (v.cost) group by 2",
        )
    )
    assert first.fingerprint() == second.fingerprint()
