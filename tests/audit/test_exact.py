"""The exact auditor against sums of its own, and against faults that are far too small for any sample."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct import (
    MWEM,
    AboveThreshold,
    ApproximateDP,
    DiscretePair,
    ExponentialMechanism,
    Gaussian,
    GaussianDP,
    Geometric,
    NoisyMax,
    NumericSparse,
    PermuteAndFlip,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    Region,
    RenyiDP,
    Sparse,
    Staircase,
    ZeroConcentratedDP,
    compose,
    ln,
)
from indistinct import DiscreteGaussian as AccountedGaussian
from indistinct.audit import exact
from indistinct.audit.exact import divergence
from indistinct.audit.laws import EnclosedLaw, law_of, read_law
from indistinct.errors import InvalidParameter
from indistinct.noise import (
    Bernoulli,
    BoundedGeometric,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Logistic,
    Scale,
    UniformBelow,
)
from indistinct.noise import Geometric as OneSided
from indistinct.noise.decay import GeometricLaw
from indistinct.noise.table import Integers
from tests.noise.oracles import Weight, gaussian_weight, laplace_weight, staircase_weight

F = Fraction
LITTLE = F(1, 10**12)


# Noise on whole numbers.


HOLDING = {
    "geometric": (DiscreteLaplace(2), PureDP("0.5"), 1),
    "geometric, ln 3": (DiscreteLaplace(Scale(1, ln(3))), PureDP(ln(3)), 1),
    "geometric, wide": (DiscreteLaplace(6), PureDP("0.5"), 3),
    "geometric, its profile": (DiscreteLaplace(6), Geometric(3, epsilon="0.5"), 3),
    "staircase": (DiscreteStaircase(4, "0.7", 2), PureDP("0.7"), 4),
    "gaussian, its profile": (DiscreteGaussian(3), AccountedGaussian(sigma=3), 1),
    "gaussian, wide": (DiscreteGaussian(4), AccountedGaussian(2, sigma=4), 2),
    "gaussian, concentrated": (DiscreteGaussian(3), ZeroConcentratedDP("1/18"), 1),
}


@pytest.mark.parametrize(("noise", "claim", "sensitivity"), HOLDING.values(), ids=HOLDING)
def test_true_claims_hold(noise: Any, claim: object, sensitivity: int) -> None:
    audit = exact(noise, claim, sensitivity=sensitivity)
    assert audit.verdict == "holds"
    assert not audit.violates
    assert audit.pairs == 2 * sensitivity
    assert audit.doubt < F(1, 10**45)


FAILING = {
    "geometric": (DiscreteLaplace(2), PureDP(F(1, 2) - LITTLE), 1),
    "geometric, ln 3": (DiscreteLaplace(Scale(1, ln(3))), PureDP(ln(3 - LITTLE)), 1),
    "geometric, for sensitivity 1": (DiscreteLaplace(2), PureDP("0.5"), 2),
    "geometric, another profile": (DiscreteLaplace(6), Geometric(3, epsilon=F(1, 2) - LITTLE), 3),
    "staircase": (DiscreteStaircase(4, "0.7", 2), PureDP("0.7"), 5),
    "gaussian is not pure": (DiscreteGaussian(3), PureDP(3), 1),
    "gaussian, another profile": (DiscreteGaussian(3), AccountedGaussian(sigma="3.0000001"), 1),
    "gaussian, concentrated": (DiscreteGaussian(3), ZeroConcentratedDP("0.03"), 1),
    "one-sided": (OneSided(2), PureDP("0.5"), 1),
}


@pytest.mark.parametrize(("noise", "claim", "sensitivity"), FAILING.values(), ids=FAILING)
def test_false_claims_are_convicted_however_little_they_are_false(noise: Any, claim: object, sensitivity: int) -> None:
    audit = exact(noise, claim, sensitivity=sensitivity)
    assert audit.verdict == "violates"
    assert audit.worst is not None
    assert audit.worst.excess > 0
    assert audit.worst.event


WEIGHTS: dict[str, tuple[Any, Weight]] = {
    "laplace": (DiscreteLaplace(2), laplace_weight(F(2), F(1))),
    "gaussian": (DiscreteGaussian("1.5"), gaussian_weight(F(9, 4))),
    "staircase": (DiscreteStaircase(3, "0.5", 2), staircase_weight(3, F(1, 2), 2)),
}


@pytest.mark.parametrize(("noise", "weight"), WEIGHTS.values(), ids=WEIGHTS)
def test_a_convicted_event_has_the_probabilities_that_are_said(noise: Any, weight: Weight) -> None:
    """Summed from the law's definition at 50 digits: nothing is shared with the auditor."""
    place = exact(noise, [("0.1", 0)], sensitivity=2).worst
    assert place is not None
    assert isinstance(place.first, int)
    assert isinstance(place.second, int)
    with mpmath.workdps(50):
        total = mpmath.fsum(weight(x) for x in range(-800, 801))
        likely, unlikely = (
            mpmath.fsum(weight(x - at) for x in place.event) / total for at in (place.first, place.second)
        )
        found = likely - mpmath.exp(mpmath.mpf(1) / 10) * unlikely
        for ours, theirs in ((place.likely, likely), (place.unlikely, unlikely), (place.found, found)):
            assert abs(mpmath.mpf(ours.numerator) / ours.denominator - theirs) < mpmath.mpf(10) ** -40


