"""Every table against the definition of its law: each threshold, each decision next to it, and the exact path."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import neg

import mpmath
import numpy as np
import pytest

from indistinct.errors import InternalError
from indistinct.noise.bernoulli import CoinLaw, Exponential, Logistic
from indistinct.noise.decay import BoundedLaw, GeometricLaw, LaplaceLaw
from indistinct.noise.gaussian_law import GaussianLaw
from indistinct.noise.rounded_gaussian import RoundedGaussianLaw
from indistinct.noise.rounded_laplace import RoundedLaplaceLaw
from indistinct.noise.scale import Scale
from indistinct.noise.staircase import LowerStairLaw, StairLaw, StepLaw
from indistinct.noise.table import BITS, CUT, Integers, SurvivalLaw, Table, invert
from indistinct.noise.uniform import LazyUniform
from indistinct.numbers import Epsilon, ln
from tests.exact import to_fraction
from tests.noise import oracles
from tests.noise.sources import RepeatableBits, Scripted

HALF, ONE = Fraction(1, 2), Fraction(1)


def _two_sided(weight: oracles.Weight, terms: int) -> list[Fraction]:
    return oracles.survivals(weight, two_sided=True, terms=terms)


def _one_sided(weight: oracles.Weight, terms: int) -> list[Fraction]:
    return oracles.survivals(weight, two_sided=False, terms=terms)


def _bounded(scale: Fraction, bound: int) -> list[Fraction]:
    weight = oracles.laplace_weight(scale, ONE)
    return _one_sided(lambda x: weight(x) if x < bound else 0 * weight(0), bound + 1)


def _steps(width: int, epsilon: Fraction, step: int, periods: int) -> list[Fraction]:
    weight = oracles.staircase_weight(width, epsilon, step)

    def stair(i: int) -> mpmath.mpf:
        period, lower = divmod(i, 2)
        places = range(step, width) if lower else range(step)
        return sum((weight(period * width + place) for place in places), 0 * weight(0))

    return _one_sided(stair, 2 * periods)


def _lower_stair(width: int, epsilon: Fraction, step: int) -> mpmath.mpf:
    lower = (width - step) * mpmath.exp(-oracles.real(epsilon))
    return lower / (step + lower)


def _coin(probability: mpmath.mpf) -> list[Fraction]:
    return [to_fraction(probability)]


def _rounded(density: Callable[[mpmath.mpf], mpmath.mpf], terms: int) -> list[Fraction]:
    """P(|N| >= i) of the whole number nearest to a real number with a symmetric density, integrated cell by cell."""
    half = mpmath.mpf(1) / 2
    cells = [mpmath.quad(density, [i - half, i + half], maxdegree=12) for i in range(1, terms)]
    tails = list(accumulate(reversed(cells)))[::-1]
    centre = 2 * mpmath.quad(density, [0, half], maxdegree=12)
    assert abs(centre + 2 * tails[0] - 1) < mpmath.mpf(10) ** -60
    return [to_fraction(2 * tail) for tail in tails]


def _rounded_gaussian(sigma: Fraction, terms: int) -> list[Fraction]:
    deviation = oracles.real(sigma)
    return _rounded(lambda y: mpmath.npdf(y, 0, deviation), terms)


def _gaussian_tails(sigma: Fraction, terms: int) -> list[Fraction]:
    deviation = oracles.real(sigma)
    return [to_fraction(2 * mpmath.ncdf(-(i - mpmath.mpf(1) / 2) / deviation)) for i in range(1, terms)]


def _rounded_laplace(scale: Fraction, epsilon: Epsilon, terms: int) -> list[Fraction]:
    wide = oracles.real(scale) / oracles.real(epsilon)
    return _rounded(lambda y: mpmath.exp(-y / wide) / (2 * wide), terms)


Case = tuple[SurvivalLaw, list[Fraction]]

CASES: dict[str, Callable[[], Case]] = {
    "laplace 1/4": lambda: (LaplaceLaw(Scale("1/4")), _two_sided(oracles.laplace_weight(Fraction(1, 4), ONE), 60)),
    "laplace 1": lambda: (LaplaceLaw(Scale(1)), _two_sided(oracles.laplace_weight(ONE, ONE), 200)),
    "laplace ln 3": lambda: (LaplaceLaw(Scale(1, ln(3))), _two_sided(oracles.laplace_weight(ONE, ln(3)), 200)),
    "laplace ln 2": lambda: (LaplaceLaw(Scale(1, ln(2))), _two_sided(oracles.laplace_weight(ONE, ln(2)), 300)),
    "laplace 17.3": lambda: (
        LaplaceLaw(Scale("17.3")),
        _two_sided(oracles.laplace_weight(Fraction(173, 10), ONE), 3200),
    ),
    "geometric 50": lambda: (GeometricLaw(Scale(50)), _one_sided(oracles.laplace_weight(Fraction(50), ONE), 9000)),
    "bounded 10": lambda: (BoundedLaw(Scale(3), 10), _bounded(Fraction(3), 10)),
    "a digit": lambda: (BoundedLaw(Scale(2**30), 1024), _bounded(Fraction(2**30), 1024)),
    "bounded far": lambda: (BoundedLaw(Scale("1/2"), 4000), _bounded(HALF, 4000)),
    "gaussian 1/3": lambda: (GaussianLaw(Scale("1/9"), HALF), _two_sided(oracles.gaussian_weight(Fraction(1, 9)), 10)),
    "gaussian 1": lambda: (GaussianLaw(Scale(1), HALF), _two_sided(oracles.gaussian_weight(ONE), 20)),
    "gaussian 40.5": lambda: (
        GaussianLaw(Scale("1640.25"), HALF),
        _two_sided(oracles.gaussian_weight(Fraction("1640.25")), 800),
    ),
    "gaussian, centre counted whole": lambda: (
        GaussianLaw(Scale(900), ONE),
        _one_sided(oracles.gaussian_weight(Fraction(900)), 600),
    ),
    "staircase": lambda: (
        StairLaw(10, Fraction(1, 2), 4),
        _two_sided(oracles.staircase_weight(10, Fraction(1, 2), 4), 3500),
    ),
    "staircase of one step": lambda: (StairLaw(7, ONE, 7), _two_sided(oracles.staircase_weight(7, ONE, 7), 1300)),
    "staircase ln 5": lambda: (StairLaw(60, ln(5), 1), _two_sided(oracles.staircase_weight(60, ln(5), 1), 7000)),
    "lower stair": lambda: (LowerStairLaw(StepLaw(12, Fraction(1, 3), 5)), _coin(_lower_stair(12, Fraction(1, 3), 5))),
    "coin 1/3": lambda: (CoinLaw(Fraction(1, 3)), [Fraction(1, 3)]),
    "coin 3/8": lambda: (CoinLaw(Fraction(3, 8)), [Fraction(3, 8)]),
    "certain coin": lambda: (CoinLaw(ONE), [ONE]),
    "impossible coin": lambda: (CoinLaw(Fraction(0)), [Fraction(0)]),
    "coin e^-2": lambda: (CoinLaw(Exponential(2)), _coin(mpmath.exp(-2))),
    "coin of odds 3": lambda: (CoinLaw(Logistic(ln(9), HALF)), [Fraction(3, 4)]),
    "rounded laplace 3/5": lambda: (
        RoundedLaplaceLaw(Scale("3/5")),
        _rounded_laplace(Fraction(3, 5), ONE, 120),
    ),
    "rounded laplace ln 3": lambda: (RoundedLaplaceLaw(Scale(1, ln(3))), _rounded_laplace(ONE, ln(3), 180)),
    "rounded gaussian 1/3": lambda: (RoundedGaussianLaw(Fraction(1, 3)), _rounded_gaussian(Fraction(1, 3), 9)),
    "rounded gaussian 20.5": lambda: (RoundedGaussianLaw(Fraction("20.5")), _gaussian_tails(Fraction("20.5"), 450)),
    "stairs": lambda: (StepLaw(12, Fraction(1, 3), 5), _steps(12, Fraction(1, 3), 5, 600)),
}


@pytest.fixture(scope="module", params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    with mpmath.workdps(oracles.DIGITS):
        found: Case = request.param()
    return found


def expected(truth: list[Fraction], value: int, bits: int) -> set[int]:
    """The numbers that a V of [value, value + 1) / 2^bits may stand for: #{i : V < S(i)}."""
    least, most = -Fraction(value + 1, 2**bits), -Fraction(value, 2**bits)
    return set(range(bisect_right(truth, least, key=neg), bisect_left(truth, most, key=neg) + 1))


