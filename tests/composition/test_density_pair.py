"""A user's own densities: brackets around exact values, one-use integrals and brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from indistinct import DensityPair, Gaussian, Laplace, PoissonSubsampled, compose
from indistinct.composition.losses import cells
from indistinct.errors import InvalidParameter

F = Fraction


def gaussians(mu: float) -> DensityPair:
    return DensityPair(stats.norm(0, 1), stats.norm(mu, 1))


@pytest.mark.parametrize(("times", "delta"), [(1, "1e-6"), (2, "1e-3"), (50, "1e-30"), (10_000, "1e-6")])
def test_gaussian_densities_enclose_the_gaussian(times: int, delta: str) -> None:
    ours = compose({gaussians(0.2): times}).epsilon(delta)
    exact = compose({Gaussian(sigma=5): times}).epsilon(delta)
    assert ours.lower <= exact.lower
    assert exact.upper <= ours.upper
    assert ours.relative_width < 1e-4


@pytest.mark.parametrize("times", [1000, 20_000])
def test_laplace_densities_enclose_the_laplace(times: int) -> None:
    """Two atoms and a smooth part: the cells find the stretches where the loss is constant."""
    epsilon = times * 0.1**2 / 2 + math.sqrt(times) * 0.4
    ours = compose({DensityPair(stats.laplace(0, 10), stats.laplace(1, 10)): times}).delta(epsilon)
    exact = compose({Laplace(scale=10): times}).delta(epsilon)
    assert ours.lower <= exact.upper
    assert exact.lower <= ours.upper
    assert ours.relative_width < 1e-4


def test_one_laplace_answer() -> None:
    found = compose([DensityPair(stats.laplace(0, 10), stats.laplace(1, 10))]).delta("0.05")
    exact = -math.expm1(-0.025)
    assert found.lower <= exact <= found.upper
    assert found.relative_width < 1e-5


T_TURNS = [0.5 - math.sqrt(3.25), 0.5 + math.sqrt(3.25)]
CUT = (-3.0, 3.0)

SINGLE: dict[str, tuple[DensityPair, Any, Any, tuple[float, ...]]] = {
    "logistic": (
        DensityPair(stats.logistic(0, 1), stats.logistic(1, 1)),
        lambda x: mpmath.sech(x / 2) ** 2 / 4,
        lambda x: mpmath.sech((x - 1) / 2) ** 2 / 4,
        (-60, 0, 1, 60),
    ),
    "student": (
        DensityPair(stats.t(3, 0), stats.t(3, 1), turns=T_TURNS),
        lambda x: 2 / (mpmath.pi * mpmath.sqrt(3) * (1 + x * x / 3) ** 2),
        lambda x: 2 / (mpmath.pi * mpmath.sqrt(3) * (1 + (x - 1) ** 2 / 3) ** 2),
        (-mpmath.inf, *T_TURNS, mpmath.inf),
    ),
    "truncated normal": (
        DensityPair(stats.truncnorm(-3, 3), stats.truncnorm(-3.5, 2.5, loc=0.5)),
        lambda x: mpmath.npdf(x) / (mpmath.ncdf(3) - mpmath.ncdf(-3)),
        lambda x: mpmath.npdf(x - 0.5) / (mpmath.ncdf(2.5) - mpmath.ncdf(-3.5)),
        CUT,
    ),
}


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("epsilon", [0.1, 0.4])
def test_one_use_is_the_integral(name: str, epsilon: float) -> None:
    pair, p, q, cuts = SINGLE[name]
    with mpmath.workdps(30):
        sides = []
        for a, b in ((p, q), (q, p)):
            ratio = mpmath.exp(epsilon)

            def excess(x: Any, a: Any = a, b: Any = b, ratio: Any = ratio) -> Any:
                return a(x) - ratio * b(x)

            grid = np.linspace(-40 if math.isinf(cuts[0]) else cuts[0], 40 if math.isinf(cuts[-1]) else cuts[-1], 801)
            signs = [excess(x) > 0 for x in grid]
            places = [
                mpmath.findroot(excess, (left, right), solver="anderson", tol=1e-25)
                for left, right, s, t in zip(grid, grid[1:], signs, signs[1:], strict=False)
                if s != t
            ]
            points = sorted({*map(mpmath.mpf, cuts), *places})
            sides.append(sum(max(mpmath.quad(excess, [left, right]), 0) for left, right in pairwise(points)))
        exact = float(max(sides))
    found = compose([pair]).delta(epsilon)
    assert found.lower * (1 - 1e-12) <= exact <= found.upper * (1 + 1e-12)
    assert found.relative_width < 1e-4


def test_three_uses_against_brute_force() -> None:
    """The sum of the losses on a fine grid of outcomes, by repeated convolution of its law."""
    edges = np.linspace(-20, 21, 60_001)
    p = np.diff(stats.logistic.cdf(edges))
    q = np.diff(stats.logistic.cdf(edges - 1))
    loss = np.log(p / q)
    step = 1e-3
    law = np.bincount(np.rint(loss / step).astype(int) + 1100, weights=p, minlength=2201)
    whole = np.convolve(np.convolve(law, law), law)
    losses = (np.arange(whole.size) - 3300) * step
    above = losses > 1.5
    brute = float(np.sum(whole[above] * -np.expm1(1.5 - losses[above])))
    found = compose({SINGLE["logistic"][0]: 3}).delta("1.5")
    assert found.lower * (1 - 1e-4) <= brute <= found.upper * (1 + 1e-4)
    assert found.relative_width < 1e-4


def test_mass_outside_the_other_support_is_found() -> None:
    pair = DensityPair(stats.uniform(0, 1), stats.uniform(0.1, 1))
    found = compose({pair: 3}).delta(1)
    assert found.lower <= 1 - 0.9**3 <= found.upper
    assert found.relative_width < 1e-9
    assert compose({pair: 3}).disclosure.upper == pytest.approx(1 - 0.9**3, rel=1e-9)
    assert compose([DensityPair(stats.uniform(0, 1), stats.uniform(2, 1))]).delta(1).upper == 1


def test_densities_compose_with_everything() -> None:
    both = compose({gaussians(0.1): 200, Gaussian(sigma=10): 100, Laplace(scale=20): 50}).epsilon("1e-6")
    exact = compose({Gaussian(sigma=10): 300, Laplace(scale=20): 50}).epsilon("1e-6")
    assert both.lower <= exact.lower <= exact.upper <= both.upper
    assert both.relative_width < 1e-4


def test_a_sampled_density_encloses_the_sampled_gaussian() -> None:
    ours = PoissonSubsampled(DensityPair(stats.norm(1, 1), stats.norm(0, 1)), "0.01")
    exact = PoissonSubsampled(Gaussian(sigma=1), "0.01")
    mine, theirs = (compose({thing: 10_000}).delta(3) for thing in (ours, exact))
    assert mine.lower <= theirs.upper
    assert theirs.lower <= mine.upper
    assert mine.relative_width < 3e-3


def test_what_dominates_bounds_and_a_fault_below_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: cells moved up instead of merged, which reveals more than the truth."""
    exact = compose({Gaussian(sigma=5): 100}).delta(10)
    monkeypatch.setattr(cells, "_shares_down", lambda p, _q, _points: np.zeros(p.size))
    assert compose({gaussians(0.2): 100}).delta(10).lower > exact.upper


