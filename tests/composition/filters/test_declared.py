"""Declared plans: slots are taken by what fits them, and never invented."""

from __future__ import annotations

import pytest

from indistinct import ApproximateDP, PureDP
from indistinct.composition.conversions import epsilon_at
from indistinct.composition.filters import DeclaredPlan
from indistinct.composition.guarantees import GaussianDP
from indistinct.errors import BudgetExceeded


def test_a_charge_takes_the_smallest_slot_that_allows_it() -> None:
    plan = DeclaredPlan({PureDP(1): 1, PureDP("0.5"): 2, ApproximateDP("0.5", "1e-6"): 1}, scope="hr")
    plan.charge(PureDP("0.5"))
    plan.charge(PureDP("0.3"))
    assert plan.remaining == {PureDP(1): 1, PureDP("0.5"): 0, ApproximateDP("0.5", "1e-6"): 1}
    plan.charge(PureDP("0.5"))
    assert plan.remaining[ApproximateDP("0.5", "1e-6")] == 0
    assert not plan.fits(ApproximateDP("0.1", "1e-9"))
    plan.charge(PureDP("0.1"))
    with pytest.raises(BudgetExceeded) as raised:
        plan.charge(PureDP("0.1"))
    assert repr(raised.value) == "BudgetExceeded(asked=PureDP('0.1'), left=no slot, scope='hr')"
    assert sum(plan.spent.values()) == 4


def test_epsilon_and_delta_must_both_fit() -> None:
    plan = DeclaredPlan({ApproximateDP("ln(3)", "1e-6"): 1, PureDP(2): 1})
    assert plan.fits(ApproximateDP("1.09861228866", "1e-6"))
    assert plan.fits(PureDP(2))
    assert not plan.fits(ApproximateDP("1.09861228867", "1e-9"))
    assert not plan.fits(ApproximateDP("0.1", "2e-6"))
    assert not plan.fits(PureDP("2.0000001"))


def test_the_claim_stays_when_nothing_is_asked() -> None:
    plan = DeclaredPlan({PureDP("0.1"): 100, PureDP(3): 0})
    before = plan.epsilon("1e-6")
    plan.charge(PureDP("0.1"))
    assert plan.epsilon("1e-6") == before == plan.claim.epsilon("1e-6")
    assert not plan.fits(PureDP(3))
    assert "all 100 slots" in plan.explain()


def test_gaussian_slots() -> None:
    plan = DeclaredPlan({GaussianDP("0.5"): 4})
    assert plan.epsilon("1e-6").upper == pytest.approx(epsilon_at(GaussianDP(1), "1e-6").upper, rel=1e-6)
    plan.charge(GaussianDP("0.5"))
    plan.charge(PureDP("0.398"))
    assert not plan.fits(PureDP("0.401"))
    assert not plan.fits(GaussianDP("0.51"))
    assert not plan.fits(ApproximateDP("0.1", "1e-9"))
    assert plan.remaining == {GaussianDP("0.5"): 2}
    assert not DeclaredPlan({PureDP(5): 1}).fits(GaussianDP("0.1"))
