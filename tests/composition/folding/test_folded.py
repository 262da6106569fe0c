"""Few uses whose transforms do not decay: against integrals and sums at 30 digits, with bounds on the work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from indistinct import (
    ApproximateDP,
    CovarianceSketch,
    DensityPair,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    compose,
)
from indistinct.composition.folding import folded, outcomes
from indistinct.composition.folding.lines import GaussianLine, LaplaceLine, SampledLine
from indistinct.composition.folding.outcomes import Outcomes
from indistinct.composition.losses import AtomsLoss, SubsampledLoss
from indistinct.numbers import Bracket
from tests.composition.folding import truth

F = Fraction
WIDTH = 1e-4
MOST_SUMS = 24_000_000
"""So many outcomes are put on grids for one answer at most, in both directions and from both sides."""

MOST_NODES = 20_000
"""At so many frequencies a transform is evaluated at most."""


@pytest.fixture
def sums(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many outcomes each sum of two losses had."""
    found: list[int] = []
    own = outcomes.summed

    def counted(first: Outcomes, second: Outcomes, side: int) -> Outcomes:
        whole = own(first, second, side)
        found.append(whole.size)
        return whole

    monkeypatch.setattr(folded, "summed", counted)
    return found


def sampled(sigma: object, rate: object) -> PoissonSubsampled:
    return PoissonSubsampled(Gaussian(1, sigma), rate)


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon"),
    [
        ("1", "1e-9", "0"),
        ("1", "1e-9", "1"),
        ("1", "0.01", "0.5"),
        ("1", "0.5", "5"),
        ("0.3", "1e-4", "0.01"),
        ("1000000000", "0.01", "1e-11"),
        ("1000000000", "1e-9", "0"),
    ],
)
def test_two_sampled_answers_against_an_integral(sigma: str, rate: str, epsilon: str, sums: list[int]) -> None:
    with mp.workdps(truth.DIGITS):
        wanted = max(truth.of_two_sampled(F(sigma), F(rate), F(epsilon), back=back) for back in (False, True))
    found = compose({sampled(sigma, rate): 2}).delta(epsilon)
    assert found.lower <= wanted <= found.upper
    assert found.relative_width <= (WIDTH if wanted > 1e-100 else 3e-3)
    assert sums == [] or sum(sums) < MOST_SUMS


def test_the_integral_knows_what_the_closed_form_of_one_knows() -> None:
    """The oracle against delta of a single answer, in both directions, as an oracle of its own."""
    with mp.workdps(truth.DIGITS):
        for epsilon in ("0", "0.1", "0.5", "2"):
            one = [truth.of_one_sampled(mpf(1), mpf("0.1"), mpf(epsilon), back=back) for back in (False, True)]
            found = compose({sampled(1, "0.1"): 1}).delta(epsilon)
            assert found.lower * (1 - 1e-14) <= max(one) <= found.upper * (1 + 1e-14)


def test_epsilon_is_where_delta_is() -> None:
    """Of the answers for epsilon, the integral is above the target below them, and below it above them."""
    with mp.workdps(truth.DIGITS):
        found = compose({sampled(1, "1e-9"): 2}).epsilon("1e-12")
        assert found.relative_width <= WIDTH

        def at(epsilon: float) -> mpf:
            return max(truth.of_two_sampled(F(1), F("1e-9"), F(epsilon), back=back) for back in (False, True))

        assert at(found.upper) <= mpf("1e-12") <= at(found.lower)