def test_a_fault_above_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: all mass at the lower ends."""
    exact = compose({Gaussian(sigma=5): 100}).delta(10)
    upper = cells.Cells.upper
    monkeypatch.setattr(cells.Cells, "upper", cells.Cells.lower)
    assert compose({gaussians(0.2): 100}).delta(10).upper < exact.lower
    monkeypatch.setattr(cells.Cells, "upper", upper)
    assert compose({gaussians(0.2): 100}).delta(10).upper >= exact.upper


class Scaled:
    """A normal law with something wrong."""

    def __init__(self, factor: float = 1.0, total: float = 1.0) -> None:
        self.factor = factor
        self.total = total

    def logpdf(self, x: Any) -> Any:
        return stats.norm.logpdf(x) + math.log(self.factor) if self.factor > 0 else np.full(np.shape(x), math.nan)

    def cdf(self, x: Any) -> Any:
        return self.total * stats.norm.cdf(x)

    def sf(self, x: Any) -> Any:
        return self.total * stats.norm.sf(x)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (Scaled(factor=1.5), "integrate to one"),
        (Scaled(total=0.5), "integrate to one"),
        (Scaled(factor=-1), "be a number that is at least 0"),
        (0.5, "have the methods logpdf, cdf and sf"),
    ],
)
def test_what_is_no_law_is_refused(law: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        DensityPair(law, stats.norm(0, 1))


def test_a_turn_that_was_not_named_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="Name every point at which it turns"):
        compose([DensityPair(stats.norm(0, 1), stats.norm(0, 2))]).delta(1)
    assert compose([DensityPair(stats.norm(0, 1), stats.norm(0, 2), turns=[0])]).delta(1).upper < 0.2


@pytest.mark.parametrize("options", [{"accuracy": 0}, {"accuracy": math.nan}, {"bound": -1}, {"turns": ["x"]}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        DensityPair(stats.norm(0, 1), stats.norm(1, 1), **options)