def wrong_thresholds(law: SurvivalLaw, truth: list[Fraction]) -> int:
    lower, width = law.thresholds()
    return sum(
        not threshold <= survival * 2**BITS <= threshold + width
        for threshold, survival in zip(lower.tolist(), truth, strict=False)
    )


def words_of(positions: Integers) -> list[int]:
    """Words with these upper 63 bits, and odd and even last ones."""
    return [2 * position + place % 2 for place, position in enumerate(positions.tolist())]


def test_every_threshold_encloses_the_truth(case: Case) -> None:
    law, truth = case
    assert wrong_thresholds(law, truth) == 0


def test_a_slightly_wrong_law_is_seen() -> None:
    with mpmath.workdps(oracles.DIGITS):
        _, truth = CASES["laplace 17.3"]()
    assert wrong_thresholds(LaplaceLaw(Scale("17.3")), truth) == 0
    for wrong in ("17.3000000000001", "17.2999999999999"):
        assert wrong_thresholds(LaplaceLaw(Scale(wrong)), truth) > 100


def test_decisions_next_to_every_threshold_are_right(case: Case) -> None:
    law, truth = case
    table = Table.of(law)
    kept = table.lower[table.lower > 0]
    positions = np.concatenate([kept - 1, kept + table.width, [CUT, 2**BITS - 1]])
    positions = positions[(positions >= CUT) & (positions <= 2**BITS - 1)]
    undecided = ((positions[:, None] - table.lower).view(np.uint64) < table.width).any(axis=1)
    positions = positions[~undecided]
    source = Scripted(words_of(positions))
    drawn, signs = table.draw(len(positions), source)  # no word is left for the exact path: it is not taken
    assert all(expected(truth, v, BITS) == {x} for v, x in zip(positions.tolist(), drawn.tolist(), strict=True))
    assert signs.tolist() == [place % 2 for place in range(len(positions))]


