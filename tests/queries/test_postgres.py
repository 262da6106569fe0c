"""Private tables in PostgreSQL: types, permissions, settings, and a server that is slow, hostile or gone."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

import indistinct
from indistinct.cli import main
from indistinct.errors import AnswerFailed, DataUnavailable, InvalidParameter, LedgerUnavailable
from indistinct.ledger import Ledger
from indistinct.queries import PrivateDatabase
from indistinct.queries.answers.release import exact_of
from indistinct.queries.engines import postgres
from indistinct.queries.engines.postgres import PostgresEngine
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.policy.file import read_policy
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.queries.engines import SCRIPTS, policy, postgres_of, server
from tests.queries.test_sensitivity import QUESTIONS, database

Run = Callable[[str], Any]
NUMBERS = itertools.count()


@pytest.fixture
def address() -> Iterator[str]:
    """A database of its own, with a table of sales."""
    name = f"shop_{next(NUMBERS)}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    found = server().replace("/postgres?", f"/{name}?")
    run(
        found,
        "CREATE TABLE sales (user_id int, region text, amount numeric(9, 2))",
        "INSERT INTO sales SELECT i % 500, 'r' || i % 3, i % 100 FROM generate_series(1, 5000) t(i)",
    )
    yield found
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def run(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def opened(address: str, tmp_path: Path, **options: Any) -> PrivateDatabase:
    given = {"unit": "user_id", "epsilon": 1, "delta": 1e-6, "ledger": tmp_path / "p.ledger", **options}
    return indistinct.open(address, **{"table": "sales", **given})


COUNT = "SELECT COUNT(*) FROM sales"


def test_a_table_is_asked(address: str, tmp_path: Path) -> None:
    with opened(address, tmp_path, groups=3, rows=10) as shop:
        answer = shop.sql(
            "SELECT region, COUNT(*) AS n, AVG(CLAMP(amount, 0, 100)) AS mean FROM sales GROUP BY region",
            keys={"region": ["r0", "r1", "r2"]},
            rho="0.02",
        )
        assert [row[0] for row in answer.rows] == ["r0", "r1", "r2"]
        assert sum(row[1] for row in answer.rows) == pytest.approx(5000, abs=1500)
        assert "DOUBLE PRECISION" in shop.explain("SELECT SUM(CLAMP(amount, 0, 1)) FROM sales").statement


def test_the_ledger_is_in_the_database_unless_it_is_elsewhere(address: str, tmp_path: Path) -> None:
    with indistinct.open(address, table="public.sales", unit="user_id", epsilon=1, delta=1e-6) as shop:
        shop.sql(COUNT)
        left = shop.remaining
    with indistinct.open(address, table="sales", unit="user_id") as shop:
        assert shop.remaining == left
    with Ledger.open(address) as book:
        assert book.verify().charges == 1
    with opened(address, tmp_path) as shop:
        assert shop.remaining != left
    with pytest.raises(LedgerUnavailable, match="no ledger"):
        indistinct.open(f"{server()}#pg_catalog.pg_class", unit="relname", name="c")


def test_policy_files_name_addresses(address: str, tmp_path: Path) -> None:
    run(address, "CREATE SCHEMA geo", 'CREATE TABLE geo."Regions" (region text, zone text)')
    run(address, "INSERT INTO geo.\"Regions\" VALUES ('r0', 'north'), ('r1', 'north'), ('r2', 'south')")
    (tmp_path / "policy.toml").write_text(f"""
        version = 1
        budget = {{epsilon = 1, delta = 1e-6}}
        [tables.sales]
        source = "{address}"
        unit = "user_id"
        contribution = {{groups = 2, rows = 10}}
        columns.user_id.type = "integer"
        columns.region.type = "text"
        columns.amount = {{type = "real", low = 0, high = 100}}
        [tables.regions]
        public = true
        source = '{address}#geo."Regions"'
        columns.region.type = "text"
        columns.zone = {{type = "text", keys = ["north", "south"]}}
    """)
    rules = read_policy(tmp_path / "policy.toml")
    with indistinct.open(policy=rules, ledger=tmp_path / "p.ledger") as shop:
        answer = shop.sql("SELECT zone, SUM(amount) FROM sales JOIN regions USING (region) GROUP BY zone")
        assert [row[0] for row in answer.rows] == ["north", "south"]


def test_the_command_line_takes_an_address(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--unit", "user_id", "--epsilon", "1", "--delta", "1e-6", "--ledger", str(tmp_path / "c.ledger")]
    assert main(["query", f"{address}#sales", COUNT, *given]) == 0
    assert "count(*)" in capsys.readouterr().out


ODD_TYPES = {
    "small": ("smallint", "integer", ["1", "-32768"]),
    "exact": ("numeric", "real", ["'NaN'", "1e300", "1e5000", "-1e5000", "1e-5000", "'Infinity'", "0.1"]),
    "single": ("real", "real", ["'NaN'", "'-Infinity'", "1e38", "0.1"]),
    "double": ("float8", "real", ["'NaN'", "'Infinity'", "5e-324", "-1.7e308"]),
    "padded": ("char(5)", "text", ["'a'", "''"]),
    "long": ("varchar(9)", "text", ["'é'"]),
    "mood": ("mood", "text", ["'good'"]),
    "id": ("uuid", "text", ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"]),
    "positive": ("positive", "integer", ["5"]),
    "yes": ("boolean", "boolean", ["true"]),
    "day": ("date", "date", ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'294275-01-01'", "'2020-02-29'"]),
    "time": ("timestamp", "timestamp", ["'infinity'", "'0044-03-15 BC'", "'2020-02-29 12:00'"]),
    "zoned": ("timestamptz", "timestamp", ["'-infinity'", "'294275-01-01'", "'2020-02-29 23:30-05'"]),
}
LEFT_OUT = [
    "interval",
    "json",
    "jsonb",
    "bytea",
    "int[]",
    "money",
    "time",
    "inet",
    "point",
    "xml",
    "bit(3)",
    "int4range",
]


def test_every_type_is_presented_or_left_out(address: str) -> None:
    run(address, "CREATE TYPE mood AS ENUM ('good')", "CREATE DOMAIN positive AS int CHECK (VALUE > 0)")
    columns = [f'"{name}" {kind}' for name, (kind, _, _) in ODD_TYPES.items()]
    columns += [f'"left {i}" {kind}' for i, kind in enumerate(LEFT_OUT)]
    run(address, f"CREATE TABLE odd (who int, {', '.join(columns)})")
    for name, (_, _, values) in ODD_TYPES.items():
        run(address, *(f'INSERT INTO odd (who, "{name}") VALUES (1, {value})' for value in values))
    with closing(PostgresEngine({"odd": f"{address}#odd"})) as engine:
        found = engine.columns("odd")
        assert dict(found) == {"who": "integer", **{name: kind for name, (_, kind, _) in ODD_TYPES.items()}}
        told = {
            name: [row[0] for row in engine.run(f'SELECT "{name}" FROM odd WHERE "{name}" IS NOT NULL', seconds=9)]
            for name in ODD_TYPES
        }
    assert told["exact"] == [1e300, 0.0, 0.1]
    assert told["id"] == ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]
    assert told["padded"] == ["a", ""]
    assert [each.isoformat() for each in told["day"]] == ["2020-02-29"]
    assert [each.isoformat() for each in told["time"]] == ["2020-02-29T12:00:00"]
    assert [each.isoformat() for each in told["zoned"]] == ["2020-03-01T04:30:00"]


def test_a_role_that_may_only_read_some_columns_is_enough(address: str, tmp_path: Path) -> None:
    run(
        address,
        "DROP OWNED BY reader CASCADE; DROP ROLE reader" if role_exists(address, "reader") else "SELECT 1",
        "CREATE ROLE reader LOGIN",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE ON SCHEMA public TO reader",
        "GRANT SELECT (user_id, amount) ON sales TO reader",
    )
    reader = address.replace("user=ledger", "user=reader")
    with opened(reader, tmp_path) as shop:
        assert list(shop.policy.tables[0].columns) == ["user_id", "amount"]
        assert shop.sql("SELECT SUM(CLAMP(amount, 0, 9)) FROM sales").rows
        assert len(shop.engine.snapshot()) == 32
    with pytest.raises(LedgerUnavailable):
        indistinct.open(reader, table="sales", unit="user_id", epsilon=1, delta=1e-6)
    run(address, "REVOKE SELECT (user_id, amount) ON sales FROM reader")
    with pytest.raises(InvalidParameter, match="may read"):
        opened(reader, tmp_path)
    run(address, "DROP OWNED BY reader CASCADE", "DROP ROLE reader")


def role_exists(address: str, name: str) -> bool:
    with psycopg.connect(address) as connection:
        return connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone() is not None


def test_nothing_is_written(address: str) -> None:
    with closing(PostgresEngine({"sales": f"{address}#sales"})) as engine:
        for statement in (
            "DELETE FROM public.sales RETURNING 1",
            "WITH gone AS (DELETE FROM public.sales RETURNING 1) SELECT * FROM gone",
            "SELECT 1) AS a; DELETE FROM public.sales; SELECT * FROM (SELECT 1",
            "SELECT 1) AS a; COMMIT; DELETE FROM public.sales; SELECT * FROM (SELECT 1",
            "SELECT nextval('public.numbers')",
        ):
            with pytest.raises(psycopg.Error):
                engine.run(statement, seconds=9)
        assert engine.run("SELECT COUNT(*) FROM sales", seconds=9) == [(5000,)]


def test_settings_of_others_change_nothing(address: str) -> None:
    """Neither the database's settings nor functions, operators and tables that somebody put on the path."""
    run(
        address,
        "CREATE SCHEMA evil",
        "CREATE TABLE evil.sales AS SELECT 1 AS user_id, 'x' AS region, 1 AS amount",
        "CREATE FUNCTION evil.floor(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1e9::float8'",
        "CREATE FUNCTION evil.md5(text) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'",
        "CREATE FUNCTION evil.less(float8, float8) RETURNS bool LANGUAGE sql AS 'SELECT false'",
        "CREATE OPERATOR evil.<= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = evil.less)",
    )
    plans = [
        plan_question(read_statement(QUESTIONS[name]), policy(groups=1))
        for name in ("counts", "sums", "buckets", "expressions")
    ]
    engine = postgres_of(database(3))
    with closing(engine):
        before = [exact_of(plan, engine.run(statement_of(plan, "postgres", 1), seconds=9)) for plan in plans]
    name = psycopg.conninfo.conninfo_to_dict(address)["dbname"]
    settings = {
        "search_path": "evil, pg_catalog, public",
        "standard_conforming_strings": "off",
        "transform_null_equals": "on",
        "timezone": "'Asia/Kolkata'",
        "datestyle": "'German, DMY'",
        "extra_float_digits": "-15",
        "default_transaction_isolation": "'read uncommitted'",
        "statement_timeout": "1",
    }
    run(address, *(f"ALTER DATABASE {name} SET {key} = {value}" for key, value in settings.items()))
    with psycopg.connect(
        address, autocommit=True, options="-c statement_timeout=0 -c search_path=public"
    ) as connection:
        for table, rows in database(3).items():
            kinds = {"visits": "who bigint, ward text, cost float8, days bigint, day date, urgent boolean"}
            declared = kinds.get(
                table, "id bigint, age bigint, town text" if table == "people" else "town text, canton text"
            )
            connection.execute(f"CREATE TABLE {table} ({declared})".encode())
            for row in rows:
                marks = ", ".join("%s" for _ in row)
                connection.execute(f"INSERT INTO {table} VALUES ({marks})".encode(), row)
    patient = f"{address}&options=-c%20statement_timeout%3D0"
    with closing(PostgresEngine({name: f"{patient}#public.{name}" for name in database(3)})) as engine:
        after = [exact_of(plan, engine.run(statement_of(plan, "postgres", 1), seconds=9)) for plan in plans]
        backslash = "SELECT COUNT(*) FROM visits WHERE ward = 'x\\' OR ward <> ''';--'"
        literal = plan_question(read_statement(backslash), policy())
        assert engine.run(statement_of(literal, "postgres", 1), seconds=9)
    assert [(e.units, e.numbers) for e in before] == [(e.units, e.numbers) for e in after]