@pytest.mark.parametrize("times", [2, 3, 5])
@pytest.mark.parametrize("ratio", [20, 50, 200])
@pytest.mark.parametrize("epsilon", ["0", "110", "5010"])
def test_large_shifts_of_discrete_gaussian_noise_by_enumeration(
    times: int, ratio: int, epsilon: str, sums: list[int]
) -> None:
    with mp.workdps(60):
        # Outcomes that matter at 60 digits; the sum of noise is enough for the sum of losses.
        reach = 40
        masses = {x: mpmath.exp(-mpf(x * x) / 2) for x in range(-reach, reach + 1)}
        total = mpmath.fsum(masses.values())
        law: dict[int, mpf] = {0: mpf(1)}
        for _ in range(times):
            grown: dict[int, mpf] = {}
            for x, p in law.items():
                for y, q in masses.items():
                    grown[x + y] = grown.get(x + y, mpf(0)) + p * q / total
            law = grown
        losses = [(mpf(ratio * ratio * times) / 2 - ratio * x - mpf(epsilon), p) for x, p in law.items()]
        wanted = mpmath.fsum(p * -mpmath.expm1(-away) for away, p in losses if away > 0)
    found = compose({DiscreteGaussian(ratio, 1): times}).delta(epsilon)
    assert found.lower <= wanted * (1 + mpf(10) ** -40)
    assert wanted * (1 - mpf(10) ** -40) <= found.upper
    assert found.relative_width <= 1e-6 or found.upper < 1e-290
    assert sum(sums) < 1_000_000


CASES: list[tuple[Mapping[Any, int], str, str, float]] = [
    ({RandomizedResponse(1): 1, Laplace(1, 1): 1}, "epsilon", "1e-6", 1e-9),
    ({sampled(1, "1e-9"): 10}, "delta", "0", WIDTH),
    ({sampled(1, "1e-9"): 10}, "epsilon", "1e-12", 2e-4),
    ({sampled(1, "1e-9"): 10}, "epsilon", "1e-6", 0.0),
    ({sampled(10**9, "0.01"): 10}, "delta", "1e-11", 2e-4),
    ({sampled("0.3", "1e-4"): 10}, "epsilon", "1e-6", WIDTH),
    ({sampled(5, "0.5"): 5}, "epsilon", "1e-50", WIDTH),
    ({sampled("0.05", "0.01"): 5}, "delta", "0", 1e-3),
    ({DiscreteGaussian(1, 1000): 2}, "delta", "0", WIDTH),
    ({DiscreteGaussian(1, 1000): 3}, "epsilon", "1e-50", WIDTH),
    ({DiscreteGaussian(200, 1): 5}, "epsilon", "1e-300", 1e-12),
    ({PoissonSubsampled(DiscreteGaussian(1, 100), "0.01"): 5}, "epsilon", "1e-12", 1e-3),
    ({PoissonSubsampled(DiscreteGaussian(20, 1), "0.01"): 5}, "epsilon", "1e-50", 1e-3),
    ({PoissonSubsampled(Laplace(1, "0.1"), "1e-6"): 10}, "delta", "0", WIDTH),
    ({PoissonSubsampled(Laplace(1, 100), "0.5"): 3}, "epsilon", "1e-12", WIDTH),
    ({PoissonSubsampled(Laplace(1, 1), "0.01"): 1}, "epsilon", "1e-12", 1e-9),
    ({Laplace(1, 1): 10}, "epsilon", "1e-6", 1e-12),
    ({Laplace(1, 1000): 3, PureDP("0.001"): 4}, "epsilon", "1e-6", 1e-12),
    ({DiscreteGaussian(20, "0.1"): 2, sampled("0.05", "0.01"): 1}, "delta", "10", 1e-6),
    ({Geometric(1000, epsilon=1): 2, sampled(1, "0.01"): 2}, "epsilon", "1e-6", WIDTH),
    ({Gaussian(1, "0.01"): 1, PoissonSubsampled(ApproximateDP(1, "1e-5"), "1e-6"): 2}, "epsilon", "1e-3", WIDTH),
    ({Laplace(1, "0.01"): 1, PoissonSubsampled(Laplace(1, 100), "1e-6"): 2}, "epsilon", "0.1", WIDTH),
]


