"""What a question would do, told before it is asked: free, and without touching the data."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from indistinct.mechanisms import DiscreteGaussian, Gaussian, Geometric
from indistinct.queries.answers.allotment import Allotment
from indistinct.queries.answers.noises import Noise, Side, largest, margin
from indistinct.queries.answers.quantiles import rank_error
from indistinct.queries.answers.selection import KeySelection, Selection
from indistinct.queries.answers.tree import levels_of
from indistinct.queries.plans.measures import (
    CELL_WEIGHT,
    CountRows,
    CountUnits,
    CountValues,
    Measure,
    Sum,
    UnitTotal,
    change,
)
from indistinct.queries.plans.plan import Plan
from indistinct.queries.plans.results import Count, Total
from indistinct.queries.policy.terms import Row

__all__ = ["Explanation", "bounds_told", "explain", "mechanisms_told"]

_LEVEL = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The statement, the mechanisms, the cost and the error of a question."""

    statement: str
    mechanisms: tuple[str, ...]
    bounds: str
    cost: Mapping[str, Fraction]
    errors: Mapping[str, float]
    """For counts and sums: how far the noise moves them at most, in 95 of 100 cases."""
    suppression: str
    """With how many units a private group is shown, and how probably; empty where groups are public."""

    def __str__(self) -> str:
        cost = ", ".join(f"{name} {float(amount):.6g}" for name, amount in self.cost.items())
        errors = [
            f"{name}: within {error:,.6g} of the bounded value, in 95 of 100 cases"
            for name, error in self.errors.items()
        ]
        lines = [f"cost: {cost}", *self.mechanisms, self.bounds, *errors, self.suppression, "", self.statement]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def explain(plan: Plan, allotment: Allotment, statement: str) -> Explanation:
    """The explanation of a plan with its mechanisms."""
    errors: dict[str, float] = {}
    for output in plan.outputs:
        match output.outcome:
            case Count(measure=measure):
                errors[output.name] = float(margin(allotment.noises[measure], _LEVEL))
            case Total(terms=terms):
                parts = [(factor, allotment.noises[measure]) for factor, measure in terms]
                errors[output.name] = float(largest(parts, _LEVEL))
    return Explanation(
        statement, mechanisms_told(plan, allotment), bounds_told(plan), allotment.cost, errors, _suppression(allotment)
    )


def mechanisms_told(plan: Plan, allotment: Allotment) -> tuple[str, ...]:
    """One line for each mechanism."""
    lines = []
    if allotment.peel is not None:
        lines.append(f"{plan.top:,} values: exponential mechanism, epsilon {float(allotment.peel):.6g} each")
    for measure, noise in zip(plan.measures if allotment.peel is None else (), allotment.noises, strict=True):
        size, step = (
            change(measure, plan.contribution),
            _step(measure),
        )
        law, scale = _law(noise)
        steps = "" if step == 1 else f", in steps of {float(step):.6g}"
        lines.append(
            f"{_what(measure)}: {law} {float(scale * step):.6g}; "
            f"a unit changes a group by at most {float(size * step):.6g}{steps}"
        )
    for quantiles, epsilon, tree in zip(plan.quantiles, allotment.quantile_epsilon, allotment.trees, strict=True):
        worst = max(quantiles.shares, key=lambda share: abs(share - Fraction(1, 2)))
        if tree is not None:
            law, scale = _law(tree.noise)
            off = max(tree.rank_error(share, _LEVEL, CELL_WEIGHT) for share in quantiles.shares)
            lines.append(
                f"{len(quantiles.shares)} quantiles of {quantiles.cells.number:,} cells: a tree of "
                f"{len(levels_of(tree.cells))} levels, {law} {float(scale / CELL_WEIGHT):.6g} rows; "
                f"at most {off:,.6g} rows off in rank, in 95 of 100 cases"
            )
            continue
        rows = rank_error(worst, epsilon, plan.contribution.rows, quantiles.cells.number, _LEVEL, pure=allotment.pure)
        kind = "permute-and-flip" if allotment.pure else "exponential mechanism"
        lines.append(
            f"{len(quantiles.shares)} quantiles of {quantiles.cells.number:,} cells: {kind}, "
            f"epsilon {float(epsilon):.6g} each; "
            f"at most {rows:,.6g} rows off in rank, in 95 of 100 cases"
        )
    if allotment.selection is not None:
        lines.append(_selected(allotment.selection))
    return tuple(lines)


def _selected(selection: Selection) -> str:
    share = f"delta {float(selection.delta):.3g} for each group of a unit"
    if isinstance(selection, KeySelection):
        return f"private groups: best coins of epsilon {float(selection.epsilon):.6g}, {share}"
    law, scale = _law(selection.noise)
    of = f"{law} {float(scale):.6g}" if selection.measure is None else "the noise of their count"
    return f"private groups: shown from a noisy number of {selection.threshold:,} units on, {of}, {share}"


def bounds_told(plan: Plan) -> str:
    """What is used of a unit."""
    if isinstance(plan.unit, Row):
        return "unit: each row"
    bounds = plan.contribution
    groups = f"{bounds.groups:,} groups, with " if plan.keys else ""
    rows = f"{bounds.rows:,} rows{' in each' if plan.keys else ''}"
    return f"unit: {plan.unit.called}, which counts in at most {groups}{rows}"


def _suppression(allotment: Allotment) -> str:
    if allotment.selection is None:
        return ""
    told = allotment.selection
    always = "always" if isinstance(told, KeySelection) else "all but always"
    return (
        f"groups of {told.half:,} units are shown in half of the cases, "
        f"of {told.units_for(Fraction(99, 100)):,} in 99 of 100, "
        f"of {told.surely:,} {always}, and of fewer than {told.first:,} never"
    )


def _step(measure: Measure) -> Fraction:
    match measure:
        case Sum(of=of, power=power):
            return of.step**power
        case UnitTotal(of=of):
            return of.step
    return Fraction(1)


def _law(noise: Noise) -> tuple[str, Fraction]:
    match noise:
        case DiscreteGaussian(sigma=sigma):
            return "discrete Gaussian noise, sigma", sigma
        case Gaussian(sigma=sigma):
            return "Gaussian noise rounded to whole numbers, sigma", sigma
        case Geometric(epsilon=epsilon):
            return "geometric noise, scale", 1 / epsilon
        case Side(widths=widths, epsilon=epsilon, place=place):
            return f"noise in the shape of a box of {len(widths)} measures, scale", widths[place] / epsilon


def _what(measure: Measure) -> str:
    match measure:
        case CountRows():
            return "count of rows"
        case CountUnits():
            return "count of units"
        case CountValues():
            return "count of values"
        case UnitTotal():
            return "sum of units' totals"
        case Sum(power=power):
            return "sum" if power == 1 else "sum of squares"
