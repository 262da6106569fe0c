"""Policy files: what they say is read exactly, each fault is one sentence with its place, and nothing else gets by."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import IndistinctError, InvalidParameter
from indistinct.queries.policy import ROW, Analyst, Budget, Column, Contribution, Policy, PrivateTable, PublicTable
from indistinct.queries.policy.draft import draft_policy
from indistinct.queries.policy.file import parse_policy, read_policy, read_policy_file
from indistinct.queries.policy.reader import KEYS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")

WHOLE = """
version = 1
[budget]
epsilon = 0.1
delta = 1e-6
[tables.visits]
source = "visits.parquet"
unit = "patient"
contribution = { groups = 3, rows = 10 }
[tables.visits.columns]
patient = { type = "integer" }
ward = { type = "text", keys = ["A", "B"], null_key = true }
cost = { type = "real", low = -0.5, high = 1_000.25, step = 0.01 }
seen = { type = "date", keys = [2025-01-01, 2025-01-02] }
[tables.rows]
unit_is_row = true
columns.x = { type = "boolean" }
[tables.wards]
public = true
source = "postgresql://somewhere/wards"
columns.ward.type = "text"
[analysts.ana]
epsilon = 0.05
delta = 1e-7
[analysts."Ben B."]
"""


def faults(text: str) -> list[str]:
    reading = parse_policy(text)
    assert (reading.policy is None) == bool(reading.faults)
    return [str(fault) for fault in reading.faults]


def changed(old: str, new: str) -> str:
    assert WHOLE.count(old) == 1, old
    return WHOLE.replace(old, new)


def test_everything_that_a_file_may_say(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(WHOLE, encoding="utf-8")
    assert read_policy(file) == Policy(
        tables=(
            PrivateTable(
                name="visits",
                unit="patient",
                source=str(tmp_path / "visits.parquet"),
                contribution=Contribution(groups=3, rows=10),
                columns={
                    "patient": Column(type="integer"),
                    "ward": Column(type="text", keys=("A", "B", None)),
                    "cost": Column(type="real", low=Fraction(-1, 2), high=Fraction(4001, 4), step=Fraction(1, 100)),
                    "seen": Column(type="date", keys=(dt.date(2025, 1, 1), dt.date(2025, 1, 2))),
                },
            ),
            PrivateTable(name="rows", unit=ROW, columns={"x": Column(type="boolean")}),
            PublicTable(name="wards", source="postgresql://somewhere/wards", columns={"ward": Column(type="text")}),
        ),
        budget=Budget(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6)),
        analysts=(
            Analyst(name="ana", budget=Budget(epsilon=Fraction(1, 20), delta=Fraction(1, 10**7))),
            Analyst(name="Ben B."),
        ),
    )


WRONG = {
    "no TOML": (changed("version = 1", "version = "), r"the policy must be TOML, .* \(at line 2, column"),
    "no version": (changed("version = 1", ""), r"version must be 1, but is missing\. It says"),
    "another version": (changed("version = 1", "version = 2"), r"version must be 1, but is 2\."),
    "version true": (changed("version = 1", "version = true"), r"version must be 1, but is True\."),
    "epsilon 0": (changed("epsilon = 0.1\n", "epsilon = 0\n"), r"budget\.epsilon must be positive, but is 0\."),
    "epsilon nan": (changed("epsilon = 0.1\n", "epsilon = nan\n"), r"budget\.epsilon must be finite, but is nan\."),
    "epsilon inf": (changed("epsilon = 0.1\n", "epsilon = inf\n"), r"budget\.epsilon must be finite, but is inf\."),
    "epsilon text": (changed("epsilon = 0.1\n", 'epsilon = "1"\n'), r"budget\.epsilon must be a number, but is '1'\."),
    "epsilon true": (
        changed("epsilon = 0.1\n", "epsilon = true\n"),
        r"budget\.epsilon must be a number, but is True\.",
    ),
    "no epsilon": (changed("epsilon = 0.1\n", ""), r"budget\.epsilon must be given, but is missing\."),
    "delta 1": (changed("delta = 1e-6", "delta = 1.0"), r"budget\.delta must lie in \[0, 1\), but is 1\."),
    "budget no table": (
        WHOLE.replace("[budget]\nepsilon = 0.1\ndelta = 1e-6", "budget = 1"),
        r"budget must be a table of the file, but is 1\. Write \[budget\]",
    ),
    "misspelt": (
        changed("rows = 10", "row = 10"),
        r"a key in tables\.visits\.contribution must be one of groups, rows, but is 'row'\. Did you mean rows\?",
    ),
    "unknown": (
        changed("version = 1", 'version = 1\nowner = "me"'),
        r"a key at the top of the file must be one of version, budget, tables, analysts, but is 'owner'\.$",
    ),
    "no unit": (
        changed('unit = "patient"', ""),
        r"tables\.visits\.unit must name the column that says whose row it is, but is missing\. Where each row",
    ),
    "unknown unit": (
        changed('unit = "patient"', 'unit = "person"'),
        r"tables\.visits\.unit must name a column of table 'visits', but is 'person'\. There are: patient, ward",
    ),
    "two units": (
        changed("unit_is_row = true", 'unit_is_row = true\nunit = "x"'),
        r"tables\.rows\.unit must be left out where unit_is_row is true",
    ),
    "unit of a public table": (
        changed("public = true", 'public = true\nunit = "ward"'),
        r"tables\.wards\.unit must be left out for a public table, but is 'ward'\.",
    ),
    "public 1": (changed("public = true", "public = 1"), r"tables\.wards\.public must be true or false, but is 1\."),
    "contribution": (
        changed("groups = 3", "groups = 0"),
        r"tables\.visits\.contribution\.groups must be a whole number from 1 to .*, but is 0\.",
    ),
    "contribution 1.5": (
        changed("groups = 3", "groups = 1.5"),
        r"tables\.visits\.contribution\.groups must be a whole number from 1 to .*, but is 1\.5\.",
    ),
    "type": (
        changed('ward = { type = "text",', 'ward = { type = "string",'),
        r"tables\.visits\.columns\.ward\.type must be one of integer, real, .*, but is 'string'\.",
    ),
    "no type": (
        changed('columns.x = { type = "boolean" }', "columns.x = {}"),
        r"tables\.rows\.columns\.x\.type must be given, but is missing\.",
    ),
    "bounds": (
        changed("low = -0.5", "low = 2000"),
        r"the bounds of tables\.visits\.columns\.cost must be two numbers, the smaller one first, but is \(2000, 1000",
    ),
    "one bound": (
        changed("low = -0.5, ", ""),
        r"the bounds of tables\.visits\.columns\.cost must be given on both sides or on none",
    ),
    "an enormous bound": (
        changed("low = -0.5", "low = -1" + "0" * 400),
        r"tables\.visits\.columns\.cost\.low must lie between -10\^300 and 10\^300, but is a whole number of",
    ),
    "an enormous exponent": (
        changed("low = -0.5", "low = -1e999999999"),
        r"tables\.visits\.columns\.cost\.low must have an exponent of at most",
    ),
    "keys": (
        changed('keys = ["A", "B"]', 'keys = "A"'),
        r"tables\.visits\.columns\.ward\.keys must be a list, but is 'A'\.",
    ),
    "keys of another type": (
        changed('keys = ["A", "B"]', 'keys = ["A", 2.5]'),
        r"tables\.visits\.columns\.ward\.keys must be of the column's type, text, but is 2\.5\.",
    ),
    "keys twice": (
        changed('keys = ["A", "B"]', 'keys = ["A", "A"]'),
        r"tables\.visits\.columns\.ward\.keys must be different from each other",
    ),
    "null without keys": (
        changed('keys = ["A", "B"], ', ""),
        r"tables\.visits\.columns\.ward\.null_key must go with keys",
    ),
    "no private table": (
        'version = 1\nbudget.epsilon = 1\n[tables.w]\npublic = true\ncolumns.x.type = "text"',
        r"tables must hold a private table, but is \('w',\)\.",
    ),
    "no columns": (
        changed('columns.x = { type = "boolean" }', ""),
        r"tables\.rows\.columns must be a table of the file with an entry, but is missing\.",
    ),
    "names that SQL does not tell apart": (
        changed("[tables.rows]", "[tables.VISITS]"),
        r"tables must have different names, but is \['visits'\]\.",
    ),
    "source": (changed('"visits.parquet"', "5"), r"tables\.visits\.source must be text, but is 5\."),
    "a name with a line break": (
        changed("columns.x = { type", 'columns."a\\nb" = { typ'),
        r'a key in tables\.rows\.columns\."a\\U0000000ab" must be one of',
    ),
    "a name to be quoted": (
        changed("columns.x = { type", 'columns."a b\\"c" = { typ'),
        r'a key in tables\.rows\.columns\."a b\\"c" must be one of',
    ),
}


@pytest.mark.parametrize(("text", "sentence"), WRONG.values(), ids=WRONG)
def test_a_fault_is_one_sentence_with_its_place(text: str, sentence: str) -> None:
    said = faults(text)
    assert any(re.match(sentence, each) for each in said), said
    assert not any("\n" in each for each in said)
    assert all("Written" not in each and "Fraction" not in each for each in said)


def test_all_faults_are_told_at_once() -> None:
    text = changed("epsilon = 0.1\n", "epsilon = -1\n").replace("rows = 10", "rows = 0").replace('"boolean"', '"bool"')
    places = [each.split(" must ")[0] for each in faults(text)]
    assert places == ["budget.epsilon", "tables.visits.contribution.rows", "tables.rows.columns.x.type"]


def test_the_first_fault_is_raised_and_a_missing_file_is_one(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    with pytest.raises(InvalidParameter, match=r"the policy must be a file that can be read"):
        read_policy(file)
    file.write_bytes(b"version = 1 # \xff")
    with pytest.raises(InvalidParameter, match=r"the policy must be text in UTF-8"):
        read_policy(file)
    file.write_text("version = 1", encoding="utf-8")
    with pytest.raises(InvalidParameter, match=r"budget must be given"):
        read_policy(file)


# Whatever a file holds, it is read or refused

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.text(max_size=5),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.sampled_from(["integer", "real", "text", "date", "patient", "a"]),
    st.lists(st.one_of(st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2)), max_size=3),
)
NAMES = st.one_of(
    st.sampled_from(sorted({key for keys in KEYS.values() for key in keys})),
    st.sampled_from(["patient", "visits", "a"]),
    st.text(max_size=4),
)


def spelled(value: Any) -> str:
    """A value as TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return '"' + "".join(f"\\U{ord(each):08x}" for each in value) + '"'
        case list():
            return "[" + ", ".join(map(spelled, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{spelled(key)} = {spelled(each)}" for key, each in value.items()) + "}"
    return str(value.isoformat())


def replaced(told: dict[str, Any], path: list[int], name: str, value: Any) -> None:
    """Puts a value somewhere into a nested table; numbers choose the way."""
    for step in path:
        inner = [each for each in told.values() if isinstance(each, dict)]
        if not inner:
            break
        told = inner[step % len(inner)]
    told[name] = value


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 9), max_size=4),
            NAMES,
            st.recursive(SCALARS, lambda inner: st.dictionaries(NAMES, inner, max_size=3), max_leaves=4),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_files_with_anything_anywhere_are_read_or_refused(changes: list[tuple[list[int], str, Any]]) -> None:
    told = tomllib.loads(WHOLE)
    for path, name, value in changes:
        replaced(told, path, name, value)
    text = "\n".join(f"{spelled(key)} = {spelled(value)}" for key, value in told.items())
    reading = parse_policy(text)
    assert (reading.policy is None) == bool(reading.faults)
    for fault in reading.faults:
        assert str(fault).isprintable()
    if reading.policy is not None:  # then everything that was put in is known
        assert set(told) <= set(KEYS[""])


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert parse_policy(text).faults


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "a = " + "[" * 100_000, "a = " + "1" * 10_000, "a" + ".a" * 10_000 + "=1"]
)
def test_files_that_are_made_to_harm_are_refused(text: str) -> None:
    assert parse_policy(text).faults


