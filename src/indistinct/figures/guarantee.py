"""Figure 1: the privacy region of an (epsilon, delta)-private mechanism."""

from __future__ import annotations

from matplotlib.figure import Figure

from indistinct.composition.display import draw, label_axes
from indistinct.regions import Region, dominating_pair, statistical_distance

__all__ = ["privacy_region"]

_EPSILON = "ln(4)"
_DELTA = "0.1"


def privacy_region() -> Figure:
    """R(epsilon, delta) with the corners that the paper names.

    The dashed line is the lowest of slope -1 that touches it: its height is one less the largest total
    variation that (epsilon, delta)-privacy allows (Remark A.1).
    """
    figure = Figure(figsize=(4.8, 4.8), layout="constrained")
    axes = label_axes(figure.add_subplot())
    region = Region.of_guarantee(_EPSILON, _DELTA)
    corners = [(float(x), float(y)) for x, y in region.polygon()]
    axes.fill(*zip(*corners, strict=True), alpha=0.15, linewidth=0)
    draw(region, axes, linewidth=2)
    axes.plot([0, 1], [1, 0], linestyle=":", color="gray")
    touching = 1 - float(statistical_distance(dominating_pair(_EPSILON, _DELTA)))
    axes.plot([0, touching], [touching, 0], linestyle="--", color="gray")
    (x0, y0), (x1, y1), _ = region.vertices
    axes.annotate(r"$(0,\;1-\delta)$", (float(x0), float(y0)), (0.08, 0.93), arrowprops={"arrowstyle": "->"})
    axes.annotate(
        r"$\left(0,\;\frac{2(1-\delta)}{1+e^\varepsilon}\right)$",
        (0, touching),
        (0.13, 0.5),
        arrowprops={"arrowstyle": "->"},
        fontsize=13,
    )
    axes.annotate(
        r"$\left(\frac{1-\delta}{1+e^\varepsilon},\;\frac{1-\delta}{1+e^\varepsilon}\right)$",
        (float(x1), float(y1)),
        (0.28, 0.3),
        arrowprops={"arrowstyle": "->"},
        fontsize=13,
    )
    axes.set_title(r"The privacy region $R(\varepsilon, \delta)$")
    return figure