def test_the_state_of_the_data_is_known_or_never_the_same(address: str, tmp_path: Path) -> None:
    with opened(address, tmp_path) as shop:
        first = shop.sql(COUNT)
        assert shop.sql(COUNT).receipt.free
        assert shop.sql(COUNT).rows == first.rows
        run(address, "UPDATE sales SET amount = 0 WHERE user_id = 1")
        assert not shop.sql(COUNT).receipt.free
    run(
        address,
        "CREATE VIEW seen AS SELECT * FROM sales",
        "CREATE UNLOGGED TABLE hasty AS SELECT * FROM sales",
        "CREATE TABLE parts (user_id int) PARTITION BY LIST (user_id)",
        "CREATE UNLOGGED TABLE part PARTITION OF parts FOR VALUES IN (1)",
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM sales",
    )
    for table, known in {"seen": False, "hasty": False, "parts": False, "kept": True, "sales": True}.items():
        with closing(PostgresEngine({"t": f"{address}#{table}"})) as engine:
            assert (engine.snapshot() == engine.snapshot()) is known
    with psycopg.connect(address) as writer:
        writer.execute("UPDATE sales SET amount = 1")
        with closing(PostgresEngine({"t": f"{address}#sales"})) as engine:
            before = engine.snapshot()
            writer.commit()
            assert engine.snapshot() != before


