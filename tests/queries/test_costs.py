"""What is charged is never less than what the mechanisms of an answer cost, computed anew at 50 digits."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

from indistinct.mechanisms import DiscreteGaussian, Gaussian, Geometric
from indistinct.queries.answers.allotment import Allotment, allot
from indistinct.queries.answers.noises import Noise, Side, margin
from indistinct.queries.answers.prices import Price
from indistinct.queries.answers.quantiles import losses, select_quantile
from indistinct.queries.answers.selection import CountedSelection, KeySelection
from indistinct.queries.answers.wanted import allot_for_error
from indistinct.queries.plans.measures import CELL_WEIGHT, CountUnits, change
from indistinct.queries.plans.plan import Plan
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import read_statement
from tests.noise.budget import SHARE
from tests.queries.engines import policy
from tests.queries.test_sensitivity import QUESTIONS

mpmath.mp.dps = 50
ROUNDED = 1 + mpmath.mpf(10) ** -45
"""Sums of 50 digits are rounded themselves."""

DELTA = Fraction(1, 10**8)
PRICES = {
    "rho": Price("rho", Fraction(1, 500), DELTA),
    "much rho": Price("rho", Fraction(30), DELTA),
    "pure in rho": Price("rho", Fraction(1, 7), DELTA, pure=True),
    "epsilon": Price("epsilon", Fraction(1, 3), DELTA, pure=True),
    "epsilon and delta": Price("epsilon", Fraction(2), DELTA),
    "much epsilon": Price("epsilon", Fraction(200), DELTA),
    "mu": Price("mu^2", Fraction(1, 300), DELTA),
    "much mu": Price("mu^2", Fraction(40), DELTA),
    "pure in mu": Price("mu^2", Fraction(1, 7), DELTA, pure=True),
    "divergence": Price("divergence", Fraction(1, 20), DELTA, order=Fraction(9, 2)),
    "pure divergence": Price("divergence", Fraction(1, 3), DELTA, pure=True, order=Fraction(20)),
}


def real(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def normal(share: mpmath.mpf) -> mpmath.mpf:
    """The quantile of N(0, 1)."""
    return mpmath.sqrt(2) * mpmath.erfinv(2 * share - 1)


def coins(price: Price, first: mpmath.mpf, second: mpmath.mpf) -> mpmath.mpf:
    """What two coins of these log-odds cost in a currency, from its definition, in the worse order."""
    pairs = [[1 / (1 + mpmath.exp(-odds)) for odds in pair] for pair in ((first, second), (second, first))]
    match price.currency:
        case "mu^2":
            return (normal(pairs[0][0]) - normal(pairs[0][1])) ** 2
        case "divergence":
            a = real(price.order)
            sums = [p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a) for p, q in pairs]
            return max(mpmath.log(each) / (a - 1) for each in sums)
    # rho: the divergence of order 1 is the limit of the largest ratio of a divergence to its order
    return max(p * mpmath.log(p / q) + (1 - p) * mpmath.log((1 - p) / (1 - q)) for p, q in pairs)


def pure(price: Price, epsilon: mpmath.mpf) -> mpmath.mpf:
    """Of an epsilon-private mechanism: that of randomised response, which tells most."""
    return epsilon if price.currency == "epsilon" else coins(price, epsilon, -epsilon) if epsilon else epsilon


def ranged(price: Price, epsilon: mpmath.mpf) -> mpmath.mpf:
    """Of the exponential mechanism: the worst pair of coins whose log-odds are epsilon apart, looked for on a grid."""
    if price.currency == "rho":
        return epsilon**2 / 8  # Cesar and Rogers 2021
    return max(coins(price, shift / 10 + epsilon / 2, shift / 10 - epsilon / 2) for shift in range(-30, 31, 6))


def gaussian(price: Price, change: mpmath.mpf, sigma: mpmath.mpf) -> mpmath.mpf:
    square = (change / sigma) ** 2
    return square if price.currency == "mu^2" else real(price.order) * square / 2


def parts_of(plan: Plan, allotment: Allotment, price: Price) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The sum over measures, quantiles and the selection of keys, each in all groups of a unit; and mu^2 apart."""
    groups, total, square, boxes = plan.groups, mpmath.mpf(0), mpmath.mpf(0), set()
    for measure, noise in zip(plan.measures, allotment.noises, strict=True):
        size = mpmath.mpf(change(measure, plan.contribution))
        match noise:
            case DiscreteGaussian():
                assert price.currency in {"rho", "divergence"}
                total += groups * gaussian(price, size, real(noise.sigma))
            case Gaussian():
                assert price.currency in {"mu^2", "epsilon"}
                square += groups * (size / real(noise.sigma)) ** 2
            case Geometric():
                total += groups * pure(price, size * real(noise.epsilon))
            case Side(widths=widths):
                assert size <= widths[noise.place]
                boxes.add((widths, noise.epsilon))
    total += sum(groups * pure(price, real(epsilon)) for _, epsilon in boxes)
    for quantiles, epsilon, tree in zip(plan.quantiles, allotment.quantile_epsilon, allotment.trees, strict=True):
        if tree is not None:
            total += depth(tree.cells) * level_cost(price, tree.noise, CELL_WEIGHT * plan.contribution.rows, groups)
            continue
        level = real(epsilon)
        each = pure(price, level) if allotment.pure else ranged(price, level)
        total += groups * len(quantiles.shares) * each
    return total + selection_cost(plan, allotment, price), square


