"""The noise of KOV's Corollary 4.2 and Theorem 4.3: by 50 digits, and by the exact profiles of the noises."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from indistinct import ApproximateDP, Bracket
from indistinct.composition import gaussian_variance, laplace_variance
from indistinct.errors import InvalidParameter
from tests.composition.claims import DIGITS, formula_faults, overclaims, real

Variance = Callable[[object, object, object, object], Bracket]


def formula(epsilon: mpf, delta: mpf, times: int, sensitivity: mpf) -> mpf:
    """8 k Delta^2 ln(e + epsilon/delta) / epsilon^2, as printed twice."""
    return 8 * times * sensitivity**2 * mpmath.log(mpmath.e + epsilon / delta) / epsilon**2


def gaussian_delta(variance: mpf, epsilon: mpf, times: int, sensitivity: mpf) -> mpf:
    """The exact delta of so many answers with Gaussian noise: Phi(m/2 - eps/m) - e^eps Phi(-m/2 - eps/m).

    m = Delta sqrt(k) / sigma: independent Gaussians sum up to one, and no adaptive choice does better.
    """
    m = sensitivity * mpmath.sqrt(times / variance)
    return mpmath.ncdf(m / 2 - epsilon / m) - mpmath.exp(epsilon) * mpmath.ncdf(-m / 2 - epsilon / m)


@pytest.mark.parametrize("variance", [laplace_variance, gaussian_variance])
def test_the_formula(variance: Variance) -> None:
    for epsilon, delta, times, sensitivity in product(
        ["1e-6", "0.1", "0.9"], ["1e-300", "1e-6", "0.5", "1"], [1, 30, 10**12], ["0.001", "1", "1/3", "1e9"]
    ):
        with mpmath.workdps(DIGITS):
            truth = formula(real(epsilon), real(delta), times, real(sensitivity))
            assert formula_faults(variance(epsilon, delta, times, sensitivity), truth) == []


def test_reference_values() -> None:
    assert str(laplace_variance("0.9", "1e-6", 1000)) == "135408.919137"
    assert str(gaussian_variance(1, "1e-6", 1000)) == "110524.10621"
    assert laplace_variance("0.9", "1e-6", 1000, 2).upper == pytest.approx(4 * 135408.919137, rel=1e-11)


def test_logarithms() -> None:
    with mpmath.workdps(DIGITS):
        truth = formula(mpmath.log(2), mpf("1e-6"), 7, mpf(1))
        assert formula_faults(laplace_variance("ln(2)", "1e-6", 7), truth) == []


@settings(deadline=None, max_examples=50)
@given(
    st.fractions(Fraction(1, 1000), Fraction(9, 10), max_denominator=1000),
    st.sampled_from(["1e-30", "1e-9", "1e-4", "0.05", "0.5", "1"]),
    st.integers(1, 400),
)
def test_laplace_noise_is_enough(epsilon: Fraction, delta: str, times: int) -> None:
    variance = Fraction(laplace_variance(epsilon, delta, times).upper)
    each = math.nextafter(math.sqrt(2 / variance), math.inf)  # a variance of 2 / epsilon^2 is epsilon-private
    assert overclaims({ApproximateDP(each, 0): times}, [(epsilon, delta)]) == []


def test_an_eighth_of_the_laplace_noise_is_not_enough() -> None:
    variance = Fraction(laplace_variance("0.9", "1e-6", 100).upper) / 8
    assert overclaims({ApproximateDP(math.sqrt(2 / variance), 0): 100}, [("0.9", "1e-6")]) != []


@settings(deadline=None, max_examples=100)
@given(
    st.fractions(Fraction(1, 100), 1, max_denominator=100),
    st.sampled_from(["1e-100", "1e-9", "1e-4", "0.1", "0.9", "1"]),
    st.integers(1, 10**6),
)
def test_gaussian_noise_is_enough_up_to_its_condition(share: Fraction, delta: str, times: int) -> None:
    with mpmath.workdps(200):
        largest = mpmath.findroot(lambda e: e - 8 * mpmath.log(mpmath.e + e / real(delta)), 100 + 10 * len(delta))
        epsilon = share * Fraction(math.floor(largest * 1000), 1000)
        variance = mpf(gaussian_variance(epsilon, delta, times).upper)
        assert gaussian_delta(variance, real(epsilon), times, mpf(1)) <= real(delta)


@pytest.mark.parametrize("delta", ["1e-6", "1e-12"])
def test_beyond_its_condition_gaussian_noise_is_too_little_and_refused(delta: str) -> None:
    with mpmath.workdps(200):
        epsilon = mpf(500)
        variance = formula(epsilon, real(delta), 10, mpf(1))
        assert gaussian_delta(variance, epsilon, 10, mpf(1)) > real(delta)
    with pytest.raises(InvalidParameter, match=r"epsilon must be at most 8 ln\(e \+ epsilon/delta\), where the proof"):
        gaussian_variance(500, delta, 10)


def test_the_condition_is_where_it_is_said_to_be() -> None:
    with mpmath.workdps(DIGITS):
        largest = mpmath.findroot(lambda e: e - 8 * mpmath.log(mpmath.e + e / mpf("1e-6")), 150)
        below, above = (Fraction(str(largest * (1 + sign * mpf("1e-20")))) for sign in (-1, 1))
    assert gaussian_variance(below, "1e-6", 1).upper > 0
    with pytest.raises(InvalidParameter, match="be at most 8 ln"):
        gaussian_variance(above, "1e-6", 1)


@pytest.mark.parametrize("variance", [laplace_variance, gaussian_variance])
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, "1e-6", 3, 1), "epsilon must be above 0: no noise is enough for epsilon 0, but is 0"),
        ((-1, "1e-6", 3, 1), r"epsilon must lie in \[0, 1000000000\], but is -1\."),
        (("0.5", 0, 3, 1), "delta must be above 0 for this formula, but is 0"),
        (("0.5", 1.5, 3, 1), r"delta must lie in \[0, 1\], but is 1\.5\."),
        (("0.5", "1e-6", 0, 1), "times must be a whole number from 1 to 1000000000000000, but is 0"),
        (("0.5", "1e-6", 3, 0), "sensitivity must be above 0, but is 0"),
        (("0.5", "1e-6", 3, -2), "sensitivity must be above 0, but is -2"),
        (("0.5", "1e-6", 3, math.nan), "sensitivity must be finite, but is nan"),
    ],
)
def test_bad_questions(variance: Variance, arguments: tuple[object, object, object, object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        variance(*arguments)


def test_laplace_noise_ends_at_nine_tenths() -> None:
    assert laplace_variance("0.9", "1e-6", 3).upper > 0
    with pytest.raises(InvalidParameter, match=r"epsilon must lie in \(0, 0.9\] for Corollary 4.2, but is '0.901'"):
        laplace_variance("0.901", "1e-6", 3)