def test_a_file_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indistinct.queries.policy.file.LARGEST_FILE", 1 << 20)
    file = tmp_path / "policy.toml"
    file.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InvalidParameter, match=r"have at most 1 MiB"):
        read_policy_file(file)


# The page and the reader know the same keys


def documented(page: str) -> dict[str, set[str]]:
    """The keys in the tables of the page, by the place that stands before each."""
    found: dict[str, set[str]] = {}
    section = page[page.index("## Every key") :]
    for head, table in re.findall(r"^(At the top of the file|`\[[^`]*\]`).*\n\n((?:\|.*\n)+)", section, re.MULTILINE):
        place = "" if head.startswith("At") else head.strip("`[]")
        rows = [row.split("|")[1] for row in table.splitlines()[2:]]
        found[place] = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    return found


def test_every_key_is_documented_and_every_documented_key_is_read() -> None:
    assert documented(PAGE) == {place: set(keys) for place, keys in KEYS.items()}


def test_a_key_that_is_not_documented_is_noticed() -> None:
    assert documented(PAGE.replace("| `step` |", "| |")) != {place: set(keys) for place, keys in KEYS.items()}


def test_the_file_on_the_page_is_in_order() -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert faults(example) == []
    used = set(re.findall(r"\w+", example))
    assert {key for keys in KEYS.values() for key in keys} - used <= {"unit_is_row", "null_key"}


