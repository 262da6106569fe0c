"""Comparisons of real noise: the floats' errors, the refinement, the laws of the answers, and bad input."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from indistinct.errors import InvalidParameter
from indistinct.noise import LazyNoise, LazyReal, NoiseStream, Scale
from indistinct.noise.bits import SYSTEM
from indistinct.noise.logarithm import ERROR, logarithm
from indistinct.noise.standard import Kind, approximated
from indistinct.numbers import ln
from tests.noise.budget import band
from tests.noise.sources import RepeatableBits, Scripted

TRIALS = 20_000
KINDS = list(Kind)


def noise_at(kind: Kind, word: int, rest: mpmath.mpf) -> mpmath.mpf:
    """The noise for V = (upper 63 bits + rest) / 2^63."""
    v = (mpmath.mpf(word >> 1) + rest) / 2**63
    match kind:
        case Kind.EXPONENTIAL:
            return -mpmath.log(v)
        case Kind.LAPLACE:
            return -mpmath.log(v) * (-1 if word & 1 else 1)
        case Kind.GUMBEL:
            return -mpmath.log(-mpmath.log1p(-v))


def test_the_logarithm_is_as_good_as_its_proof() -> None:
    near_one = 1 - np.array([0.0, *(2.0**-k for k in range(1, 54))])
    x = np.concatenate([RepeatableBits(1).words(3000) * 2.0**-64, 2.0 ** np.arange(-64, 6), near_one, 3.0 * near_one])
    found = logarithm(x)
    with mpmath.workdps(40):
        for value, approximate in zip(x.tolist(), found.tolist(), strict=True):
            truth = mpmath.log(value)
            assert abs(approximate - truth) < ERROR / 4 * (1 + abs(truth))


@pytest.mark.parametrize("kind", KINDS)
def test_floats_with_their_errors_enclose_the_noise(kind: Kind) -> None:
    extreme = [*range(1, 4000, 41), *(2**k for k in range(64)), *(2**64 - 2**k for k in range(64)), 2**58, 2**58 - 1]
    words = np.concatenate([np.array(extreme, dtype=np.uint64), RepeatableBits(7).words(2000)])
    noise, error = approximated(kind, words)
    with mpmath.workdps(60):
        for word, middle, radius in zip(words.tolist(), noise.tolist(), error.tolist(), strict=True):
            for rest in (mpmath.mpf(2) ** -100, mpmath.mpf(1) / 3, 1 - mpmath.mpf(2) ** -100):
                if np.isfinite(radius):
                    assert abs(noise_at(kind, word, rest) - middle) <= radius
    assert np.median(error) < 2.0**-38
    assert np.isinf(approximated(kind, np.array([0, 1], dtype=np.uint64))[1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_path_agrees_with_60_digits(kind: Kind) -> None:
    """Thresholds so near to the noise that the first word cannot decide: the second does."""
    scale = Scale("2.5", ln(3))
    words = RepeatableBits(11).words(12).tolist()
    for word, second in itertools.product(words, (5, 2**63, 2**64 - 9)):
        with mpmath.workdps(60):
            true_noise = noise_at(kind, word, (second + mpmath.mpf(1) / 2) / 2**64) * mpmath.mpf("2.5") / mpmath.log(3)
            near = Fraction(mpmath.nstr(true_noise, 45))
        for offset in (Fraction(-1, 10**26), Fraction(1, 10**26)):
            script = Scripted([second, *RepeatableBits(word).words(4).tolist()])
            noise = LazyReal(kind, scale, word, script)
            assert noise.exceeds(0, near + offset) == (offset < 0)
            whole = LazyNoise(kind, 1, scale, Scripted([word, second, 1, 2, 3, 4]))
            assert whole.exceeds([-offset], near).tolist() == [offset < 0]


@pytest.mark.parametrize("kind", KINDS)
def test_one_noise_answers_all_questions_as_one_number(kind: Kind) -> None:
    """Bisection by comparisons closes in on a number: no answer contradicts an earlier one."""
    noise = LazyNoise(kind, 1, 3)
    low, high = Fraction(-500), Fraction(500)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if noise.exceeds(0, [middle])[0] else (low, middle)
    assert noise.exceeds(0, [low]).all()
    assert not noise.exceeds(0, [high]).any()
    assert noise.exceeds(0, [low - 1]).all()


def test_equal_first_words_are_told_apart_by_the_next() -> None:
    """Three equal words: refinement decides, and the decision is that of the following words."""
    word = 12345678901234567890
    noise = LazyNoise.exponential(3, 1, Scripted([word, word, word, 10, 20, 2**63, 7, 7, 7, 7, 7, 7, 7, 7]))
    first = noise.argmax([5, 5, -(10**6)])
    assert noise.argmax([5, 5, -(10**6)]) == first
    assert noise.top([5, 5, 5], 3).tolist()[2] not in noise.top([5, 5, 5], 2).tolist()
    order = noise.top([5.0, 5.0, 5.0], 3).tolist()
    assert noise.top(np.array([5, 5, 5]), 3).tolist() == order


def test_ties_broken_by_refinement_are_fair() -> None:
    word = 2**63
    wins = sum(LazyNoise.gumbel(2, 1, _Prefixed([word, word])).argmax([0, 0]) for _ in range(300))
    assert abs(wins / 300 - 0.5) <= band(300)


class _Prefixed:
    """The given words first, then the system's."""

    def __init__(self, words: list[int]) -> None:
        self._given: list[int] = words

    def words(self, count: int) -> np.typing.NDArray[np.uint64]:
        given, self._given = self._given[:count], self._given[count:]
        return np.concatenate([np.array(given, dtype=np.uint64), SYSTEM.words(count - len(given))])


