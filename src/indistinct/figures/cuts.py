"""Errors of answers about cuts, against the size of the cut and against the number of cuts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from indistinct.composition.planning.formulas import Question, pure_levels
from indistinct.mechanisms.sketches.comparison import CutContest, laplace_error, response_error, sketch_error

__all__ = ["cuts_compared"]

_THEOREMS = ("basic", "advanced", "optimal")
_POINTS = 13


def cuts_compared(contest: CutContest) -> Figure:
    """On the left by the size of a cut, with what was measured as points; on the right by the number of cuts."""
    figure = Figure(figsize=(10, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    plan, nodes, edges = contest.plan, contest.nodes, contest.edges
    half = nodes // 2
    sizes = np.unique(np.geomspace(1, half, min(half, 40)).astype(int)).tolist()
    for place, contender in enumerate(contest.contenders):
        colour, name = f"C{place}", contender.name
        if name == "sketch":
            left.plot(sizes, [sketch_error(plan, edges, size) for size in sizes], color=colour, linewidth=2)
        elif name == "randomised response":
            left.plot(sizes, [response_error(plan.epsilon, nodes, size) for size in sizes], color=colour)
        elif contender.expected:
            left.axhline(contender.expected[0], color=colour)
        told = contender.measured or contender.expected or ()
        left.plot(contest.sizes, told, "o" if contender.measured else "x", color=colour, label=name)
    left.set_xlabel("nodes on the smaller side of the cut")
    left.set_title(f"{contest.cuts:,} cuts")
    _by_number(contest, right)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylabel("root mean square error")
        axes.grid(visible=True, alpha=0.2)
    left.legend(frameon=False, fontsize="small")
    return figure


def _by_number(contest: CutContest, axes: Axes) -> None:
    plan, size = contest.plan, contest.sizes[len(contest.sizes) // 2]
    numbers = np.unique(np.geomspace(1, max(10**6, 10 * contest.cuts), _POINTS).astype(int)).tolist()
    found: dict[str, list[float]] = {theorem: [] for theorem in _THEOREMS}
    for number in numbers:
        levels = pure_levels(Question(plan.epsilon, plan.delta, number, Fraction(1)))
        for formula in levels:
            if formula.theorem in found:
                found[formula.theorem].append(laplace_error(1 / formula.value.lower))
    names = [contender.name for contender in contest.contenders]
    for theorem in _THEOREMS:
        axes.plot(numbers, found[theorem], color=f"C{names.index(f'Laplace, {theorem} composition')}")
    flat = {
        "randomised response": response_error(plan.epsilon, contest.nodes, size),
        "sketch": sketch_error(plan, contest.edges, size),
    }
    for name, error in flat.items():
        axes.axhline(error, color=f"C{names.index(name)}", linewidth=2 if name == "sketch" else 1.5)
    axes.set_xlabel("number of cuts asked for")
    axes.set_title(f"cuts of {size:,} nodes" if size > 1 else "cuts of one node")
