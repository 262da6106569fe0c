"""indistinct policy: what a file says, what is wrong with it, and drafts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indistinct import cli
from indistinct.cli.demo.questions import policy_text
from indistinct.queries.policy.file import parse_policy


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["policy", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(policy_text("visits.parquet"), encoding="utf-8")
    return path


def test_a_policy_in_order_is_told(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    code, out, err = ran(capsys, "check", str(file))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"{file} is in order."
    assert "budget   epsilon = 1, delta = 1e-06, for all answers together" in lines
    assert "           region           text, 12 public keys" in lines
    assert "           cost             real, from 0 to 5000, in steps of 0.01" in lines


def test_as_json(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    code, out, _ = ran(capsys, "check", str(file), "--json")
    told = json.loads(out)
    assert code == 0
    assert told["valid"] is True
    assert told["faults"] == []
    assert told["budget"] == {"epsilon": "1", "delta": "1/1000000"}
    assert told["tables"]["visits"]["contribution"] == {"groups": 4, "rows": 5}
    assert told["tables"]["visits"]["unit"] == "patient_id"


def test_every_fault_is_told_and_the_exit_code_is_2(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("epsilon = 1", "epsilon = -1").replace("low = 0,", "lo = 0,", 1)
    file.write_text(text, encoding="utf-8")
    code, out, err = ran(capsys, "check", str(file))
    assert (code, out) == (2, "")
    head, *sentences = err.splitlines()
    assert head == f"indistinct: {file} has 3 faults:"
    assert [sentence.split(" must ")[0].strip() for sentence in sentences] == [
        "budget.epsilon",
        "a key in tables.visits.columns.waiting_minutes",
        "the bounds of tables.visits.columns.waiting_minutes",
    ]
    code, out, err = ran(capsys, "check", str(file), "--json")
    told = json.loads(out)
    assert code == 2
    assert told["valid"] is False
    assert told["faults"][0]["place"] == "budget.epsilon"


def test_a_missing_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = ran(capsys, "check", str(tmp_path / "none.toml"))
    assert (code, out) == (2, "")
    assert "must be a file that can be read" in err


def test_other_kinds_of_tables_are_told(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    file.write_text(
        "version = 1\nbudget.epsilon = 0.5\nanalysts.ana.epsilon = 0.1\nanalysts.ben = {}\n"
        '[tables.a]\nunit_is_row = true\ncolumns.x.type = "text"\n[tables.b]\npublic = true\ncolumns.y.type = "date"\n',
        encoding="utf-8",
    )
    _, out, _ = ran(capsys, "check", str(file))
    assert "analyst  ana: epsilon = 0.1, delta = 0" in out
    assert "analyst  ben: as much as all together" in out
    assert "table    a: the unit is each row" in out
    assert "table    b: public" in out
    told = json.loads(ran(capsys, "check", str(file), "--json")[1])
    assert told["analysts"] == {"ana": {"epsilon": "1/10", "delta": "0"}, "ben": None}
    assert told["tables"]["a"]["unit"] is None
    assert told["tables"]["b"]["public"] is True


def test_a_draft_can_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "visits.parquet"
    duckdb.sql("SELECT 1 AS person, 'x' AS ward").write_parquet(str(path))
    code, out, _ = ran(capsys, "draft", str(path), "--unit", "person", "--epsilon", "1", "--delta", "1e-6")
    assert code == 0
    assert parse_policy(out).faults == ()
    code, out, err = ran(capsys, "draft", str(path), "--unit", "nobody", "--epsilon", "1")
    assert (code, out) == (2, "")
    assert err == "indistinct: unit must name a column of visits, but is 'nobody'. There are: person, ward.\n"
