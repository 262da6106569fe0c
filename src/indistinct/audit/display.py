"""How an audit by test shows itself: as a picture of the region, and in a notebook."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from indistinct.composition.display import draw, new_axes
from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from indistinct.audit.by_test import TestedAudit

__all__ = ["as_html", "draw_audit"]


def draw_audit(audit: TestedAudit, path: str | Path | None = None, axes: Axes | None = None) -> Axes:
    """The claim's region, and for each event the least errors that its bounds allow, with the errors that were seen.

    A cross outside the region is a violation.
    """
    axes = new_axes() if axes is None else axes
    outline = [(float(x), float(y)) for x, y in audit.region.polygon()]
    axes.fill(*zip(*outline, strict=True), alpha=0.15, linewidth=0)
    draw(audit.region, axes, label="allowed by the claim")
    axes.plot([0, 1], [1, 0], linestyle=":", color="gray")
    for event in audit.events:
        hits = (event.first, event.second) if event.speaks_for == "first" else (event.second, event.first)
        seen = 1 - hits[0] / event.trials, hits[1] / event.trials
        bound = 1 - event.likely, event.unlikely
        outside = event.breaks(audit.region)
        colour = "firebrick" if outside else "seagreen"
        axes.plot(*seen, marker=".", color=colour, linestyle="none")
        axes.plot([seen[0], bound[0]], [seen[1], bound[1]], color=colour, linewidth=0.8)
        axes.plot(
            *bound, marker="x", color=colour, linestyle="none", label=f"an event, {'not ' if outside else ''}allowed"
        )
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        *zip(*dict(zip(labels, zip(handles, labels, strict=True), strict=True)).values(), strict=True), frameon=False
    )
    if path is not None:
        _save(axes, Path(path))
    return axes


def as_html(audit: TestedAudit) -> str:
    """The sentence, and a small table of the events."""
    rows = "".join(
        f"<tr><td>{html.escape(event.name)}</td><td>{event.speaks_for}</td><td>{event.first:,}</td>"
        f"<td>{event.second:,}</td><td>{event.likely:.4g}</td><td>{event.unlikely:.4g}</td></tr>"
        for event in audit.events
    )
    head = "<th>event</th><th>speaks for</th><th>first</th><th>second</th><th>at least</th><th>at most</th>"
    return (
        f"<div><p>{html.escape(str(audit))}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _save(axes: Axes, path: Path) -> None:
    import matplotlib as mpl

    figure = axes.get_figure(root=True)
    if figure is None:
        raise InvalidParameter("the axes", axes, "belong to a figure")
    try:
        with mpl.rc_context({"svg.hashsalt": "indistinct"}):  # names of parts that do not change
            figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix == ".svg" else None)
    except (OSError, ValueError) as error:
        raise InvalidParameter("the path", str(path), "be a file such as region.svg that can be written to") from error
