"""The tables, indexes and triggers of a ledger are those of its migrations, and refuse what no program of ours does."""

from __future__ import annotations

from pathlib import Path

import apsw
import psycopg
import pytest

from indistinct.composition.filters import BasicRule
from indistinct.errors import LedgerUntrusted
from indistinct.ledger import Budget, Ledger
from indistinct.ledger.tables import scripts
from tests.ledger.conftest import NewAddress


def filled(address: str | Path) -> None:
    with Ledger.create(address, Budget("hr", BasicRule(1, 0))) as ledger:
        ledger.charge("0.1", key="started")
        ledger.reserve("0.1", key="reserved")
        ledger.charge("0.1", key="answered").seal(1)
        ledger.verify()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "hr.ledger"
    filled(made)
    return made


@pytest.fixture
def server(new_database: NewAddress) -> str:
    address = new_database()
    filled(address)
    return address


def made_by(database: str, kind: str) -> list[str]:
    """The names of what the migrations make."""
    words = " ".join(scripts(database)).split()
    places = [at for at, word in enumerate(words) if word == kind and words[at - 1] in ("CREATE", "UNIQUE")]
    return [words[at + 1].removesuffix("()") for at in places]


def told(address: str | Path) -> str:
    with Ledger.open(address) as ledger, pytest.raises(LedgerUntrusted) as refusal:
        ledger.verify()
    return str(refusal.value)


DROPPED = [("trigger", name) for name in made_by("sqlite", "TRIGGER")]
DROPPED += [("index", name) for name in made_by("sqlite", "INDEX")]


@pytest.mark.parametrize(("kind", "name"), DROPPED, ids=repr)
def test_what_was_dropped_from_a_file_is_named(path: Path, kind: str, name: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(f"DROP {kind} {name}")
    connection.close()
    assert told(path) == f"The tables of the ledger are not as they were made: the {kind} {name!r} is missing."


def test_the_lists_are_not_empty() -> None:
    assert len(DROPPED) == 11
    assert len(made_by("postgres", "TRIGGER")) == 4
    assert len(made_by("postgres", "INDEX")) == 4


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'entry'",
            "table 'entry' was changed",
        ),
        ("UPDATE sqlite_schema SET sql = replace(sql, 'STRICT, ', '') WHERE name = 'balance'", "table 'balance' was"),
        ("UPDATE sqlite_schema SET sql = replace(sql, 'spent <= cap', 'true') WHERE name = 'balance'", "'balance' was"),
        (
            "UPDATE sqlite_schema SET sql = replace(sql, 'UNIQUE ', '') WHERE name = 'entry_key'",
            "'entry_key' was changed",
        ),
        ("CREATE TRIGGER more AFTER INSERT ON entry BEGIN SELECT 1; END", "trigger 'more' is none of a ledger's"),
        ("CREATE VIEW more AS SELECT * FROM entry", "view 'more' is none of a ledger's"),
        ("CREATE TABLE more (a)", "table 'more' is none of a ledger's"),
    ],
)
def test_what_was_changed_in_a_file_is_named(path: Path, statement: str, named: str) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("writable_schema", True)
    connection.execute(statement)
    connection.close()
    assert named in told(path)