def test_laws_of_samplers_sum_to_one() -> None:
    for noise in (
        DiscreteLaplace("2.5"),
        DiscreteGaussian("2.5"),
        DiscreteStaircase(3, 1, 2),
        OneSided(3),
        BoundedGeometric(7, 3),
        UniformBelow(6),
        Bernoulli("1/3"),
        Bernoulli(Logistic(ln(3))),
    ):
        law = law_of(noise, 100)
        lower, upper = (sum(ends[side] for ends in law.around.values()) for side in (0, 1))
        assert lower <= law.whole <= upper + law.rest
        assert upper - lower <= law.whole >> 70


@dataclass(frozen=True)
class Skewed:
    """A law whose table gives one number a little more than its survival function says."""

    law: GeometricLaw

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        return self.law.survival(i, bits)

    def thresholds(self) -> tuple[Integers, int]:
        lower, width = self.law.thresholds()
        return lower + np.where(np.arange(len(lower)) == 3, 1000, 0), width


def test_a_table_that_says_otherwise_than_its_law_is_refused() -> None:
    law = GeometricLaw(Scale(2))
    assert law_of(law, 80) == law_of(OneSided(2), 80)
    with pytest.raises(InvalidParameter, match="a table that agrees with its law at 4"):
        exact(Skewed(law), PureDP(1))


# Finite mechanisms.


def laws() -> st.SearchStrategy[tuple[list[int], list[int]]]:
    weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
    return st.tuples(weights, weights)


@given(laws(), st.sampled_from(["0", "ln(2)", "1", "ln(9)"]), st.sampled_from(["0", "1/10", "1/2"]))
def test_a_pair_of_laws_is_judged_as_its_region_is(
    weights: tuple[list[int], list[int]], epsilon: str, delta: str
) -> None:
    first, second = ([F(weight, sum(each)) for weight in each] for each in weights)
    pair = DiscretePair(first, second)
    audit = exact(pair, [(epsilon, delta)])
    assert audit.violates != Region.of(pair).is_within(epsilon, delta)
    if not audit.violates:
        assert audit.doubt == 0 or epsilon == "1"


@given(laws(), st.fractions(1, 20, max_denominator=50))
def test_the_divergence_is_the_largest_over_all_events(weights: tuple[list[int], list[int]], ratio: Fraction) -> None:
    first, second = ([F(weight, sum(each)) for weight in each] for each in weights)
    events = product((0, 1), repeat=4)
    largest = max(
        sum((p - ratio * q) * chosen for p, q, chosen in zip(first, second, event, strict=True)) for event in events
    )
    p, q = (read_law("a law", dict(enumerate(law))) for law in (first, second))
    ends = divergence(p, q, ratio)
    assert ends == (largest, largest)