def selection_cost(plan: Plan, allotment: Allotment, price: Price) -> mpmath.mpf:
    match allotment.selection:
        case KeySelection(epsilon=epsilon):
            return plan.groups * pure(price, real(epsilon))
        case CountedSelection(measure=None, noise=noise):
            return level_cost(price, noise, 1, plan.groups)
        case CountedSelection(measure=int() as place, noise=noise):
            assert (plan.measures[place], allotment.noises[place]) == (CountUnits(), noise)
    return mpmath.mpf(0)


def depth(cells: int) -> int:
    """How often a number of cells is divided by four until four or fewer are left."""
    return 1 if cells <= 4 else 1 + depth(math.ceil(cells / 4))


def level_cost(price: Price, noise: Noise, size: int, groups: int) -> mpmath.mpf:
    """Of one level of a tree, which changes by `size` in l1 and in l2 in each of a unit's groups."""
    match noise:
        case Geometric():
            return groups * pure(price, size * real(noise.epsilon))
        case Gaussian():
            assert price.currency == "mu^2"
            return groups * (size / real(noise.sigma)) ** 2
        case DiscreteGaussian():
            return groups * gaussian(price, mpmath.mpf(size), real(noise.sigma))
    raise AssertionError


def true_cost(plan: Plan, allotment: Allotment, price: Price) -> mpmath.mpf:
    """In the currency; Gaussian noise under an epsilon takes what makes its exact delta that of the charge."""
    total, square = parts_of(plan, allotment, price)
    if not square or price.currency == "mu^2":
        return total + square
    keys = 0 if allotment.selection is None else plan.groups * allotment.selection.delta
    mu, left, failing = mpmath.sqrt(square), real(allotment.amount) - total, real(allotment.delta - keys)
    delta = mpmath.ncdf(mu / 2 - left / mu) - mpmath.exp(left) * mpmath.ncdf(-mu / 2 - left / mu)
    return real(allotment.amount) if left > 0 and delta <= failing * ROUNDED else mpmath.inf


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
    spent = true_cost(plan, allotment, PRICES[price])
    assert spent <= charged * ROUNDED
    amount = real(PRICES[price].amount)
    assert charged <= (pure(PRICES[price], amount) * (1 + mpmath.mpf(10) ** -30) if PRICES[price].pure else amount)
    if price == "rho":
        assert spent >= charged * 0.999  # and nothing is wasted
    if allotment.selection is not None:
        assert plan.groups * allotment.selection.delta <= allotment.cost["delta"]


@pytest.mark.parametrize("price", ["rho", "epsilon", "much epsilon", "mu", "divergence"])
def test_noise_that_is_too_small_is_caught(price: str) -> None:
    plan = plans()["no groups"]
    allotment = allot(plan, PRICES[price])
    fewer: list[Any] = []
    for noise in allotment.noises:
        match noise:
            case Side():
                fewer.append(replace(noise, epsilon=noise.epsilon * Fraction(5, 4)))
            case Geometric():
                fewer.append(Geometric(1, epsilon=noise.epsilon * Fraction(5, 4)))
            case Gaussian():
                fewer.append(Gaussian(1, noise.sigma * Fraction(4, 5), granularity=Fraction(1, 4)))
            case DiscreteGaussian():
                fewer.append(DiscreteGaussian(1, noise.sigma * Fraction(4, 5), vector=True))
    faulty = replace(allotment, noises=tuple(fewer))
    assert true_cost(plan, faulty, PRICES[price]) > real(allotment.amount)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", ["counts", "no groups", "sums"])
