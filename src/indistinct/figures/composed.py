"""Figure 2: how the privacy region grows with the number of uses."""

from __future__ import annotations

from matplotlib.figure import Figure

from indistinct.composition import ApproximateDP, compose
from indistinct.composition.display import draw, label_axes
from indistinct.regions import Region

__all__ = ["DELTAS", "EPSILON", "USES", "composed_regions", "region_of"]

EPSILON = "0.4"
DELTAS = ("0", "0.1")
USES = (1, 2, 3, 4, 5)


def region_of(delta: str, times: int) -> Region:
    """The region of so many uses of an (EPSILON, delta)-private mechanism: Theorem 3.3."""
    return compose({ApproximateDP(EPSILON, delta): times}).region()


def composed_regions() -> Figure:
    """k = 1 to 5 uses of a (0.4, 0)- and of a (0.4, 0.1)-private mechanism."""
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    for axes, delta in zip(figure.subplots(1, 2), DELTAS, strict=True):
        label_axes(axes)
        for times in USES:
            draw(region_of(delta, times), axes, label=f"k = {times}")
        axes.plot([0, 1], [1, 0], linestyle=":", color="gray")
        axes.set_title(rf"$k$ uses of a $({EPSILON}, {delta})$-private mechanism")
        axes.legend(frameon=False)
    return figure
