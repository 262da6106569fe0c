"""Two thousand random compositions, every outcome enumerated: no bracket excludes the truth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import mpmath
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mpmath import mpf

from indistinct import ApproximateDP, GaussianDP, Geometric, PrivacyProfile, PureDP, compose
from indistinct.composition.guarantees import Promise
from indistinct.composition.losses import PrivacyLoss
from indistinct.composition.losses.three_way import three_way_pair
from indistinct.numbers.balls import ball
from tests.composition.oracles import faults
from tests.exact import to_fraction

F = Fraction
DIGITS = 30


@dataclass(frozen=True)
class ThreeWay:
    """Losses +e, 0 and -e, the first with probability 3/8."""

    epsilon: Fraction

    @property
    def loss(self) -> PrivacyLoss:
        return three_way_pair(self.epsilon, ball(F(3, 8)))


Kind = PureDP | Geometric | ThreeWay
Atoms = tuple[tuple[Fraction, mpf], ...]

levels = st.integers(1, 40).map(lambda m: F(m, 20))
kinds: st.SearchStrategy[Kind] = st.one_of(
    levels.map(PureDP),
    st.builds(lambda width, e: Geometric(width, epsilon=e), st.integers(1, 3), levels),
    levels.map(ThreeWay),
)
parts = st.dictionaries(kinds, st.integers(0, 3), min_size=1, max_size=3)


def real(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


@lru_cache(maxsize=500)
def atoms_of(kind: Kind) -> Atoms:
    """The losses and their probabilities, from the outputs."""
    e = kind.epsilon
    assert isinstance(e, Fraction)
    with mpmath.workdps(DIGITS):
        if isinstance(kind, ThreeWay):
            up = mpf(3) / 8
            down = up * mpmath.exp(-real(e))
            return (e, up), (F(0), 1 - up - down), (-e, down)
        width = kind.sensitivity if isinstance(kind, Geometric) else 1
        fall = mpmath.exp(-real(e / width))
        unit = (1 - fall) / (1 + fall)
        inner = tuple((e * (width - 2 * x) / width, unit * fall**x) for x in range(1, width))
        return ((e, 1 / (1 + fall)), *inner, (-e, fall**width / (1 + fall)))


def enumerated(chosen: dict[Kind, int], mu: Fraction, at: Fraction) -> Fraction:
    """delta(at), outcome by outcome; with Gaussian noise besides, by its profile at what each outcome leaves."""
    with mpmath.workdps(DIGITS):
        law = {F(0): mpf(1)}
        for kind, times in chosen.items():
            for _ in range(times):
                grown: dict[Fraction, mpf] = {}
                for loss, weight in law.items():
                    for more, chance in atoms_of(kind):
                        grown[loss + more] = grown.get(loss + more, mpf(0)) + weight * chance
                law = grown
        total, m = mpf(0), real(mu)
        for loss, weight in law.items():
            above = real(loss - at)
            if mu:
                total += weight * (mpmath.ncdf(above / m + m / 2) - mpmath.exp(-above) * mpmath.ncdf(above / m - m / 2))
            elif above > 0:
                total -= weight * mpmath.expm1(-above)
        return to_fraction(total)


@given(parts, st.sampled_from([F(0), F(0), F(1, 2), F(1, 10)]), st.sampled_from([F(0), F(1, 10**6)]), st.floats(0, 1.1))
@example({PureDP("0.5"): 1}, F(0), F(0), 1.0)
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_bracket_excludes_the_truth(chosen: dict[Kind, int], mu: Fraction, delta: Fraction, share: float) -> None:
    at = F(share) * sum((times * F(kind.epsilon) for kind, times in chosen.items()), F(0))  # type: ignore[arg-type]  # rational all
    everything: list[PrivacyProfile | Promise] = [compose(chosen), GaussianDP(mu), ApproximateDP(0, delta)]
    exact = delta + (1 - delta) * enumerated(chosen, mu, at)
    assert faults(compose(everything).delta(at), exact, 1.0, F(1, 10**20)) == []


def test_a_weight_off_by_a_part_in_a_billion_is_noticed() -> None:
    chosen: dict[Kind, int] = {Geometric(3, epsilon="0.5"): 2, ThreeWay(F(1)): 2}
    bracket, exact = compose(chosen).delta(1), enumerated(chosen, F(0), F(1))
    assert faults(bracket, exact, 1e-9, F(1, 10**20)) == []
    assert faults(bracket, exact * (1 + F(1, 10**9)), 1e-9, F(1, 10**20)) != []
