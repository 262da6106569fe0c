"""What a sketch would be for a budget and an accuracy, by each accounting: known before any data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.sketches.accuracy import SketchAccuracy, read_share
from indistinct.mechanisms.sketches.calibration import (
    Accounting,
    advanced_weight,
    exact_delta,
    largest_excess,
    optimal_weight,
    read_accounting,
    rows_for,
)
from indistinct.noise import SYSTEM, BitSource
from indistinct.numbers import Bracket, Epsilon, read_epsilon
from indistinct.numbers.bracket import float_above, rounded_up
from indistinct.numbers.logarithm import bracket_of

if TYPE_CHECKING:
    from indistinct.mechanisms.sketches.cut import CutSketch
    from indistinct.mechanisms.sketches.synopsis import CutSynopsis

__all__ = ["CutPlan", "PlanRow", "PlansCompared", "planned"]

_SOURCES = {
    Accounting.ADVANCED: "advanced composition, KOV (10)",
    Accounting.OPTIMAL: "optimal composition, KOV (11)",
    Accounting.EXACT: "exact, chi-square",
}


@dataclass(frozen=True, slots=True)
class CutPlan:
    """A sketch that keeps (epsilon, delta), and what it promises.

    >>> from indistinct import CutSketch
    >>> print(CutSketch.plan(nodes=100_000, epsilon=1, delta="1e-6", eta="0.25", nu="0.05"))
    (1, 1e-06)-private with 473 rows and w = 140.855 (exact, chi-square)
    of a cut with s of the nodes on its smaller side, an answer is off by at most 0.2498 of it and 35.2325 s (1 - s/n),
    except with probability 0.05
    """

    sketch: CutSketch
    epsilon: Epsilon
    delta: Fraction
    eta: Fraction
    nu: Fraction
    accounting: Accounting

    @property
    def r(self) -> int:
        """How many rows the sketch has."""
        return self.sketch.r

    @property
    def w(self) -> Fraction:
        """The weight added at every node."""
        return self.sketch.w

    @property
    def spent(self) -> Bracket:
        """The exact delta at epsilon: far below what was asked, but for the exact accounting."""
        return exact_delta(self.r, self.sketch.excess, self.epsilon)

    def accuracy(self, size: object = 1, *, cuts: object = 1) -> SketchAccuracy:
        """The promise for so many cuts of a size together, with the probability nu that was planned for."""
        return self.sketch.accuracy(size, nu=self.nu, cuts=cuts)

    def release(self, graph: Any, *, progress: bool | None = None, source: BitSource = SYSTEM) -> CutSynopsis:
        """The synopsis of a graph."""
        return self.sketch.release(graph, progress=progress, source=source)

    def compare(self) -> PlansCompared:
        """All accountings for the same budget and accuracy, whether or not the graph has nodes enough for them."""
        nodes, eta = self.sketch.nodes, Fraction(self.accuracy(1).eta)
        rows = []
        for accounting in Accounting:
            weight = _weight(accounting, nodes, self.r, self.epsilon, self.delta)
            fits = weight < nodes
            tau = eta * weight * (nodes - 1) / (nodes - weight) if fits else None
            spent = exact_delta(self.r, 2 * (1 / weight - Fraction(1, nodes)), self.epsilon) if fits else None
            rows.append(PlanRow(accounting, float(weight), None if tau is None else float_above(tau), spent))
        return PlansCompared(nodes, self.r, tuple(rows))

    def __str__(self) -> str:
        one = self.accuracy(1)
        each = one.tau * self.sketch.nodes / (self.sketch.nodes - 1)
        vacuous = (
            "\nthat is more than any cut can be: with so few nodes it promises nothing"
            if each >= self.sketch.nodes
            else ""
        )
        return (
            f"({bracket_of(self.epsilon):.6g}, {float(self.delta):.6g})-private with {self.r} rows and w = "
            f"{rounded_up(float(self.w), 6)} ({_SOURCES[self.accounting]})\n"
            "of a cut with s of the nodes on its smaller side, an answer is off by at most "
            f"{rounded_up(one.eta, 4)} of it and {rounded_up(each, 6)} s (1 - s/n),\n"
            f"except with probability {float(self.nu):.4g}{vacuous}"
        )


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One accounting: its w, the error tau of a cut of one node, and the delta that is really spent."""

    accounting: Accounting
    w: float
    tau: float | None
    """None where w is not below the number of nodes, and there is no such sketch."""
    spent: Bracket | None


