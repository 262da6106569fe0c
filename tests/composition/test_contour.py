"""The contour engine against the reference table, Arb's rigorous integral, closed forms and positive convolutions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx
from mpmath import mpf

from indistinct import (
    ApproximateDP,
    Bracket,
    Gaussian,
    GaussianDP,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    ZeroConcentratedDP,
    compose,
)
from indistinct.composition import contour
from indistinct.composition.contour import ContourComposition
from indistinct.composition.losses import (
    AtomsLoss,
    GaussianLoss,
    LaplaceLoss,
    LossLaw,
    ResponsesLoss,
    SubsampledLoss,
    discrete_gaussian_loss,
)
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.responses import Responses
from indistinct.composition.sheet import Sheet
from indistinct.numbers.balls import bracket_of, precision
from tests.composition.oracles import convolved, equal, faults
from tests.exact import to_fraction

F = Fraction
TABLE = json.loads((Path(__file__).parents[2] / "reference" / "composition.json").read_text(encoding="utf-8"))
DIGITS = F(1, 10**19)


def engine(*laws: tuple[LossLaw, int]) -> Callable[[Fraction], Bracket]:
    """The engine alone, in one direction."""
    composition = ContourComposition(laws)
    return lambda epsilon: bracket_of(composition.delta(epsilon))


def responses(epsilon: str, times: int) -> tuple[ResponsesLoss, int]:
    return ResponsesLoss(Responses.of([(F(epsilon), times)])), 1


# The reference table.


@pytest.mark.parametrize("entry", TABLE["laplace"], ids=lambda entry: str(entry["at"]))
def test_laplace(entry: dict[str, str]) -> None:
    delta = compose({Laplace(epsilon=entry["epsilon"]): entry["times"]}).delta(entry["at"])
    assert faults(delta, F(entry["value"]), 2e-8, DIGITS) == []


@pytest.mark.parametrize("entry", TABLE["mixed"], ids=lambda entry: str(entry["at"]))
def test_a_mixture_of_everything(entry: dict[str, str]) -> None:
    parts = {Laplace(scale=20): 500, Gaussian(sigma=40): 500, Geometric(epsilon="0.05"): 1000}
    profile = compose([compose(parts), compose({ApproximateDP("0.01", "1e-9"): 200})])
    assert faults(profile.delta(entry["at"]), F(entry["value"]), 1e-12, DIGITS) == []


@pytest.mark.parametrize("entry", [e for e in TABLE["hom"] if e["delta"] == "0"], ids=lambda entry: str(entry["at"]))
def test_equal_responses_on_their_lattice(entry: dict[str, str]) -> None:
    """Down to 1e-199, without the exact methods that are preferred for these."""
    delta = engine(responses(entry["epsilon"], entry["times"]))  # type: ignore[arg-type]  # a number in the table
    assert faults(delta(F(entry["at"])), F(entry["value"]), 1e-6, DIGITS) == []


@pytest.mark.parametrize("count", [100, 1000])
def test_different_responses(count: int) -> None:
    entries = [entry for entry in TABLE["het"] if int(entry["k"]) == count]
    law = ResponsesLoss(Responses.of([(F(5, 1000) + F(95, 1000) * F(i, count), 1) for i in range(1, count + 1)]))
    for entry in entries:
        assert faults(engine((law, 1))(F(entry["at"])), F(entry["value"]), 1e-6, DIGITS) == []


@pytest.mark.parametrize(
    ("steps", "epsilon"),
    [(10**3, "1.6624966905"), (10**4, "4.0284360375"), (10**5, "14.3611746343"), (10**6, "65.7107803")],
)
def test_sampled_gradient_steps(steps: int, epsilon: str) -> None:
    """Add or remove, delta 1e-6; the given digits are rounded, not cut."""
    found = compose({PoissonSubsampled(Gaussian(sigma="0.8"), rate="0.004"): steps}).epsilon("1e-6")
    half = F(1, 2 * 10 ** len(epsilon.split(".")[1]))
    assert found.lower <= F(epsilon) + half
    assert found.upper >= F(epsilon) - half
    assert found.relative_width < 1e-8


# Arb's integral of the transform itself, without smoothing or sampling.


def integrated(
    transform: Callable[[acb], acb], epsilon: Fraction, tilt: Fraction, reach: int, beyond: str
) -> tuple[Fraction, Fraction]:
    """Ends of delta: the integral up to a height, and e^(K - t eps) / t times what the caller bounds the rest by."""
    ctx.prec = 120
    try:
        level = acb(arb(epsilon.numerator) / epsilon.denominator)
        t = acb(arb(tilt.numerator) / tilt.denominator)

        def integrand(y: acb, _: bool) -> acb:
            z = t + y * acb(0, 1)
            return transform(z) * (-z * level).exp() / (z * (z + 1))

        value = (2 * acb.integral(integrand, 0, reach) / (2 * acb.pi())).real
        rest = (transform(t) * (-t * level).exp() / t).real * arb(beyond)
        return tuple(to_fraction(mpmath.mpf(end.str(40, radius=False))) for end in ((value - rest), (value + rest)))  # type: ignore[return-value]
    finally:
        ctx.prec = 53


def laplace_transform(e: arb, z: acb) -> acb:
    return ((z + 1) * (z * e).exp() + z * (-(z + 1) * e).exp()) / (2 * z + 1)


def test_laplace_by_integration() -> None:
    """|M(t + i y) / M(t)| < 0.96 from y = 20 on, so that 1,000 of them leave 1e-17."""
    e = arb(1) / 10
    for at, tilt in ((F(20), F(2)), (F(35), F(3))):
        low, high = integrated(lambda z: laplace_transform(e, z) ** 1000, at, tilt, 20, "1e-14")
        found = engine((LaplaceLoss(F(0.1)), 1000))(at)
        assert high <= low * (1 + F(1, 10**10))
        assert found.lower <= high
        assert found.upper >= low
        assert found.relative_width < 2e-8


def test_a_few_laplace_with_gaussian_noise_by_integration() -> None:
    """The Gaussian factor leaves e^(-30^2 / 2) beyond y = 30."""
    for times, at, tilt in ((1, F(2), F(3)), (3, F(5), F(3)), (20, F(15), F(2))):
        transform = lambda z, n=times: laplace_transform(arb(1), z) ** n * ((z * z + z) / 2).exp()  # noqa: E731
        low, high = integrated(transform, at, tilt, 30, "1e-100")
        found = engine((LaplaceLoss(F(1)), times), (GaussianLoss(1.0), 1))(at)
        assert found.lower <= high
        assert found.upper >= low
        assert found.relative_width < 1e-10


def test_responses_with_gaussian_noise_by_integration() -> None:
    def transform(z: acb) -> acb:
        half = arb(1) / 2
        return (((z + half) / 3).cosh() / (arb(1) / 6).cosh()) ** 50 * ((z * z + z) / 8).exp()

    low, high = integrated(transform, F(8), F(3), 60, "1e-100")
    found = engine(responses("1/3", 50), (GaussianLoss(0.5), 1))(F(8))
    assert found.lower <= high
    assert found.upper >= low
    assert found.relative_width < 1e-10


# Closed forms and positive sums, for few mechanisms.


def sampled_once(sigma: Fraction, rate: Fraction, epsilon: mpf, *, removing: bool) -> mpf:
    """delta of one sampled Gaussian: between the laws on the side of where their ratio is e^epsilon."""
    s, q = mpf(sigma.numerator) / sigma.denominator, mpf(rate.numerator) / rate.denominator
    ratio = mpmath.exp(epsilon if removing else -epsilon)
    if ratio <= 1 - q:
        return 1 - mpmath.exp(epsilon) if removing else mpf(0)
    edge = s**2 * mpmath.log((ratio - 1 + q) / q) + mpf(1) / 2
    side = 1 if removing else -1
    without, with_ = (mpmath.erfc(side * (edge - mean) / s / mpmath.sqrt(2)) / 2 for mean in (0, 1))
    mixed = (1 - q) * without + q * with_
    return mixed - mpmath.exp(epsilon) * without if removing else without - mpmath.exp(epsilon) * mixed


def sampled_twice(sigma: Fraction, rate: Fraction, epsilon: mpf, *, removing: bool) -> mpf:
    """The same for two: what remains of epsilon after the first, on average over its outcomes."""
    s, q = mpf(sigma.numerator) / sigma.denominator, mpf(rate.numerator) / rate.denominator

    def term(x: mpf) -> mpf:
        log_s = mpmath.log(1 - q + q * mpmath.exp((2 * x - 1) / (2 * s**2)))
        weight = mpmath.npdf(x, 0, s) * (mpmath.exp(log_s) if removing else 1)
        return weight * sampled_once(sigma, rate, epsilon - (log_s if removing else -log_s), removing=removing)

    pieces = mpmath.linspace(-9 * s, 1 + 9 * s, 24)
    return mpmath.quad(term, pieces, method="gauss-legendre", maxdegree=4)


SAMPLED = [("2", "0.5", "0.3"), ("100", "0.9", "0.05"), ("1", "0.999", "2")]


@pytest.mark.parametrize(("sigma", "rate", "at"), SAMPLED)
def test_one_and_two_sampled_mechanisms_in_both_directions(sigma: str, rate: str, at: str) -> None:
    for removing in (True, False):
        law = SubsampledLoss(F(sigma), F(rate), removing)
        for times, formula in ((1, sampled_once), (2, sampled_twice)):
            with mpmath.workdps(25):
                exact = to_fraction(formula(F(sigma), F(rate), mpf(at), removing=removing))
            assert faults(engine((law, times))(F(at)), exact, 0.05, F(1, 10**9)) == []


def test_a_profile_is_the_worse_of_both_directions() -> None:
    step = PoissonSubsampled(Gaussian(sigma=1), rate="0.5")
    laws = [SubsampledLoss(F(1), F(1, 2), removing) for removing in (True, False)]
    for at in (F(0), F(1, 4), F(2)):
        lower, upper = sorted((engine((law, 5))(at) for law in laws), key=lambda bracket: bracket.upper)
        found = compose({step: 5}).delta(at)
        assert upper.lower <= found.upper <= upper.upper * (1 + 1e-6)
        assert upper.lower * (1 - 1e-6) <= found.lower <= upper.upper
        assert at == 0 or lower.upper < found.lower  # at 0 it is the distance of the laws


def test_discrete_gaussian_noise() -> None:
    """All outputs of up to three answers."""
    for width, sigma, times, at in ((1, F(1), 1, "1"), (2, F(3), 2, "0.7"), (1, F(1, 2), 3, "5"), (1, F(2), 1, "4")):
        found = engine((discrete_gaussian_loss(width, sigma), times))(F(at))
        with mpmath.workdps(40):
            square = 2 * mpf(sigma.numerator) ** 2 / sigma.denominator**2
            reach = int(14 * sigma) + 20
            mass = {x: mpmath.exp(-(mpf(x) ** 2) / square) for x in range(-reach, reach + 1)}
            total = mpmath.fsum(mass.values())
            sums = {0: mpf(1)}
            for _ in range(times):
                grown: dict[int, mpf] = {}
                for x, p in sums.items():
                    for y, q in mass.items():
                        grown[x + y] = grown.get(x + y, mpf(0)) + p * q / total
                sums = grown
            exact = mpf(0)
            for x, p in sums.items():
                gap = (times * F(width**2) - 2 * x * width) / (2 * sigma**2) - F(at)
                if gap > 0:
                    exact -= p * mpmath.expm1(-mpf(gap.numerator) / gap.denominator)
            assert faults(found, to_fraction(exact), 1e-9, F(1, 10**25)) == []


def test_responses_against_a_positive_convolution() -> None:
    law = ResponsesLoss(Responses.of([(F(m, 100), 1) for m in range(1, 121)]))
    for at, tilt in ((F(5), 0.0), (F(20), 1.5), (F(40), 6.0), (F(72), 60.0)):
        exact = F(float(convolved(F(1, 100), range(1, 121), at, tilt=tilt)))
        assert faults(engine((law, 1))(at), exact, 1e-9, F(1, 10**14)) == []


def test_deltas_down_to_the_smallest_floats() -> None:
    for at in (600, 800, 950):
        exact = equal(F(1, 2), 2000, F(at))
        assert faults(engine(responses("0.5", 2000))(F(at)), exact, 1e-8) == []
        assert at < 900 or exact < F(1, 10**200)
    laplace = compose({Laplace(scale=10): 1000})
    assert 0 < laplace.delta(laplace.epsilon("1e-300").upper).upper <= 1e-300
    assert laplace.epsilon("1e-300").relative_width < 1e-9


# Edges.


@pytest.mark.parametrize("epsilon", ["0.7", "0.1", "1/3", "1"])
def test_delta_just_below_the_largest_loss_is_not_claimed_to_be_nothing(epsilon: str) -> None:
    """One Laplace answer has delta(eps) = 1 - e^((eps - e) / 2), which a rounded e would make 0."""
    e = F(epsilon)
    below = e * (1 - F(1, 10**18))
    assert F(compose({Laplace(epsilon=e): 1}).delta(below).upper) >= (e - below) / 2 * (1 - F(1, 10**6))
    assert compose({Laplace(epsilon=e): 1}).epsilon(0).upper >= e
    assert compose({Laplace(epsilon=e): 3}).epsilon(0).upper >= 3 * e
    assert compose({Laplace(epsilon=e): 3}).delta(3 * e * (1 + F(1, 10**12))).upper == 0


@pytest.mark.parametrize("gap", [F(1, 10**9), F(1, 10**18), F(1, 10**40)])
def test_an_epsilon_next_to_the_last_point_of_a_lattice(gap: Fraction) -> None:
    """delta = P(largest) (1 - e^-gap), epsilon being taken exactly."""
    with mpmath.workdps(60):
        one = 1 / (1 + mpmath.exp(-mpf(1) / 20))
        exact = to_fraction(-(one**10) * mpmath.expm1(-mpf(gap.numerator) / gap.denominator))
    profile = compose({Geometric(2, epsilon="0.1"): 10})
    assert faults(profile.delta(1 - gap), exact, 1.0) == []
    assert profile.delta(1).upper == 0 or profile.delta(1).upper < 1e-15
    assert profile.delta(1).lower == 0


@pytest.mark.parametrize("things", [Laplace(scale=2), Geometric(3, epsilon="0.5"), PureDP("0.5")])
def test_bounded_losses_have_an_epsilon_at_delta_0(things: object) -> None:
    assert faults(compose({things: 7}).epsilon(0), F(7, 2), 1e-12) == []


@pytest.mark.parametrize("thing", [Gaussian(sigma=3), PoissonSubsampled(Gaussian(sigma=3), "0.1")])
def test_unbounded_losses_have_none(thing: object) -> None:
    assert compose({thing: 7}).epsilon(0) == Bracket(math.inf, math.inf)
    assert compose({thing: 7}).epsilon(1).upper == 0


HUGE = [
    (Laplace(epsilon="1e-6"), "1e-6"),
    (Geometric(3, epsilon="1e-6"), "1e-6"),
    (Gaussian(sigma=10**6), None),
    (PoissonSubsampled(Gaussian(sigma=10), "1e-5"), None),
]


@pytest.mark.parametrize(("thing", "epsilon"), HUGE, ids=lambda value: type(value).__name__)
def test_a_trillion_uses(thing: Laplace | Geometric | Gaussian | PoissonSubsampled, epsilon: str | None) -> None:
    """By then all are Gaussian: mu^2 is the count times the variance of one loss, and delta within a part in 10^4."""
    times = 10**12
    variance = 1e-12
    if isinstance(thing, PoissonSubsampled):
        variance = (1e-5) ** 2 * math.expm1(1 / 100)
    found = compose({thing: times}).delta(1)
    expected = compose([GaussianDP(math.sqrt(variance * times))]).delta(1).upper
    assert abs(found.upper / expected - 1) < 1e-4
    assert found.relative_width < 1e-6
    assert epsilon is None or compose({thing: times}).epsilon(0).upper >= F(epsilon) * times


def test_noise_beyond_all_measure() -> None:
    """delta(0) of n Gaussians of tiny mu is mu sqrt(n) / sqrt(2 pi) to first order; sampling multiplies by the rate."""
    for rate in (F(1), F(1, 10)):
        step = PoissonSubsampled(Gaussian(sigma=10**6), rate)
        first_order = float(rate) * math.sqrt(100) / 1e6 / math.sqrt(2 * math.pi)
        assert abs(compose({step: 100}).delta(0).upper / first_order - 1) < 1e-3


def test_rates_of_nothing_and_of_everything() -> None:
    plain = Gaussian(sigma=2)
    nothing, everything = PoissonSubsampled(plain, 0), PoissonSubsampled(plain, 1)
    assert compose({nothing: 10**6}).delta(0).upper == 0
    assert compose({nothing: 10**6}).epsilon(0).upper == 0
    for at in (0, 1, 3):
        assert compose({everything: 3, nothing: 5}).delta(at) == compose({plain: 3}).delta(at)
    almost = compose({PoissonSubsampled(plain, 1 - F(1, 10**15)): 3})
    assert abs(almost.delta(1).upper / compose({plain: 3}).delta(1).upper - 1) < 1e-6


def test_no_use_at_all() -> None:
    for thing in (Laplace(scale=1), Gaussian(sigma=1), PoissonSubsampled(Gaussian(), "0.1"), Geometric(3, epsilon=1)):
        assert compose({thing: 0}).delta(0).upper == 0
        assert compose({thing: 0}).epsilon(0).upper == 0
        assert compose({thing: 0, PureDP("0.5"): 3}).delta(1) == compose({PureDP("0.5"): 3}).delta(1)


# What is laid out, and how far from its best epsilon it still serves.


def counted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The gaps of the sheets that are laid out from here on."""
    found: list[float] = []
    honest = ContourComposition._laid_out  # noqa: SLF001  # counted

    def laid_out(composition: ContourComposition, epsilon: float, gap: float) -> Sheet:
        sheet = honest(composition, epsilon, gap)
        found.append(gap)
        return sheet

    monkeypatch.setattr(ContourComposition, "_laid_out", laid_out)
    return found