def slow(address: str) -> None:
    run(address, "CREATE VIEW slow AS SELECT g AS user_id FROM generate_series(1, 1000000000000) t(g)")


def test_a_question_that_takes_too_long_is_stopped_and_charged(address: str, tmp_path: Path) -> None:
    slow(address)
    with opened(address, tmp_path, table="slow", seconds=0.2) as shop:
        left = shop.remaining
        start = time.monotonic()
        with pytest.raises(AnswerFailed):
            shop.sql("SELECT COUNT(*) FROM slow")
        assert time.monotonic() - start < 10
        assert shop.remaining["rho"] < left["rho"]
    with psycopg.connect(address) as connection:
        rest = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%slow%' AND pid <> pg_backend_pid()"
        )
        assert rest.fetchone() == (0,)


def test_a_server_that_dies_in_the_middle_is_charged(address: str, tmp_path: Path) -> None:
    slow(address)
    killed = threading.Event()

    def kill() -> None:
        with psycopg.connect(server(), autocommit=True) as connection:
            while not killed.wait(0.05):
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE query LIKE '%slow%' AND pid <> pg_backend_pid()"
                )

    with indistinct.open(
        {"slow": f"{address}#slow", "sales": f"{address}#sales"},
        policy=two_tables(),
        ledger=tmp_path / "p.ledger",
        seconds=60,
    ) as shop:
        thread = threading.Thread(target=kill)
        thread.start()
        left = shop.remaining
        try:
            with pytest.raises(AnswerFailed) as failed:
                shop.sql("SELECT COUNT(*) FROM slow")
        finally:
            killed.set()
            thread.join()
        assert str(failed.value) == str(AnswerFailed())
        assert failed.value.__context__ is None
        assert shop.remaining["rho"] < left["rho"]
        assert shop.sql(COUNT).rows  # on a connection that is new
    with Ledger.open(tmp_path / "p.ledger") as book:
        assert book.verify().charges == 2


