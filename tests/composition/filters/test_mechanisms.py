"""Mechanisms charged to filters: what each costs in each currency, against divergences of its own laws."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from mpmath import mp, mpf

from indistinct import (
    DiscreteGaussian,
    DiscretePair,
    ExponentialMechanism,
    Gaussian,
    GaussianDP,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    Staircase,
    ZeroConcentratedDP,
    compose,
)
from indistinct.composition.conversions import as_gaussian
from indistinct.composition.filters import (
    BasicFilter,
    BasicRule,
    ConcentratedFilter,
    ConcentratedRule,
    DeclaredPlan,
    Filter,
    GaussianFilter,
    GaussianRule,
    Odometer,
    Partition,
    RenyiRule,
    charge_together,
)
from indistinct.composition.kept import Kept, kept_by
from indistinct.errors import BudgetExceeded, InvalidParameter
from tests.composition.losses import truth

F = Fraction
DIGITS = 40
ORDERS = [F(101, 100), F(3, 2), F(2), F(8), F(64)]

Transforms = Callable[[mpf], list[mpf]]
"""E e^(t L) in both directions, from the mechanism's own laws."""


def of(*transforms: Callable[[Any], Any]) -> Transforms:
    return lambda t: [mpmath.re(transform(mpmath.mpc(t))) for transform in transforms]


MECHANISMS: list[tuple[Any, Transforms]] = [
    (Laplace(1, 2), of(truth.laplace(F(1, 2)))),
    (Laplace(3, 1), of(truth.laplace(F(3)))),
    (Geometric(1, epsilon="0.7"), of(truth.geometric(1, F("0.7")))),
    (Geometric(4, epsilon="1.5"), of(truth.geometric(4, F("1.5")))),
    (Staircase(epsilon=1, gamma="0.3"), of(truth.staircase(F(1), F("0.3")))),
    (Gaussian(1, 3), of(truth.gaussian(F(1, 3)))),
    (DiscreteGaussian(1, 2), of(truth.discrete_gaussian(1, F(2), 140))),
    (DiscreteGaussian(3, 5), of(truth.discrete_gaussian(3, F(5), 210))),
    (
        PoissonSubsampled(Gaussian(1, 2), "0.1"),
        of(truth.subsampled(F(2), F("0.1"), removing=True), truth.subsampled(F(2), F("0.1"), removing=False)),
    ),
]


def divergence(transforms: Transforms, order: Fraction) -> mpf:
    """The larger Renyi divergence of an order, of both directions."""
    t = truth.number(order - 1)
    return max(mpmath.log(value) / t for value in transforms(t))


def cost(rule: Any, thing: Any) -> Fraction:
    budget = Filter(rule)
    budget.charge(thing)
    return budget.spent.amount


def is_private(transforms: Transforms, rho: Fraction) -> bool:
    """Whether all divergences looked at are at most rho times the order."""
    return all(divergence(transforms, order) <= truth.number(rho * order) * (1 + mpf(10) ** -25) for order in ORDERS)


@pytest.mark.parametrize(("mechanism", "transforms"), MECHANISMS, ids=[repr(each) for each, _ in MECHANISMS])
def test_what_is_charged_for_a_mechanism_is_kept_by_it(mechanism: Any, transforms: Transforms) -> None:
    with mp.workdps(DIGITS):
        for order in (F(2), F(8)):
            charged = cost(RenyiRule.of_divergence(order, 1000), mechanism)
            wanted = divergence(transforms, order)
            assert wanted <= truth.number(charged) * (1 + mpf(10) ** -25)
            assert truth.number(charged) <= wanted * (1 + mpf(10) ** -9)
        try:
            rho = cost(ConcentratedRule.of_rho(1000), mechanism)
        except InvalidParameter:
            assert isinstance(mechanism, PoissonSubsampled)
        else:
            assert is_private(transforms, rho)


@pytest.mark.parametrize(("mechanism", "transforms"), MECHANISMS, ids=[repr(each) for each, _ in MECHANISMS])
def test_a_rule_of_thumb_for_rho_is_seen_to_be_wrong(mechanism: Any, transforms: Transforms) -> None:
    """epsilon^2 / 8 is for bounded ranges; and less than what is charged for noise is not kept."""
    match mechanism:
        case Gaussian() | DiscreteGaussian():
            rho = mechanism.sensitivity**2 / (2 * mechanism.sigma**2) * F(98, 100)
        case PoissonSubsampled():  # a sample of a tenth is not a hundredth of the rho
            rho = F(1, 2 * 4) / 100
        case _:
            rho = F(mechanism.epsilon) ** 2 / 8
    with mp.workdps(DIGITS):
        assert not is_private(transforms, rho)


