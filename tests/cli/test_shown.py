"""Answers as tables, bars, CSV and JSON: every number is where it belongs, and no text reaches the terminal raw."""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import io
import json
import xml.etree.ElementTree as ET
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.cli.bars import as_bars
from indistinct.cli.sheet import Sheet, spelled
from indistinct.cli.shown import as_csv, as_object, shown
from indistinct.cli.table import as_table
from indistinct.errors import InvalidParameter

VISITS = Sheet(
    ("region", "visits", "minutes"),
    (("Ashford", 57_490, 41.5), ("Kelsham", -20, None), (None, 6, 71.25)),
    {1: ((57_400.0, 57_580.0), (-110.0, 70.0), None), 2: ((41.0, 42.0), None, (60.5, 82.0))},
    ("charge 3",),
    {"receipt": {"charge": 3}},
)
NO_NOISE = Sheet(("region",), (("A",), ("B",)), {})


def asked(**form: object) -> argparse.Namespace:
    return argparse.Namespace(**{"json": False, "csv": False, "chart": None, **form})


def test_a_table_has_intervals_beside_what_they_belong_to() -> None:
    assert as_table(VISITS).splitlines() == [
        "region   visits  noise interval    minutes  noise interval",
        "-------  ------  ----------------  -------  --------------",
        "Ashford  57,490  57,400 to 57,580    41.50  41.00 to 42.00",
        "Kelsham     -20    -110 to     70     NULL",
        "NULL          6                      71.25  60.50 to 82.00",
        "3 rows; noise interval (95%, privacy noise only)",
    ]
    assert as_table(NO_NOISE).splitlines() == ["region", "------", "A", "B", "2 rows"]
    assert as_table(Sheet(("n",), (), {0: ()})).endswith("0 rows; noise interval (95%, privacy noise only)")


@given(st.text(max_size=20))
def test_text_cannot_move_the_cursor(text: str) -> None:
    assert spelled(text).isprintable()
    if text.isprintable():
        assert spelled(text) == text


def test_control_characters_are_spelled_out_everywhere() -> None:
    hostile = Sheet(("\x1b[2Jregion", "n"), (("\x1b]0;owned\x07\n", 5),), {1: ((1.0, 9.0),)})
    for drawn in (as_table(hostile), as_bars(hostile)):
        assert all(each.isprintable() for each in drawn.split("\n"))
        assert "\\x1b" in drawn


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (1234567, "1,234,567"),
        (0.1 + 0.2, "0.3"),
        (1234.56, "1,235"),
        (1e300, "1e+300"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (Decimal("2.50"), "2.5"),
        (dt.date(2025, 1, 31), "2025-01-31"),
        (None, "NULL"),
    ],
)
def test_values_as_text(value: object, text: str) -> None:
    assert spelled(value) == text


def test_bars_are_as_long_as_their_numbers() -> None:
    sheet = Sheet(("k", "n"), (("a", 100), ("b", 50), ("c", 0)), {1: ((100.0, 100.0), (50.0, 50.0), (0.0, 0.0))})
    head, *rows, legend = as_bars(sheet, width=4 + 1 + 3 + 101).splitlines()
    assert head == "n"
    assert [row.count("█") for row in rows] == [101, 51, 1]
    assert legend.strip() == "├─┤ noise interval (95%, privacy noise only)"


def test_bars_of_negative_numbers_go_to_the_left() -> None:
    sheet = Sheet(("k", "n"), (("a", 50), ("b", -50)), {1: (None, None)})
    _, up, down, _ = as_bars(sheet, width=80).splitlines()
    zero = up.index("█")
    assert down.rindex("█") == zero
    assert up.rindex("█") == up.index("█") + up.count("█") - 1 > zero
    assert down.index("█") < zero


def test_intervals_are_drawn_from_end_to_end() -> None:
    sheet = Sheet(("k", "n"), (("a", 60),), {1: ((20.0, 100.0),)})
    line = as_bars(sheet, width=1 + 2 + 4 + 101).splitlines()[1]
    start = line.index("█")
    assert (line.index("├") - start, line.index("┤") - start) == (20, 100)
    unbounded = Sheet(("k", "n"), (("a", 60),), {1: ((float("-inf"), float("inf")),)})
    assert as_bars(unbounded).splitlines()[1].endswith("┤")


@given(
    st.lists(st.one_of(st.none(), st.integers(-(10**12), 10**12), st.floats()), min_size=1, max_size=5),
    st.integers(1, 200),
)
def test_bars_of_any_numbers_fit(values: list[float | None], width: int) -> None:
    spans = tuple(None if value is None else (value, value) for value in values)
    sheet = Sheet(("key", "n"), tuple(("k", value) for value in values), {1: spans})
    if not any(value == value and value is not None for value in values):
        with pytest.raises(InvalidParameter, match="noisy numbers"):
            as_bars(sheet, width=width)
        return
    head, *rows, _ = as_bars(sheet, width=width).splitlines()
    longest = max(len(spelled(value)) for value in values)
    assert head == "n"
    assert all(len(row) <= max(width, 1 + longest + 4 + 10) for row in rows)


def test_bars_in_ascii() -> None:
    assert as_bars(VISITS, ascii_only=True).isascii()


def test_csv_is_read_back() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(VISITS))))
    assert rows[0] == [
        "region",
        "visits",
        "visits at least",
        "visits at most",
        "minutes",
        "minutes at least",
        "minutes at most",
    ]
    assert rows[1] == ["Ashford", "57490", "57400.0", "57580.0", "41.5", "41.0", "42.0"]
    assert rows[3] == ["", "6", "", "", "71.25", "60.5", "82.0"]


def test_json_is_read_back() -> None:
    told = json.loads(json.dumps(as_object(VISITS)))
    assert told["columns"] == list(VISITS.names)
    assert told["rows"] == [list(row) for row in VISITS.rows]
    assert told["intervals"] == {
        "meaning": "noise interval (95%, privacy noise only)",
        "columns": {
            "visits": [[57400.0, 57580.0], [-110.0, 70.0], None],
            "minutes": [[41.0, 42.0], None, [60.5, 82.0]],
        },
    }
    assert told["receipt"] == {"charge": 3}
    unbounded = Sheet(("n",), ((float("nan"),),), {0: ((float("-inf"), float("inf")),)})
    json.loads(json.dumps(as_object(unbounded), allow_nan=False))


def test_each_form_is_what_was_asked_for(tmp_path: Path) -> None:
    assert shown(VISITS, asked()) == as_table(VISITS) + "\ncharge 3"
    assert json.loads(shown(VISITS, asked(json=True))) == json.loads(json.dumps(as_object(VISITS)))
    assert shown(VISITS, asked(csv=True)).splitlines() == as_csv(VISITS).splitlines()
    assert "noise interval (95%" in shown(VISITS, asked(chart=""))
    picture = tmp_path / "visits.svg"
    assert shown(VISITS, asked(chart=str(picture))).endswith(f"Drawn: {picture}")
    assert ET.parse(picture).getroot().tag.endswith("svg")  # noqa: S314  # our own file


def test_a_picture_that_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="have a column of noisy numbers"):
        shown(NO_NOISE, asked(chart=str(tmp_path / "x.svg")))
    with pytest.raises(InvalidParameter, match=r"be an \.svg, \.png or \.pdf that can be written"):
        shown(VISITS, asked(chart=str(tmp_path / "none" / "x.svg")))
