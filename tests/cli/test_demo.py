"""The demo: a table that is made the same everywhere, looks like life, and is asked from end to end."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from indistinct import cli
from indistinct.cli.demo.questions import QUESTIONS, policy_text
from indistinct.cli.demo.visits import AGE_GROUPS, REASONS, REGIONS, WARDS, make_visits, write_visits
from indistinct.errors import InvalidParameter
from indistinct.queries.policy.file import parse_policy


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "visits.parquet"
    write_visits(path, 20_000, 2_000)
    return path


def asked(table: Path, sql: str) -> list[Any]:
    """Rows, by plain DuckDB."""
    with duckdb.connect() as engine:
        engine.read_parquet(str(table)).create_view("visits")
        rows: list[Any] = engine.execute(sql).fetchall()
        return rows


def test_the_table_is_made_the_same_each_time() -> None:
    one, other = make_visits(5000, 500), make_visits(5000, 500)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_the_table_is_of_the_size_that_is_asked_for(table: Path) -> None:
    assert asked(table, "SELECT COUNT(*), COUNT(DISTINCT patient_id) FROM visits") == [(20_000, 2_000)]
    for visits, patients in ((1, 2), (0, 0), (10**9, 1)):
        with pytest.raises(InvalidParameter):
            make_visits(visits, patients)


def test_the_table_has_the_columns_of_its_policy(table: Path) -> None:
    policy = parse_policy(policy_text("visits.parquet")).policy
    assert policy is not None
    declared = policy.table("visits")
    assert declared is not None
    kinds = {"BIGINT": "integer", "INTEGER": "integer", "VARCHAR": "text", "DOUBLE": "real", "DATE": "date"}
    found = {name: kinds[str(kind)] for name, kind, *_ in asked(table, "DESCRIBE visits")}
    assert found == {name: column.type for name, column in declared.columns.items()}
    for name, column in declared.columns.items():
        if column.keys is not None:
            occurring = {key for (key,) in asked(table, f"SELECT DISTINCT {name} FROM visits")}
            assert occurring <= set(column.keys)


def test_the_table_looks_like_life() -> None:
    columns = make_visits()
    visits = np.unique(columns["patient_id"], return_counts=True)[1]
    assert np.sort(visits)[-200:].sum() > 0.08 * visits.sum()  # one patient in a hundred, one visit in twelve
    assert np.median(visits) < visits.mean() / 2
    regions = np.bincount(columns["region"], minlength=len(REGIONS))
    assert regions.max() > 6 * regions.min() > 0
    reasons = np.bincount(columns["reason"], minlength=len(REASONS))
    assert reasons.max() > 10_000
    assert 0 < reasons[reasons > 0].min() < 10  # rare enough for somebody to be recognised
    children = columns["age_group"] <= 1
    assert set(columns["age_group"][columns["ward"] == WARDS.index("paediatrics")].tolist()) == {0, 1}
    assert set(columns["age_group"].tolist()) == set(range(len(AGE_GROUPS)))
    assert 0.05 < children.mean() < 0.3
    waited = columns["waiting_minutes"]
    assert 0.005 < (waited < 0).mean() < 0.05
    assert waited.max() > 5 * np.median(waited)


# The tour, from end to end


def toured(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert cli.main(["demo", "--out", str(folder), *options]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"(?<![\w.,-])-?\d[\d,]*(?:\.\d+)?", text)]


def test_the_tour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = toured(tmp_path / "demo", capsys, "--visits", "40000")
    assert "40,000 visits of 4,000 patients, none of whom exists" in printed
    for number, question in enumerate(QUESTIONS, 1):
        assert f"\n{number}. {question.words}\n   {question.sql}\n" in printed
    left = [float(share) for share in re.findall(r"Left: rho [\d.e-]+ of [\d.e-]+ \((\d+)%\)", printed)]
    assert left == [100, 83, 67, 50, 33, 17, 17]  # a sixth for each question, and nothing for what is refused
    assert "Refused, and nothing is charged" in printed.split("\n6. ")[1]
    assert "^^^^^^^" in printed

    # true and private answers side by side: the true ones are DuckDB's, and most lie in their intervals
    regions = printed.split("\n1. ")[1].split("\n2. ")[0]
    truth = dict(asked(tmp_path / "demo" / "visits.parquet", QUESTIONS[0].sql))
    inside = 0
    for name in REGIONS:
        (line,) = (line for line in regions.splitlines() if line.split()[:1] == [name])
        true, private, low, high = numbers(line)
        assert true == truth[name]
        assert low < private < high
        inside += low <= true <= high
    assert inside >= 4  # fewer than 5 of 12 at 95% each have a probability below 1e-6

    # the rare reasons are not shown, and the picture is drawn
    assert "groups are too small to be shown" in printed.split("\n5. ")[1]
    picture = ET.parse(tmp_path / "demo" / "true-and-private.svg")  # noqa: S314  # our own file
    assert picture.getroot().tag.endswith("svg")


def test_a_small_tour_can_be_taken_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert "(17%)" in toured(tmp_path, capsys, "--visits", "300")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy.toml", "true-and-private.svg", "visits.parquet"]


def test_table_and_policy_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = toured(tmp_path, capsys, "--visits", "300", "--data-only")
    assert len(printed.splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy.toml", "visits.parquet"]
    assert parse_policy((tmp_path / "policy.toml").read_text(encoding="utf-8")).faults == ()


def test_without_matplotlib_there_is_no_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "No picture: drawing needs an extra" in toured(tmp_path, capsys, "--visits", "300")


@pytest.mark.parametrize("options", [["--visits", "0"], ["--visits", "many"], ["--visits", "10000000000"]])
def test_bad_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert cli.main(["demo", "--out", str(tmp_path), *options]) == 2
    assert capsys.readouterr().err.startswith("indistinct: ")
    (tmp_path / "file").touch()
    assert cli.main(["demo", "--out", str(tmp_path / "file")]) == 2