def test_the_rho_of_a_response_is_exact_and_half_its_square_is_not() -> None:
    """The divergences of randomised response over their orders come as near to it as one likes."""
    with mp.workdps(DIGITS):
        charged = cost(ConcentratedRule.of_rho(10), RandomizedResponse(2))
        near = divergence(of(truth.response(F(2))), F(10**12 + 1, 10**12)) / (1 + mpf(10) ** -12)
        assert near <= truth.number(charged) <= near * (1 + mpf(10) ** -11)
        assert truth.number(charged) < mpf("0.77") * 2**2 / 2


def test_the_exponential_mechanism_costs_what_its_range_allows() -> None:
    rule = ConcentratedRule.of_rho(10)
    assert cost(rule, ExponentialMechanism("0.4")) == F(2, 100)
    assert cost(BasicRule(10, 0), ExponentialMechanism("0.4")) == F(4, 10)
    own = cost(RenyiRule.of_divergence(4, 10), ExponentialMechanism("0.4"))
    assert own <= F(8, 100) * (1 + F(1, 10**12))
    # A choice of two, the one of which has a score that is larger by at most the range, is within that divergence.
    with mp.workdps(DIGITS):
        worst = mpf(0)
        for i in range(-30, 31):
            p, q = (1 / (1 + mpmath.exp(mpf(i) / 10 + shift)) for shift in (mpf(0), mpf("0.4")))
            for a, b in ((p, q), (q, p)):
                worst = max(worst, mpmath.log(a**4 / b**3 + (1 - a) ** 4 / (1 - b) ** 3) / 3)
        assert worst <= truth.number(own)


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (Laplace(scale=10), F(1, 10)),
        (Geometric(3, epsilon="0.3"), F(3, 10)),
        (Staircase(epsilon="0.2"), F(2, 10)),
        (RandomizedResponse("0.5", 7), F(1, 2)),
    ],
    ids=repr,
)
def test_pure_mechanisms_cost_their_epsilon_exactly(mechanism: Any, epsilon: Fraction) -> None:
    assert cost(BasicRule(10, 0), mechanism) == epsilon
    assert cost(GaussianRule.of_mu(10), mechanism) == as_gaussian(PureDP(epsilon)).mu ** 2
    budget = BasicFilter(3 * epsilon, 0)
    for _ in range(3):
        budget.charge(mechanism)
    with pytest.raises(BudgetExceeded):
        budget.charge(PureDP("1e-200"))


def test_a_mechanism_that_may_disclose_costs_a_delta() -> None:
    pair = DiscretePair(["0.2", "0.5", "0.3"], [0, "0.3", "0.7"])
    budget = BasicFilter(2, "0.5")
    budget.charge(pair)
    exact = compose([pair])
    assert budget.spent.delta >= F(1, 5)
    assert exact.delta(budget.spent.amount).upper <= float(budget.spent.delta) * (1 + 1e-15)


@pytest.mark.parametrize(
    ("make", "thing"),
    [
        (lambda: BasicFilter(10, "0.1"), Gaussian(1, 10)),
        (lambda: BasicFilter(10, "0.1"), DiscreteGaussian(1, 10)),
        (lambda: BasicFilter(10, "0.1"), PoissonSubsampled(Gaussian(1, 10), "0.1")),
        (lambda: ConcentratedFilter(10, "0.1"), PoissonSubsampled(Gaussian(1, 10), "0.1")),
        (lambda: GaussianFilter(10), DiscreteGaussian(1, 10)),
        (lambda: GaussianFilter(10), PoissonSubsampled(Gaussian(1, 10), "0.1")),
        (lambda: Filter(RenyiRule.of_divergence(10**6, 10)), PoissonSubsampled(Gaussian(1, 10), "0.1")),
        (lambda: DeclaredPlan({PureDP(1): 3}), Gaussian(1, 10)),
        (lambda: DeclaredPlan({PureDP(1): 3}), DiscreteGaussian(1, 10)),
        (lambda: BasicFilter(10, "0.1"), Laplace),
        (lambda: BasicFilter(10, "0.1"), 0.1),
    ],
)
def test_without_a_proven_conversion_it_is_refused_and_nothing_is_charged(make: Callable[[], Any], thing: Any) -> None:
    budget = make()
    before = budget.spent
    with pytest.raises((InvalidParameter, BudgetExceeded)) as refusal:
        budget.charge(thing)
    assert "\n" not in str(refusal.value)
    assert budget.spent == before