def test_a_word_of_zeros_is_an_unbounded_noise() -> None:
    """It may win from however far below, and is refined before it does."""
    noise = LazyNoise.exponential(2, 1, Scripted([0, 2**60, 0, 0, 0, 5, 9, 9, 9, 9, 9, 9]))
    assert noise.argmax([0, 100]) == 0
    assert LazyNoise.exponential(2, 1, Scripted([0, 2**60, 2**63, 9, 9, 9])).argmax([0, 100]) == 1


def _winners(make: Callable[[], LazyNoise], scores: list[float]) -> list[float]:
    counts = np.bincount([make().argmax(scores) for _ in range(TRIALS)], minlength=len(scores))
    return list(counts / TRIALS)


def _far(found: list[float], truth: list[float]) -> float:
    return float(np.abs(np.cumsum(found) - np.cumsum(truth)).max())


def test_gumbel_noise_chooses_as_the_exponential_mechanism() -> None:
    scale = Scale(2, ln(3))
    scores = [0.0, 2.75, -np.inf]
    found = _winners(lambda: LazyNoise.gumbel(3, scale), scores)
    allowed = band(TRIALS)

    def law(real: float) -> list[float]:
        weights = np.exp(np.array(scores) / real)
        return list(weights / weights.sum())

    truth = 2 / np.log(3)
    assert _far(found, law(truth)) <= allowed
    assert _far(found, law(0.8 * truth)) > allowed
    assert _far(found, law(1.25 * truth)) > allowed