def two_tables() -> Any:
    unit = indistinct.queries.Column(type="integer")
    tables = (
        indistinct.queries.PrivateTable(name=name, unit="user_id", columns={"user_id": unit})
        for name in ("slow", "sales")
    )
    return indistinct.queries.Policy(tables=tuple(tables), budget=indistinct.queries.Budget(epsilon=1, delta=1e-6))


def test_a_server_that_is_gone_is_charged_once_it_was_asked(tmp_path: Path) -> None:
    started = subprocess.run(
        [SCRIPTS / "postgres", "start", str(os.getpid())], stdout=subprocess.PIPE, text=True, timeout=600, check=True
    )
    directory, address = started.stdout.split()
    run(address, "CREATE TABLE sales (user_id int)")
    with opened(address, tmp_path) as shop:
        left = shop.remaining
        snapshot = shop.engine.snapshot()
        subprocess.run([SCRIPTS / "postgres", "stop", directory], timeout=60, check=True)
        with pytest.raises(DataUnavailable):
            shop.sql(COUNT)  # the state of the data is not known, and nothing was asked
        assert shop.remaining == left
        shop.engine.snapshot = lambda: snapshot  # type: ignore[method-assign]
        with pytest.raises(AnswerFailed):
            shop.sql(COUNT)
        assert shop.remaining["rho"] < left["rho"]
    with pytest.raises(InvalidParameter, match="reached"):
        opened(address, tmp_path)


class Line:
    """A line to the server that can fall silent: nothing comes or goes, and nobody hangs up."""

    def __init__(self, folder: Path) -> None:
        directory = psycopg.conninfo.conninfo_to_dict(server())["host"]
        self.there = f"{directory}/.s.PGSQL.5432"
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(f"{folder}/.s.PGSQL.5432")
        self.listening.listen()
        self.silent = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                here, _ = self.listening.accept()
            except OSError:
                return
            there = socket.socket(socket.AF_UNIX)
            there.connect(self.there)
            for pair in ((here, there), (there, here)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source: socket.socket, target: socket.socket) -> None:
        with source:
            while True:
                data = source.recv(65536)
                if not data or self.silent:
                    return time.sleep(0 if not data else 60)
                target.sendall(data)


