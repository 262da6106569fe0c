"""The figures show the theorems: every drawn point is compared with a formula of its own."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import mpmath
import numpy as np
import pytest
from mpmath import mpf

matplotlib = pytest.importorskip("matplotlib")

from matplotlib.axes import Axes  # noqa: E402  # only where it is installed
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.text import Annotation  # noqa: E402

from indistinct import ApproximateDP, PureDP, Region, compose  # noqa: E402
from indistinct.errors import InvalidParameter, MissingExtra  # noqa: E402
from indistinct.figures import draw_figures, write_figures  # noqa: E402

Point = tuple[float, float]
NEAR = 1e-12


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return draw_figures()


def points_of(line: Line2D) -> list[Point]:
    return [(x, y) for x, y in np.array(line.get_xydata(), dtype=float).tolist()]


def labelled(axes: Axes) -> dict[str, list[Point]]:
    return {str(line.get_label()): points_of(line) for line in axes.lines if not str(line.get_label()).startswith("_")}


def the_line(axes: Axes, **looks: Any) -> list[Point]:
    """The points of the only line with these looks."""
    (line,) = (
        line for line in axes.lines if all(getattr(line, f"get_{name}")() == value for name, value in looks.items())
    )
    return points_of(line)


def close(first: list[Point], second: list[Point]) -> bool:
    return len(first) == len(second) and all(
        math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR)
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def distinct(points: list[Point]) -> list[Point]:
    """Without those that lie on the point before."""
    return [points[0], *(after for before, after in pairwise(points) if not close([before], [after]))]


# The formulas, in 40 digits.


def level_delta(epsilon: mpf, delta: mpf, times: int, i: int) -> mpf:
    """KOV, equations (5) and (6)."""
    terms = (
        mpmath.binomial(times, l) * (mpmath.exp((times - l) * epsilon) - mpmath.exp((times - 2 * i + l) * epsilon))
        for l in range(i)  # noqa: E741  # the paper's letter
    )
    pure = mpmath.fsum(terms) / (1 + mpmath.exp(epsilon)) ** times
    return 1 - (1 - delta) ** times * (1 - pure)


def levels(epsilon: str, delta: str, times: int) -> list[tuple[mpf, mpf]]:
    """All (epsilon, delta) of Theorem 3.3, from the largest epsilon down."""
    e, d = mpf(epsilon), mpf(delta)
    return [((times - 2 * i) * e, level_delta(e, d, times, i)) for i in range(times // 2 + 1)]


def corners(lines: list[tuple[mpf, mpf]]) -> list[Point]:
    """The boundary below which no test is left by false alarm + e^eps missed >= 1 - delta, and its mirror image.

    `lines` by falling epsilon, all of them needed. From (0, 1) down to the diagonal, and back mirrored.
    """
    half: list[tuple[mpf, mpf]] = [(mpf(0), 1 - lines[0][1])]
    for (steep, high), (flat, low) in pairwise(lines):
        x = ((1 - high) - (1 - low)) / (mpmath.exp(steep) - mpmath.exp(flat))
        half.append((x, 1 - high - mpmath.exp(steep) * x))
    last_epsilon, last_delta = lines[-1]
    if last_epsilon > 0:  # otherwise the last line is its own mirror image
        middle = (1 - last_delta) / (1 + mpmath.exp(last_epsilon))
        half.append((middle, middle))
        mirrored = half[-2::-1]
    else:
        mirrored = half[::-1]
    outline = [(mpf(0), mpf(1)), *half, *((y, x) for x, y in mirrored), (mpf(1), mpf(0))]
    return [(float(x), float(y)) for x, y in outline]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mpmath.workdps(40):
        yield


def height_at(boundary: list[Point], x: float) -> float:
    """The false alarm of a boundary at a missed detection."""
    for (x0, y0), (x1, y1) in pairwise(boundary):
        if x0 <= x <= x1 and x1 > x0:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise AssertionError(f"{x} is outside")


# Figure 1


def test_figure_1_is_the_privacy_region(figures: dict[str, Figure]) -> None:
    (axes,) = figures["figure-1-privacy-region"].axes
    corner = 0.9 / 5  # (1 - delta) / (1 + e^epsilon)
    boundary = [(0.0, 1.0), (0.0, 0.9), (corner, corner), (0.9, 0.0), (1.0, 0.0)]
    assert close(the_line(axes, linewidth=2.0), boundary)
    assert close(the_line(axes, linestyle=":"), [(0.0, 1.0), (1.0, 0.0)])
    assert close(the_line(axes, linestyle="--"), [(0.0, 2 * corner), (2 * corner, 0.0)])
    (filled,) = axes.patches
    drawn = {(round(x, 12), round(y, 12)) for x, y in np.array(filled.get_path().vertices, dtype=float).tolist()}
    mirrored = {(1 - x, 1 - y) for x, y in boundary}
    assert drawn == {(round(x, 12), round(y, 12)) for x, y in {*boundary, *mirrored}}


def test_figure_1_points_at_what_it_names(figures: dict[str, Figure]) -> None:
    (axes,) = figures["figure-1-privacy-region"].axes
    named = sorted((float(x), float(y)) for x, y in (note.xy for note in axes.texts if isinstance(note, Annotation)))
    assert close(named, [(0.0, 0.36), (0.0, 0.9), (0.18, 0.18)])


# Figure 2


@pytest.mark.parametrize(("index", "delta"), [(0, "0"), (1, "0.1")])
def test_figure_2_is_theorem_3_3(figures: dict[str, Figure], index: int, delta: str) -> None:
    axes = figures["figure-2-composed-regions"].axes[index]
    drawn = labelled(axes)
    assert list(drawn) == [f"k = {times}" for times in (1, 2, 3, 4, 5)]
    for times in (1, 2, 3, 4, 5):
        assert close(distinct(drawn[f"k = {times}"]), distinct(corners(levels("0.4", delta, times))))
    assert f"(0.4, {delta})" in axes.get_title()


# Figure 3


def test_figure_3_shows_basic_composition(figures: dict[str, Figure]) -> None:
    left, _ = figures["figure-3-theorems-compared"].axes
    drawn = labelled(left)["basic composition (3.1)"]
    assert close(drawn, corners([(mpf(3), mpf("0.03"))]))


def test_figure_3_shows_optimal_composition(figures: dict[str, Figure]) -> None:
    left, right = figures["figure-3-theorems-compared"].axes
    expected = corners(levels("0.1", "0.001", 30))
    assert close(labelled(left)["optimal composition (3.3)"], expected)
    assert close(the_line(right, linewidth=2.0), expected)


def advanced(slack: mpf) -> mpf:
    """Theorem 3.2 for thirty uses at 0.1."""
    e, k = mpf("0.1"), 30
    return e * mpmath.sqrt(2 * k * mpmath.log(1 / slack)) + k * e * mpmath.expm1(e)


def test_figure_3_shows_advanced_composition(figures: dict[str, Figure]) -> None:
    """Every edge is the line of some slack, or of basic composition, and hardly a line of any slack is cut."""
    left, _ = figures["figure-3-theorems-compared"].axes
    drawn = labelled(left)["advanced composition (3.2)"]
    edges = 0
    for (x0, y0), (x1, y1) in pairwise(drawn[1:]):
        ratio = (y0 - y1) / (x1 - x0)
        if ratio > 1.001:
            epsilon, slack = mpmath.log(ratio), 1 - (y0 + ratio * x0) - mpf("0.03")
            claimed = advanced(slack) if slack > 1e-9 else mpf(3)
            assert epsilon == pytest.approx(float(claimed), rel=1e-4)
            edges += 1
    assert edges > 100
    for slack in (mpf(2) ** -(mpf(power) / 10) * mpf("0.97") for power in range(1, 200)):
        height, ratio = 1 - mpf("0.03") - slack, mpmath.exp(advanced(slack))
        assert all(y + ratio * x >= height - 1e-4 for x, y in drawn)


def test_figure_3_orders_the_theorems(figures: dict[str, Figure]) -> None:
    left, _ = figures["figure-3-theorems-compared"].axes
    basic, advanced, optimal = labelled(left).values()
    for x in (step / 50 for step in range(1, 50)):
        assert height_at(basic, x) <= height_at(advanced, x) + NEAR
        assert height_at(advanced, x) <= height_at(optimal, x) + NEAR


def test_figure_3_draws_a_tangent_for_each_level(figures: dict[str, Figure]) -> None:
    _, right = figures["figure-3-theorems-compared"].axes
    tangents = sorted(points_of(line) for line in right.lines if line.get_linewidth() == 0.5)
    heights = []
    for epsilon, delta in levels("0.1", "0.001", 30):
        ratio, height = mpmath.exp(epsilon), 1 - delta
        heights.append((height, ratio))
        if epsilon > 0:
            heights.append((height / ratio, 1 / ratio))
    expected = sorted([(0.0, float(height)), (1.0, float(height - ratio))] for height, ratio in heights)
    assert len(tangents) == len(expected) == 31
    assert all(close(*pair) for pair in zip(tangents, expected, strict=True))


def test_a_wrong_level_would_be_noticed(figures: dict[str, Figure]) -> None:
    """Equation (6) without (5), or one use too few, is another picture."""
    left, _ = figures["figure-3-theorems-compared"].axes
    drawn = labelled(left)["optimal composition (3.3)"]
    assert not close(drawn, corners(levels("0.1", "0", 30)))
    assert not close(drawn, corners(levels("0.1", "0.001", 28)))


# Axes, files, and other drawings


def test_all_axes_are_the_papers(figures: dict[str, Figure]) -> None:
    assert [len(figure.axes) for figure in figures.values()] == [1, 2, 2]
    for axes in (axes for figure in figures.values() for axes in figure.axes):
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("missed detection", "false alarm")
        assert (axes.get_xlim(), axes.get_ylim()) == ((0.0, 1.0), (0.0, 1.0))
        assert axes.get_title()


def test_files_are_written_as_svg_and_png(tmp_path: Path) -> None:
    written = write_figures(tmp_path / "made" / "here")
    assert sorted(written) == sorted((tmp_path / "made" / "here").iterdir())
    names = {"figure-1-privacy-region", "figure-2-composed-regions", "figure-3-theorems-compared"}
    assert {path.name for path in written} == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}
    for path in written:
        content = path.read_bytes()
        assert len(content) > 10_000
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n")
        else:
            assert ET.fromstring(content).tag.endswith("svg")  # noqa: S314  # written a moment ago


def test_the_same_files_every_time(tmp_path: Path) -> None:
    """In two processes, with different hash seeds, so that a drawing may be kept under version control."""
    digests = []
    for seed in ("1", "2"):
        code = f"from indistinct.figures import write_figures; write_figures({str(tmp_path / seed)!r})"
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        digests.append(
            {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / seed).iterdir()}
        )
    assert digests[0] == digests[1]


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="the directory must be one that can be written to, but is"):
        write_figures(tmp_path / "file")


def test_a_profile_plots_its_region() -> None:
    profile = compose({ApproximateDP("0.4", "0.1"): 3})
    axes = profile.plot()
    assert close(distinct(labelled(axes)["3 uses"]), corners(levels("0.4", "0.1", 3)))
    again = compose({PureDP("0.4"): 1}).plot(axes)
    assert again is axes
    assert list(labelled(axes)) == ["3 uses", "1 uses"]


def test_a_profile_shows_itself_in_a_notebook() -> None:
    profile = compose({PureDP("0.1"): 30})
    shown = ET.fromstring(profile._repr_html_())  # noqa: S314  # what a notebook calls
    rows = [[cell.text for cell in row.iter("td")] for row in shown.iter("tr")][1:]
    assert rows == [[delta, str(profile.epsilon(delta))] for delta in ("1e-3", "1e-6", "1e-9", "1e-12")]
    assert [code.text for code in shown.iter("code")] == [repr(profile)]


def test_a_region_shows_itself_in_a_notebook() -> None:
    region = Region.of_guarantee("ln(3)", Fraction(1, 10))
    picture = ET.fromstring(region._repr_svg_())  # noqa: S314  # what a notebook calls
    (polygon,) = (child for child in picture if child.tag.endswith("polygon"))
    drawn = [pair.split(",") for pair in polygon.attrib["points"].split()]
    assert drawn == [[f"{200 * float(x):.2f}", f"{200 * (1 - float(y)):.2f}"] for x, y in region.polygon()]


def test_without_matplotlib_drawing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for drawing in (draw_figures, compose({PureDP("0.1"): 3}).plot):
        with pytest.raises(MissingExtra, match=r"drawing needs an extra: .*indistinct\[plot\]"):
            drawing()