# Drafts


def parquet(path: Path, query: str) -> Path:
    duckdb = pytest.importorskip("duckdb")
    duckdb.sql(query).write_parquet(str(path))
    return path


def test_a_draft_is_a_policy_and_tells_of_types_alone(tmp_path: Path) -> None:
    names = (
        "1::BIGINT AS person, 'x' AS \"my \"\"ward\", 1.5::DECIMAL(9, 2) AS cost, DATE '2025-01-01' AS day, [1] AS list"
    )
    one = parquet(tmp_path / "visits.parquet", f"SELECT {names}")
    text = draft_policy(one, unit="person", epsilon="0.1", delta="1e-6")
    reading = parse_policy(text)
    assert reading.policy is not None, reading.faults
    table = reading.policy.table("visits")
    assert table is not None
    assert {name: column.type for name, column in table.columns.items()} == {
        "person": "integer",
        'my "ward': "text",
        "cost": "real",
        "day": "date",
    }
    assert reading.policy.budget == Budget(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6))
    assert "# list is left out: INTEGER[] is not a type" in text


def test_no_name_can_write_into_a_draft(tmp_path: Path) -> None:
    name = 'x"\n[tables.y]\npublic = true\n#'
    quoted = '"' + name.replace('"', '""') + '"'
    file = parquet(tmp_path / "t.parquet", f"SELECT 1 AS person, 'a' AS {quoted}, {{{quoted}: 1}} AS inner")
    policy = parse_policy(draft_policy(file, unit="person", epsilon=1, delta=0)).policy
    assert policy is not None
    assert [table.name for table in policy.tables] == ["t"]
    assert set(policy.tables[0].columns) == {"person", name}


