"""What is charged is never less than what the mechanisms of an answer cost, computed anew at 50 digits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from indistinct.mechanisms import DiscreteGaussian
from indistinct.queries.answers.allotment import Allotment, Price, allot, allot_for_error, margin
from indistinct.queries.answers.quantiles import losses, select_quantile
from indistinct.queries.answers.selection import KeySelection
from indistinct.queries.plans.measures import change
from indistinct.queries.plans.plan import Plan
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.noise.budget import SHARE
from tests.queries.engines import policy
from tests.queries.test_sensitivity import QUESTIONS

mpmath.mp.dps = 50
ROUNDED = 1 + mpmath.mpf(10) ** -45
"""Sums of 50 digits are rounded themselves."""

PRICES = {
    "rho": Price("rho", Fraction(1, 500), Fraction(1, 10**8)),
    "much rho": Price("rho", Fraction(30), Fraction(1, 10**8)),
    "pure in rho": Price("rho", Fraction(1, 7), Fraction(1, 10**8), pure=True),
    "epsilon": Price("epsilon", Fraction(1, 3), Fraction(1, 10**8)),
}


def real(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def pure_rho(epsilon: mpmath.mpf) -> mpmath.mpf:
    return epsilon * mpmath.tanh(epsilon / 2)


def true_cost(plan: Plan, allotment: Allotment) -> mpmath.mpf:
    """The sum over measures, quantiles and the selection of keys, each in all groups of a unit."""
    groups, zcdp, total = plan.groups, allotment.currency == "rho", mpmath.mpf(0)
    for measure, noise in zip(plan.measures, allotment.noises, strict=True):
        size = change(measure, plan.contribution)
        if isinstance(noise, DiscreteGaussian):
            assert zcdp
            total += groups * mpmath.mpf(size) ** 2 / (2 * real(noise.sigma) ** 2)
        else:
            level = size * real(noise.epsilon)
            total += groups * (pure_rho(level) if zcdp else level)
    for quantiles, epsilon in zip(plan.quantiles, allotment.quantile_epsilon, strict=True):
        level = real(epsilon)
        each = level if not zcdp else pure_rho(level) if allotment.pure else level**2 / 8
        total += groups * len(quantiles.shares) * each
    if allotment.selection is not None:
        level = real(allotment.selection.epsilon)
        total += groups * (pure_rho(level) if zcdp else level)
    return total


def plans() -> dict[str, Plan]:
    return {
        name: plan_question(read_statement(text), policy(groups=3, rows=4, keys=name == "sums"))
        for name, text in QUESTIONS.items()
    }


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_part_is_forgotten(name: str, price: str) -> None:
    plan = plans()[name]
    allotment = allot(plan, PRICES[price])
    charged = real(allotment.cost[allotment.currency])
    spent = true_cost(plan, allotment)
    assert spent <= charged * ROUNDED
    assert charged <= real(PRICES[price].amount)
    if price == "rho":
        assert spent >= charged * 0.999  # and nothing is wasted
    if allotment.selection is not None:
        assert plan.groups * allotment.selection.delta <= allotment.cost["delta"]


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", ["counts", "no groups", "sums"])
def test_a_wanted_error_is_paid_for(name: str, price: str) -> None:
    plan = plans()[name]
    target = read_statement("SELECT 1 WITH ERROR 700 AT 90%").target
    assert target is not None
    allotment = allot_for_error(plan, target, PRICES[price])
    assert true_cost(plan, allotment) <= real(allotment.cost[allotment.currency]) * ROUNDED
    for measure, noise in zip(plan.measures, allotment.noises, strict=True):
        step = measure.of.step if hasattr(measure, "of") else 1
        assert margin(noise, Fraction(9, 10)) * step <= 700


def test_the_better_noise_is_taken() -> None:
    plan = plan_question(read_statement("SELECT COUNT(*) FROM visits"), policy(rows=1))
    assert isinstance(allot(plan, PRICES["rho"]).noises[0], DiscreteGaussian)
    assert not isinstance(allot(plan, PRICES["much rho"]).noises[0], DiscreteGaussian)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**5), Fraction(1, 10**12)])
def test_groups_are_selected_privately_and_as_often_as_possible(epsilon: Fraction, delta: Fraction) -> None:
    selection = KeySelection(epsilon, delta)
    growth, failing = mpmath.exp(real(epsilon)), real(delta)

    def broken(probabilities: list[mpmath.mpf]) -> bool:
        """Whether one unit more or less is told by more than (epsilon, delta), either way."""
        return any(
            after > growth * before + failing
            or before > growth * after + failing
            or (1 - before) > growth * (1 - after) + failing
            or (1 - after) > growth * (1 - before) + failing
            for before, after in pairwise(probabilities)
        )

    kept = [real(selection.probability(units)) for units in range(selection.surely + 3)]
    assert kept[selection.first - 1] == 0
    assert kept[-1] == 1
    assert not broken(kept)
    assert broken([min(mpmath.mpf(1), each * (1 + mpmath.mpf(10) ** -4)) for each in kept])
    assert broken([0, *kept[selection.first + 1 :]])


def test_groups_are_kept_as_often_as_stated() -> None:
    selection = KeySelection(Fraction(1, 2), Fraction(1, 10**4))
    draws = 20_000
    slack = math.sqrt(math.log(2 / SHARE) / (2 * draws))
    for units in (0, selection.first - 1, selection.first, selection.half, selection.half + 2, selection.surely, 10**9):
        share = float(np.mean(selection.keep(np.full(draws, units, dtype=np.int64))))
        chance = float(selection.probability(units))
        assert abs(share - chance) <= slack
        assert chance not in (0.0, 1.0) or share == chance


def test_quantiles_are_near() -> None:
    weights = [1024 * each for each in (50, 100, 300, 100, 50, 0, 0, 400)]
    for pure in (False, True):
        assert select_quantile(weights, Fraction(1, 2), Fraction(5), 1, pure=pure) == 3
        assert select_quantile(weights, Fraction(1, 20), Fraction(5), 1, pure=pure) in (0, 1)
        assert select_quantile(weights, Fraction(9, 10), Fraction(5), 1, pure=pure) == 7
    told = losses(weights, Fraction(1, 2))
    assert told.index(0) == 3
    assert select_quantile([0] * 8, Fraction(1, 2), Fraction(1), 1, pure=False) in range(8)
