"""Opening, asking, paying: a private database from end to end."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import indistinct
from indistinct.errors import AnswerFailed, BudgetExceeded, InvalidParameter
from indistinct.queries import Policy, PrivateDatabase, QueryRefused
from indistinct.queries.answers.selection import CountedSelection
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
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
    assert "box of 2 measures" in pure.mechanisms[0]
    assert "geometric" in shop.explain("SELECT COUNT(*) FROM sales", epsilon="0.1").mechanisms[0]
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


def test_one_noisy_number_of_units_is_shown_and_selects(tmp_path: Path) -> None:
    """COUNT(DISTINCT unit) beside private keys: no share for the selection, and no group below its threshold."""
    file = tmp_path / "wide.parquet"
    duckdb.execute(f"COPY (SELECT i AS u, CAST(floor(sqrt(i)) AS BIGINT) AS g FROM range(90000) t(i)) TO '{file}'")
    question = "SELECT g, COUNT(DISTINCT u) AS n FROM wide GROUP BY g"
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6, name="wide") as opened:
        answer = opened.sql(question)
        told = opened.explain(question)
        alone = opened.explain("SELECT COUNT(DISTINCT u) AS n FROM wide")
        apart = opened.explain("SELECT g, COUNT(*) AS n FROM wide GROUP BY g")
    selection = answer._allotment.selection  # noqa: SLF001  # of the receipt
    assert isinstance(selection, CountedSelection)
    assert told.errors["n"] == alone.errors["n"] < apart.errors["n"]
    assert min(number for _, number in answer.rows) >= selection.threshold
    counted, shown = {group: 2 * group + 1 for group in range(300)}, {group for group, _ in answer.rows}
    assert all(counted[group] >= selection.first for group in shown)
    assert {group for group, units in counted.items() if units > selection.surely} <= shown


def test_totals_of_units_are_bounded_by_the_policy_or_the_question(file: Path, tmp_path: Path) -> None:
    columns = {
        "user_id": indistinct.queries.Column(type="integer"),
        "amount": indistinct.queries.Column(type="real", low=0, high=100, unit_low=0, unit_high=150),
    }
    rules = Policy(
        tables=(indistinct.queries.PrivateTable(name="sales", unit="user_id", columns=columns),),
        budget=indistinct.queries.Budget(epsilon=1, delta=1e-6),
    )
    with indistinct.open(file, policy=rules, ledger=tmp_path / "u.ledger") as opened:
        told = opened.explain("SELECT SUM(amount) FROM sales").mechanisms[0]
        assert "units' totals" in told
        assert "at most 150" in told
        assert "at most 100" in opened.explain("SELECT SUM(CLAMP(amount, 0, 100)) FROM sales").mechanisms[0]
        assert "at most 150" in opened.explain("SELECT SUM_PER_UNIT(amount, 0, 900) FROM sales").mechanisms[0]
        narrow = opened.table("sales").sum("amount", 0, 40, per_unit=True)
        assert narrow.sql() == 'SELECT SUM_PER_UNIT(amount, 0, 40) FROM "sales"'
        low, high = narrow.answer(rho="0.01").intervals(0.999)[narrow_name(narrow)][0]
        # Of a user, all ten amounts are the same: 0, 0.1, ..., 99.9, twice.
        assert low < 2 * sum(min(40, 10 * amount / 10) for amount in range(1000)) < high
    with pytest.raises(InvalidParameter, match="unit_high"):
        indistinct.queries.Column(type="real", unit_low=1)
    with pytest.raises(InvalidParameter, match="unit_low"):
        indistinct.queries.Column(type="real", unit_low=1, unit_high=1)


def narrow_name(question: Any) -> str:
    columns: tuple[str, ...] = question.rehearse().columns
    return columns[0]
