"""What a ledger's tables are in PostgreSQL, and what they must be.

What they must be is found by carrying out the migrations among the session's temporary tables, in a transaction that
is rolled back: so definitions are compared as this server spells them, whichever version it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg

from indistinct.ledger.tables import Made, alterations, described, scripts

__all__ = ["altered"]

_OURS = "indistinct_ledger"
_SCRATCH = "pg_temp"

_TABLES = """
    SELECT 'table', relname, concat_ws(' ', relkind, relrowsecurity, relforcerowsecurity, relhassubclass,
           relpersistence = ANY(%(kept)s), relispartition)
    FROM pg_class WHERE relnamespace = %(schema)s AND relkind NOT IN ('i', 'I', 't', 'c')
"""
_COLUMNS = """
    SELECT 'column', relname || '.' || attname, concat_ws(' ', attnum, format_type(atttypid, atttypmod), attnotnull,
           attgenerated, attidentity, attcollation, pg_get_expr(adbin, adrelid))
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = %(schema)s AND relkind NOT IN ('i', 'I', 't') AND attnum > 0 AND NOT attisdropped
"""
_CONSTRAINTS = """
    SELECT 'constraint', conname, concat_ws(' ', conrelid::regclass, convalidated, condeferrable, condeferred,
           pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = %(schema)s AND contype <> 't'
"""
_INDEXES = """
    SELECT 'index', relname, concat_ws(' ', indisvalid, indisready, indislive, pg_get_indexdef(indexrelid))
    FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = %(schema)s
"""
_TRIGGERS = """
    SELECT 'trigger', tgname, concat_ws(' ', tgenabled, pg_get_triggerdef(t.oid))
    FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = %(schema)s AND NOT tgisinternal
    UNION ALL
    SELECT 'check of references', concat_ws(' ', conname, p.proname), concat_ws(' ', tgenabled, tgtype)
    FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid JOIN pg_constraint k ON k.oid = tgconstraint
    JOIN pg_proc p ON p.oid = tgfoid
    WHERE relnamespace = %(schema)s AND tgisinternal
"""
_FUNCTIONS = """
    SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = %(schema)s AND prokind <> 'a'
"""
_RULES = """
    SELECT 'rule', rulename, concat_ws(' ', ev_enabled, pg_get_ruledef(r.oid))
    FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE relnamespace = %(schema)s
    UNION ALL
    SELECT 'policy', polname, polcmd::text
    FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE relnamespace = %(schema)s
"""
_ALL = " UNION ALL ".join((_TABLES, _COLUMNS, _CONSTRAINTS, _INDEXES, _TRIGGERS, _FUNCTIONS, _RULES))


def altered(connection: psycopg.Connection[tuple[Any, ...]]) -> Iterator[str]:
    """In what the tables of the ledger differ from what the migrations make; within a transaction to be rolled back."""
    for script in scripts("postgres"):
        here = script.replace(f"CREATE SCHEMA {_OURS};", "").replace(f"{_OURS}.", f"{_SCRATCH}.")
        connection.execute(here.encode())
    (scratch,) = connection.execute("SELECT pg_my_temp_schema()").fetchone() or (0,)
    (ours,) = connection.execute("SELECT to_regnamespace(%s)::oid", (_OURS,)).fetchone() or (0,)
    made = _described(connection, scratch, "t", rf"\b{_SCRATCH}(_\d+)?\.")
    yield from alterations(_described(connection, ours, "p", rf"\b{_OURS}\."), made)


def _described(connection: psycopg.Connection[tuple[Any, ...]], schema: int, kept: str, prefix: str) -> Made:
    rows = connection.execute(_ALL.encode(), {"schema": schema, "kept": [kept]})
    return described((kind, name, re.sub(prefix, "", definition)) for kind, name, definition in rows)
