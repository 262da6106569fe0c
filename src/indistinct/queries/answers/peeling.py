r"""The most frequent values, chosen one after the other: for answers that show no counts.

A further unit raises the number of units of some values by 1 each, of how many ever. So each choice by the exponential
mechanism, of weight e^(epsilon n), has the bounded range epsilon, and k choices without replacement, which are the k
largest of the numbers with one Gumbel noise each, cost k of them (Durfee and Rogers 2019): what a choice costs does not
depend on how many groups a unit is in. Where the groups are private, they are selected first, for half of the price;
what is chosen from is then public.

The other way is to add noise to all numbers and to show their order alone, which does not depend on k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from indistinct.mechanisms import NoisyMax
from indistinct.queries.answers.allotment import Allotment, allot, private_groups
from indistinct.queries.answers.noises import margin
from indistinct.queries.answers.prices import Price, pure_cost, range_level
from indistinct.queries.plans.plan import Plan

__all__ = ["allot_top", "peeled"]

_SURE = Fraction(95, 100)
_MANY = 1000
"""So many private groups are taken to be there, where the two ways are compared."""


@dataclass(frozen=True, slots=True)
class _Shares:
    """Of the price, for all choices and for each."""

    selection: Fraction
    each: Fraction


def allot_top(plan: Plan, price: Price) -> Allotment:
    """The way that is nearer to the truth: noise on all numbers, or choices."""
    assert plan.top is not None  # noqa: S101  # as it was asked for
    noisy = allot(plan, price)
    peeling = _peeling(plan, price)
    candidates = max(sum(1 for _ in plan.public_groups()) if plan.public else _MANY, plan.top)
    off = margin(noisy.noises[0], 1 - (1 - _SURE) / candidates)
    assert peeling.peel is not None  # noqa: S101  # it is one
    chosen = _mechanism(peeling.peel, plan.top).accuracy(1 - _SURE, candidates)
    return peeling if chosen.alpha < off else noisy


def peeled(units: Sequence[int], epsilon: Fraction, most: int) -> list[int]:
    """The places of the largest numbers, the first choice first."""
    number = min(most, len(units))
    if not number:
        return []
    found = _mechanism(epsilon, number).release([float(each) for each in units])
    return [found] if isinstance(found, int) else [int(each) for each in found]


def _mechanism(epsilon: Fraction, number: int) -> NoisyMax:
    return NoisyMax(epsilon * number, noise="gumbel", monotone=True, k=number)


def _peeling(plan: Plan, price: Price) -> Allotment:
    assert plan.top is not None  # noqa: S101  # as it was asked for
    share = price.amount if plan.public else price.amount / 2
    shares = _Shares(Fraction(0) if plan.public else share, share / plan.top)
    selection = None if plan.public else private_groups(replace(plan, measures=()), shares.selection, price, ())
    amount = price.amount
    if price.pure and price.currency != "epsilon":
        coins = plan.groups * pure_cost(price, shares.selection / plan.groups) if selection is not None else Fraction(0)
        amount = min(coins + plan.top * pure_cost(price, shares.each), pure_cost(price, price.amount))
    return Allotment(
        price.currency,
        amount,
        price.delta if selection is not None else Fraction(0),
        (),
        selection,
        (),
        price.is_epsilon,
        peel=range_level(price, shares.each),
    )
