"""A wanted error instead of a price: the least noise that is small enough, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.mechanisms import DiscreteGaussian, Gaussian, Geometric
from indistinct.queries.answers.allotment import LEAST_ROUNDED, LEAST_SIGMA, MOST_EPSILON, Allotment, private_groups
from indistinct.queries.answers.noises import Noise, margin
from indistinct.queries.answers.prices import Price, pure_cost
from indistinct.queries.plans.measures import CountUnits, change
from indistinct.queries.plans.plan import Output, Plan
from indistinct.queries.plans.results import Count, Total
from indistinct.queries.questions.reading import TargetError

__all__ = ["allot_for_error"]

Costed = Callable[[Fraction], tuple[Noise, Fraction]]
"""Noise of a scale, and its cost."""


def allot_for_error(plan: Plan, target: TargetError, price: Price) -> Allotment:
    """The least that gives every count and sum the wanted error; `price` pays for the selection of private keys."""
    steps: dict[int, Fraction] = {}
    for output in plan.outputs:
        match output:
            case Output(outcome=Count(measure=place)):
                steps[place] = min(target.error, steps.get(place, target.error))
            case Output(outcome=Total(measure=place, step=step, count=None)):
                steps[place] = min(target.error / step, steps.get(place, target.error / step))
    if len(steps) < len(plan.measures) or plan.quantiles:
        raise InvalidParameter(
            "WITH ERROR",
            f"{float(target.error):g}",
            "be asked of counts and sums",
            instead="The error of averages and quantiles depends on the data: name a cost.",
        )
    noises, amount = [], Fraction(0)
    for index, measure in enumerate(plan.measures):
        noise, cost = _cheapest(change(measure, plan.contribution), plan.groups, steps[index], target.level, price)
        noises.append(noise)
        amount += cost
    selection = None
    if not plan.public:
        share = price.amount / (len(plan.measures) + 1)
        selection = private_groups(plan, share, price, noises)
        if CountUnits() not in plan.measures:
            pure = price.pure and price.currency != "epsilon"
            amount += plan.groups * pure_cost(price, share / plan.groups) if pure else share
    delta = price.delta if selection is not None else Fraction(0)
    return Allotment(price.currency, amount, delta, tuple(noises), selection, (), price.is_epsilon)


def _cheapest(size: int, groups: int, error: Fraction, level: Fraction, price: Price) -> tuple[Noise, Fraction]:
    """The noise of least cost that stays within an error with a probability."""

    def geometric(scale: Fraction) -> tuple[Noise, Fraction]:
        epsilon = min(1 / scale, MOST_EPSILON)
        return Geometric(1, epsilon=epsilon), groups * pure_cost(price, size * epsilon)

    def discrete(scale: Fraction) -> tuple[Noise, Fraction]:
        sigma = max(scale, LEAST_SIGMA)
        return DiscreteGaussian(1, sigma, vector=True), price.order * groups * Fraction(size) ** 2 / (2 * sigma**2)

    def rounded(scale: Fraction) -> tuple[Noise, Fraction]:
        sigma = max(scale, LEAST_ROUNDED)
        return Gaussian(1, sigma, granularity=1), groups * Fraction(size) ** 2 / sigma**2

    kinds: list[Costed] = [geometric]
    if not price.is_epsilon:
        kinds = [rounded] if price.currency == "mu^2" else [geometric, discrete]
    found = [_least(kind, error, level) for kind in kinds]
    return min(found, key=lambda each: each[1])


def _least(kind: Costed, error: Fraction, level: Fraction) -> tuple[Noise, Fraction]:
    low, high = 0.0, 2 * float(error)
    best = None
    for _ in range(24):
        middle = (low + high) / 2
        noise, cost = kind(Fraction(middle) if middle > 0.01 else Fraction(1, 100))
        if margin(noise, level) <= error:
            low, best = middle, (noise, cost)
        else:
            high = middle
        if high - low < 1e-4 * high:
            break
    if best is None:
        raise InvalidParameter(
            "the wanted error", float(error), "be larger", instead="Noise of whole numbers cannot be that small."
        )
    return best
