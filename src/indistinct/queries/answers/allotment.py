r"""How a question's cost is shared out: which noise each number gets, and why the whole costs no more.

A question's parts (its measures, its quantiles, the selection of its groups) get equal shares. A measure changes by at
most s in each of the at most G groups that a unit is in. In the currency rho of zero-concentrated privacy,

- discrete Gaussian noise on every group costs G s^2 / (2 sigma^2), in any dimension (Canonne, Kamath and Steinke 2020);
- geometric noise of scale s / e on every group is e-private in each of G groups: G e tanh(e / 2);

and whichever has the smaller variance is taken. In pure epsilon, geometric noise of scale G s / epsilon is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from indistinct.composition import PureDP
from indistinct.composition.conversions import as_zero_concentrated
from indistinct.errors import InvalidParameter
from indistinct.mechanisms import DiscreteGaussian, Geometric
from indistinct.queries.answers.selection import KeySelection
from indistinct.queries.plans.measures import change
from indistinct.queries.plans.plan import Output, Plan
from indistinct.queries.plans.results import Count, Total
from indistinct.queries.questions.reading import TargetError

__all__ = ["Allotment", "Noise", "Price", "allot", "allot_for_error", "margin"]

Noise = DiscreteGaussian | Geometric

_LEAST_SIGMA = Fraction(1, 8)
_MOST_EPSILON = Fraction(40)
_LARGEST_SIGMA = 2**58


@dataclass(frozen=True, slots=True)
class Price:
    """What an answer may cost: an amount of rho or of epsilon, and of delta for private keys.

    `pure`: the answer is to be private without any delta (but that of its keys), whatever the budget counts in.
    """

    currency: str
    amount: Fraction
    delta: Fraction = Fraction(0)
    pure: bool = False


@dataclass(frozen=True, slots=True)
class Allotment:
    """The mechanisms of an answer, and their cost in a budget's currency."""

    currency: str
    amount: Fraction
    delta: Fraction
    noises: tuple[Noise, ...]
    selection: KeySelection | None
    quantile_epsilon: tuple[Fraction, ...]
    """Of each choice of a quantile, for each set of quantiles."""
    pure: bool

    @property
    def cost(self) -> dict[str, Fraction]:
        """What the ledger is charged."""
        return {self.currency: self.amount, **({"delta": self.delta} if self.delta else {})}


def allot(plan: Plan, price: Price) -> Allotment:
    """Shares a price out among the parts of a plan."""
    if not price.amount > 0:
        raise InvalidParameter(price.currency, price.amount, "be positive")
    selected = not plan.public
    parts = len(plan.measures) + sum(len(each.shares) for each in plan.quantiles) + selected
    share = price.amount / parts
    groups = plan.groups
    pure = price.pure or price.currency == "epsilon"
    noises = tuple(_noise(change(each, plan.contribution), groups, share, price) for each in plan.measures)
    selection = _selection(share, groups, price, pure=pure) if selected else None
    quantile = share / groups if pure else _rooted(8 * share / groups)
    amount = price.amount
    if price.pure and price.currency == "rho":
        # Each part is a product over G groups of guarantees of share / G.
        each_part = groups * _rho(share / groups)
        amount = min(parts * each_part, _rho(price.amount))
    return Allotment(
        price.currency,
        amount,
        price.delta if selected else Fraction(0),
        noises,
        selection,
        tuple(quantile for _ in plan.quantiles),
        pure,
    )


def allot_for_error(plan: Plan, target: TargetError, price: Price) -> Allotment:
    """The least that gives every count and sum the wanted error; `price` pays for the selection of private keys."""
    steps: dict[int, Fraction] = {}
    for output in plan.outputs:
        match output:
            case Output(outcome=Count(measure=place)):
                steps[place] = min(target.error, steps.get(place, target.error))
            case Output(outcome=Total(measure=place, step=step)):
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
        pure = price.pure or price.currency == "epsilon"
        selection = _selection(share, plan.groups, price, pure=pure)
        amount += plan.groups * _rho(share / plan.groups) if price.pure and price.currency == "rho" else share
    delta = price.delta if selection is not None else Fraction(0)
    return Allotment(price.currency, amount, delta, tuple(noises), selection, (), price.currency == "epsilon")


