"""Opening data: from a path or a frame to a private database with its budget."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from indistinct.composition.filters import BasicRule, ConcentratedRule
from indistinct.errors import InvalidParameter, LedgerUnavailable
from indistinct.ledger import Budget as LedgerBudget
from indistinct.ledger import Ledger, Protected
from indistinct.numbers import read_number
from indistinct.queries.database import PrivateDatabase
from indistinct.queries.engines.engine import Engine
from indistinct.queries.engines.holding import engine_for, is_address, is_session, named, of_database, of_session
from indistinct.queries.policy.terms import Budget, Column, Contribution, Policy, PrivateTable, Row
from indistinct.queries.protection import check_protected, protected_by

__all__ = ["open"]


def open(  # noqa: A001  # said as indistinct.open
    source: object = None,
    *,
    table: str | None = None,
    unit: str | Row | None = None,
    epsilon: object = None,
    delta: object = None,
    policy: Policy | None = None,
    ledger: Ledger | str | Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    groups: int | None = None,
    rows: int | None = None,
    questions: int = 10,
    seconds: float = 600.0,
    engine: Engine | None = None,
) -> PrivateDatabase:
    """A private database over a file, a frame, a database, or several tables by the names of a policy's.

    `source` is the path of a Parquet, CSV or DuckDB file, an Arrow table (anything with `__arrow_c_stream__`), a frame
    of pandas or polars; the address of a PostgreSQL database (`postgresql://...`) or a SparkSession, with `table`, or
    a frame of Spark; or a mapping from names of tables to these. `name` is how questions call the table. `unit` names
    the column that says whose row it is (rows where it is NULL are left out), or is `indistinct.ROW` where each row is
    a unit of its own: there is no default. `groups` and `rows` are how many groups of an answer one unit counts in,
    and with how many rows in each (1, unless it is said).

    The budget is (epsilon, delta) for all answers together, in zero-concentrated privacy, or in epsilon where delta is
    0; half of delta is set aside for private keys of groups. It lives in a ledger. For files that is a file beside the
    (first private) data file, named like it with `.ledger` added, unless `ledger` says where: naming the budget creates
    it where there is none; without `epsilon` it must be there already; one with another budget is refused, and so is
    one that protects other data, or these under another name or by another unit. For a table in PostgreSQL it is in the
    same database, unless `ledger` names another or a file. For frames, Spark's as well, the ledger is temporary, unless
    `ledger` names one: the budget is then forgotten when the database is closed, and whoever opens the frame again
    starts anew.

    `policy` is the owner's, and decides what it says: nothing else may be said of that here. Columns and types are
    otherwise those of the data, which are thereby declared public.
    """
    sources = _sources(source, policy, name, table)
    wanted = _wanted(epsilon, delta, policy)
    if policy is not None:
        for what, said in (("groups", groups), ("rows", rows)):
            if said is not None:
                raise InvalidParameter(what, said, "be left out beside a policy, which says it")
    opened: Engine = engine if engine is not None else engine_for(sources, policy, unit)
    closing: list[Callable[[], object]] = []
    try:
        decided = policy or _undeclared(
            opened, sources, unit, wanted, 1 if groups is None else groups, 1 if rows is None else rows
        )
        _check(decided, opened, unit)
        dataset = name or next(each.name for each in decided.tables if isinstance(each, PrivateTable))
        book = _ledger(ledger, sources, dataset, wanted, decided, closing)
    except BaseException:
        opened.close()
        for close in closing:
            close()
        raise
    return PrivateDatabase(dataset, decided, opened, book, analyst, questions, seconds, closing)


def _sources(source: object, policy: Policy | None, name: str | None, table: str | None) -> dict[str, object]:
    if table is not None and (policy is not None or not (is_address(source) or is_session(source))):
        raise InvalidParameter(
            "table",
            table,
            "be left out where a policy names the tables, or the source is no database",
            instead="Say name= to call a file or a frame something.",
        )
    if isinstance(source, Mapping):
        found = {str(each): of for each, of in source.items()}
    elif source is None and policy is not None:
        found = {each.name: each.source for each in policy.tables if each.source is not None}
    elif is_session(source):
        tables = {} if policy is None else {each.name: each.source or each.name for each in policy.tables}
        found = of_session(source, tables or named(table, name))
    elif isinstance(source, str) and is_address(source) and policy is None:
        found = of_database(source, table, name)
    elif policy is not None:
        first = next(each for each in policy.tables if isinstance(each, PrivateTable))
        found = {each.name: source for each in policy.tables} if is_address(source) else {first.name: source}
    else:
        found = {name or (Path(source).stem if isinstance(source, str | Path) else "data"): source}
    if not found or any(each is None for each in found.values()):
        raise InvalidParameter("source", source, "be a path, a frame, or a mapping from names of tables to these")
    if policy is not None:
        missing = [each.name for each in policy.tables if each.name not in found]
        if missing:
            raise InvalidParameter("source", sorted(found), f"hold the policy's table {missing[0]!r}")
        found = {each.name: found[each.name] for each in policy.tables}
    return {each: _placed(each, of) for each, of in found.items()}


def _placed(name: str, source: object) -> object:
    """An address with the table that is meant, which is of the same name unless another one is said behind #."""
    return (
        next(iter(of_database(source, None, name).values()))
        if isinstance(source, str) and is_address(source)
        else source
    )