def test_charges_for_different_neighbours_do_not_mix() -> None:
    budget = BasicFilter(10, 0)
    budget.charge(PoissonSubsampled(Laplace(scale=1), "0.1"))
    budget.charge(Laplace(scale=10))
    with pytest.raises(InvalidParameter, match="add or remove a record"):
        budget.charge(RandomizedResponse("0.1"))
    other, third = BasicFilter(10, 0), BasicFilter(0, 0)
    with pytest.raises(BudgetExceeded):
        charge_together([(other, RandomizedResponse("0.1")), (third, RandomizedResponse("0.1"))])
    other.charge(PoissonSubsampled(Laplace(scale=1), "0.1"))  # nothing is left of what was taken back
    with pytest.raises(InvalidParameter, match="a record more or less"):
        Partition({"a": BasicFilter(1, 0)}).charge("a", RandomizedResponse("0.1"))


def test_a_declared_plan_has_slots_for_mechanisms() -> None:
    slots = {Laplace(scale=10): 100, Gaussian(1, 20): 50, PureDP("0.1"): 2}
    plan = DeclaredPlan(slots)
    assert plan.epsilon("1e-6") == compose(slots).epsilon("1e-6")
    assert plan.epsilon("1e-6").upper < DeclaredPlan({PureDP("0.1"): 102, GaussianDP("0.05"): 50}).epsilon("1e-6").lower
    plan.charge(Laplace(scale=10))
    assert plan.remaining[Laplace(scale=10)] == 99
    plan.charge(Laplace(scale=20))  # not the mechanism of a slot, but its epsilon is below that of one
    assert plan.remaining[PureDP("0.1")] == 1
    plan.charge(GaussianDP("0.05"))
    assert plan.remaining[Gaussian(1, 20)] == 49
    with pytest.raises(BudgetExceeded):
        plan.charge(PureDP("0.2"))
    plan.charge(PureDP("0.1"))
    with pytest.raises(BudgetExceeded):  # a slot of Laplace noise allows no other mechanism of its epsilon
        plan.charge(PureDP("0.1"))
    with pytest.raises(InvalidParameter, match="a slot"):
        DeclaredPlan({ExponentialMechanism(1): 3})
    with pytest.raises(InvalidParameter, match="one kind of neighbouring"):
        DeclaredPlan({RandomizedResponse(1): 1, PoissonSubsampled(Laplace(scale=1), "0.1"): 1})


def test_an_odometer_reads_mechanisms() -> None:
    odometer = Odometer()
    odometer.record(Laplace(scale=10))
    odometer.record(ExponentialMechanism("0.4"))
    reading = odometer.reading
    assert reading.epsilon == F(1, 2)
    assert reading.rho == pytest.approx(0.00499583 + 0.02, rel=1e-5)
    odometer.record(Gaussian(1, 10))
    assert odometer.reading.epsilon is None
    assert odometer.reading.mu_squared is not None


def test_a_mechanism_that_keeps_nothing_that_has_a_price() -> None:
    assert kept_by(ZeroConcentratedDP("0.1")) == Kept((ZeroConcentratedDP("0.1"),))
    assert kept_by(PoissonSubsampled(Gaussian(1, 2), "0.1")).promises == ()


def test_a_mechanism_is_charged_as_quickly_the_thousandth_time_as_the_first() -> None:
    """The price is found once: 20,000 charges are 20,000 sums of whole numbers."""
    budget, mechanism = ConcentratedFilter(50, "1e-6"), Laplace(scale=1000)
    budget.charge(mechanism)
    before = time.process_time()
    for _ in range(20_000):
        budget.charge(mechanism)
    assert time.process_time() - before < 2
    assert budget._cost.cache_info().misses == 1  # noqa: SLF001
