"""What a budget promises, for what it has now: a grant weakens the promise, for earlier answers as well."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from indistinct.composition.filters import (
    BasicRule,
    ConcentratedRule,
    DeclaredPlan,
    Filter,
    GaussianRule,
    Partition,
    RenyiRule,
)
from indistinct.errors import InvalidParameter
from indistinct.ledger.budgets import Budget, LedgerRule, encode_slot
from indistinct.numbers.bracket import float_above

__all__ = ["promise"]

Caps = Mapping[str, Mapping[str, Fraction]]
"""By part and account."""


def promise(budget: Budget, caps: Caps) -> str:
    """The promise in words: the claim, and for which answers and which neighbours it is one."""
    about = (
        f"everything answered to {budget.analyst}"
        if budget.analyst
        else f"what is reserved in each stretch of {budget.window:,} seconds, counted from 1970, and no more than that"
        if budget.window
        else f"everything answered about {budget.dataset}"
    )
    return f"{_claimed(budget, caps)} for {about}, for {budget.adjacency} neighbours."


def _claimed(budget: Budget, caps: Caps) -> str:
    rule = budget.rule
    if isinstance(rule, DeclaredPlan):
        slots = {slot: int(caps[""][encode_slot(slot)]) for slot, _ in budget.slots} if "" in caps else {}
        if not slots:
            return "the optimal composition of its slots in each part,"
        plan = DeclaredPlan(slots)
        return (
            f"the optimal composition of {plan.claim.times:,} slots, epsilon = {plan.epsilon('1e-6')} at delta = 1e-06,"
        )
    own = {account: Fraction(cap, budget.units_of(account)) for account, cap in budget.caps.items()}
    rules = {part: _with(rule, found) if dict(found) != own else rule for part, found in caps.items()}
    if not budget.parts:
        return repr(rules[""].claim)
    if any(each is not rule for each in rules.values()):
        rules = {part: _with(rule, found) for part, found in caps.items()}  # claims of one kind
    try:
        filters = {part: Filter(each) for part, each in rules.items()}
        return repr(Partition(filters, adjacency=budget.adjacency).claim)
    except InvalidParameter:
        group = "" if budget.adjacency == "add-remove" else " for a group of two"
        return f"the worst of {', '.join(repr(each.claim) for each in rules.values())}{group},"


def _with(rule: LedgerRule, caps: Mapping[str, Fraction]) -> LedgerRule:
    """The same rule with other limits."""
    delta = caps["delta"]
    match rule:
        case BasicRule():
            return BasicRule(caps["epsilon"], min(delta, Fraction(1)))
        case ConcentratedRule():
            return ConcentratedRule.of_rho(caps["rho"], black_box=min(delta, Fraction(1)))
        case GaussianRule():
            mu = Fraction(math.nextafter(math.sqrt(float_above(caps["mu^2"])), math.inf))
            return GaussianRule.of_mu(mu, black_box=min(delta, Fraction(1)))
        case RenyiRule(order=order):
            return RenyiRule.of_divergence(order, caps["divergence"], black_box=min(delta, Fraction(1)))
