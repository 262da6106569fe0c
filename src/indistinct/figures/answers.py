"""Private answers as bars with their noise intervals, and beside the true ones where these may be shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Bars", "write_bars"]

_PRIVATE, _INTERVAL, _TRUE = "#2a78b5", "#15486e", "#d1495b"
_TALLEST = 40


@dataclass(frozen=True, slots=True)
class Bars:
    """One panel: a bar for each label, with the ends of its noise interval."""

    title: str
    labels: Sequence[str]
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None]
    truths: Sequence[float | None] | None = None
    """For demonstrations on invented data alone: the answers without noise."""


def write_bars(path: str | Path, panels: Sequence[Bars], *, note: str = "") -> None:
    """Draws the panels side by side into an SVG, PNG or PDF; needs the extra `plot`."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("drawing", "plot") from error
    most = max((len(panel.labels) for panel in panels), default=0)
    if not 0 < most <= 1000:
        raise InvalidParameter("rows to be drawn", most, "number from 1 to 1,000", instead="LIMIT the answer.")
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    height = rows * (1.2 + 0.26 * most)
    figure = Figure(figsize=(5.2 * columns, max(2.6, min(height, 0.26 * _TALLEST * rows + 2))), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw(axes, panel)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    figure.legend(*_explained(figure), loc="outside lower center", ncols=3, frameon=False, fontsize=9, title=note)
    try:
        # Names are text, never formulas; and the parts of a picture have names that do not change.
        with mpl.rc_context({"svg.hashsalt": "indistinct", "text.parse_math": False}):
            figure.savefig(Path(path), dpi=160, metadata={"Date": None} if str(path).endswith(".svg") else None)
    except (OSError, ValueError) as error:
        raise InvalidParameter("the picture", str(path), "be an .svg, .png or .pdf that can be written") from error


def _draw(axes: Axes, panel: Bars) -> None:
    places = range(len(panel.labels))
    values = [math.nan if value is None else value for value in panel.values]
    axes.barh(places, values, color=_PRIVATE, alpha=0.55, label="private answer")
    noisy = [(place, ends) for place, ends in zip(places, panel.intervals, strict=True) if ends is not None]
    if noisy:
        axes.hlines(
            [place for place, _ in noisy],
            [low for _, (low, _) in noisy],
            [high for _, (_, high) in noisy],
            color=_INTERVAL,
            linewidth=3,
            label="noise interval (95%, privacy noise only)",
        )
    if panel.truths is not None:
        truths = [math.nan if truth is None else truth for truth in panel.truths]
        axes.plot(truths, places, "|", color=_TRUE, markersize=11, markeredgewidth=2, label="true answer")
    axes.set_yticks(list(places), [_printable(label) for label in panel.labels])
    axes.set_ylim(len(panel.labels) - 0.4, -0.6)
    axes.set_title(_printable(panel.title), fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)


def _explained(figure: Figure) -> tuple[list[Artist], list[str]]:
    """What bars, lines and marks mean, each once."""
    found: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text[:60])
