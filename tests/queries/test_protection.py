"""A budget is for some rows and one unit of privacy: opened otherwise, they are refused in one sentence."""

from __future__ import annotations

import os
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import indistinct
from indistinct.errors import InvalidParameter
from indistinct.ledger import Budget as LedgerBudget
from indistinct.ledger import Ledger, Protected
from indistinct.queries import ROW, Analyst, Budget, Column, Contribution, Policy, PrivateTable, PublicTable
from indistinct.queries.engines.duckdb import DuckDBEngine
from indistinct.queries.protection import check_protected, protected_by

BUDGET: dict[str, Any] = {"epsilon": 1, "delta": 1e-6}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that was opened before, so that its ledger is beside it."""
    place = tmp_path / "n.parquet"
    duckdb.execute(f"COPY (SELECT i AS u, i % 7 AS k FROM range(100) t(i)) TO '{place}'")
    with indistinct.open(place, unit="u", **BUDGET) as opened:
        opened.sql("SELECT COUNT(*) FROM n")
    return place


def rules(name: str = "n", unit: Any = "u", **more: Any) -> Policy:
    columns = {"u": Column(type="integer"), "k": Column(type="integer")}
    table = PrivateTable(name=name, unit=unit, columns=columns, **more)
    return Policy(tables=(table,), budget=Budget(epsilon=1, delta=1e-6))


def budgets_in(place: Path) -> int:
    with Ledger.open(f"{place}.ledger") as book:
        book.verify()
        return len({each.budget.name for each in book.standings()})


OTHERWISE: dict[str, tuple[dict[str, Any], str]] = {
    "another name": ({"unit": "u", "name": "other", **BUDGET}, "name must be 'n', under which the ledger protects"),
    "another table of a policy": ({"policy": rules("visits")}, "name must be 'n', under which the ledger protects"),
    "rows": ({"unit": ROW}, "unit must be 'u', which the budget 'n' protects, but is 'each row'"),
    "another unit": ({"unit": "k"}, "unit must be 'u', which the budget 'n' protects"),
    "another unit, with the budget": ({"unit": "k", **BUDGET}, "unit must be 'u'"),
    "rows in a policy": ({"policy": rules(unit=ROW)}, "unit must be 'u'"),
    "more than the policy": ({"policy": rules(), "epsilon": 50, "delta": 1e-6}, "left out beside a policy"),
    "another delta": ({"policy": rules(), "epsilon": 1}, "left out beside a policy"),
    "groups": ({"policy": rules(), "groups": 9}, "groups must be left out beside a policy"),
    "rows of a group": ({"policy": rules(), "rows": 9}, "rows must be left out beside a policy"),
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_what_the_budget_does_not_protect_is_refused(case: str, file: Path) -> None:
    options, said = OTHERWISE[case]
    with pytest.raises(InvalidParameter, match=said) as refused:
        indistinct.open(file, **options)
    assert "\n" not in str(refused.value)
    assert budgets_in(file) == 1


SAME: dict[str, dict[str, Any]] = {
    "as before": {"unit": "u"},
    "in other letters": {"unit": "u", "groups": 3, "rows": 5},
    "a policy": {"policy": rules(contribution=Contribution(groups=3))},
    "what the policy says": {"policy": rules(), **BUDGET},
    "another table, under the name": {"policy": rules("visits"), "name": "n"},
}


@pytest.mark.parametrize("case", SAME)
def test_what_the_budget_protects_goes_on(case: str, file: Path) -> None:
    with indistinct.open(file, **SAME[case]) as opened:
        assert opened.remaining["rho"] < 1
        assert len({each.budget.name for each in opened.ledger.standings()}) == 1


def test_a_folder_may_move_and_a_file_may_not_be_renamed(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for each in (file, Path(f"{file}.ledger")):
        shutil.move(each, folder / each.name)
    indistinct.open(folder / "n.parquet", unit="u").close()
    os.rename(folder / "n.parquet", folder / "m.parquet")  # noqa: PTH104  # as one does
    with pytest.raises(InvalidParameter, match=r"source must be 'n\.parquet', which the budget 'n' protects"):
        indistinct.open(folder / "m.parquet", unit="u", name="n", ledger=folder / "n.parquet.ledger")
    with indistinct.open(folder / "m.parquet", unit="u", ledger=folder / "n.parquet.ledger", **BUDGET) as other:
        assert other.name == "m"


def test_one_file_has_one_budget_in_a_shared_ledger(file: Path, tmp_path: Path) -> None:
    shared, linked = tmp_path / "shared.ledger", tmp_path / "link.parquet"
    linked.symlink_to(file)
    indistinct.open(file, unit="u", ledger=shared, **BUDGET).close()
    for source in (file, linked):
        with pytest.raises(InvalidParameter, match="name must be 'n'"):
            indistinct.open(source, unit="u", name="second", ledger=shared, **BUDGET)
    other = tmp_path / "folder" / "n.parquet"
    other.parent.mkdir()
    shutil.copy(file, other)
    with indistinct.open(other, unit="u", name="of another year", ledger=shared, **BUDGET) as opened:
        assert len({each.budget.name for each in opened.ledger.standings()}) == 2


def test_the_order_of_tables_does_not_move_the_ledger(tmp_path: Path) -> None:
    for name in ("v", "p", "w"):
        duckdb.execute(f"COPY (SELECT i AS u, i % 3 AS k FROM range(50) t(i)) TO '{tmp_path / name}.parquet'")
    columns = {"u": Column(type="integer"), "k": Column(type="integer")}
    places = {name: str(tmp_path / f"{name}.parquet") for name in "vpw"}
    private = PrivateTable(name="v", unit="u", columns=columns, source=places["v"])
    second = PrivateTable(name="w", unit="u", columns=columns, source=places["w"])
    public = PublicTable(name="p", columns=columns, source=places["p"])
    left: dict[str, Fraction] = {}
    for tables in ((public, private, second), (private, second, public)):
        with indistinct.open(policy=Policy(tables=tables, budget=Budget(epsilon=1, delta=1e-6))) as opened:
            opened.sql("SELECT COUNT(*) FROM v")
            left = opened.remaining
    assert [each.name for each in tmp_path.glob("*.ledger")] == ["v.parquet.ledger"]
    swapped = Policy(tables=(second, private), budget=Budget(epsilon=1, delta=1e-6))
    with pytest.raises(InvalidParameter, match="name must be 'v'"):
        indistinct.open(policy=swapped)
    with indistinct.open(policy=swapped, name="v") as opened:
        assert opened.remaining == left
    shutil.copy(tmp_path / "v.parquet.ledger", tmp_path / "w.parquet.ledger")
    with pytest.raises(InvalidParameter, match="several already"):
        indistinct.open(policy=swapped, name="v")


def test_a_frame_beside_a_file_does_not_make_its_ledger_forgotten(file: Path) -> None:
    columns = {"u": Column(type="integer"), "k": Column(type="integer")}
    tables = (PrivateTable(name="n", unit="u", columns=columns), PublicTable(name="p", columns=columns))
    frame = duckdb.sql("SELECT 1 AS u, 2 AS k").to_arrow_table()  # type: ignore[union-attr]
    policy = Policy(tables=tables, budget=Budget(epsilon=1, delta=1e-6))
    with indistinct.open({"n": file, "p": frame}, policy=policy) as opened:
        left = opened.remaining
        opened.sql("SELECT COUNT(*) FROM n WHERE k = 1")
    with indistinct.open(file, unit="u") as opened:
        assert opened.remaining["rho"] < left["rho"]


def test_a_ledger_that_is_open_is_compared_as_well(file: Path, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "big.ledger", LedgerBudget("n", epsilon=100, delta="1e-3")) as book:
        with pytest.raises(InvalidParameter, match="in the ledger already"):
            indistinct.open(file, unit="u", ledger=book, **BUDGET)
        indistinct.open(file, unit="u", ledger=book).close()
    with Ledger.open(f"{file}.ledger") as book:
        for options in ({"unit": "k"}, {"unit": "u", "name": "other", **BUDGET}):
            with pytest.raises(InvalidParameter, match="which the"):
                indistinct.open(file, ledger=book, **options)


def test_an_older_ledger_beside_a_file_has_one_budget(tmp_path: Path) -> None:
    file = tmp_path / "old.parquet"
    duckdb.execute(f"COPY (SELECT i AS u FROM range(10) t(i)) TO '{file}'")
    Ledger.create(f"{file}.ledger", LedgerBudget("old", epsilon=1, delta="1e-6")).close()
    with pytest.raises(InvalidParameter, match="name must be 'old', whose budget is beside the file"):
        indistinct.open(file, unit="u", name="new", **BUDGET)
    indistinct.open(file, unit="u").close()


def test_a_new_table_has_the_unit_of_the_budget(file: Path) -> None:
    columns = {"u": Column(type="integer"), "k": Column(type="integer")}
    source = {"n": file, "more": duckdb.sql("SELECT 1 AS u, 2 AS k").to_arrow_table()}  # type: ignore[union-attr]
    for unit, refused in (("u", False), ("k", True)):
        tables = tuple(
            PrivateTable(name=name, unit=whose, columns=columns) for name, whose in (("n", "u"), ("more", unit))
        )
        policy = Policy(tables=tables, budget=Budget(epsilon=1, delta=1e-6))
        if refused:
            with pytest.raises(InvalidParameter, match="unit must be 'u'"):
                indistinct.open(source, policy=policy)
        else:
            indistinct.open(source, policy=policy).close()


def test_addresses_are_known_without_who_reads_them(tmp_path: Path) -> None:
    told = "postgresql://reader:secret@db:5433/clinic?sslmode=require#hospital.visits"
    (protected,) = protected_by(rules(), {"n": told})
    assert protected == Protected("n", "u", "postgresql://db:5433/clinic#hospital.visits")
    with Ledger.create(tmp_path / "l.ledger", LedgerBudget("n", epsilon=1, delta=0.1), protects=[protected]) as book:
        assert book.protects() == {"n": (protected,)}
        check_protected(book, "n", protected_by(rules(), {"n": told.replace("reader:secret", "owner")}))
        with pytest.raises(InvalidParameter, match="name must be 'n'"):
            check_protected(book, "m", (protected,))
        with pytest.raises(InvalidParameter, match="source must be"):
            check_protected(book, "n", protected_by(rules(), {"n": told.replace("visits", "staff")}))


def test_analysts_count_as_the_data_set_does(tmp_path: Path) -> None:
    columns = {"u": Column(type="integer")}
    table = PrivateTable(name="t", unit="u", columns=columns)
    ana = Analyst(name="ana", budget=Budget(epsilon=0.5))
    with pytest.raises(InvalidParameter, match="delta must be above 0 for the analyst 'ana'"):
        Policy(tables=(table,), budget=Budget(epsilon=1, delta=1e-6), analysts=(ana,))
    with pytest.raises(InvalidParameter, match="delta must be 0 for the analyst"):
        Policy(
            tables=(table,),
            budget=Budget(epsilon=1),
            analysts=(Analyst(name="ben", budget=Budget(epsilon=0.5, delta=1e-7)),),
        )
    pure = Policy(tables=(table,), budget=Budget(epsilon=1), analysts=(ana, Analyst(name="eve")))
    frame = duckdb.sql("SELECT i AS u FROM range(10) t(i)").to_arrow_table()  # type: ignore[union-attr]
    for analyst in ("ana", "eve"):
        with indistinct.open({"t": frame}, policy=pure, ledger=tmp_path / "l.ledger", analyst=analyst) as opened:
            assert opened.sql("SELECT COUNT(*) FROM t", epsilon="0.1").rows


def test_a_fine_step_of_the_policy_does_not_break_variances() -> None:
    columns = {"u": Column(type="integer"), "x": Column(type="real", low=0, high=5000, step=1e-8)}
    policy = Policy(tables=(PrivateTable(name="t", unit="u", columns=columns),), budget=Budget(epsilon=10**6))
    frame = duckdb.sql("SELECT i AS u, 10.0::DOUBLE + i AS x FROM range(1000) t(i)").to_arrow_table()  # type: ignore[union-attr]
    with indistinct.open({"t": frame}, policy=policy, engine=DuckDBEngine({"t": frame})) as opened:
        answer = opened.sql("SELECT VAR_POP(x) AS v, SUM(x) AS s FROM t", epsilon=10**5)
        assert abs(answer.rows[0][0] - (1000**2 - 1) / 12) < 10
        assert abs(answer.rows[0][1] - (10_000 + 999 * 500)) < 10


def test_noise_that_cannot_be_drawn_is_refused_before_it_is_charged() -> None:
    columns = {"u": Column(type="integer"), "x": Column(type="real", low=0, high=5000, step=1e-8)}
    table = PrivateTable(name="t", unit="u", columns=columns, contribution=Contribution(rows=2**20))
    policy = Policy(tables=(table,), budget=Budget(epsilon=1))
    frame = duckdb.sql("SELECT i AS u, 10.0::DOUBLE + i AS x FROM range(10) t(i)").to_arrow_table()  # type: ignore[union-attr]
    with indistinct.open({"t": frame}, policy=policy) as opened:
        left = opened.remaining
        with pytest.raises(InvalidParameter, match="larger"):
            opened.sql("SELECT SUM(x) FROM t", epsilon="0.0001")
        assert opened.remaining == left