def test_a_trigger_that_was_weakened_is_named(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("DROP TRIGGER entry_is_not_deleted")
    connection.execute("CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry WHEN false BEGIN SELECT 1; END")
    connection.close()
    assert "the trigger 'entry_is_not_deleted' was changed" in told(path)


def test_what_the_planner_gathers_is_no_change(path: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("ANALYZE")
    connection.execute("VACUUM INTO ?", (str(tmp_path / "backup"),))
    connection.close()
    for each in (path, tmp_path / "backup"):
        with Ledger.open(each) as ledger:
            assert ledger.verify().charges == 3


SCHEMA = "indistinct_ledger"
STATEMENTS = {
    **{f"DROP INDEX {SCHEMA}.{name}": f"the index {name!r} is missing" for name in made_by("postgres", "INDEX")},
    f"DROP TRIGGER entry_is_not_changed ON {SCHEMA}.entry": "the trigger 'entry_is_not_changed' is missing",
    f"DROP TRIGGER entry_follows ON {SCHEMA}.entry": "the trigger 'entry_follows' is missing",
    f"DROP TRIGGER balance_is_not_deleted ON {SCHEMA}.balance": "the trigger 'balance_is_not_deleted' is missing",
    f"DROP TRIGGER balance_moves_on ON {SCHEMA}.balance": "the trigger 'balance_moves_on' is missing",
    f"ALTER TABLE {SCHEMA}.entry DISABLE TRIGGER entry_follows": "the trigger 'entry_follows' was changed",
    f"ALTER TABLE {SCHEMA}.entry DISABLE TRIGGER ALL": "RI_FKey_check_ins' was changed",
    f"ALTER TABLE {SCHEMA}.entry DROP CONSTRAINT entry_charge_fkey": "the constraint 'entry_charge_fkey' is missing",
    f"ALTER TABLE {SCHEMA}.balance DROP CONSTRAINT balance_check": "the constraint 'balance_check' is missing",
    f"ALTER TABLE {SCHEMA}.balance DROP CONSTRAINT balance_pkey": "the constraint 'balance_pkey' is missing",
    f"ALTER TABLE {SCHEMA}.entry ALTER text DROP NOT NULL": "the column 'entry.text' was changed",
    f"ALTER TABLE {SCHEMA}.entry ALTER key TYPE varchar(300)": "the column 'entry.key' was changed",
    f"ALTER TABLE {SCHEMA}.entry ADD more INTEGER": "the column 'entry.more' is none of a ledger's",
    f"ALTER TABLE {SCHEMA}.balance SET UNLOGGED": "the table 'balance' was changed",
    f"ALTER TABLE {SCHEMA}.entry ENABLE ROW LEVEL SECURITY": "the table 'entry' was changed",
    f"CREATE TABLE {SCHEMA}.more () INHERITS ({SCHEMA}.entry)": "the constraint 'entry_check' was changed",
    f"CREATE RULE more AS ON UPDATE TO {SCHEMA}.balance DO INSTEAD NOTHING": "the rule 'more' is none of a ledger's",
    f"CREATE OR REPLACE FUNCTION {SCHEMA}.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'": (
        "the function 'refuse' was changed"
    ),
    f"CREATE FUNCTION {SCHEMA}.refuse(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'": "'refuse' was changed",
    f"CREATE VIEW {SCHEMA}.more AS SELECT 1": "the table 'more' is none of a ledger's",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_was_changed_on_a_server_is_named(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute("SET client_min_messages = warning")
        owner.execute(statement.encode())
    assert STATEMENTS[statement] in told(server)


def test_comparing_leaves_nothing_on_a_server(server: str) -> None:
    with Ledger.open(server) as ledger, psycopg.connect(server, autocommit=True) as owner:
        query = "SELECT count(*) FROM pg_class WHERE relnamespace::regnamespace::text LIKE 'pg_temp%'"
        for _ in range(3):
            ledger.verify()
            assert owner.execute(query.encode()).fetchone() == (0,)
            ledger.charge("1e-9", key="again")


REFUSED = [
    "INSERT INTO {}entry VALUES (7, 'void', 3, NULL, 0, '{{}}', NULL, {})",  # what started at once is not given back
    "INSERT INTO {}entry VALUES (7, 'start', 3, NULL, 0, '{{}}', NULL, {})",
    "INSERT INTO {}entry VALUES (7, 'void', 2, NULL, 0, '{{}}', NULL, {})",  # a budget's row
    "INSERT INTO {}entry VALUES (7, 'fail', 4, NULL, 0, '{{}}', NULL, {})",  # what was only reserved has no outcome
    "INSERT INTO {}entry VALUES (7, 'fail', 5, NULL, 0, '{{}}', NULL, {})",  # answered already
    "INSERT INTO {}entry VALUES (7, 'charge', NULL, 'reserved', 0, '{{}}', NULL, {})",
]
ALLOWED = [
    "INSERT INTO {}entry VALUES (7, 'void', 4, NULL, 0, '{{}}', NULL, {})",
    "INSERT INTO {}entry VALUES (7, 'fail', 3, NULL, 0, '{{}}', NULL, {})",
]


def test_a_file_itself_refuses_what_does_not_follow(path: Path) -> None:
    connection = apsw.Connection(str(path))
    for statement in REFUSED:
        with pytest.raises(apsw.ConstraintError):
            connection.execute(statement.format("", "zeroblob(32)"))
    for statement in ALLOWED:
        connection.execute("BEGIN")
        connection.execute(statement.format("", "zeroblob(32)"))
        connection.execute("ROLLBACK")
    connection.close()


def test_a_server_itself_refuses_what_does_not_follow(server: str) -> None:
    blob = "decode(repeat('00', 32), 'hex')"
    with psycopg.connect(server, autocommit=True) as connection:
        for statement in REFUSED:
            with pytest.raises((psycopg.errors.IntegrityError, psycopg.errors.RaiseException)):
                connection.execute(statement.format(f"{SCHEMA}.", blob).encode())
        for statement in ALLOWED:
            connection.execute("BEGIN")
            connection.execute(statement.format(f"{SCHEMA}.", blob).encode())
            connection.execute("ROLLBACK")
