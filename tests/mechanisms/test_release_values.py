"""Values on their way in and out: kinds and shapes are kept, and what cannot be answered is refused before any draw."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct import DiscreteGaussian, Gaussian, Geometric, Laplace, RandomizedResponse, Staircase
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.values import add, array_onto_lattice, onto_lattice
from indistinct.noise import DiscreteGaussian as Sampler
from indistinct.noise import DiscreteLaplace, DiscreteStaircase, RoundedGaussian, RoundedLaplace
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SystemBits

F = Fraction
REAL: dict[str, Any] = {
    "Laplace": Laplace(scale=10),
    "Gaussian": Gaussian(sigma=10),
    "Staircase": Staircase(epsilon="0.1"),
}
WHOLE: dict[str, Any] = {
    "Geometric": Geometric(epsilon="0.1"),
    "DiscreteGaussian": DiscreteGaussian(sigma=10, vector=True),
    "Staircase on integers": Staircase.on_integers(5, epsilon="0.1"),
}
EVERY = REAL | WHOLE
MANY = {name: {"disjoint": True} if "Staircase" in name else {} for name in EVERY}

every = pytest.mark.parametrize("name", EVERY)
real = pytest.mark.parametrize("name", REAL)
whole = pytest.mark.parametrize("name", WHOLE)


@real
def test_real_mechanisms_give_floats(name: str) -> None:
    mechanism, options = REAL[name], MANY[name]
    for value in (3, 3.25, np.float64(3.25), np.float32(3.25), np.int16(3), Fraction(13, 4), 0, -0.0):
        answer = mechanism.release(value)
        assert type(answer) is float
        assert answer % float(mechanism.granularity) == 0
    for shape in ((), (1,), (0,), (2, 3), (4, 0)):
        for kind in (np.float64, np.float32, np.int64, np.uint8):
            answers = mechanism.release(np.ones(shape, dtype=kind), **options)
            assert isinstance(answers, np.ndarray)
            assert (answers.shape, answers.dtype) == (shape, np.dtype(np.float64))
    assert mechanism.release([[1, 2.5], [3, 4]], **options).shape == (2, 2)


@whole
def test_integer_mechanisms_give_integers(name: str) -> None:
    mechanism, options = WHOLE[name], MANY[name]
    for value in (3, 3.0, np.int64(3), np.uint8(3), np.float32(3), Fraction(3), 10**40, -(10**40)):
        answer = mechanism.release(value)
        assert type(answer) is int
        assert abs(answer - int(value)) < 10**6
    for shape in ((), (1,), (0,), (2, 3)):
        for kind in (np.int64, np.int8, np.uint64, np.float64):
            answers = mechanism.release(np.ones(shape, dtype=kind), **options)
            assert isinstance(answers, np.ndarray)
            assert (answers.shape, answers.dtype) == (shape, np.dtype(np.int64))
    assert mechanism.release([1, 2, 3], **options).dtype == np.int64


def test_whole_numbers_on_a_coarse_lattice_stay_whole() -> None:
    mechanism = Laplace(scale=10, granularity=4)
    answer = mechanism.release(9)
    assert type(answer) is int
    assert answer % 4 == 0
    assert type(mechanism.release(9.0)) is float
    answers = mechanism.release([1, 2, 3])
    assert answers.dtype == np.int64
    assert not (answers % 4).any()


@pytest.fixture
def _no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: object) -> Any:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(Ahead, "take", drawn)
    monkeypatch.setattr(SystemBits, "words", drawn)


BAD = {
    "nan": math.nan,
    "infinity": math.inf,
    "-infinity": -math.inf,
    "numpy nan": np.float64("nan"),
    "text": "3",
    "None": None,
    "bool": True,
    "numpy bool": np.True_,
    "complex": 1j,
    "a dict": {1: 2},
    "Decimal": Decimal(3),
    "array with nan": np.array([1.0, math.nan]),
    "array with infinity": [1.0, math.inf],
    "text array": ["1", "2"],
    "bool array": [True, False],
    "complex array": np.array([1j]),
    "object array": np.array([1, 2**70], dtype=object),
    "large list": [2**70, 1],
    "ragged": [[1], [1, 2]],
    "long double": np.array([1], dtype=np.longdouble),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
}


@every
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.usefixtures("_no_noise")
def test_what_is_no_number_is_refused_before_noise_is_drawn(name: str, bad: str) -> None:
    with pytest.raises(InvalidParameter, match="must"):
        EVERY[name].release(BAD[bad], **MANY[name])


@every
@pytest.mark.parametrize("large", [[2**62], np.array([1, -(2**62)]), np.array([2**64 - 1], dtype=np.uint64), [1e300]])
@pytest.mark.usefixtures("_no_noise")
def test_what_could_overflow_is_refused_before_noise_is_drawn(name: str, large: Any) -> None:
    with pytest.raises(InvalidParameter, match="be at most 2"):
        EVERY[name].release(large, **MANY[name])


@real
@pytest.mark.parametrize("large", [2**62, -1e30, 1e308, Fraction(10**30)])
@pytest.mark.usefixtures("_no_noise")
def test_numbers_too_large_for_the_lattice_are_refused(name: str, large: Any) -> None:
    with pytest.raises(InvalidParameter, match="A larger granularity"):
        REAL[name].release(large)


@whole
@pytest.mark.parametrize("broken", [0.5, np.float32(2.5), Fraction(1, 3), [1.0, 2.5], np.array(0.1)])
@pytest.mark.usefixtures("_no_noise")
def test_what_is_not_whole_is_refused_by_integer_mechanisms(name: str, broken: Any) -> None:
    with pytest.raises(InvalidParameter, match="whole"):
        WHOLE[name].release(broken, **MANY[name])


@pytest.mark.parametrize("mechanism", [Staircase(epsilon=1), Staircase.on_integers(2, epsilon=1), DiscreteGaussian()])
@pytest.mark.usefixtures("_no_noise")
def test_several_numbers_need_a_word_where_the_claim_is_about_one(mechanism: Any) -> None:
    for several in ([1, 2], np.zeros((3, 3), int), []):
        with pytest.raises(InvalidParameter, match="disjoint=True"):
            mechanism.release(several)


@pytest.mark.parametrize(
    "mechanism",
    [
        Geometric(epsilon=41),
        Geometric(3, epsilon="1e18"),
        DiscreteGaussian(sigma="0.11"),
        Staircase(epsilon=41),
        RandomizedResponse(41),
    ],
)
def test_an_answer_that_would_be_all_but_exact_is_refused(mechanism: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be at"):
        mechanism.release(1)


@pytest.mark.parametrize("wrong", [3, "1/3", 0, -1, "0.75", math.nan, "x", True])
def test_a_granularity_is_a_power_of_two(wrong: object) -> None:
    for make in (Laplace, Gaussian):
        with pytest.raises(InvalidParameter, match="granularity"):
            make(1, 10, granularity=wrong)
    with pytest.raises(InvalidParameter, match="granularity"):
        Staircase(epsilon=1, granularity=wrong)
    with pytest.raises(InvalidParameter, match="at most the scale of the noise"):
        Laplace(1, 10, granularity=16)


def test_stairs_that_the_lattice_has_no_place_for_are_refused() -> None:
    for gamma in (0, 1, "0.1"):
        with pytest.raises(InvalidParameter, match="a finer granularity"):
            Staircase(epsilon=1, gamma=gamma, granularity="1/2").release(1.0)


def test_no_sum_wraps_and_the_kind_of_array_says_nothing_of_the_noise() -> None:
    """A sum beyond 64 bits becomes the nearest: it is a function of the sum, as the kind of array would not be."""
    values = np.array([2**61, -(2**61)])
    assert add(values, np.array([2**62, -(2**62)]), wide=False).tolist() == [2**61 + 2**62, -(2**61) - 2**62]
    for noise in (np.array([2**63 - 1, 5]), np.array([2**70, 1], dtype=object)):
        narrow, wide = (add(values, noise, wide=each) for each in (False, True))
        assert (narrow.dtype, wide.dtype) == (np.dtype(np.int64), np.dtype(object))
        assert narrow.tolist() == [2**63 - 1, int(noise[1]) - 2**61]
        assert wide.tolist() == [2**61 + int(noise[0]), int(noise[1]) - 2**61]
    small = add(values, np.array([1, 2]), wide=True)
    assert small.dtype == object
    for level, kind in (("1e-15", np.int64), ("1e-17", object)):
        wide = Geometric(epsilon=level).release([2**61, -(2**61)])
        assert (wide.shape, wide.dtype) == ((2,), kind)


@pytest.mark.parametrize(
    "sampler",
    [
        RoundedLaplace,
        RoundedGaussian,
        DiscreteLaplace,
        Sampler,
        lambda scale: DiscreteStaircase(2**30, F(2**30) / scale, 5),
    ],
)
@pytest.mark.parametrize(("scale", "wide"), [(2**24, False), (2**54, False), (2**54 + 2**20, True), (2**60, True)])
def test_samplers_say_beforehand_which_kind_of_array_they_give(sampler: Any, scale: int, wide: bool) -> None:
    noise = sampler(scale)
    assert noise.wide is wide
    assert noise.draws(3).dtype == (object if wide else np.int64)


EXTREMES = [sign * (2**power) + change for power in (0, 1, 2, 10, 53, 60, 61, 62, 63) for sign in (1, -1)
            for change in (-2, -1, 0, 1, 2)]  # fmt: skip


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int32, np.uint32, np.int8, np.uint8])
@pytest.mark.parametrize("exponent", [*range(-3, 8), *range(58, 70), 200])
def test_whole_numbers_of_all_sizes_go_where_each_of_them_goes(kind: Any, exponent: int) -> None:
    for value in [*EXTREMES, 2**64 - 1, 2**64 - 8]:
        if not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
            continue
        for array in (np.array([value, 0], dtype=kind), np.array([value], dtype=kind)):
            try:
                exact = onto_lattice(value, exponent)
            except InvalidParameter:
                with pytest.raises(InvalidParameter, match="be at most 2"):
                    array_onto_lattice(array, exponent)
            else:
                assert exact == math.floor(F(value) / F(2) ** exponent + F(1, 2))
                found = array_onto_lattice(array, exponent)
                assert (found.dtype, int(found[0])) == (np.dtype(np.int64), exact)


def test_answers_on_a_coarse_lattice_do_not_wrap() -> None:
    """Next to the ends of 64 bits: as for single numbers, or the end itself."""
    top = 2**63
    for kind, value in ((np.int64, top - 1), (np.int64, -top), (np.uint64, top), (np.uint64, 2**64 - 1)):
        for _ in range(20):
            answer = int(Laplace(scale=16, granularity=8).release(np.array([value], dtype=kind))[0])
            assert answer % 8 == 0
            assert abs(answer - value) < 16 * 100
    answers = [Laplace(8, 2**56, granularity=8).release(np.array([top - 1]))[0] for _ in range(50)]
    assert min(answers) > top - 100 * 2**56
    assert max(answers) == top - 8
    assert Laplace(scale=2**58, granularity=2).release(np.array([5])).dtype == object
    assert Laplace(scale=16, granularity=8).release([top]).dtype == np.int64


@real
def test_lists_are_read_without_rounding(name: str) -> None:
    """Neighbours in a list with floats stay neighbours: NumPy's float64 of such a list moves them 512 apart."""
    options = MANY[name]
    mechanism: Any = {
        "Laplace": Laplace(scale=64, granularity=1),
        "Gaussian": Gaussian(sigma=64, granularity=1),
        "Staircase": Staircase(epsilon=1, granularity="1/4"),
    }[name]
    steps = Recorded()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("indistinct.mechanisms.answering.add", steps)
        for change in range(-3, 4):
            mechanism.release([2**58 + change, 0.5], **options)
            mechanism.release([[2**58 + change], [F(1, 3)]], **options)
    exponent = mechanism.lattice().granularity
    expected = [(2**58 + change) / exponent for change in range(-3, 4) for _ in range(2)]
    assert steps.first == expected