@pytest.mark.parametrize(
    "parts", [{Laplace(scale=10): 1000}, {Laplace(scale=20): 500, Gaussian(sigma=40): 500}, {Gaussian(sigma=4): 9}]
)
def test_a_curve_is_laid_out_once_or_twice(
    parts: dict[Laplace | Gaussian, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out = counted(monkeypatch)
    profile = compose(parts)
    last = profile.epsilon("1e-6").upper
    assert len(laid_out) <= 1
    places = [last * i / 199 for i in range(200)]
    curve = profile.deltas(places)
    assert len(laid_out) <= 3
    assert max(bracket.relative_width for bracket in curve) < 1e-7
    for i in (0, 1, 60, 100, 140, 199):
        alone = compose(parts).delta(places[i])
        assert max(alone.lower, curve[i].lower) <= min(alone.upper, curve[i].upper)
        assert alone.relative_width < 5e-8


def test_the_last_digits_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses of +-1/133 for the most part, whose transform returns a thousand times: a millionth is enough."""
    laid_out = counted(monkeypatch)
    quick = compose({Laplace(scale=133): 1000}).delta(1)
    assert laid_out == [1e-6]
    assert quick.relative_width < 2e-6
    monkeypatch.setattr(contour, "_FINEST_WORK", 10**7)
    sharp = compose({Laplace(scale=133): 1000}).delta(1)
    assert laid_out == [1e-6, 1e-8]
    assert sharp.relative_width < 2e-8
    assert quick.lower <= sharp.lower <= sharp.upper <= quick.upper


# Planted faults: what the tests above would say of broken engines.


AT = F(12)
PARTS: tuple[tuple[LossLaw, int], ...] = ((LaplaceLoss(F(0.1)), 500), (GaussianLoss(0.25), 1))


def laid_out(laws: tuple[tuple[LossLaw, int], ...]) -> Sheet:
    composition = ContourComposition(laws)
    composition.delta(AT)
    (sheet,) = composition._sheets  # noqa: SLF001  # there is no other way to break it
    return sheet


def on(sheet: Sheet) -> Bracket:
    with precision(128):
        return bracket_of(sheet.delta(AT))


def test_a_lost_count_is_noticed() -> None:
    entry = TABLE["laplace"][0]
    fewer = compose({Laplace(epsilon=entry["epsilon"]): int(entry["times"]) - 1}).delta(entry["at"])
    assert faults(fewer, F(entry["value"]), 2e-8, DIGITS) != []


def test_a_plain_transform_is_noticed() -> None:
    """Without a tilt the probabilities of the tail are what rounding leaves of 1."""
    entry = next(entry for entry in TABLE["hom"] if entry["value"].endswith("e-142"))
    times, e = int(entry["times"]), 0.1
    size = 1 << 15
    one = np.zeros(size)
    one[[1, -1]] = 1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e))
    law = np.fft.ifft(np.fft.fft(one) ** times).real
    losses = e * np.arange(3001, times + 1)
    plain = float(np.sum(law[3001 : times + 1] * -np.expm1(300 - losses)))
    assert faults(Bracket(min(plain, 0.0), abs(plain)), F(entry["value"]), 1e-6) != []


def test_a_single_direction_is_noticed() -> None:
    with mpmath.workdps(25):
        exact = to_fraction(sampled_once(F(1), F(1, 2), mpf(1), removing=True))
    assert faults(engine((SubsampledLoss(F(1), F(1, 2), removing=True), 1))(F(1)), exact, 1e-2) == []
    assert faults(engine((SubsampledLoss(F(1), F(1, 2), removing=False), 1))(F(1)), exact, 1e-2) != []


def test_the_upper_bound_of_concentration_taken_for_exact_is_noticed() -> None:
    """rho = eps^2/2 bounds what randomised response reveals; as a law, GaussianDP(eps), it is above the truth."""
    exact = equal(F(1, 2), 20, F(4))
    assert faults(compose({GaussianDP("0.5"): 20}).delta(4), exact) != []
    assert compose({ZeroConcentratedDP("0.125"): 20}).delta(4).upper > exact
    # eps tanh(eps/2) / 1 is K'(0): the least rho that holds.
    law, least = ResponsesLoss(Responses.of([(F(1, 2), 1)])), 0.5 * math.tanh(0.25)
    ratios = [law.cumulants(t).value / (t * (t + 1)) for t in (1e-4, 0.1, 1.0, 10.0)]
    assert max(ratios) <= least * (1 + 1e-12)
    assert max(ratios) > 0.999 * least


def test_a_kernel_of_the_wrong_side_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = equal(F(1, 10), 1000, F(15))
    right = engine(responses("0.1", 1000))(F(15) - F(1, 1000))
    assert faults(right, equal(F(1, 10), 1000, F(15) - F(1, 1000)), 1e-6) == []
    gap_above = LossLattice.gap_above
    monkeypatch.setattr(LossLattice, "gap_above", lambda self, at: self.spacing - gap_above(self, at))
    assert faults(engine(responses("0.1", 1000))(F(15) - F(1, 1000)), exact, 1e-6) != []


def test_a_dropped_node_is_noticed() -> None:
    sheet = laid_out(PARTS)
    right = on(sheet)
    for node in (0, 3, 7):
        weights = sheet.weights.copy()
        weights[node] = 0.0
        broken = on(replace(sheet, weights=weights))
        assert broken.upper < right.lower or broken.lower > right.upper


def test_a_forgotten_gap_of_smoothing_is_noticed() -> None:
    """V itself is above delta: without the gap the lower end is above the truth."""
    sheet = laid_out(((LaplaceLoss(F(0.1)), 1000),))
    assert sheet.smoothing > 0
    right = on(sheet)
    broken = on(replace(sheet, smoothing=0.0))
    ctx.prec = 53
    _, high = integrated(lambda z: laplace_transform(arb(1) / 10, z) ** 1000, AT, F(1), 20, "1e-15")
    assert right.lower <= high < F(broken.lower)


def test_sampling_too_coarsely_is_noticed() -> None:
    """Twice the step: what folds in is bounded, and the bound is of use."""
    sheet = laid_out(PARTS)
    every = sheet.y.size // 6
    coarse = replace(
        sheet,
        y=sheet.y[::every],
        weights=sheet.weights[::every] * every,
        logarithms=sheet.logarithms[::every],
        doubts=sheet.doubts[::every],
    )
    right, broken = on(sheet), on(coarse)
    assert broken.lower > right.upper
    honest = on(replace(coarse, period=sheet.period / every))
    assert honest.lower <= right.upper
    assert honest.upper >= right.lower


def test_atoms_without_their_repetition_are_noticed() -> None:
    law = AtomsLoss.of([(0.5, 0.6), (-0.5, 0.6 * math.exp(-0.5))])
    assert engine((law, 8))(F(1)).lower > engine((law, 1))(F(1)).upper
