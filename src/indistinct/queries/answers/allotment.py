r"""How a question's cost is shared out: which noise each number gets, and why the whole costs no more.

A question's parts (its measures, its quantiles, the selection of its groups) get equal shares. A measure j changes by
at most s_j in each of the at most G groups that a unit is in. Whichever of these gives the least noise is taken:

- Gaussian noise on every group, whose l2 sensitivity is sqrt(G) s_j, in any dimension;
- geometric noise of scale s_j / e on every group, e-private in each of G groups;
- noise in the shape of a box, one vector for all measures of a group: e-private in each of G groups, however many
  measures there are (Hardt and Talwar 2010). Of k measures each has the variance (k + 1) (k + 2) / 3 times (s_j / e)^2,
  about, where shares e / k of geometric noise give 2 k^2.

What each of them costs in a budget's currency is told by `prices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from indistinct.composition.conversions import largest_mu
from indistinct.errors import InvalidParameter
from indistinct.mechanisms import DiscreteGaussian, Gaussian, Geometric
from indistinct.queries.answers.noises import Noise, Side
from indistinct.queries.answers.prices import Price, pure_cost, pure_level, range_level, rooted_up
from indistinct.queries.answers.quantiles import rank_error
from indistinct.queries.answers.selection import CountedSelection, KeySelection, Selection
from indistinct.queries.answers.tree import MOST_LEAVES, Tree, levels_of
from indistinct.queries.plans.measures import CELL_WEIGHT, CountUnits, change
from indistinct.queries.plans.plan import Plan, QuantileSet

__all__ = ["LEAST_ROUNDED", "LEAST_SIGMA", "MOST_EPSILON", "Allotment", "allot", "private_groups"]

LEAST_SIGMA = Fraction(1, 8)
LEAST_ROUNDED = Fraction(1)
"""Of Gaussian noise that is rounded."""
MOST_EPSILON = Fraction(40)
_LARGEST_SIGMA = 2**58
_LEAST_BOX, _MOST_BOX = Fraction(1, 1024), Fraction(20)
_LARGEST_BOX = 2**45
_MOST_SIDES = 64
_SURE = Fraction(95, 100)
_LEAST_CHANCE = Fraction(1, 10**12)
"""Of private groups, for which the tails of a box are known well enough."""


@dataclass(frozen=True, slots=True)
class Allotment:
    """The mechanisms of an answer, and their cost in a budget's currency."""

    currency: str
    amount: Fraction
    delta: Fraction
    noises: tuple[Noise, ...]
    selection: Selection | None
    quantile_epsilon: tuple[Fraction, ...]
    """Of each choice of a quantile, for each set of quantiles."""
    pure: bool
    trees: tuple[Tree | None, ...] = ()
    """For each set of quantiles, the tree that they come from, if it has less error than choosing each by itself."""
    peel: Fraction | None = None
    """Of each choice of one of the most frequent values, where these are chosen; no measure has noise then."""

    @property
    def cost(self) -> dict[str, Fraction]:
        """What the ledger is charged."""
        return {self.currency: self.amount, **({"delta": self.delta} if self.delta else {})}


def allot(plan: Plan, price: Price) -> Allotment:
    """Shares a price out among the parts of a plan."""
    if not price.amount > 0:
        raise InvalidParameter(price.currency, price.amount, "be positive")
    without = _allotted(plan, replace(price, pure=True) if price.currency == "epsilon" else price)
    if price.currency != "epsilon" or price.pure or not price.delta or not plan.measures:
        return without
    sizes = [change(each, plan.contribution) for each in plan.measures]
    return min(without, _with_delta(plan, price, without), key=lambda each: _spread(each.noises, sizes))


def _allotted(plan: Plan, price: Price) -> Allotment:
    groups, shares = plan.groups, _shares(plan)
    share = price.amount / shares
    sizes = [change(each, plan.contribution) for each in plan.measures]
    if price.is_epsilon:
        noises = _pure_noises(sizes, share / groups, boxed=plan.public or price.delta / groups > _LEAST_CHANCE)
        costs = [share * len(sizes)] if sizes and isinstance(noises[0], Side) else [share] * len(sizes)
    else:
        noises, costs = tuple(_noise(size, groups, share, price) for size in sizes), [share] * len(sizes)
    selection = None if plan.public else private_groups(plan, share, price, noises)
    quantile = range_level(price, share / groups)
    trees = tuple(_tree(each, quantile, share * len(each.shares), plan, price) for each in plan.quantiles)
    amount = price.amount
    if price.pure and price.currency != "epsilon":
        # The whole is pure, and each part is a product over G groups of guarantees of its share / G.
        costs += [share] * (isinstance(selection, KeySelection))
        for each, tree in zip(plan.quantiles, trees, strict=True):
            number = len(each.shares) if tree is None else len(levels_of(each.cells.number))
            costs += [share * len(each.shares) / number] * number
        parts = sum((groups * pure_cost(price, each / groups) for each in costs), Fraction(0))
        amount = min(parts, pure_cost(price, price.amount))
    return Allotment(
        price.currency,
        amount,
        price.delta if selection is not None else Fraction(0),
        noises,
        selection,
        tuple(quantile for _ in plan.quantiles),
        price.is_epsilon,
        trees,
    )