@whole
def test_whole_numbers_in_a_list_with_floats_are_exact(name: str) -> None:
    steps = Recorded()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("indistinct.mechanisms.answering.add", steps)
        for change in range(4):
            WHOLE[name].release([2**60 + change, 2.0], **MANY[name])
    assert steps.first == [2**60 + change for change in range(4)]


class Recorded:
    """In place of a sum: remembers the values that noise was to be added to."""

    def __init__(self) -> None:
        self.first: list[int] = []

    def __call__(self, values: Any, *_: object, **__: object) -> Any:
        self.first.append(int(values.flat[0]))
        return values


@given(
    value=st.floats(-1e15, 1e15) | st.sampled_from([0.5, 1.5, -0.5, 0.49999999999999994, 4503599627370497.5, 2.0**52]),
    exponent=st.integers(-8, 20),
)
def test_a_value_goes_to_the_nearest_point_halves_upwards(value: float, exponent: int) -> None:
    exact = math.floor(Fraction(value) / Fraction(2) ** exponent + Fraction(1, 2))
    assert onto_lattice(value, exponent) == exact
    assert onto_lattice(Fraction(value), exponent) == exact
    assert array_onto_lattice(np.array([value]), exponent).tolist() == [exact]


@given(value=st.integers(-(2**50), 2**50), exponent=st.integers(-8, 70))
def test_whole_numbers_likewise(value: int, exponent: int) -> None:
    exact = math.floor(Fraction(value) / Fraction(2) ** exponent + Fraction(1, 2))
    assert onto_lattice(value, exponent) == exact
    assert array_onto_lattice(np.array([value]), exponent).tolist() == [exact]


def test_tiny_values_are_next_to_nothing() -> None:
    for value in (5e-324, -5e-324):
        assert onto_lattice(value, 0) == 0
        assert array_onto_lattice(np.array([value]), 0).tolist() == [0]
    assert array_onto_lattice(np.zeros(3, int), -90).tolist() == [0, 0, 0]


@every
def test_mechanisms_are_values(name: str) -> None:
    mechanism = EVERY[name]
    for twin in (copy.copy(mechanism), copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):  # noqa: S301
        assert twin == mechanism
        assert hash(twin) == hash(mechanism)
        assert twin.noise == mechanism.noise
    assert "private" in mechanism._repr_html_() or "zCDP" in mechanism._repr_html_()  # what a notebook calls


@every
def test_no_two_answers_share_noise(name: str) -> None:
    mechanism = EVERY[name]
    wide = type(mechanism)(sigma=2**50) if hasattr(mechanism, "sigma") else None
    mechanism = wide or (type(mechanism)(epsilon=2.0**-50) if "Staircase" not in name else mechanism)
    answers = [mechanism.release(0) for _ in range(300)]
    assert len(set(answers)) > (290 if "Staircase" not in name else 20)
