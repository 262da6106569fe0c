"""indistinct cuts: each command, and one sentence for every question not well put."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indistinct import cli
from indistinct.mechanisms.sketches import CutSynopsis
from tests.cli.test_cli import answered, refused

KARATE = str(Path(__file__).parents[2] / "examples" / "karate.csv")
BUDGET = ["--nodes", "34", "--epsilon", "2", "--delta", "1e-6"]


def test_a_plan_and_its_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    text = answered(capsys, "cuts", "plan", "--nodes", "100000", "--epsilon", "1", "--delta", "1e-6")
    assert text.startswith("(1, 1e-06)-private with 473 rows and w = 140.855 (exact, chi-square)\n")
    assert "advanced composition, KOV (10)        10010.2" in text
    found = json.loads(
        answered(capsys, "cuts", "plan", "--nodes", "100000", "--epsilon", "1", "--delta", "1e-6", "--json")
    )
    assert (found["r"], found["accounting"]) == (473, "exact")
    assert found["w"] == pytest.approx(140.855, abs=1e-3)
    assert found["accountings"]["advanced"]["w"] == pytest.approx(10010.1, abs=0.1)
    other = answered(
        capsys, *("cuts", "plan", "--nodes", "100000", "--epsilon", "1", "--delta", "1e-6"), "--accounting", "optimal"
    )
    assert "(optimal composition, KOV (11))" in other


def test_a_synopsis_is_made_and_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "karate.synopsis")
    assert "written to" in answered(capsys, "cuts", "sketch", KARATE, *BUDGET, "--out", file)
    synopsis = CutSynopsis.load(file)
    text = answered(capsys, "cuts", "ask", file, "--nodes", "0", "--nodes", "0-8,10-13, 16")
    assert text.startswith(f"0: about {synopsis.cut([0]):.6g}, from ")
    assert text.endswith("Except with probability 0.05, all of that holds.\n")
    found = json.loads(answered(capsys, "cuts", "ask", file, "--nodes", "0-33", "--nodes", "5", "--json"))
    assert found["cuts"][0]["answer"] == 0
    assert found["cuts"][1]["answer"] == synopsis.cut([5])
    low, high = synopsis.sketch.accuracy(1, nu="0.05", cuts=2).interval(synopsis.cut([5]))
    assert (found["cuts"][1]["lower"], found["cuts"][1]["upper"]) == (low, high)


def test_progress_is_shown_only_where_somebody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert cli.main(["cuts", "sketch", KARATE, *BUDGET, "--out", str(tmp_path / "one")]) == 0
    assert "sketching: 100%" in capsys.readouterr().err
    assert cli.main(["cuts", "sketch", KARATE, *BUDGET, "--out", str(tmp_path / "two"), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_comparison_and_its_drawing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text = answered(
        capsys,
        *("cuts", "compare", "--nodes", "200", "--epsilon", "1", "--delta", "1e-6", "--cuts", "50"),
        *("--sizes", "1,20", "--repeats", "2", "--out", str(tmp_path / "drawn")),
    )
    assert "200 nodes, 2,000 edges" in text
    assert "sketch" in text
    for kind in ("svg", "png"):
        assert (tmp_path / "drawn" / f"cuts-compared.{kind}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan", "--nodes", "1000", "--epsilon", "1", "--delta", "1e-6", "--accounting", "advanced"], "10,011 nodes"),
        (["plan", "--nodes", "1000", "--epsilon", "1", "--delta", "1e-6", "--accounting", "none"], "accounting must"),
        (["plan", "--nodes", "1", "--epsilon", "1", "--delta", "1e-6"], "nodes must"),
        (["plan", "--nodes", "9", "--epsilon", "1", "--delta", "0"], "delta must"),
        (["sketch", "no.csv", *BUDGET, "--out", "x"], "must exist"),
        (["sketch", KARATE, "--nodes", "33", "--epsilon", "1", "--delta", "0.1", "--out", "x"], "nodes from 0 to 32"),
        (["ask", "no.synopsis", "--nodes", "1"], "must exist"),
        (["ask", KARATE, "--nodes", "1"], "undamaged"),
        (["compare", *BUDGET, "--sizes", "18"], "half the nodes"),
        (["compare", *BUDGET, "--sizes", "a"], "a size must"),
        (["compare", *BUDGET, "--cuts", "0"], "cuts must"),
        ([], "required"),
    ],
)
def test_questions_not_well_put(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    assert sentence in refused(capsys, "cuts", *arguments)


@pytest.mark.parametrize("nodes", ["34", "3-1", "-1", "a", "", "1,,2", "1" * 50])
def test_nodes_that_are_none(capsys: pytest.CaptureFixture[str], tmp_path: Path, nodes: str) -> None:
    file = str(tmp_path / "karate.synopsis")
    answered(capsys, "cuts", "sketch", KARATE, *BUDGET, "--out", file)
    assert "--nodes must" in refused(capsys, "cuts", "ask", file, f"--nodes={nodes}")
