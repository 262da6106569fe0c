"""How regions and profiles show themselves: as a plot, and in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from indistinct.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from indistinct.composition.profile import PrivacyProfile
    from indistinct.regions import Region

__all__ = ["as_html", "draw", "new_axes"]

_DELTAS = ("1e-3", "1e-6", "1e-9", "1e-12")


def new_axes() -> Axes:
    """Axes of a new figure, in the papers' unit square of missed detection and false alarm."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("drawing", "plot") from error
    return label_axes(Figure(figsize=(4.5, 4.5), layout="constrained").add_subplot())


def label_axes(axes: Axes) -> Axes:
    """The papers' axes: missed detection to the right, false alarm upwards, both from 0 to 1."""
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="missed detection", ylabel="false alarm")
    axes.set_aspect("equal")
    return axes


def draw(region: Region, axes: Axes | None = None, **style: object) -> Axes:
    """The region's lower boundary as a line; the rest of the region lies above, mirrored in the diagonal."""
    axes = new_axes() if axes is None else axes
    points = [(float(x), float(y)) for x, y in ((0, 1), *region.vertices, (1, 0))]
    axes.plot(*zip(*points, strict=True), **style)  # type: ignore[arg-type]  # passed on as they are
    return axes


def as_html(profile: PrivacyProfile) -> str:
    """A small table: the certified epsilon at some deltas, and what is composed."""
    rows = "".join(f"<tr><td>{delta}</td><td>{profile.epsilon(delta)}</td></tr>" for delta in _DELTAS)
    return (
        f"<div><p><code>{html.escape(repr(profile))}</code></p>"
        f"<table><thead><tr><th>delta</th><th>epsilon</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