def _with_delta(plan: Plan, price: Price, without: Allotment) -> Allotment:
    """The same, with Gaussian noise on all measures together, calibrated exactly to their epsilon and a delta.

    Its promise beside the pure ones of the others: epsilons and deltas add up.
    """
    delta = price.delta if plan.public else price.delta / 2
    mu = _largest_mu(price.amount * len(plan.measures) / _shares(plan), delta)
    if not mu:
        return without
    square = plan.groups * len(plan.measures) / mu**2
    noises = []
    for measure in plan.measures:
        sigma = max(rooted_up(square * change(measure, plan.contribution) ** 2), LEAST_ROUNDED)
        if sigma > _LARGEST_SIGMA:
            return without
        noises.append(Gaussian(1, sigma, granularity=1))
    selection, left = without.selection, (price.delta - delta) / plan.groups
    match selection:
        case KeySelection(epsilon=epsilon):
            selection = KeySelection(epsilon, left)
        case CountedSelection(measure=int() as place):
            selection = CountedSelection(noises[place], left, place)
    return replace(without, noises=tuple(noises), delta=price.delta, selection=selection)


@lru_cache(256)
def _largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    return largest_mu(epsilon, delta)


def _shares(plan: Plan) -> int:
    apart = not plan.public and CountUnits() not in plan.measures
    return len(plan.measures) + sum(len(each.shares) for each in plan.quantiles) + apart


def _spread(noises: Sequence[Noise], sizes: Sequence[int]) -> float:
    """The sum of the variances, each in the units of what a unit can change."""
    return sum(noise.variance / size**2 for noise, size in zip(noises, sizes, strict=True))


def _pure_noises(sizes: Sequence[int], share: Fraction, *, boxed: bool) -> tuple[Noise, ...]:
    """Of measures that have `share` of epsilon each, in every group."""
    apart = tuple(_geometric(size, share) for size in sizes)
    epsilon = share * len(sizes)
    if not boxed or not 1 < len(sizes) <= _MOST_SIDES or not _LEAST_BOX <= epsilon <= _MOST_BOX:
        return apart
    if max(sizes) > _LARGEST_BOX * min(epsilon, Fraction(1)):
        return apart
    box = tuple(Side(tuple(sizes), epsilon, place) for place in range(len(sizes)))
    return min(apart, box, key=lambda noises: _spread(noises, sizes))


def _tree(quantiles: QuantileSet, epsilon: Fraction, share: Fraction, plan: Plan, price: Price) -> Tree | None:
    """The tree for all of a share, if its estimates are nearer in rank than choices at epsilon each."""
    cells, rows = quantiles.cells.number, plan.contribution.rows
    if cells > MOST_LEAVES or (len(quantiles.shares) == 1 and not quantiles.ranged):
        return None
    levels, size = len(levels_of(cells)), CELL_WEIGHT * rows
    if price.is_epsilon:
        noise: Noise = _geometric(size, share / (levels * plan.groups))
    else:
        noise = _noise(size, plan.groups, share / levels, price)
    tree = Tree(cells, noise)
    if quantiles.ranged:
        return tree
    shares, pure = quantiles.shares, price.is_epsilon
    together = sum(tree.rank_error(each, _SURE, CELL_WEIGHT) for each in shares)
    apart = sum(rank_error(each, epsilon, rows, cells, _SURE, pure=pure) for each in shares)
    return tree if together < apart else None


def _noise(size: int, groups: int, share: Fraction, price: Price) -> Noise:
    if price.currency == "mu^2":
        return Gaussian(1, _sigma(groups * Fraction(size) ** 2 / share, LEAST_ROUNDED), granularity=1)
    gaussian = DiscreteGaussian(
        1, _sigma(price.order * groups * Fraction(size) ** 2 / (2 * share), LEAST_SIGMA), vector=True
    )
    geometric = _geometric(size, pure_level(price, share / groups))
    return gaussian if gaussian.variance <= geometric.variance else geometric


def _sigma(square: Fraction, least: Fraction) -> Fraction:
    """At least the root of a square."""
    sigma = rooted_up(square)
    if sigma > _LARGEST_SIGMA:
        raise InvalidParameter(
            "the cost of a question", float(1 / square), "be larger", instead="Or narrow the bounds of the values."
        )
    return max(sigma, least)


def _geometric(size: int, epsilon: Fraction) -> Geometric:
    if size / epsilon > _LARGEST_SIGMA:
        raise InvalidParameter(
            "the cost of a question", float(epsilon), "be larger", instead="Or narrow the bounds of the values."
        )
    return Geometric(1, epsilon=min(epsilon / size, MOST_EPSILON))


def private_groups(plan: Plan, share: Fraction, price: Price, noises: Sequence[Noise]) -> Selection:
    """How private groups are selected, with all of the delta.

    By the noisy number of units if it is asked for, at no cost of its own; else, for a share of the amount, by such a
    number that is not shown, or by coins: whichever shows groups of fewer units.
    """
    if not price.delta > 0:
        raise InvalidParameter(
            "delta",
            price.delta,
            "be positive where the groups are not declared",
            instead="Declare the keys, in the policy or with keys=..., or spend some delta.",
        )
    delta = price.delta / plan.groups
    if CountUnits() in plan.measures:
        place = plan.measures.index(CountUnits())
        return CountedSelection(noises[place], delta, place)
    coins = KeySelection(min(pure_level(price, share / plan.groups), Fraction(50)), delta)
    if price.is_epsilon:
        return coins
    counted = CountedSelection(_noise(1, plan.groups, share, price), delta)
    return counted if counted.half < coins.half else coins