def test_undecided_words_have_a_probability_below_2_to_the_minus_40(case: Case) -> None:
    table = Table.of(case[0])
    assert np.count_nonzero(table.lower) * table.width + CUT < 2 ** (BITS - 40)


def test_every_bucket_is_compared_with_all_of_its_thresholds(case: Case) -> None:
    law, truth = case
    source = RepeatableBits(1)
    positions = (RepeatableBits(1).words(2000) >> np.uint64(1)).view(np.int64) >> np.arange(2000) % 40
    drawn, _ = Table.of(law).draw(2000, Scripted([*words_of(positions), *source.words(4000).tolist()]))
    assert all(x in expected(truth, v, BITS) for v, x in zip(positions.tolist(), drawn.tolist(), strict=True))


def test_the_exact_path_decides_by_the_words_that_follow(case: Case) -> None:
    """A word that equals a threshold is followed by one that is just below, just above, and exactly on it."""
    law, truth = case
    table = Table.of(law)
    for i in sorted({1, 2, 3, len(truth) // 8, len(truth) // 3}):
        if not 1 <= i <= len(truth) or not 2.0**-100 < truth[i - 1] < 1:
            continue
        fine = int(truth[i - 1] * 2 ** (BITS + 64))
        for value in (fine - 3, fine + 3):
            first, second = value >> 64, value % 2**64
            source = Scripted([2 * first, second])
            drawn = table.draw(1, source)[0].tolist()
            assert drawn == list(expected(truth, value, BITS + 64)), (i, value - fine)
            undecided = first < CUT or bool(((first - table.lower).view(np.uint64) < table.width).any())
            assert source.spent or not undecided or (truth[i - 1] * 2**BITS).denominator == 1
        finer = int(truth[i - 1] * 2 ** (BITS + 128))
        for value in (finer - 2**20, finer + 2**20):
            source = Scripted([value >> 128 << 1, value >> 64 & 2**64 - 1, value & 2**64 - 1])
            assert table.draw(1, source)[0].tolist() == list(expected(truth, value, BITS + 128))


def test_the_tail_beyond_the_table_is_exact(case: Case) -> None:
    law, truth = case
    for second in (2**63, 2**40, 3**30):
        source = Scripted([1, second, 0])
        assert set(Table.of(law).draw(1, source)[0].tolist()) == expected(truth, second, BITS + 64)


def test_inversion_does_not_depend_on_the_guess(case: Case) -> None:
    law, truth = case
    value = int(Fraction(7, 16) * 2**70) + 12345
    (answer,) = expected(truth, value, 70)
    for near in (0, 1, answer, answer + 1, answer + 40):
        assert invert(law, LazyUniform(value, 70, Scripted([])), near) == answer


@dataclass(frozen=True)
class Loose:
    """A coin whose probability is just above what the table leaves to the exact path, and known loosely."""

    ends: tuple[int, ...] = (CUT - 2,)

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        exact = (CUT + 3) << (bits - BITS) if i == 1 else 0
        return exact, exact

    def thresholds(self) -> tuple[Integers, int]:
        return np.array(self.ends, dtype=np.int64), 8


def test_a_threshold_that_may_reach_beyond_the_cut_is_kept() -> None:
    table = Table.of(Loose())
    assert [table.draw(1, Scripted([2 * v]))[0].tolist() for v in (CUT - 1, CUT + 2, CUT + 3, CUT + 50)] == [
        [1],
        [1],
        [0],
        [0],
    ]


@pytest.mark.parametrize("ends", [(), (2**40, 2**50)])
def test_tables_that_end_too_early_or_rise_are_refused(ends: tuple[int, ...]) -> None:
    with pytest.raises(InternalError, match="end too early or rise"):
        Table.of(Loose(ends))