def _wanted(epsilon: object, delta: object, policy: Policy | None) -> Budget | None:
    if epsilon is None:
        if delta is not None:
            raise InvalidParameter("epsilon", epsilon, "be given with delta")
        return policy.budget if policy is not None else None
    level, failing = read_number("epsilon", epsilon), read_number("delta", 0 if delta is None else delta)
    wanted = Budget(epsilon=level, delta=failing)
    if policy is not None:
        own = policy.budget
        if (level, failing) != (read_number("epsilon", own.epsilon), read_number("delta", own.delta)):
            raise InvalidParameter(
                "epsilon and delta",
                (float(level), float(failing)),
                f"be left out beside a policy, which says {float(own.epsilon):g} and {float(own.delta):g}",
            )
    return wanted


def _undeclared(
    engine: Engine, sources: Mapping[str, object], unit: str | Row | None, wanted: Budget | None, groups: int, rows: int
) -> Policy:
    if len(sources) != 1:
        raise InvalidParameter("policy", None, "be given for several tables")
    table = next(iter(sources))
    columns = engine.columns(table)
    if unit is None:
        raise InvalidParameter(
            "unit",
            unit,
            "name the column that says whose row it is",
            instead=f"There are: {', '.join(list(columns)[:20])}. "
            "If each row is a person of its own, say unit=indistinct.ROW.",
        )
    named = unit
    if isinstance(unit, str) and unit not in columns:
        named = next((column for column in columns if column.casefold() == unit.casefold()), unit)
    private = PrivateTable(
        name=table,
        unit=named,
        columns={column: Column(type=kind) for column, kind in columns.items()},
        contribution=Contribution(groups=groups, rows=rows),
    )
    return Policy(tables=(private,), budget=wanted or Budget(epsilon=1))


def _check(policy: Policy, engine: Engine, unit: str | Row | None) -> None:
    for table in policy.tables:
        found = engine.columns(table.name)
        for name, column in table.columns.items():
            if name not in found:
                raise InvalidParameter(
                    "policy",
                    name,
                    f"name columns of table {table.name!r}",
                    instead=f"It has: {', '.join(list(found)[:20])}.",
                )
            if found[name] != column.type:
                raise InvalidParameter("policy", column.type, f"say of {name!r} what it is: {found[name]}")
        if unit is not None and isinstance(table, PrivateTable) and table.unit != unit:
            raise InvalidParameter("unit", unit, f"be that of the policy, {table.unit!r}")