def test_a_wanted_error_is_paid_for(name: str, price: str) -> None:
    spoken = read_statement(f"{QUESTIONS[name]} WITH ERROR 700 AT 90%")
    plan, target = plan_question(spoken, policy(groups=3, rows=4, keys=name == "sums")), spoken.target
    assert target is not None
    allotment = allot_for_error(plan, target, PRICES[price])
    assert true_cost(plan, allotment, PRICES[price]) <= real(allotment.cost[allotment.currency]) * ROUNDED
    for measure, noise in zip(plan.measures, allotment.noises, strict=True):
        step = measure.of.step if hasattr(measure, "of") else 1
        assert margin(noise, Fraction(9, 10)) * step <= 700


def test_the_better_noise_is_taken() -> None:
    plan = plan_question(read_statement("SELECT COUNT(*) FROM visits"), policy(rows=1))
    assert isinstance(allot(plan, PRICES["rho"]).noises[0], DiscreteGaussian)
    assert not isinstance(allot(plan, PRICES["much rho"]).noises[0], DiscreteGaussian)
    price = Price("epsilon", Fraction(1), Fraction(1, 10**6))
    assert isinstance(allot(plan, price).noises[0], Geometric)
    two, many = (
        plan_question(read_statement(f"SELECT {columns} FROM visits"), policy(rows=1))
        for columns in ("COUNT(*), SUM(cost)", ", ".join(f"COUNT_IF(days = {day})" for day in range(60)))
    )
    assert isinstance(allot(two, price).noises[0], Side)
    assert isinstance(allot(many, price).noises[0], Gaussian)


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


NOISES: list[Noise] = [
    DiscreteGaussian(1, Fraction(37, 5), vector=True),
    Gaussian(1, Fraction(37, 5), granularity=1),
    Geometric(1, epsilon=Fraction(1, 5)),
    Side((1, 30), Fraction(1, 2), 0),
]


def law(noise: Noise, reach: int) -> dict[int, mpmath.mpf]:
    """Of the noise, on -reach, ..., reach, from its definition."""
    places = range(-reach, reach + 1)
    match noise:
        case Gaussian():
            sigma = real(noise.sigma)
            return {z: mpmath.ncdf((z + mpmath.mpf(1) / 2) / sigma) - mpmath.ncdf((z - 0.5) / sigma) for z in places}
        case DiscreteGaussian():
            weights = {z: mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * real(noise.sigma) ** 2)) for z in places}
        case Geometric():
            weights = {z: mpmath.exp(-real(noise.epsilon) * abs(z)) for z in places}
        case Side():
            decay, (_, width) = mpmath.exp(-real(noise.epsilon)), noise.widths
            others = range(-reach * width, reach * width + 1)
            weights = {z: sum(decay ** max(abs(z), math.ceil(abs(y) / width)) for y in others) for z in places}
        case _:
            raise AssertionError
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


@pytest.mark.parametrize("noise", NOISES)
def test_a_group_of_the_first_size_is_shown_as_rarely_as_delta_says(noise: Noise) -> None:
    """By the law of the noise, summed at 50 digits; a threshold a little lower would break it."""
    selection = CountedSelection(noise, Fraction(1, 10**4))
    told = law(noise, 90)

    def shown(units: int, threshold: int) -> mpmath.mpf:
        return sum(chance for z, chance in told.items() if units >= selection.first and units + z >= threshold)

    assert shown(selection.first - 1, selection.threshold) == 0
    assert shown(selection.first, selection.threshold) <= real(selection.delta)
    assert shown(selection.first, selection.threshold - 3) > real(selection.delta)
    assert shown(selection.half, selection.threshold) >= 0.5
    assert shown(selection.units_for(Fraction(9, 10)), selection.threshold) >= 0.9


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
    told = losses(weights, Fraction(1, 2)).tolist()
    assert told.index(0) == 3
    assert select_quantile([0] * 8, Fraction(1, 2), Fraction(1), 1, pure=False) in range(8)