def exponential_mechanism(scores: tuple[int, ...], power: int) -> dict[int, Fraction]:
    """e^(epsilon score / 2) with e^(epsilon / 2) a whole number: rational weights."""
    total = sum(power**score for score in scores)
    return {at: F(power**score, total) for at, score in enumerate(scores)}


def permute_and_flip(scores: tuple[int, ...], power: int) -> dict[int, Fraction]:
    """By its definition: candidates in a random order, each taken with probability e^(epsilon (score - best) / 2)."""

    def chances(left: tuple[int, ...]) -> dict[int, Fraction]:
        found = dict.fromkeys(range(len(scores)), F(0))
        for at in left:
            taken = F(power) ** (scores[at] - max(scores))
            found[at] += taken / len(left)
            for other, chance in chances(tuple(each for each in left if each != at)).items() if taken < 1 else ():
                found[other] += (1 - taken) * chance / len(left)
        return found

    return chances(tuple(range(len(scores))))


def close(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    return all(abs(x - y) <= 1 for x, y in zip(first, second, strict=True))


@pytest.mark.parametrize("selection", [exponential_mechanism, permute_and_flip])
def test_selection_among_three_candidates(selection: Any) -> None:
    """Every pair of scores from 0 to 2 that are neighbours; epsilon = 2 ln 3, and no less for permute and flip."""
    mechanism = {scores: selection(scores, 3) for scores in product(range(3), repeat=3)}
    audit = exact(mechanism, PureDP(ln(9)), neighbours=close)
    assert audit.verdict == "holds"
    assert audit.doubt == 0
    least = ln(5) if selection is exponential_mechanism else ln(9 - LITTLE)
    convicted = exact(mechanism, PureDP(least), neighbours=close).worst
    assert convicted is not None
    assert close(convicted.first, convicted.second)


def test_a_selection_whose_noise_is_halved_is_convicted() -> None:
    mechanism = {scores: exponential_mechanism(scores, 9) for scores in product(range(3), repeat=3)}
    assert exact(mechanism, PureDP(ln(9)), neighbours=close).verdict == "violates"


def test_enclosures_decide_or_say_that_they_do_not() -> None:
    def around(width: Fraction) -> dict[str, dict[str, tuple[Fraction, Fraction]]]:
        third = F(1, 3) - width, F(1, 3) + width
        rest = F(2, 3) - width, F(2, 3) + width
        return {"a": {"yes": third, "no": rest}, "b": {"yes": rest, "no": third}}

    assert exact(around(F(1, 10**40)), PureDP("ln(2)")).verdict == "holds"
    assert exact(around(F(1, 10**40)), PureDP("0.69")).verdict == "violates"
    undecided = exact(around(F(1, 10**4)), PureDP("ln(2)"))
    assert undecided.verdict == "undecided"
    assert str(undecided).startswith("Undecided: on 2 pairs of inputs")
    assert exact(around(F(1, 10**4)), PureDP("0.69")).verdict == "violates"


def test_what_is_not_listed_counts_against_a_claim_only_where_it_must() -> None:
    some = EnclosedLaw({0: (90, 90)}, 100, 10)
    other = EnclosedLaw({1: (90, 90)}, 100, 10)
    assert divergence(some, other, F(2)) == (F(7, 10), F(1))


# What the accountant knows.


def test_mechanisms_are_audited_against_what_they_say() -> None:
    for mechanism in (Staircase(epsilon="0.5"), RandomizedResponse("0.5", 3), Gaussian(sigma=2), Geometric(epsilon=1)):
        assert exact(mechanism).verdict == "holds"
        assert exact(mechanism, PureDP("0.3")).verdict == "violates"
    profile = compose({Gaussian(sigma=10): 30})
    assert exact(profile, compose({GaussianDP("0.11"): 30})).verdict == "holds"
    assert exact(profile, compose({GaussianDP("0.099"): 30})).verdict == "violates"


PROMISES = {
    "pure": PureDP(1),
    "approximate": ApproximateDP("0.9", "1e-6"),
    "concentrated": ZeroConcentratedDP("1/50"),
    "gaussian": GaussianDP("0.2"),
    "renyi": RenyiDP(20, "0.2"),
    "sparse": Sparse(1, 10, delta="1e-6"),
    "numeric sparse": NumericSparse(1, 3),
    "mwem": MWEM(1, 4),
    "noisy max": NoisyMax(1),
    "permute and flip": PermuteAndFlip(1),
    "above threshold": AboveThreshold(1),
    "exponential": ExponentialMechanism(1),
    "a sample of a promise": PoissonSubsampled(PureDP(2), "1/4"),
    "vectors": AccountedGaussian(1, sigma=5, vector=True),
}


@pytest.mark.parametrize("thing", PROMISES.values(), ids=PROMISES)
def test_a_promise_holds_or_is_undecided_and_convicts_nobody(thing: Any) -> None:
    """It may be kept with room to spare: the sparse vector of delta 1e-6 is purely private, at a larger epsilon."""
    held = exact(thing)
    assert held.verdict == "holds"
    assert held.promised
    assert exact(thing, ApproximateDP(1, "1e-5")).verdict == "holds"
    for claim in (ApproximateDP("0.05", "1e-9"), PureDP("0.01"), compose([PureDP("0.01")])):
        audit = exact(thing, claim)
        assert audit.verdict == "undecided"
        assert not audit.violates
        assert "A promise bounds what is lost from above" in str(audit)


def test_a_promise_holds_what_it_says_to_the_last_digit() -> None:
    for promise in (ApproximateDP("1/3", "1e-6"), PureDP(ln(3)), Sparse(1, 10, delta="1e-6")):
        assert exact(promise, promise).verdict == "holds"
    assert exact(ApproximateDP(1, "1e-6"), ApproximateDP(1, F(1, 10**6) - F(1, 10**40))).verdict == "undecided"


def test_of_a_mixture_only_the_laws_convict() -> None:
    """What Gaussian noise gives away by itself is a proof, in any company; what the company may give away is none."""
    mixture = compose([Gaussian(sigma=1), PureDP(1), ExponentialMechanism(1), ApproximateDP(1, "0.1")])
    alone = compose([Gaussian(sigma=1)]).delta("0.5")
    found = exact(mixture, ApproximateDP("0.5", "1e-3")).worst
    assert found is not None
    assert found.found == F(alone.lower)
    assert exact(mixture, [("0.5", F(alone.upper))]).verdict == "undecided"
    assert exact(mixture, ApproximateDP(20, "0.2")).verdict == "holds"
    sampled = PoissonSubsampled(Gaussian(sigma=1), "1/4")
    assert exact(compose([sampled, PureDP(1)]), PureDP("0.1")).verdict == "violates"


# Bad input.


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("noise", PureDP(1)), "the noise must be a sampler of indistinct.noise"),
        ((DiscreteLaplace(2), "private"), "the claim must be a guarantee"),
        ((DiscreteLaplace(2), [(1,)]), "the claim must be a guarantee"),
        ((DiscreteLaplace(2), (1, 2)), r"delta must lie in \[0, 1\]"),
        ((DiscreteLaplace(2), None), "the claim must be a guarantee"),
        ((DiscreteLaplace(10**6), PureDP(1)), "have at most 131,072 outcomes that matter"),
        ((UniformBelow(10**9), PureDP(1)), "have at most 131,072 outcomes that matter"),
        (({0: {0: "1/2"}}, PureDP(1)), "the sum of the null law must be one"),
        (({0: [1]}, PureDP(1)), "the law of 0 must be a mapping"),
        (({0: {0: (1, 2, 3)}}, PureDP(1)), "give one number or two around it"),
        (({0: {0: ("1/2", "1/3")}}, PureDP(1)), "give the lower end before the upper"),
        (({0: {0: ("1/2", "2/3")}}, PureDP(1)), "have a sum that can be one"),
        (({0: {0: 1}}, PureDP(1)), "at least one pair of neighbours"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[Any, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        exact(*arguments)
    with pytest.raises(InvalidParameter, match="sensitivity"):
        exact(DiscreteLaplace(1), PureDP(1), sensitivity=0)
