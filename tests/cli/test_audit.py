"""indistinct audit: by name, of one's own function, as text and as JSON, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indistinct import cli

QUICK = ["--samples", "2000", "--false-alarm", "5e-9"]
OWN = """
import random

def respond(answer):
    return answer if random.random() < 0.75 else not answer

def many(answer, count):
    return [respond(answer) for _ in range(count)]

def failing(answer):
    raise RuntimeError("no luck")

def leaving(answer):
    raise SystemExit(0)

def half(answer):
    if answer:
        raise RuntimeError("no luck")
    return 1

number = 5
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's, in the directory in which the command is run."""
    name = f"own_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(OWN)
    (tmp_path / f"{name}_leaving.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = cli.main(["audit", *arguments])
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else -1
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("name", ["geometric", "laplace", "staircase", "randomized-response", "noisy-max"])
def test_a_mechanism_by_its_name(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = ran(capsys, name, "--epsilon", "1", *QUICK)
    assert (code, err) == (0, "")
    *exactly, tested = out.splitlines()
    assert tested.startswith("Consistent with (1, 0)-differential privacy")
    assert [line.startswith("Holds: ") for line in exactly] == ([] if name == "noisy-max" else [True])


def test_a_function_of_ones_own(capsys: pytest.CaptureFixture[str], own: str) -> None:
    asked = [f"{own}:respond", "--first", "True", "--second", "False", *QUICK]
    assert ran(capsys, *asked, "--epsilon", "ln(3)")[0] == 0
    code, out, err = ran(capsys, *asked, "--epsilon", "0.2", "--delta", "1e-6")
    assert (code, err) == (1, "")
    assert out.startswith("Violates (0.2, 1e-06)-differential privacy")
    batch = [f"{own}:many", "--first", "True", "--second", "False", "--batch", *QUICK]
    assert ran(capsys, *batch, "--epsilon", "ln(3)")[0] == 0


def test_json(capsys: pytest.CaptureFixture[str], own: str) -> None:
    found = json.loads(ran(capsys, "geometric", "--epsilon", "1", *QUICK, "--json")[1])
    assert found["verdict"] == found["test"]["verdict"] == "consistent"
    assert found["exact"]["verdict"] == "holds"
    assert 0 < found["exact"]["doubt"] < 1e-50
    asked = [f"{own}:respond", "--first", "True", "--second", "False", *QUICK, "--epsilon", "0.1"]
    code, out, _ = ran(capsys, *asked, "--json")
    found = json.loads(out)
    assert code == 1
    assert found["verdict"] == "violates"
    assert found["test"]["epsilon at least"] > 0.1
    assert found["test"]["events"][0]["trials"] == 1000
    assert "exact" not in found


def test_the_region_is_drawn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "region.svg"
    assert ran(capsys, "geometric", "--epsilon", "1", *QUICK, "--plot", str(path))[0] == 0
    assert "<svg" in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nonsense", "--epsilon", "1"], "the mechanism must be one of geometric, laplace"),
        (["geometric", "--epsilon", "0"], "epsilon must be above 0 and at most 20"),
        (["geometric", "--epsilon", "x"], "epsilon must be a number"),
        (["geometric", "--epsilon", "1", "--delta", "2"], "delta must lie in"),
        (["geometric", "--epsilon", "1", "--samples", "3"], "samples must be a whole number from 40 to"),
        (["geometric", "--epsilon", "1", "--false-alarm", "0"], "false_alarm must lie in [1e-12, 0.5]"),
        (["geometric", "--epsilon", "1", "--first", "0"], "--first must be left out"),
        (["geometric"], "the following arguments are required: --epsilon"),
        (["OWN:respond", "--epsilon", "1", "--first", "0"], "--second must be given for a function of yours"),
        (
            ["OWN:failing", "--epsilon", "1", "--first", "0", "--second", "1"],
            "Each of its 200,000 calls raised",
        ),
        (["OWN:leaving", "--epsilon", "1", "--first", "0", "--second", "1"], "answer and not end the program"),
        (["OWN_leaving:f", "--epsilon", "1", "--first", "0", "--second", "1"], "SystemExit: 0."),
        (["OWN:respond", "--epsilon", "1", "--first", "0", "--second", "[1,2"], "--second must be a value as Python"),
        (["OWN:respond", "--epsilon", "1", "--first", "'a", "--second", "1"], "--first must be a value as Python"),
        (["OWN:respond", "--epsilon", "1", "--first", "2024-01-01", "--second", "1"], "--first must be a value as"),
        (["OWN:respond", "--epsilon", "1", "--first", "nan", "--second", "1"], "--first must be a value as Python"),
        (["OWN:number", "--epsilon", "1", "--first", "0", "--second", "1"], "be a function of an input"),
        (["OWN:none", "--epsilon", "1", "--first", "0", "--second", "1"], "be importable as module:function"),
        (["no_such_module:f", "--epsilon", "1", "--first", "0", "--second", "1"], "ModuleNotFoundError"),
    ],
)
def test_bad_questions(capsys: pytest.CaptureFixture[str], own: str, arguments: list[str], sentence: str) -> None:
    code, out, err = ran(capsys, *(word.replace("OWN", own) for word in arguments))
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1


def test_an_exception_counts_as_an_answer(capsys: pytest.CaptureFixture[str], own: str) -> None:
    code, out, err = ran(capsys, f"{own}:half", "--first", "0", "--second", "1", "--epsilon", "1", *QUICK)
    assert (code, err) == (1, "")
    assert "no luck" not in out


def test_how_inputs_were_read_is_said_where_one_is_text(capsys: pytest.CaptureFixture[str], own: str) -> None:
    asked = [f"{own}:respond", "--epsilon", "ln(3)", *QUICK, "--second", "False"]
    assert ran(capsys, *asked, "--first", "yes")[1].endswith("The inputs were read as 'yes' and False.\n")
    assert "were read" not in ran(capsys, *asked, "--first", "True")[1]
    assert json.loads(ran(capsys, *asked, "--first", "True", "--json")[1])["inputs"] == ["True", "False"]
