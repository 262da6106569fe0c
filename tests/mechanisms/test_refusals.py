"""What is refused: with a sentence, before noise is drawn, and without a private value in it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from indistinct import (
    AboveThreshold,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    NumericSparse,
    PermuteAndFlip,
    RandomizedResponse,
    Sparse,
    Staircase,
)
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.counting import histogram, linear
from indistinct.mechanisms.sketches.graph import read_graph
from indistinct.noise import LazyNoise
from indistinct.noise.bits import SYSTEM
from indistinct.noise.standard import Kind
from indistinct.noise.winners import winners

F = Fraction
SECRET = 123457

ADDITIVE: list[Any] = [
    Laplace(1, 1),
    Gaussian(1, 1),
    Staircase(epsilon=1),
    Geometric(epsilon=1),
    DiscreteGaussian(1, 1, vector=True),
    Staircase.on_integers(2, epsilon=1),
]
CHOOSING: list[Any] = [ExponentialMechanism(1), PermuteAndFlip(1), NoisyMax(1), NoisyMax(1, k=2, noise="gumbel")]
STREAMS: list[Any] = [AboveThreshold(1), Sparse(1, 2), NumericSparse(1, 2)]

PRIVATE: dict[str, Any] = {
    "ragged": [[SECRET, 2], [3]],
    "text": [str(SECRET)],
    "longer text": [f"some{SECRET}"],
    "text and numbers": [1, str(SECRET)],
    "not a number": [SECRET, math.nan],
    "infinite": [SECRET, math.inf],
    "true": [True, F(SECRET)],
    "false": [False, F(SECRET)],
    "a dict": [{SECRET: 1}],
    "masked": np.ma.masked_array([SECRET, 1], [False, True]),
    "masked rows": [np.ma.masked_array([SECRET, 1], [False, True])],
    "complex": [complex(SECRET)],
    "cells": [[[SECRET], 2]],
}


class NoBits:
    """A source that nobody may use."""

    def words(self, _: int) -> Any:
        raise AssertionError("bits were drawn")


@pytest.mark.parametrize("given", PRIVATE)
def test_no_message_shows_what_is_private(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = PRIVATE[given]
    attempts: list[Callable[[], object]] = []
    lazy = LazyNoise.laplace(2)
    for mechanism in ADDITIVE:
        options = {"disjoint": True} if isinstance(mechanism, Staircase) else {}
        attempts += [lambda m=mechanism, o=options: m.release(values, **o)]  # type: ignore[misc]
    for mechanism in CHOOSING:
        attempts += [lambda m=mechanism: m.release(values, source=NoBits())]  # type: ignore[misc]
    attempts += [
        lambda: ExponentialMechanism(1).choose("abc"[: len(values)], values, source=NoBits()),
        lambda: winners(Kind.GUMBEL, values, 1),
        lambda: lazy.argmax(values),
        lambda: lazy.exceeds(values, 0),
        lambda: RandomizedResponse(1, 3).release(values),
    ]
    started = [mechanism.start(0) for mechanism in STREAMS]
    attempts += [lambda w=watch: w.ask_many(values) for watch in started]  # type: ignore[misc]
    monkeypatch.setattr(type(SYSTEM), "words", NoBits.words)
    for attempt in attempts:
        with pytest.raises(InvalidParameter) as caught:
            attempt()
        seen: BaseException | None = caught.value
        while seen is not None:
            for text in (str(seen), *map(repr, seen.args), repr(getattr(seen, "value", ""))):
                assert str(SECRET) not in text
                assert "<U" not in text
            seen = seen.__context__
    assert [watch.asked for watch in started] == [0] * len(started)


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=repr)
def test_single_values_are_not_shown(mechanism: Any) -> None:
    values: list[Any] = [str(SECRET), [SECRET, None], {SECRET}]
    values += [F(SECRET, 10**30) if mechanism in ADDITIVE[3:] else 1e300, *[-1e300] * (mechanism in ADDITIVE[:3])]
    for value in values:
        with pytest.raises(InvalidParameter) as caught:
            mechanism.release(value)
        assert str(SECRET) not in str(caught.value)
    for infinite in (math.nan, math.inf, -math.inf, np.float32("nan")):
        with pytest.raises(InvalidParameter, match="be finite, but is not-a-number or infinite"):
            mechanism.release(infinite)


def test_messages_are_those_of_the_types() -> None:
    """Not of whether it was True or False, nor of how long a text is."""
    for wrong in ([[True, F(1, 2)], [False, F(1, 2)]], [["a", "b"], ["a", "much longer"]]):
        for mechanism in (*CHOOSING, Laplace(1, 1), Geometric(epsilon=1)):
            messages = set()
            for values in wrong:
                with pytest.raises(InvalidParameter) as caught:
                    mechanism.release(values)
                messages.add(str(caught.value))
            assert len(messages) == 1


def test_candidates_are_in_an_order() -> None:
    for mechanism in CHOOSING[:3]:
        for wrong in ({"a", "b"}, iter("ab"), {0: "a", 1: "b"}, 7):
            with pytest.raises(InvalidParameter, match="candidates must be in an order"):
                mechanism.choose(wrong, [1, 2])
        for scores in ({1, 2}, iter([1, 2])):
            with pytest.raises(InvalidParameter, match="utility must be"):
                mechanism.choose("ab", scores)
        assert mechanism.choose(np.array(["a", "b"]), [10**6, 0]) == "a"


def test_records_and_weights() -> None:
    with pytest.raises(InvalidParameter, match="every record must be a value") as caught:
        histogram([[SECRET]], ["a"], Laplace(1, 1))  # type: ignore[list-item]
    assert str(SECRET) not in str(caught.value)
    with pytest.raises(InvalidParameter, match="every weight must be a number"):
        linear([1], lambda _: "half", Laplace(1, 1))  # type: ignore[arg-type,return-value]


def test_a_value_that_no_float_holds_is_released_as_the_largest() -> None:
    for sign in (1, -1):
        watch = NumericSparse(100, 3, granularity="1/1024").start(-(10**500))
        watch._noise[:] = [1, 1, 1]  # noqa: SLF001
        assert watch.ask(sign * 10**400) == sign * sys.float_info.max
        assert watch.ask_many([sign * 10**400, sign * F(10**400, 3)]) == [sign * sys.float_info.max] * 2


def test_numeric_streams_take_a_threshold_for_each_value() -> None:
    assert NumericSparse(10**6, 2).release([1000, 2000, 3000], [5000, 1000, 9000]) == [None, 2000, None]
    with pytest.raises(InvalidParameter, match="thresholds must"):
        NumericSparse(1, 2).release([1, 2], [1, 2, 3])


def test_intervals_do_not_wrap() -> None:
    mechanism: Any = Geometric(epsilon=1)
    top = 2**63 - 1
    for kind, value in (
        (np.int64, top),
        (np.int64, -top - 1),
        (np.uint64, 2**64 - 1),
        (np.uint8, 255),
        (object, 2**80),
    ):
        lower, upper = mechanism.interval(np.array([value], dtype=kind))
        expected = mechanism.interval(value)
        assert (int(lower[0]), int(upper[0])) == expected
        assert lower.shape == upper.shape == (1,)
    assert mechanism.interval(np.array([1, 2], dtype=np.int8))[0].dtype == np.int64


@pytest.mark.parametrize(
    "mechanism",
    [Geometric(epsilon="1e-17"), Laplace(scale=10**17, granularity=1), DiscreteGaussian(1, 10**17, vector=True)],
)
def test_intervals_take_what_wide_noise_gave(mechanism: Any) -> None:
    answers = mechanism.release(np.full((2, 3), 7))
    assert answers.dtype == object
    lower, upper = mechanism.interval(answers, "0.999999999999")
    assert lower.shape == (2, 3)
    assert (lower <= 7).all()
    assert (upper >= 7).all()


@pytest.mark.parametrize("mechanism", [*ADDITIVE, RandomizedResponse(1)], ids=repr)
def test_intervals_are_of_numbers(mechanism: Any) -> None:
    for wrong in ("x", None, ["x"], [[1], [2, 3]]):
        with pytest.raises(InvalidParameter):
            mechanism.interval(wrong)


@pytest.mark.parametrize("mechanism", [*CHOOSING, *STREAMS[:2]], ids=repr)
def test_accuracy_reaches_down_to_its_least_beta(mechanism: Any) -> None:
    """By position as by name; where the working precision was too small, it never ended."""
    name = "queries" if mechanism in STREAMS else "candidates"
    for beta in ("1e-37", "1e-100"):
        found = mechanism.accuracy(beta, 3)
        assert found == mechanism.accuracy(beta, **{name: 3})
        assert 0 < found.alpha < math.inf
        if found.exact is not None:
            assert found.exact.lower <= found.alpha
            assert found.exact.relative_width < 1e-6
    for wrong in ("1e-301", "1e-1000", 0, 1):
        with pytest.raises(InvalidParameter, match="beta must lie"):
            mechanism.accuracy(wrong, 3)


def test_nodes_of_a_graph_are_not_shown() -> None:
    for wrong in ([0, SECRET], [0, -SECRET], [0.5, 1.0], [f"{SECRET}", "a"]):
        with pytest.raises(InvalidParameter, match=r"be nodes from 0 to 9|be a list of whole numbers") as caught:
            read_graph((wrong, [1, 2]), 10)
        assert str(SECRET) not in str(caught.value)
        assert "str" not in str(caught.value)