def test_gumbel_noise_over_many_candidates() -> None:
    """Ten candidates by nature, repeated a hundred times each: the block decides by its summed weights."""
    scores = np.repeat(np.arange(10) / 2, 100)
    found = np.bincount([LazyNoise.gumbel(1000).argmax(scores) // 100 for _ in range(2000)], minlength=10) / 2000
    weights = np.exp(np.arange(10) / 2)
    assert _far(list(found), list(weights / weights.sum())) <= band(2000)


def test_exponential_noise_chooses_as_permute_and_flip() -> None:
    """Two candidates: the worse one with probability e^-gap / 2 (McKenna and Sheldon 2020)."""
    allowed = band(TRIALS)
    scale = Scale(2)
    found = _winners(lambda: LazyNoise.exponential(2, scale), [0, 2])
    assert abs(found[0] - np.exp(-1) / 2) <= allowed
    assert abs(found[0] - np.exp(-1 / 1.25) / 2) > allowed
    assert abs(found[0] - np.exp(-1 / 0.8) / 2) > allowed


def test_laplace_noise_above_a_noisy_threshold() -> None:
    """P(noise >= gap + other): for equal scales b, e^-g (1/2 + g/4) with g = gap / b."""
    n, gap = 200_000, 1.5
    others = NoiseStream.laplace(2)
    inside = np.concatenate([LazyNoise.laplace(n // 200, 2).exceeds(0, 3, others.next()) for _ in range(200)])
    assert inside.dtype == bool
    noise = LazyNoise.laplace(n, 2)
    allowed = band(n)
    assert abs(noise.exceeds(np.zeros(n), 3.0).mean() - np.exp(-gap) / 2) <= allowed
    assert abs(noise.exceeds(np.zeros(n), 3.0).mean() - np.exp(-gap / 0.95) / 2) > allowed
    singles = NoiseStream.laplace(2)
    both = np.mean([singles.next().exceeds(0, 3, others.next()) for _ in range(40_000)])
    assert abs(both - np.exp(-gap) * (0.5 + gap / 4)) <= band(40_000)
    assert abs(both - np.exp(-gap / 0.8) * (0.5 + gap / 3.2)) > band(40_000)


def test_top_is_the_order_of_the_sums() -> None:
    scores = np.arange(5000) % 17
    noise = LazyNoise.laplace(5000, 4, RepeatableBits(3))
    order = noise.top(scores, 40).tolist()
    assert order[0] == noise.argmax(scores)
    sums = scores + 4 * approximated(Kind.LAPLACE, RepeatableBits(3).words(5000))[0]
    assert order == np.argsort(-sums)[:40].tolist()
    assert noise.top(scores - 10**6, 40).tolist() == order  # shifts change nothing
    assert noise.top(scores.astype(np.float32), 40).tolist() == order
    assert noise.top(scores.astype(object) * Fraction(1), 40).tolist() == order


def test_scores_far_apart_and_enormous_are_compared_exactly() -> None:
    big = 2**63 - 1
    assert LazyNoise.gumbel(3).argmax(np.array([-(2**63), big, 0])) == 1
    assert LazyNoise.gumbel(2).argmax([10**30, 10**30 + 10**4]) == 1
    assert LazyNoise.gumbel(3).argmax([-1e308, 1e308, 1e308 * (1 - 1e-15)]) == 1
    assert LazyNoise.laplace(2).exceeds([big, -(2**63)], np.array([-(2**63), big])).tolist() == [True, False]
    assert NoiseStream.laplace().next().exceeds(10**400, 0)
    assert not NoiseStream.laplace().next().exceeds(np.int64(-(2**63)), np.int64(big))
    # 2^53 + 1 is no float: the difference of one is not lost, at a scale where it decides
    assert LazyNoise.laplace(2, "1e-9").exceeds([2**53 + 1, 2**53], np.array([2.0**53, 2.0**53 + 2])).tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("scores", "part"),
    [
        ([1.0, float("nan")], "below infinity"),
        ([1.0, float("inf")], "below infinity"),
        ([-np.inf, -np.inf], "not all be minus infinity"),
        ([1, 2, 3], "a vector of 2"),
        ([[1, 2]], "a vector of 2"),
        (["a", "b"], "whole numbers, floats or fractions"),
        ([True, False], "whole numbers, floats or fractions"),
        (np.array([1, 2], dtype=np.longdouble), "whole numbers, floats or fractions"),
    ],
)
def test_bad_scores_are_refused(scores: object, part: str) -> None:
    with pytest.raises(InvalidParameter, match=part):
        LazyNoise.gumbel(2).argmax(scores)


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="not be empty"):
        LazyNoise.gumbel(0).argmax([])
    with pytest.raises(InvalidParameter, match="from 1 to 2, the number of finite scores"):
        LazyNoise.gumbel(3).top([0.0, -np.inf, 1.0], 3)
    with pytest.raises(InvalidParameter, match="be finite"):
        LazyNoise.laplace(2).exceeds([0.0, np.nan], 0)
    with pytest.raises(InvalidParameter, match="be finite"):
        NoiseStream.laplace().next().exceeds(float("nan"), 0)
    with pytest.raises(InvalidParameter, match="vector of 2"):
        LazyNoise.laplace(2).exceeds([0, 1, 2], 0)
    with pytest.raises(InvalidParameter, match="2\\^-40"):
        LazyNoise.laplace(2, 2.0**-41)
