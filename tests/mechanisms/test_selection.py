"""What is chosen, with which probability: noisy maxima, the exponential mechanism, permute-and-flip."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from indistinct import ExponentialMechanism, NoisyMax, PermuteAndFlip, PureDP, compose, least_noise
from indistinct.errors import InvalidParameter
from tests.mechanisms.selection_laws import (
    DIGITS,
    exponential_law,
    noisy_max_law,
    permute_and_flip_law,
    worst_ratio,
)
from tests.noise.budget import band
from tests.noise.sources import RepeatableBits

F = Fraction
TRIALS, FEWER = 20_000, 5_000
SCORES = [0, 0, 7, 0, 0, 0, 0, 1]
"""One good candidate among eight: the law depends on the scale as much as it can."""

Law = Callable[[Sequence[Any], Any], list[mpmath.mpf]]
MECHANISMS: dict[str, tuple[Any, Law]] = {
    "laplace": (NoisyMax("0.8"), noisy_max_law),
    "one-sided exponential": (NoisyMax("0.8", noise="exponential"), permute_and_flip_law),
    "gumbel": (NoisyMax("0.8", noise="gumbel"), exponential_law),
    "exponential mechanism": (ExponentialMechanism("0.8"), exponential_law),
    "permute and flip": (PermuteAndFlip("0.8"), permute_and_flip_law),
}
named = pytest.mark.parametrize("name", MECHANISMS)


def cumulated(law: Sequence[Any]) -> Any:
    return np.cumsum([float(share) for share in law])


def shares(outcomes: Sequence[int], size: int) -> Any:
    return np.cumsum(np.bincount(outcomes, minlength=size)) / len(outcomes)


@named
def test_the_choice_has_its_law_and_no_other(name: str) -> None:
    """And is told from that of a scale 20% off, either way."""
    mechanism, law = MECHANISMS[name]
    scores = SCORES[:7] if law is permute_and_flip_law else SCORES
    found = shares([mechanism.release(scores) for _ in range(TRIALS)], len(scores))
    allowed = band(TRIALS)
    with mpmath.workdps(15):
        truth, wide, narrow = (cumulated(law(scores, F("2.5") * factor)) for factor in (1, F(6, 5), F(4, 5)))
    assert np.abs(found - truth).max() <= allowed
    assert np.abs(found - wide).max() > allowed
    assert np.abs(found - narrow).max() > allowed


def test_exponential_noise_is_not_the_exponential_mechanism_and_gumbel_noise_is() -> None:
    """Dwork and Roth's Theorem 3.13 (errata 1): what its noise gives is told from what it says, by count."""
    scores = [0, 1]
    mechanisms: list[Any] = [NoisyMax(2, noise=noise) for noise in ("exponential", "gumbel")]
    with mpmath.workdps(15):
        claimed, true = (cumulated(law(scores, 1)) for law in (exponential_law, permute_and_flip_law))
    assert np.abs(claimed - true).max() > 0.08
    allowed = band(TRIALS)
    by_one_sided, by_gumbel = (
        shares([mechanism.release(scores) for _ in range(TRIALS)], 2) for mechanism in mechanisms
    )
    assert np.abs(by_one_sided - true).max() <= allowed < np.abs(by_one_sided - claimed).max()
    assert np.abs(by_gumbel - claimed).max() <= allowed < np.abs(by_gumbel - true).max()


def neighbours(scores: Sequence[int], *, monotone: bool) -> list[tuple[int, ...]]:
    steps = (0, 1) if monotone else (-1, 0, 1)
    return [tuple(map(sum, zip(scores, change, strict=True))) for change in itertools.product(steps, repeat=3)]