def test_drafts_of_different_rows_are_equal(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    few = parquet(tmp_path / "a" / "t.parquet", "SELECT 1 AS person, 'secret' AS ward WHERE false")
    many = parquet(
        tmp_path / "b" / "t.parquet", "SELECT range::INTEGER AS person, 'x' || range AS ward FROM range(999)"
    )
    drafts = {draft_policy(file, unit="person", epsilon=1, delta=0) for file in (few, many)}
    assert len(drafts) == 1
    assert "secret" not in drafts.pop()


def test_a_draft_of_a_database_has_all_its_tables(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "it's.duckdb")) as engine:
        engine.execute("CREATE TABLE a (person INTEGER, x BOOLEAN); CREATE TABLE b (person INTEGER, y TIMESTAMP)")
    reading = parse_policy(draft_policy(tmp_path / "it's.duckdb", unit="person", epsilon=1, delta=0))
    assert reading.policy is not None, reading.faults
    assert [table.name for table in reading.policy.tables] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("visits.csv", b"person\n1\n", r"be Parquet or a DuckDB file, which state their types"),
        ("visits.parquet", b"no such thing", r"be Parquet or a DuckDB file as its name says"),
        ("visits.duckdb", b"no such thing", r"be Parquet or a DuckDB file as its name says"),
    ],
)
def test_files_without_types_are_refused(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidParameter, match=sentence):
        draft_policy(tmp_path / name, unit="person", epsilon=1, delta=0)


def test_bad_drafts_are_refused(tmp_path: Path) -> None:
    file = parquet(tmp_path / "visits.parquet", "SELECT 1 AS person")
    for wrong in ({"unit": "nobody"}, {"epsilon": 0}, {"epsilon": "1/3"}, {"delta": 1}):
        arguments: dict[str, Any] = {"unit": "person", "epsilon": 1, "delta": 0, **wrong}
        with pytest.raises(IndistinctError):
            draft_policy(file, **arguments)
    with pytest.raises(InvalidParameter, match="be one that can be read"):
        draft_policy(tmp_path / "none.parquet", unit="person", epsilon=1, delta=0)
