"""Figure 3: three theorems about thirty uses of a (0.1, 0.001)-private mechanism."""

from __future__ import annotations

from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from indistinct.composition import ApproximateDP, advanced_composition, basic_composition, compose
from indistinct.composition.display import draw, label_axes
from indistinct.regions import Region

__all__ = ["DELTA", "EPSILON", "TIMES", "regions_compared", "theorems_compared"]

EPSILON = "0.1"
DELTA = "0.001"
TIMES = 30
_SLACKS = 400


def regions_compared() -> dict[str, Region]:
    """The regions that basic, advanced and optimal composition leave to an adversary.

    Advanced composition holds at every slack: its region is what all its tangents leave, here those at
    some hundreds of slacks, together with basic composition, which its users may apply as well.
    """
    guarantee = ApproximateDP(EPSILON, DELTA)
    basic = basic_composition({guarantee: TIMES})
    spent = TIMES * guarantee.delta
    advanced = []
    for step in range(1, _SLACKS):
        slack = (1 - spent) * Fraction(step, _SLACKS) ** 3
        advanced.append((advanced_composition(EPSILON, TIMES, slack).upper, spent + slack))
    return {
        "basic composition (3.1)": Region.of_guarantee(basic.epsilon, basic.delta),
        "advanced composition (3.2)": Region.of_guarantees([(basic.epsilon, basic.delta), *advanced]),
        "optimal composition (3.3)": compose({guarantee: TIMES}).region(),
    }


def theorems_compared() -> Figure:
    """On the left the three regions; on the right the tangents that make up the optimal one."""
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    regions = regions_compared()
    for axes in (left, right):
        label_axes(axes)
        axes.plot([0, 1], [1, 0], linestyle=":", color="gray")
    for name, region in regions.items():
        draw(region, left, label=name, linewidth=2)
    left.set_title(f"{TIMES} uses of a $({EPSILON}, {DELTA})$-private mechanism")
    left.legend(frameon=False, loc="upper right")
    _draw_tangents(regions["optimal composition (3.3)"], right)
    return figure


def _draw_tangents(region: Region, axes: Axes) -> None:
    for tangent in region.tangents():
        height, slope = float(1 - tangent.delta), float(tangent.ratio)
        axes.plot([0, 1], [height, height - slope], color="gray", linewidth=0.5)
    draw(region, axes, color="C2", linewidth=2)
    axes.set_title("its tangents, one for each level of Theorem 3.3")