@pytest.mark.parametrize(("parts", "kind", "at", "width"), CASES, ids=repr)
def test_each_kind_is_answered_narrowly_in_little_work(
    parts: Mapping[Any, int], kind: str, at: str, width: float, sums: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = SubsampledLoss.log_ratio
    asked: list[int] = []

    def counted(self: SubsampledLoss, tilt: float, y: Any) -> Any:
        asked.append(y.size)
        return own(self, tilt, y)

    monkeypatch.setattr(SubsampledLoss, "log_ratio", counted)
    profile = compose(parts)
    found = profile.epsilon(at) if kind == "epsilon" else profile.delta(at)
    assert found.relative_width <= width
    assert sum(sums) < MOST_SUMS
    assert sum(asked) < MOST_NODES


def outcomes_of(thing: Any, digits: int = 40) -> list[tuple[mpf, mpf]]:
    """(P, Q) masses of things with few outcomes, in the direction in which a record is there."""
    with mp.workdps(digits):
        loss = compose([thing])._contributions.losses  # noqa: SLF001  # the law itself
        law = loss[0][0].forward
        assert isinstance(law, AtomsLoss)
        masses = [mpf(float(x)) for x in np.exp(law.log_probabilities)]
        return [(p, p * mpmath.exp(-mpf(float(x + law.shift)))) for p, x in zip(masses, law.losses, strict=True)]


def test_mixtures_hold_the_integral_of_the_one_over_the_outcomes_of_the_other() -> None:
    """A Laplace answer met by a lattice of noise: the mean of its closed form over the outcomes."""
    noise = Geometric(10, epsilon=1)
    for epsilon in (0.0, 0.3, 1.2):
        with mp.workdps(40):
            wanted = mpf(0)
            for p, q in outcomes_of(noise):
                at = mpf(epsilon) - mpmath.log(p / q)
                # 1 - e^((eps - 1) / 2) between -1 and 1, and what always holds below.
                one = -mpmath.expm1((at - 1) / 2) if -1 <= at <= 1 else (-mpmath.expm1(at) if at < -1 else mpf(0))
                wanted += p * one
        found = compose({noise: 1, Laplace(1, 1): 1}).delta(epsilon)
        assert found.lower <= wanted * (1 + mpf(10) ** -13)
        assert wanted * (1 - mpf(10) ** -13) <= found.upper
        assert found.relative_width <= WIDTH


def test_counts_nesting_and_order_do_not_matter() -> None:
    a, b = sampled(1, "0.01"), PoissonSubsampled(Laplace(1, 1), "0.1")
    ways = [
        compose({a: 3, b: 2}),
        compose([a, b, a, b, a]),
        compose([compose({b: 2}), compose({a: 1}), compose({a: 2})]),
    ]
    for found in ([way.delta("0.2") for way in ways], [way.epsilon("1e-7") for way in ways]):
        assert max(each.lower for each in found) <= min(each.upper for each in found)
        assert all(each.relative_width < 1e-3 for each in found)


def test_more_uses_and_more_noise_are_never_less_and_never_more() -> None:
    deltas = [compose({sampled(1, "0.001"): n}).delta("0.001") for n in (1, 2, 3, 4, 6, 9)]
    assert all(a.lower <= b.upper for a, b in pairwise(deltas))
    quieter = [compose({sampled(s, "0.01"): 3}).delta(0) for s in ("0.5", "1", "10", "1000", "1e6")]
    assert all(a.upper >= b.lower for a, b in pairwise(quieter))


def test_many_epsilons_at_once_are_those_one_by_one() -> None:
    profile = compose({sampled(1, "0.01"): 3})
    curve = profile.deltas(["0", "0.01", "0.1", "1"])
    for epsilon, found in zip(["0", "0.01", "0.1", "1"], curve, strict=True):
        one = profile.delta(epsilon)
        assert max(one.lower, found.lower) <= min(one.upper, found.upper)
        assert found.relative_width <= 1e-3


def test_what_no_mechanism_reveals_and_what_all_of_it_reveals() -> None:
    profile = compose({PoissonSubsampled(Laplace(1, 1), "0.1"): 3})
    largest = profile.largest_epsilon
    assert largest.relative_width < 1e-13
    assert largest.upper == pytest.approx(3 * math.log1p(0.1 * math.expm1(1)), rel=1e-13)
    assert profile.delta(F(largest.upper)) == Bracket(0.0, 0.0)
    assert profile.epsilon(0).upper == largest.upper
    assert profile.epsilon(1) == Bracket(0.0, 0.0)


def test_a_line_is_cut_into_what_its_laws_have() -> None:
    """Both bounds of a sampled line have the whole mass, and E e^-L is one from above and no more from below."""
    for line in (GaussianLine(F(1)), GaussianLine(F(400)), GaussianLine(F(1, 10**18)), LaplaceLine(F(2))):
        for rate in (F(1), F(1, 2), F(1, 10**9)):
            for back in (False, True):
                cut = SampledLine(line, rate, back=back)
                upper, lower = cut.cut(cut.rungs())
                assert float(np.sum(upper.masses)) == pytest.approx(1, rel=1e-13)
                assert float(np.sum(lower.masses)) == pytest.approx(1, rel=1e-13)
                within = upper.losses > -600
                other = float(np.sum(upper.masses[within] * np.exp(-upper.losses[within])))
                assert other <= 1 + 1e-12


def test_a_planted_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forgotten use, one direction alone, and outcomes that are left out from above are not within the bracket."""
    with mp.workdps(truth.DIGITS):
        wanted = max(truth.of_two_sampled(F(1), F("0.01"), F(1, 2), back=back) for back in (False, True))
    for parts in ({sampled(1, "0.01"): 1}, {sampled(1, "0.01"): 3}, {sampled("1.001", "0.01"): 2}):
        found = compose(parts).delta("0.5")
        assert not found.lower <= wanted <= found.upper
    own = folded.FoldedComposition.laid_out

    def lossy(self: folded.FoldedComposition, epsilon: float, pieces: int = 500) -> folded.Layout:
        layout = own(self, epsilon, pieces)
        first = layout._first[0]  # noqa: SLF001
        kept = first.losses < np.quantile(first.losses, 0.5)
        layout._first = Outcomes(first.losses[kept], first.masses[kept]), layout._first[1]  # noqa: SLF001
        return layout

    monkeypatch.setattr(folded.FoldedComposition, "laid_out", lossy)
    found = compose({sampled(1, "0.01"): 2}).delta("0.5")
    assert not found.lower <= wanted <= found.upper


def test_what_failed_before_is_answered() -> None:
    """Sketches beyond the end of their strip, bounds beside grids, and pairs that may disclose."""
    assert compose({CovarianceSketch(5, 20, 100): 5}).delta(100).upper < 1e-200
    beside = compose({PoissonSubsampled(Laplace(1, "0.1"), "0.5"): 1, ExponentialMechanism(20): 3}).delta("0.01")
    assert beside.lower > 0.4
    pair = DensityPair(_Logistic(0.0), _Logistic(1.0))
    mixed = compose({pair: 2, sampled(1, "0.01"): 2}).epsilon("1e-6")
    assert mixed.relative_width < 1e-3


class _Logistic:
    def __init__(self, at: float) -> None:
        self.at = at

    def logpdf(self, x: Any) -> Any:
        return -abs(x - self.at) - 2 * np.log1p(np.exp(-abs(x - self.at)))

    def cdf(self, x: Any) -> Any:
        return 1 / (1 + np.exp(np.minimum(self.at - x, 700)))

    def sf(self, x: Any) -> Any:
        return 1 / (1 + np.exp(np.minimum(x - self.at, 700)))


def test_noise_without_end_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the parts' own deltas at 0 add up to no more than is asked, no transform is evaluated."""

    def refused(*_: object) -> None:
        raise AssertionError("a transform was evaluated")

    monkeypatch.setattr(SubsampledLoss, "log_ratio", refused)
    steps = compose({sampled(10**9, "0.004"): 10_000})
    assert steps.epsilon("1e-6") == Bracket(0.0, 0.0)
    with pytest.raises(AssertionError, match="evaluated"):
        steps.epsilon("1e-12")