@pytest.mark.parametrize("monotone", [False, True])
@named
def test_the_exact_laws_keep_what_is_claimed(name: str, monotone: bool) -> None:
    """On all neighbours of some scores of three: no loss beyond epsilon, and some that come near it."""
    mechanism, law = MECHANISMS[name]
    epsilon = F(1, 2)
    parameters = {"noise": mechanism.noise} if isinstance(mechanism, NoisyMax) else {}
    made = type(mechanism)(epsilon, monotone=monotone, **parameters)
    assert made.scale == (2 if monotone else 4)
    worst = mpmath.mpf(0)
    with mpmath.workdps(15):
        for scores in ((0, 0, 0), (0, 9, 1)):
            truth = law(scores, made.scale)
            for other in neighbours(scores, monotone=monotone):
                losses = [mpmath.log(p / q) for p, q in zip(truth, law(other, made.scale), strict=True)]
                worst = max(worst, *map(abs, losses))
                if law is exponential_law:  # of bounded range
                    assert max(losses) - min(losses) <= epsilon + F(1, 10**10)
    assert worst <= float(epsilon) * (1 + 1e-9)
    assert worst > float(epsilon) / 2


def test_monotone_noise_is_too_little_for_scores_that_move_apart() -> None:
    """The planted fault: half the noise, and scores of which one rises and the others fall."""
    one, other = (4, 0, 0), (3, 1, 1)
    for name, (_, law) in MECHANISMS.items():
        with mpmath.workdps(15):
            assert worst_ratio(law(one, 2), law(other, 2)) > F(1, 2), name
            assert worst_ratio(law(one, 4), law(other, 4)) <= F(1, 2), name


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_the_largest_few_have_the_law_of_so_many_rounds(noise: str) -> None:
    """Each round on those that are left, with a share of epsilon: by the product of the rounds' laws."""
    law = {"laplace": noisy_max_law, "exponential": permute_and_flip_law, "gumbel": exponential_law}[noise]
    scores, mechanism = [0, 2, 3, 5], NoisyMax(2, noise=noise, k=2)
    assert mechanism.scale == 2
    with mpmath.workdps(15):
        truth = {}
        for first, chance in enumerate(law(scores, 2)):
            left = [at for at in range(4) if at != first]
            for second, then in zip(left, law([scores[at] for at in left], 2), strict=True):
                truth[first, second] = chance * then
    found = Counter(tuple(mechanism.release(scores).tolist()) for _ in range(FEWER))  # type: ignore[union-attr]
    pairs = sorted(truth)
    counted = np.cumsum([found[pair] for pair in pairs]) / FEWER
    assert np.abs(counted - cumulated([truth[pair] for pair in pairs])).max() <= band(FEWER)
    assert set(found) <= set(pairs)


def test_the_few_are_accounted_by_their_rounds() -> None:
    for noise in ("laplace", "exponential"):
        assert NoisyMax(1, noise=noise, k=50).parts == {PureDP("1/50"): 50}
        assert NoisyMax(1, noise=noise, k=50).loss == PureDP(1)
    peeling = NoisyMax(1, noise="gumbel", k=50, monotone=True)
    assert peeling.parts == {ExponentialMechanism("1/50", monotone=True): 50}
    finer, black_box = compose(peeling.parts).epsilon("1e-6"), compose({PureDP("1/50"): 50}).epsilon("1e-6")
    assert finer.upper < black_box.lower < compose([peeling]).epsilon("1e-6").upper
    assert NoisyMax(1, noise="gumbel").loss == ExponentialMechanism(1).loss


def test_ten_million_candidates_are_chosen_from() -> None:
    scores = np.zeros(10**7, dtype=np.int8)
    scores[7_654_321] = 100
    assert ExponentialMechanism(2).release(scores) == 7_654_321
    assert PermuteAndFlip(2).release(scores) == 7_654_321


def test_a_utility_is_a_function_or_one_number_each() -> None:
    prices = ["1.00", "3.00", "3.01", "3.02"]
    revenue = {"1.00": 4, "3.00": 3000, "3.01": 3, "3.02": 0}
    for mechanism in (ExponentialMechanism(1), PermuteAndFlip(1), NoisyMax(1)):
        assert mechanism.choose(prices, revenue.__getitem__) == "3.00"
        assert mechanism.choose(prices, [4, 3000, 3, 0]) == "3.00"
        assert mechanism.choose(prices, [4, -np.inf, -np.inf, -np.inf]) == "1.00"


def test_the_same_bits_give_the_same_choice() -> None:
    for mechanism, _ in MECHANISMS.values():
        chosen = {mechanism.release(np.arange(300) % 7, source=RepeatableBits(5)) for _ in range(3)}
        assert len(chosen) == 1