def test_a_line_that_falls_silent_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(postgres, "_GRACE", 0.3)
    line = Line(tmp_path)
    engine = PostgresEngine({"t": f"postgresql:///postgres?host={tmp_path}&user=ledger#pg_catalog.pg_class"})
    assert engine.run("SELECT 1", seconds=1) == [(1,)]
    line.silent = True
    start = time.monotonic()
    with pytest.raises(psycopg.OperationalError):
        engine.run("SELECT 1", seconds=0.3)
    assert time.monotonic() - start < 10
    line.listening.close()


def test_hostile_and_long_names(address: str, tmp_path: Path) -> None:
    table, unit, key = 'a"; DROP TABLE sales; --', "wh%s o'", "k" * 63
    names = [each.replace('"', '""') for each in (table, unit, key)]
    run(address, 'CREATE TABLE "{}" ("{}" int, "{}" text)'.format(*names))
    run(address, f"INSERT INTO \"{names[0]}\" SELECT i, 'x' FROM generate_series(1, 90) t(i)")
    quoted = '"' + names[0] + '"'
    long = "é" * 80
    with opened(address, tmp_path, table=quoted, unit=unit, name=long) as shop:
        inner = f'SELECT "{key}" AS {"b" * 70}a, "{key}" AS {"b" * 70}c FROM "{long}"'
        answer = shop.sql(
            f"SELECT {'b' * 70}a AS g, COUNT({'b' * 70}c) FROM ({inner}) AS s GROUP BY 1", keys={"b" * 70 + "a": ["x"]}
        )
        assert len(answer.rows) == 1
    with closing(PostgresEngine({"sales": f"{address}#sales"})) as engine:
        assert engine.run("SELECT COUNT(*) FROM sales", seconds=9) == [(5000,)]


def test_text_compares_by_its_bytes(address: str) -> None:
    run(
        address,
        "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE words (who int, word text COLLATE blind)",
        "INSERT INTO words VALUES (1, 'a'), (2, 'A'), (3, 'É')",
    )
    with closing(PostgresEngine({"words": f"{address}#words"})) as engine:
        assert len(engine.run("SELECT word, COUNT(*) FROM words GROUP BY word ORDER BY word", seconds=9)) == 3


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no table": ({}, "Say table"),
    "an unknown table": ({"table": "nowhere"}, "name a table"),
    "no table's name": ({"table": "a b"}, "source"),
    "a table of no columns": ({"table": "empty"}, "column"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_openings(case: str, address: str, tmp_path: Path) -> None:
    options, said = BAD[case]
    run(address, "CREATE TABLE empty (x json)")
    with pytest.raises(InvalidParameter, match=said):
        indistinct.open(address, unit="user_id", epsilon=1, delta=1e-6, ledger=tmp_path / "x.ledger", **options)
    assert not (tmp_path / "x.ledger").exists()


def test_addresses_that_are_refused(address: str, tmp_path: Path) -> None:
    run(address, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    latin = server().replace("/postgres?", "/latin?")
    for wrong, said in (
        (latin, "UTF8"),
        ("postgresql://ann:secret@127.0.0.1:1/x", "reached"),
        ("postgresql:///x?nonsense=1", "understands"),
        ("postgresql://ann:secret@[::1/x", "understands"),
        ("mysql://db/x", "postgresql://"),
    ):
        with pytest.raises(InvalidParameter, match=said) as refused:
            indistinct.open(wrong, table="sales", unit="u", epsilon=1, delta=1e-6)
        assert "secret" not in str(refused.value)
    run(address, "DROP DATABASE latin")
    with pytest.raises(InvalidParameter, match="one place"):
        indistinct.open({"slow": f"{address}#sales", "sales": str(tmp_path / "s.csv")}, policy=two_tables())
    with pytest.raises(InvalidParameter, match="one database"):
        indistinct.open({"slow": f"{address}#sales", "sales": f"{server()}#pg_catalog.pg_class"}, policy=two_tables())
    with pytest.raises(InvalidParameter, match="no database"):
        indistinct.open(tmp_path / "s.csv", table="sales", unit="u", epsilon=1, delta=1e-6)
