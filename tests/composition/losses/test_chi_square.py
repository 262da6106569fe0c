"""The loss of a sketch: transforms at 50 digits, deltas by integrals over the densities, and sketches cut in pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf

from indistinct import Bracket, CutSketch, Gaussian, Laplace, compose
from indistinct.composition.losses import PrivacyLoss
from indistinct.composition.losses.chi_square import ChiSquareLoss, chi_square_loss
from indistinct.mechanisms.sketches.calibration import exact_delta

F = Fraction


@dataclass(frozen=True)
class OneWay:
    """A mechanism of one direction."""

    loss: PrivacyLoss

    @classmethod
    def of(cls, law: ChiSquareLoss) -> OneWay:
        return cls(PrivacyLoss.symmetric(law))


PAIRS = [(1, F(1, 2)), (2, F(3)), (473, F(1, 70)), (4239, F(1, 100)), (119, F(1, 10**9)), (50, F(40))]
TILTS = [1e-9, 1e-3, 0.3, 1.0, 7.0, 100.0, 1e4]


def log_transform(rows: int, excess: Fraction, back: bool, z: mpc) -> mpc:
    """From E e^(-u s) of a chi-square s, by the definition of the loss."""
    x, half = mpf(excess.numerator) / excess.denominator, mpf(rows) / 2
    sign = -1 if back else 1
    spread = x if back else x / (1 + x)
    return sign * z * half * mpmath.log1p(x) - half * mpmath.log(1 + sign * z * spread)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(("rows", "excess"), PAIRS)
def test_the_transform_is_as_right_as_it_says(rows: int, excess: Fraction, back: bool) -> None:
    law = ChiSquareLoss(rows, excess, back)
    for wanted in TILTS:
        tilt = min(wanted, law.steepest)
        with mpmath.workdps(50):
            found, doubt = law.cumulants(tilt), law.doubt(tilt)
            at_tilt = log_transform(rows, excess, back, mpf(tilt)).real
            assert abs(found.value - at_tilt) <= doubt.value
            slope, bend = (mpmath.diff(lambda t: log_transform(rows, excess, back, t).real, tilt, k) for k in (1, 2))
            assert abs(found.mean / slope - 1) < 1e-9
            assert abs(found.variance / bend - 1) < 1e-9
            y = np.array([1e-7, 1e-4, 0.01, 0.1, 1.0, 30.0]) / float(excess)
            bounds = law.log_bound(tilt, y, 0.0)
            for at, ratio, bound in zip(y.tolist(), law.log_ratio(tilt, y).tolist(), bounds.tolist(), strict=True):
                true = log_transform(rows, excess, back, mpc(tilt, at)) - at_tilt
                allowed = doubt.slope * at + abs(mpmath.exp(true)) * (doubt.constant + doubt.relative * abs(ratio))
                assert abs(mpmath.exp(mpc(ratio)) - mpmath.exp(true)) <= allowed * (1 + 1e-6)
                assert bound >= true.real
                assert bound <= true.real + 1e-9 * (1 + abs(true.real))


def test_another_number_of_rows_is_told_apart() -> None:
    law = ChiSquareLoss(474, F(1, 70), back=False)
    assert abs(law.cumulants(1.0).value - log_transform(473, F(1, 70), False, mpf(1)).real) > law.doubt(1.0).value


def by_quadrature(rows: int, excess: Fraction, epsilon: float, back: bool) -> float:
    """The integral of (p - e^eps q)_+ over r-dimensional space, in its radius, cut where the integrand changes sign."""
    with mpmath.workdps(30):
        x, r, level = mpf(excess.numerator) / excess.denominator, mpf(rows), mpmath.exp(epsilon)
        surface = 2 * mpmath.pi ** (r / 2) / mpmath.gamma(r / 2)

        def density(rho: mpf, variance: mpf) -> mpf:
            return (
                surface
                * rho ** (r - 1)
                * mpmath.exp(-rho * rho / (2 * variance))
                / (2 * mpmath.pi * variance) ** (r / 2)
            )

        first, second = (1 + x, mpf(1)) if back else (mpf(1), 1 + x)

        def gain(rho: mpf) -> mpf:
            return density(rho, first) - level * density(rho, second)

        # The sign changes once: the ratio is monotone in the radius.
        low, high = mpf(0), mpf(200)
        inside = gain(mpf("1e-9")) > 0
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if (gain(middle) > 0) == inside else (low, middle)
        ends = [0, low] if inside else [low, low + 3, low + 10, mpmath.inf]
        return float(mpmath.quad(gain, ends)) if low > 0 else 0.0


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize(("excess", "epsilon"), [(F(1, 2), F(1, 10)), (F(3), F(1, 4)), (F(1, 20), F(0)), (F(2), F(1))])
def test_one_use_is_the_integral_over_the_densities(rows: int, excess: Fraction, epsilon: Fraction, back: bool) -> None:
    law = ChiSquareLoss(rows, excess, back)
    found = compose([OneWay.of(law)]).delta(epsilon)
    assert found.upper == pytest.approx(by_quadrature(rows, excess, float(epsilon), back), rel=1e-9, abs=1e-300)
    assert found.relative_width < 1e-12


def sketch(rows: int) -> CutSketch:
    return CutSketch(nodes=10_000, r=rows, w=200)


def agree(one: Bracket, other: Bracket) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize("times", [2, 3, 20])
@pytest.mark.parametrize("epsilon", [0, F(1, 2), 1, 3])
def test_so_many_sketches_are_one_of_so_many_rows(times: int, epsilon: Fraction) -> None:
    """Composed by the transform, and in closed form."""
    composed = compose({sketch(60): times}).delta(epsilon)
    assert agree(composed, exact_delta(60 * times, sketch(60).excess, F(epsilon)))
    assert composed.relative_width < 1e-5
    assert not agree(composed, exact_delta(60 * times + 2, sketch(60).excess, F(epsilon)))


def test_one_sketch_is_in_closed_form() -> None:
    for epsilon in (F(1, 3), F(2), F(20)):
        assert compose([sketch(473)]).delta(epsilon) == exact_delta(473, sketch(473).excess, epsilon)


def test_beyond_the_largest_loss_the_wide_law_alone_counts() -> None:
    law = ChiSquareLoss(10, F(1, 10), back=False)
    assert exact_delta(10, F(1, 10), F(1)).upper > 0
    assert law.largest == pytest.approx(5 * math.log(1.1), rel=1e-12)
    assert law.largest > 5 * math.log(1.1)
    assert compose([OneWay.of(law)]).delta(1).upper == 0


@pytest.mark.parametrize("epsilon", ["0.5", "1.5"])
def test_with_laplace_noise_it_is_the_mean_over_that_loss(epsilon: str) -> None:
    """delta = E delta_sketch(eps - l) over the Laplace loss l, in each direction; 24 digits of quadrature."""
    one, level, at = sketch(100), F(1, 4), F(epsilon)
    found = compose([one, Laplace(epsilon=level)]).delta(at)
    e = mpf(level.numerator) / level.denominator

    def of_sketch(back: bool, rest: mpf) -> mpf:
        """P(L > rest) - e^rest Q(L > rest), also for a rest below 0."""
        x, half = mpf(one.excess.numerator) / one.excess.denominator, mpf(50)
        scale = (1 + x) / x  # of s / 2

        def below(z: mpf) -> mpf:
            return mpmath.gammainc(half, 0, z, regularized=True) if z > 0 else mpf(0)

        def above(z: mpf) -> mpf:
            return mpmath.gammainc(half, z, mpmath.inf, regularized=True) if z > 0 else mpf(1)

        a = half * mpmath.log1p(x)
        if back:
            z = (a + rest) * scale
            return above(z / (1 + x)) - mpmath.exp(rest) * above(z)
        z = (a - rest) * scale
        return below(z) - mpmath.exp(rest) * below(z / (1 + x))

    with mpmath.workdps(24):
        wanted = []
        for back in (False, True):
            ends = of_sketch(back, at - e) / 2 + mpmath.exp(-e) / 2 * of_sketch(back, at + e)
            middle = mpmath.quad(lambda x, b=back: mpmath.exp((x - e) / 2) / 4 * of_sketch(b, at - x), [-e, 0, e])
            wanted.append(ends + middle)
    assert found.lower * (1 - 1e-12) <= max(wanted) <= found.upper * (1 + 1e-12)
    assert found.relative_width < 1e-4


def test_many_rows_are_nearly_gaussian() -> None:
    """As r grows and x falls, the loss becomes that of mu^2 = r x^2 / 2."""
    rows, excess = 1_000_000, F(1, 1000)
    near = exact_delta(rows, excess, F(1))
    gauss = compose([Gaussian(sigma=F(math.sqrt(2 / rows) / float(excess)))]).delta(1)
    assert near.upper == pytest.approx(gauss.upper, rel=0.01)


def test_few_rows_used_twice_are_never_below_the_truth() -> None:
    """The transform of one row hardly decays: the bracket is as wide as it must be, and right."""
    for rows in (1, 2):
        loss = chi_square_loss(rows, F(1, 2))
        assert agree(compose({OneWay(loss): 2}).delta("0.3"), exact_delta(2 * rows, F(1, 2), F(3, 10)))