# Accuracy.


def pumpkins(price: Fraction) -> Fraction:
    """Example 3.5: three bidders of a dollar and one of 3.01."""
    return price * sum(bid >= price for bid in (F(1), F(1), F(1), F("3.01")))


def test_example_3_5_finds_a_price_but_not_a_fatal_one() -> None:
    """With 1,000 times as many bidders, the optimum's neighbour of no revenue has next to no weight."""
    prices = [F(cents, 100) for cents in (100, 300, 301, 302)]
    assert [pumpkins(price) for price in prices] == [4, 3, F("3.01"), 0]
    law = exponential_law([1000 * pumpkins(price) for price in prices], 2 * F("3.01"))
    assert law[3] < mpmath.mpf(10) ** -200
    chosen = ExponentialMechanism(1, sensitivity="3.01").choose(prices, lambda price: 1000 * pumpkins(price))
    assert chosen == F(1)


def test_example_3_6_is_corollary_3_12() -> None:
    """Two conditions, counts 0 and c: at most 2 e^(-c epsilon / 2), and exactly 1 / (1 + e^(c epsilon / 2))."""
    for c in (5, 20, 60):
        found = ExponentialMechanism("0.5").failure(c, candidates=2)
        assert found.beta == pytest.approx(min(1, 2 * float(mpmath.exp(-F(c) / 4))), rel=1e-12)
        assert found.exact is not None
        wrong = exponential_law([0, c], 4)[0]
        assert found.exact.lower <= wrong <= found.exact.upper
        assert found.exact.relative_width < 1e-12


@pytest.mark.parametrize("candidates", [2, 3, 7])
@named
def test_exact_failure_is_that_of_the_worst_scores(name: str, candidates: int) -> None:
    mechanism, law = MECHANISMS[name]
    for alpha in (0, 2, 9):
        found = mechanism.failure(alpha, candidates=candidates)
        with mpmath.workdps(DIGITS):
            # At alpha 0 the other candidates tie with the best, and count as failures.
            truth = 1 - law([alpha, *[0] * (candidates - 1)], F("2.5"))[0]
            assert found.exact.lower * (1 - 1e-12) <= truth <= found.exact.upper * (1 + 1e-12)
            assert found.exact.relative_width < 1e-9
            assert found.beta >= truth * (1 - mpmath.mpf(10) ** -12)
            for scores in ([alpha, 0, *[alpha / 2] * (candidates - 2)], [alpha, *[-1] * (candidates - 1)]):
                milder = sum(p for p, score in zip(law(scores, F("2.5")), scores, strict=True) if score <= 0)
                assert alpha == 0 or milder <= truth * (1 + mpmath.mpf(10) ** -12)


@named
def test_accuracy_is_failure_read_backwards(name: str) -> None:
    mechanism, _ = MECHANISMS[name]
    for beta, candidates in itertools.product(("0.3", "0.05", "1e-9"), (2, 100, 10**6)):
        there = mechanism.accuracy(beta, candidates=candidates)
        back = mechanism.failure(there.alpha, candidates=candidates)
        assert back.beta <= float(F(beta)) * (1 + 1e-12)
        assert back.beta == pytest.approx(float(F(beta)), rel=1e-6)
        assert there.exact.upper <= there.alpha * (1 + 1e-14)
        exactly = mechanism.failure(there.exact.upper, candidates=candidates).exact
        assert exactly.upper == pytest.approx(float(F(beta)), rel=1e-6)


def test_theorem_3_11_counts_the_best() -> None:
    one, ten = (ExponentialMechanism(1).accuracy("0.01", candidates=1000, best=best) for best in (1, 10))
    assert one.alpha == pytest.approx(2 * np.log(1000 / 0.01))
    assert ten.alpha == pytest.approx(2 * np.log(100 / 0.01))
    scores = [6, 6, 0, 0, 0]
    exact = ExponentialMechanism(1).failure(6, candidates=5, best=2).exact
    assert exact is not None
    assert exact.lower <= sum(exponential_law(scores, 2)[2:]) <= exact.upper