@dataclass(frozen=True, slots=True)
class PlansCompared:
    """The accountings side by side.

    >>> from indistinct import CutSketch
    >>> print(CutSketch.plan(nodes=100_000, epsilon=1, delta="1e-6", eta="0.25", nu="0.05").compare())
    100,000 nodes, 473 rows                     w  tau of one node  delta spent
    advanced composition, KOV (10)        10010.2          2778.45     < 1e-300
    optimal composition, KOV (11)         14156.5          4119.11     < 1e-300
    exact, chi-square                     140.855          35.2321        1e-06
    """

    nodes: int
    r: int
    rows: tuple[PlanRow, ...]

    def __str__(self) -> str:
        lines = [f"{f'{self.nodes:,} nodes, {self.r} rows':<34}{'w':>11}{'tau of one node':>17}{'delta spent':>13}"]
        for row in self.rows:
            tau = "w >= n: none" if row.tau is None else f"{row.tau:.6g}"
            spent = "" if row.spent is None else f"{row.spent:.3g}" if row.spent.upper > 1e-300 else "< 1e-300"
            lines.append(f"{_SOURCES[row.accounting]:<34}{rounded_up(row.w, 6):>11}{tau:>17}{spent:>13}".rstrip())
        return "\n".join(lines)


def planned(
    make: Callable[[int, int, Fraction], CutSketch],
    nodes: int,
    epsilon: object,
    delta: object,
    eta: object,
    nu: object,
    accounting: Accounting | str,
) -> CutPlan:
    """The plan for a budget; refused where the weight would leave nothing of the graph."""
    way = read_accounting(accounting)
    level, failure = read_epsilon("epsilon", epsilon), read_share("delta", delta)
    spread, miss = read_share("eta", eta), read_share("nu", nu)
    if way is not Accounting.EXACT and level == 0:
        raise InvalidParameter("epsilon", epsilon, f"be above 0 for the accounting {way.value!r}")
    rows = rows_for(spread, miss)
    weight = _weight(way, nodes, rows, level, failure)
    if weight >= nodes:
        raise _too_few_nodes(way, nodes, rows, level, failure, weight)
    plan = CutPlan(make(nodes, rows, weight), level, failure, spread, miss, way)
    if plan.spent.upper > failure:
        raise InvalidParameter(
            "accounting",
            way.value,
            "hold where it is used",
            instead=f"Its closed form gives w = {float(weight):.6g} here, which does not keep the budget; "
            "accounting='exact' does.",
        )
    return plan


def _weight(accounting: Accounting, nodes: int, rows: int, epsilon: Epsilon, delta: Fraction) -> Fraction:
    r"""The least w, rounded up. x = 2 (1/w - 1/n), so that the exact one is 1 / (x/2 + 1/n): always below n."""
    match accounting:
        case Accounting.ADVANCED:
            return Fraction(advanced_weight(rows, epsilon, delta).upper)
        case Accounting.OPTIMAL:
            return Fraction(optimal_weight(rows, epsilon, delta).upper)
        case Accounting.EXACT:
            excess = Fraction(largest_excess(rows, epsilon, delta).lower)
            exact = 1 / (excess / 2 + Fraction(1, nodes))
            rounded = Fraction(float_above(exact))
            return rounded if rounded < nodes else exact


def _too_few_nodes(
    way: Accounting, nodes: int, rows: int, epsilon: Epsilon, delta: Fraction, weight: Fraction
) -> InvalidParameter:
    """What would do: that many nodes, a larger epsilon, or the exact accounting."""
    low, high = 1.0, 2.0
    base = Fraction(bracket_of(epsilon).upper)

    def fits(factor: float) -> bool:
        return _weight(way, nodes, rows, base * Fraction(factor), delta) < nodes

    while not fits(high):
        low, high = high, 2 * high
    while high > low * (1 + 1e-7):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    enough = rounded_up(float_above(base * Fraction(high)), 5)
    exact = rounded_up(float(_weight(Accounting.EXACT, nodes, rows, epsilon, delta)), 6)
    return InvalidParameter(
        "w",
        float(weight),
        f"be below the number of nodes, {nodes:,}",
        instead=f"With accounting {way.value!r} the least graph for this budget has {int(weight) + 1:,} nodes, and the "
        f"least epsilon for this graph is {enough}; accounting='exact' needs w = {exact} only.",
    )