def _noise(size: int, groups: int, share: Fraction, price: Price) -> Noise:
    if price.currency == "epsilon" or price.pure:
        return _geometric(size, share / groups)
    gaussian, geometric = _gaussian(size, groups, share), _geometric(size, _level(share / groups))
    return gaussian if gaussian.variance <= geometric.variance else geometric


def _gaussian(size: int, groups: int, rho: Fraction) -> DiscreteGaussian:
    """sigma^2 >= G s^2 / (2 rho), rounded up."""
    sigma = _rooted_up(groups * Fraction(size) ** 2 / (2 * rho))
    _check_scale(sigma, rho)
    return DiscreteGaussian(1, max(sigma, _LEAST_SIGMA), vector=True)


def _geometric(size: int, epsilon: Fraction) -> Geometric:
    _check_scale(size / epsilon, epsilon)
    return Geometric(1, epsilon=min(epsilon / size, _MOST_EPSILON))


def _check_scale(scale: Fraction, cost: Fraction) -> None:
    """Refuses noise that could not be drawn, before anything is charged."""
    if scale > _LARGEST_SIGMA:
        raise InvalidParameter(
            "the cost of a question", float(cost), "be larger", instead="Or narrow the bounds of the values."
        )


def _cheapest(size: int, groups: int, error: Fraction, level: Fraction, price: Price) -> tuple[Noise, Fraction]:
    """The noise of least cost that stays within an error with a probability."""
    pure = price.currency == "epsilon" or price.pure

    def geometric(scale: Fraction) -> tuple[Noise, Fraction]:
        epsilon = min(1 / scale, _MOST_EPSILON)
        cost = groups * size * epsilon
        return Geometric(1, epsilon=epsilon), cost if price.currency == "epsilon" else groups * _rho(size * epsilon)

    def gaussian(scale: Fraction) -> tuple[Noise, Fraction]:
        sigma = max(scale, _LEAST_SIGMA)
        return DiscreteGaussian(1, sigma, vector=True), groups * Fraction(size) ** 2 / (2 * sigma**2)

    found = []
    for kind in [geometric] if pure else [geometric, gaussian]:
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
        found.append(best)
    return min(found, key=lambda each: each[1])


@lru_cache(1024)
def margin(noise: Noise, level: Fraction) -> int:
    """How far the noise is at most from 0, with such a probability."""
    ends = noise.interval(0, level)
    return int(ends[1])


def _selection(share: Fraction, groups: int, price: Price, *, pure: bool) -> KeySelection:
    if not price.delta > 0:
        raise InvalidParameter(
            "delta",
            price.delta,
            "be positive where the groups are not declared",
            instead="Declare the keys, in the policy or with keys=..., or spend some delta.",
        )
    epsilon = share / groups if pure else _level(share / groups)
    return KeySelection(min(epsilon, Fraction(50)), price.delta / groups)


def _rho(epsilon: Fraction) -> Fraction:
    return Fraction(as_zero_concentrated(PureDP(epsilon)).rho)


@lru_cache(1024)
def _level(rho: Fraction) -> Fraction:
    """An epsilon whose epsilon tanh(epsilon / 2) is at most rho, and nearly that."""
    low, high = 0.0, max(2 * math.sqrt(float(rho)), 2 * float(rho))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= float(rho) else (low, middle)
    epsilon = Fraction(low) * (1 - Fraction(1, 2**40))
    while _rho(epsilon) > rho:
        epsilon *= 1 - Fraction(1, 2**30)
    return epsilon


def _rooted(square: Fraction) -> Fraction:
    """A root, rounded down."""
    root = Fraction(math.sqrt(float(square))) * (1 - Fraction(1, 2**50))
    while root * root > square:
        root *= 1 - Fraction(1, 2**40)
    return root


def _rooted_up(square: Fraction) -> Fraction:
    root = Fraction(math.sqrt(float(square))) * (1 + Fraction(1, 2**50))
    while root * root < square:
        root *= 1 + Fraction(1, 2**40)
    return root
