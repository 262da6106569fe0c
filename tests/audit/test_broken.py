"""Every fault of the list is found, and the same mechanism without it is not accused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct import ApproximateDP, Gaussian
from indistinct.audit import by_test, exact
from indistinct.noise import DiscreteGaussian
from tests.audit.broken import BROKEN, Broken, classic_sigma
from tests.noise.budget import SHARE

broken = pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)


@broken
def test_the_fault_is_found(case: Broken) -> None:
    claim = [(case.epsilon, case.delta)]
    audit = by_test(case.mechanism, case.first, case.second, claim, samples=case.samples, batch=True)
    assert audit.verdict == "violates"
    assert audit.epsilon > audit.claimed
    assert str(audit).startswith(f"Violates {audit.claim}: epsilon is at least")


@broken
def test_the_mended_mechanism_is_not_accused(case: Broken) -> None:
    samples, claim = min(case.samples, 100_000), [(case.epsilon, case.delta)]
    audit = by_test(case.mended, case.first, case.second, claim, samples=samples, false_alarm=SHARE, batch=True)
    assert audit.verdict == "consistent"
    assert audit.epsilon <= audit.claimed


def test_the_classic_gaussian_is_convicted_where_no_sample_reaches() -> None:
    """At (10, 1e-8) Theorem A.1 gives 0.6106, and 0.6158 is needed: by the profile, and by enumeration on a lattice."""
    sigma = Fraction(classic_sigma(10, 1e-8))
    assert f"{float(sigma):.4g}" == "0.6106"
    claim = ApproximateDP(10, "1e-8")
    assert exact(Gaussian(sigma=sigma), claim).verdict == "violates"
    assert exact(Gaussian(sigma="0.6159"), claim).verdict == "holds"
    assert exact(DiscreteGaussian(100 * sigma), claim, sensitivity=100).verdict == "violates"
    assert exact(DiscreteGaussian("61.6"), claim, sensitivity=100).verdict == "holds"
