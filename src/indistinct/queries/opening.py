"""Opening data: from a path or a frame to a private database with its budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from indistinct.errors import InvalidParameter
from indistinct.ledger import Ledger
from indistinct.numbers import read_count, read_number
from indistinct.queries.budgets import ledger_for
from indistinct.queries.database import PrivateDatabase
from indistinct.queries.engines.engine import Engine
from indistinct.queries.engines.holding import engine_for, is_address, is_session, named, of_database, of_session
from indistinct.queries.policy.file import read_policy
from indistinct.queries.policy.terms import (
    Budget,
    Column,
    Contribution,
    Policy,
    PrivateTable,
    Row,
    RuleName,
)
from indistinct.queries.questions.reading import is_storable

__all__ = ["open"]

_LONGEST = 366 * 24 * 3600


def open(  # noqa: A001  # said as indistinct.open
    source: object = None,
    *,
    table: str | None = None,
    unit: str | Row | None = None,
    epsilon: object = None,
    delta: object = None,
    policy: Policy | str | Path | None = None,
    ledger: Ledger | str | Path | None = None,
    name: str | None = None,
    analyst: str | None = None,
    groups: int | None = None,
    rows: int | None = None,
    questions: int | None = None,
    rule: RuleName | None = None,
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

    The budget is (epsilon, delta) for all answers together. `questions` says for how many questions it is meant to
    last: each takes one share of so many, and the budget gets the `rule` under which counts have the least noise
    (`basic` for few questions, `gaussian` for many). Unsaid, there are ten shares of zero-concentrated privacy, or of
    epsilon where delta is 0. Half of delta is set aside for private keys of groups, where it has an account of its own.
    The budget lives in a ledger, and its rule is fixed when that is created. For files that is a file beside the
    (first private) data file, named like it with `.ledger` added, unless `ledger` says where: naming the budget creates
    it where there is none; without `epsilon` it must be there already; one with another budget is refused, and so is
    one that protects other data, or these under another name or by another unit. For a table in PostgreSQL it is in the
    same database, unless `ledger` names another or a file. For frames, Spark's as well, the ledger is temporary, unless
    `ledger` names one: the budget is then forgotten when the database is closed, and whoever opens the frame again
    starts anew.

    `policy` is the owner's, or the path of its file, and decides what it says: nothing else may be said of that here.
    Columns and types are otherwise those of the data, which are thereby declared public.
    """
    if isinstance(policy, str | Path):
        policy = read_policy(policy)
    if questions is not None:
        read_count("questions", questions, least=1)
    _check_kinds(policy, ledger, name, unit, engine)
    _check_seconds(seconds)
    sources = _sources(source, policy, name, table)
    wanted = _wanted(epsilon, delta, rule, policy)
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
        book = ledger_for(ledger, sources, dataset, wanted, decided, questions, closing)
    except BaseException:
        opened.close()
        for close in closing:
            close()
        raise
    return PrivateDatabase(dataset, decided, opened, book, analyst, questions or 10, seconds, closing)


def _check_kinds(policy: object, ledger: object, name: object, unit: object, engine: object) -> None:
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidParameter("policy", policy, "be a Policy, or the path of its file")
    if ledger is not None and not isinstance(ledger, Ledger | str | Path):
        raise InvalidParameter("ledger", ledger, "be a Ledger, or the place of one")
    if name is not None and not (isinstance(name, str) and name and is_storable(name)):
        raise InvalidParameter("name", name, "be text that is not empty")
    if unit is not None and not isinstance(unit, str | Row):
        raise InvalidParameter("unit", unit, "be the name of a column, or indistinct.ROW")
    if engine is not None and not all(callable(getattr(engine, each, None)) for each in ("run", "columns", "close")):
        raise InvalidParameter("engine", engine, "be one that runs statements, such as a DuckDBEngine")


def _check_seconds(seconds: object) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= _LONGEST:
        raise InvalidParameter("seconds", seconds, "be a number above 0, up to a year of seconds")


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


def _wanted(epsilon: object, delta: object, rule: RuleName | None, policy: Policy | None) -> Budget | None:
    if epsilon is None:
        if delta is not None or rule is not None:
            raise InvalidParameter("epsilon", epsilon, "be given with delta, and with a rule")
        return policy.budget if policy is not None else None
    level, failing = read_number("epsilon", epsilon), read_number("delta", 0 if delta is None else delta)
    wanted = Budget(epsilon=level, delta=failing, rule=rule)
    if policy is not None:
        own = policy.budget
        if rule is not None and rule != own.rule:
            raise InvalidParameter("rule", rule, "be left out beside a policy, which says it")
        if (level, failing) != (read_number("epsilon", own.epsilon), read_number("delta", own.delta)):
            raise InvalidParameter(
                "epsilon and delta",
                (float(level), float(failing)),
                f"be left out beside a policy, which says {float(own.epsilon):g} and {float(own.delta):g}",
            )
    return policy.budget if policy is not None else wanted


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
        if unit is not None and isinstance(table, PrivateTable) and _folded(table.unit) != _folded(unit):
            raise InvalidParameter("unit", unit, f"be that of the policy, {table.unit!r}")


def _folded(unit: str | Row) -> str | Row:
    return unit.casefold() if isinstance(unit, str) else unit