@pytest.mark.parametrize("candidates", [2, 10, 10**5])
def test_permute_and_flip_is_never_worse(candidates: int) -> None:
    for alpha in (0, "0.1", 3, 40):
        kinds: list[Any] = [PermuteAndFlip, ExponentialMechanism]
        ours, other = (kind(1).failure(alpha, candidates=candidates).exact for kind in kinds)
        assert ours.lower <= other.upper
        assert alpha == 0 or ours.upper < other.lower


def test_the_few_fail_at_most_as_often_as_the_union_bound_says() -> None:
    mechanism, scores = NoisyMax(3, k=3), np.array([0] * 5 + [12, 12, 12])
    found = mechanism.failure(12, candidates=8)
    failed = np.mean([bool((scores[mechanism.release(scores)] == 0).any()) for _ in range(2000)])
    assert failed <= found.beta + band(2000)
    assert found.beta < 0.5
    assert found.exact is None
    assert mechanism.accuracy("0.05", candidates=8).alpha == NoisyMax(3, k=3).accuracy(F(1, 20), candidates=8).alpha


def test_the_least_noise_for_many_choices_is_found() -> None:
    for mechanism in (ExponentialMechanism, NoisyMax, PermuteAndFlip):
        plan = least_noise(mechanism, times=100, epsilon=1, delta="1e-6")
        assert isinstance(plan.mechanism, mechanism)
        assert compose({plan.mechanism: 100}).delta(1).upper <= 1e-6
        assert float(plan.mechanism.epsilon) > 0.015


# Bad input.


@pytest.mark.parametrize(
    "scores",
    [
        [],
        [[1, 2]],
        [1, float("nan")],
        [1.0, float("inf")],
        [-float("inf")] * 2,
        ["a", "b"],
        [True, False],
        [[1], [2, 3]],
        3,
        None,
        np.array([1 + 2j, 3]),
    ],
    ids=repr,
)
@named
def test_what_are_no_scores_is_refused(name: str, scores: object) -> None:
    with pytest.raises(InvalidParameter, match="scores must"):
        MECHANISMS[name][0].release(scores)


def test_other_bad_input_is_refused() -> None:
    for mechanism in (ExponentialMechanism, NoisyMax, PermuteAndFlip):
        for wrong in (0, -1, float("inf"), float("nan"), 10**7):
            with pytest.raises(InvalidParameter, match="epsilon"):
                mechanism(wrong)
        with pytest.raises(InvalidParameter, match="sensitivity"):
            mechanism(1, 0)
        with pytest.raises(InvalidParameter, match="candidates must not be empty"):
            mechanism(1).choose([], [])
        with pytest.raises(InvalidParameter, match="one number for each of the 2"):
            mechanism(1).choose("ab", [1, 2, 3])
        with pytest.raises(InvalidParameter, match="beta"):
            mechanism(1).accuracy(0, candidates=3)
        with pytest.raises(InvalidParameter, match="alpha"):
            mechanism(1).failure(-1, candidates=3)
        with pytest.raises(InvalidParameter, match="scale must lie"):
            mechanism("1e-20").release([1, 2])
    with pytest.raises(InvalidParameter, match="noise must be one of 'laplace'"):
        NoisyMax(1, noise="cauchy")
    with pytest.raises(InvalidParameter, match="k must be a whole number from 1 to 2"):
        NoisyMax(1, k=3).release([0.0, 1.0, -np.inf])
    with pytest.raises(InvalidParameter, match="k must be 1"):
        NoisyMax(1, k=2).choose("abc", [1, 2, 3])
    with pytest.raises(InvalidParameter, match="best must"):
        ExponentialMechanism(1).accuracy("0.1", candidates=3, best=4)


def test_enormous_scores_do_not_overflow() -> None:
    for mechanism, _ in MECHANISMS.values():
        assert mechanism.release([2**62, -(2**62), 2**63 - 1]) == 2
        assert mechanism.release([10**40, 10**40 + 10**4, 0]) == 1
        assert mechanism.release([-1e308, 1e308]) == 1


def test_cards_show_what_matters() -> None:
    for mechanism, _ in MECHANISMS.values():
        assert "0.8" in mechanism._repr_html_()