def _ledger(
    ledger: Ledger | str | Path | None,
    sources: Mapping[str, object],
    dataset: str,
    wanted: Budget | None,
    policy: Policy,
    closing: list[Callable[[], object]],
) -> Ledger:
    budgets = [] if wanted is None else [_budget(dataset, wanted), *_analysts(dataset, policy)]
    protects = protected_by(policy, sources)
    if isinstance(ledger, Ledger):
        check_protected(ledger, dataset, protects)
        _check_budgets(ledger, dataset, budgets, protects)
        return ledger
    private = [sources[each.table] for each in protects]
    own = ledger is None
    address = str(ledger) if ledger is not None else _beside([each for each in private if isinstance(each, str | Path)])
    if not address:
        folder = tempfile.TemporaryDirectory(prefix="indistinct-")
        closing.append(folder.cleanup)
        address = str(Path(folder.name) / "temporary.ledger")
    exists = is_address(address) or Path(address).exists()
    if wanted is None and not exists:
        raise InvalidParameter(
            "epsilon", None, "be given where there is no ledger yet", instead=f"None is at {address}."
        )
    book = _opened(address, budgets, protects) if exists else Ledger.create(address, *budgets, protects=protects)
    closing.append(book.close)
    check_protected(book, dataset, protects)
    if own and not is_address(address):
        _check_alone(book, dataset)
    _check_budgets(book, dataset, budgets, protects)
    return book


def _beside(sources: list[str | Path]) -> str:
    """Where the ledger of these files or tables is; empty if there are none.

    It is beside the first file, unless it is beside another one of them already: the order of a policy's tables does
    not matter.
    """
    places = [
        source.partition("#")[0]
        if isinstance(source, str) and is_address(source)
        else f"{Path(source).expanduser().resolve()}.ledger"
        for source in sources
    ]
    there = sorted({place for place in places if not is_address(place) and Path(place).exists()})
    if len(there) > 1:
        raise InvalidParameter("ledger", None, "be given", instead=f"There are several already: {', '.join(there)}.")
    return next(iter([*there, *places]), "")


def _opened(address: str, budgets: list[LedgerBudget], protects: tuple[Protected, ...]) -> Ledger:
    """A ledger that is there; in a database it is made if there is none."""
    try:
        return Ledger.open(address)
    except LedgerUnavailable:
        if not budgets or not is_address(address):
            raise
    return Ledger.create(address, *budgets, protects=protects)


def _check_alone(book: Ledger, dataset: str) -> None:
    """Refuses a second budget beside a file, whoever made the first."""
    datasets = sorted({each.budget.dataset for each in book.standings()})
    if datasets and dataset not in datasets:
        raise InvalidParameter(
            "name",
            dataset,
            f"be {datasets[0]!r}, whose budget is beside the file",
            instead="Two budgets for the same rows would promise less than either says.",
        )


def _budget(dataset: str, wanted: Budget, analyst: str = "") -> LedgerBudget:
    rule: BasicRule | ConcentratedRule
    if wanted.delta == 0:
        rule = BasicRule(wanted.epsilon, 0)
    else:
        rule = ConcentratedRule.of_claim(wanted.epsilon, wanted.delta, black_box=read_number("delta", wanted.delta) / 2)
    return LedgerBudget(dataset, rule, analyst=analyst)


def _analysts(dataset: str, policy: Policy) -> list[LedgerBudget]:
    """One for every analyst, as a ledger wants it if there is one for any."""
    return [_budget(dataset, each.budget or policy.budget, each.name) for each in policy.analysts]


def _check_budgets(book: Ledger, dataset: str, budgets: list[LedgerBudget], protects: tuple[Protected, ...]) -> None:
    known = {standing.budget.name: standing.budget for standing in book.standings()}
    for budget in budgets:
        own = known.get(budget.name)
        if own is None:
            if dataset in {each.dataset for each in known.values()} and not budget.analyst:
                raise InvalidParameter("the ledger", budget.name, "hold the budget of this data set")
            book.add(budget, protects=protects)
        elif own.encode() != budget.encode():
            raise InvalidParameter(
                "epsilon and delta",
                budget.name,
                "be those of the budget that is in the ledger already",
                instead="Leave them out to go on with it.",
            )
