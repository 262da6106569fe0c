"""Running streams: the same answers one at a time and in blocks, exact comparisons, and misuse."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from indistinct import MWEM, AboveThreshold, ExponentialMechanism, NoisyMax, NumericSparse, Sparse
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.watch import Watch
from indistinct.noise import SYSTEM, LazyReal
from indistinct.noise.scale import read_scale
from indistinct.noise.standard import Kind
from indistinct.numbers.balls import exact, precision
from tests.noise.sources import RepeatableBits

F = Fraction


@pytest.mark.parametrize("kind", ["int", "float", "mixed"])
@pytest.mark.parametrize("own", [False, True])
def test_blocks_and_single_queries_answer_alike(kind: str, own: bool) -> None:
    """The same bits, over several blocks of noise: all at once, one at a time, and in pieces."""
    values: Any = np.arange(40_000) * 7919 % 100
    thresholds: Any = (np.arange(40_000) * 104729 % 7) + 104 if own else 108
    if kind != "int":
        values = values + 0.25
    if kind == "float":
        thresholds = thresholds + 0.25
    mechanism = Sparse(50, cutoff=50)
    watches = [mechanism.start(None if own else thresholds, source=RepeatableBits(3)) for _ in range(3)]
    whole = watches[0].ask_many(values, thresholds if own else None).tolist()
    single = []
    for at, value in enumerate(values.tolist()):
        single.append(watches[1].ask(value, thresholds[at].item() if own else None))
        if watches[1].halted:
            break
    pieces: list[bool] = []
    while not watches[2].halted and len(pieces) < len(values):
        part = slice(len(pieces), len(pieces) + 777)
        pieces += watches[2].ask_many(values[part], thresholds[part] if own else None).tolist()
    assert whole == single == pieces
    assert sum(whole) == 50
    assert 2000 < len(whole) < 40_000
    assert [(watch.asked, watch.found, watch.left) for watch in watches] == [(len(whole), 50, 0)] * 3


def test_numeric_streams_answer_alike() -> None:
    values = (np.arange(3000) * 7919 % 100).tolist()
    mechanism = NumericSparse(400, cutoff=20)
    one, other = (mechanism.start(170, source=RepeatableBits(4)) for _ in range(2))
    whole = one.ask_many(values)
    assert whole == [other.ask(value) for value in values[: len(whole)]]
    assert sum(answer is not None for answer in whole) == one.found
    assert repr(one).startswith("<NumericWatch")


def test_differences_that_the_first_bits_cannot_tell_are_decided_by_more() -> None:
    """A value that is the threshold's noise less its own, as far as the first word of each can tell."""
    for seed in range(12):
        probe = Watch(0, F(2), F(4), 1, F(1), RepeatableBits(seed))
        probe.ask(-(10**6))
        noise = LazyReal(Kind.LAPLACE, read_scale("scale", 4), int(probe._words[0]), SYSTEM)  # noqa: SLF001
        with precision(300):
            value = exact((probe._rho.ball() - noise.ball()).mid())  # noqa: SLF001
        answers = []
        for ask in (lambda w, v: w.ask(v), lambda w, v: bool(w.ask_many([v])[0])):
            source = RepeatableBits(seed)
            answers.append(ask(Watch(0, F(2), F(4), 1, F(1), source), value))
            assert source._calls == 4  # noqa: SLF001  # a block for each of the two noises, and a word more for each
        assert len(set(answers)) == 1
        for offset, above in ((F(1, 10**12), True), (-F(1, 10**12), False)):
            watch = Watch(0, F(2), F(4), 1, F(1), RepeatableBits(seed))
            assert watch.ask(value + offset) is above
            watch = Watch(0, F(2), F(4), 1, F(1), RepeatableBits(seed))
            assert watch.ask_many([value + offset]).tolist() == [above]


def test_numbers_of_all_kinds_are_compared() -> None:
    watch = AboveThreshold(10**6).start(F(1, 3))
    for value in (0, 0.25, F(1, 4), "0.3", np.float64(0.3), np.int64(0), np.float32(0.25), -(10**400), -1e308):
        assert watch.ask(value) is False
    assert watch.ask(0.99, threshold=1) is False
    assert watch.ask(0.99, threshold="1.5") is False
    assert watch.ask(10**400) is True
    huge = AboveThreshold(10**6).start(10**400)
    assert huge.ask(5) is False
    assert huge.ask_many([1, 10**300]).tolist() == [False, False]
    assert huge.ask(10**400 + 1) is True
    assert Sparse(10**6, 5).start(2**53).ask_many(np.array([2**53 - 1, 2**53 + 1])).tolist() == [False, True]
    assert Sparse(10**6, 5).start("0.1").ask_many([F(1, 11), F(1, 9)]).tolist() == [False, True]


WRONG = [float("nan"), float("inf"), -float("inf"), None, "many", True, [1], 1j]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_is_no_value_is_refused_and_costs_no_noise(wrong: object) -> None:
    for started in (Sparse(1, 2).start(0), NumericSparse(1, 2).start(0)):
        for attempt in range(2):  # before there is noise, and after
            with pytest.raises(InvalidParameter):
                started.ask(wrong)
            assert started.asked == attempt
            started.ask(-(10**6))
        with pytest.raises(InvalidParameter):
            started.ask_many([0, wrong])
        if wrong is not None:
            with pytest.raises(InvalidParameter):
                started.ask(0, wrong)
        assert (started.asked, started.found) == (2, 0)


def test_shapes_must_fit() -> None:
    watch = Sparse(1, 2).start(0)
    for values in (3, [[1, 2]], [[1], [2, 3]], np.zeros((2, 2))):
        with pytest.raises(InvalidParameter, match="values must be a vector"):
            watch.ask_many(values)
    for thresholds in ([1, 2, 3], [[1, 2]], [1, np.nan]):
        with pytest.raises(InvalidParameter, match="thresholds must"):
            watch.ask_many([1, 2], thresholds)
    assert watch.ask_many([]).tolist() == []
    assert watch.asked == 0
    for started in (Sparse(1, 2).start(), NumericSparse(1, 2).start()):
        with pytest.raises(InvalidParameter, match="threshold must be given"):
            started.ask(1)
        with pytest.raises(InvalidParameter, match="threshold must be given"):
            started.ask_many([1])
    for wrong in (np.nan, np.inf, "high", [1]):
        with pytest.raises(InvalidParameter, match="threshold"):
            AboveThreshold(1).start(wrong)


def test_values_that_are_not_whole_need_a_granularity() -> None:
    watch = NumericSparse(1, 2).start(0)
    for attempt in (lambda: watch.ask(0.5), lambda: watch.ask_many([1.0, 0.5]), lambda: watch.ask_many([F(1, 3)])):
        with pytest.raises(InvalidParameter, match="whole number, but is not"):
            attempt()
    assert watch.asked == 0


def test_nothing_is_asked_after_the_halt() -> None:
    watch = AboveThreshold(1).start(0)
    assert watch.ask_many([10**6, 0, 0]).tolist() == [True]
    assert watch.halted
    for ask in (lambda: watch.ask(0), lambda: watch.ask_many([0]), lambda: watch.ask_many([])):
        with pytest.raises(InvalidParameter, match="must be running, but is halted after 1 answers above"):
            ask()
    assert repr(watch) == "<Watch halted: 1 asked, 1 of 1 above>"


def test_a_larger_sensitivity_than_declared_is_refused() -> None:
    watch = Sparse(1, 2, sensitivity=1).start(0)
    assert watch.ask(-(10**6), sensitivity="0.5") is False
    with pytest.raises(InvalidParameter, match="be at most 1, what this watch was declared for"):
        watch.ask(0, sensitivity=2)
    assert watch.asked == 1


def test_a_running_stream_is_not_copied() -> None:
    for watch in (Sparse(1, 2).start(0), NumericSparse(1, 2).start(0)):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="neither copied nor stored"):
                duplicate(watch)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_running_stream_does_not_answer_in_another_process() -> None:
    watch = Sparse(1, 2).start(0)
    watch.ask(-(10**6))
    child = os.fork()
    if not child:
        refused = 0
        for ask in (lambda: watch.ask(0), lambda: watch.ask_many([0])):
            try:
                ask()
            except InvalidParameter:
                refused += 1
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert watch.ask(-(10**6)) is False


class Failing:
    """Bits until they are switched off."""

    def __init__(self, error: type[BaseException]) -> None:
        self._bits = RepeatableBits(1)
        self._error = error
        self.failing = False

    def words(self, count: int) -> Any:
        if self.failing:
            raise self._error
        return self._bits.words(count)


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("mechanism", [Sparse(1, 1100), NumericSparse(1, 1100)], ids=["plain", "numeric"])
def test_a_failed_answer_is_the_last(error: type[BaseException], many: bool, mechanism: Any) -> None:
    """The noise of the threshold that told "above" is never compared again, though there is no fresh one."""
    source = Failing(error)
    watch: Any = mechanism.start(0, source=source)
    inner = getattr(watch, "_watch", watch)
    watch.ask_many([-(10**9)] * 64)  # the next block of noise is of 1024
    watch.ask(-(10**9))
    for _ in range(1023):  # as many fresh thresholds as are drawn at once
        watch.ask(10**9)
    spent = inner._rho  # noqa: SLF001
    watch.ask_many([-(10**9)])
    source.failing = True
    failing: Callable[[Any], object] = watch.ask_many if many else watch.ask
    with pytest.raises(error):
        failing([10**9] if many else 10**9)
    assert inner._rho is spent  # noqa: SLF001
    source.failing = False
    attempts: list[Callable[[], object]] = [lambda: watch.ask(0), lambda: watch.ask_many([0])]
    for ask in attempts:
        with pytest.raises(InvalidParameter, match="must be running, but is broken"):
            ask()
    assert "broken" in repr(watch)


def test_threads_do_not_exceed_the_cutoff() -> None:
    watch = Sparse(1000, 200).start(0)
    above = []

    def ask() -> None:
        try:
            while True:
                above.append(watch.ask(10**6))
        except InvalidParameter:
            pass

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(above) == len(above) == watch.found == 200


def test_errors_do_not_show_private_values() -> None:
    numeric = NumericSparse(1, 2).start(0)
    attempts: list[Callable[[], object]] = [
        lambda: numeric.ask(123456.5),
        lambda: numeric.ask_many([123456.5]),
        lambda: numeric.ask_many([123456, np.nan]),
        lambda: Sparse(1, 2).start(0).ask_many([[123456]]),
        lambda: NoisyMax(1).release([123456, np.nan]),
        lambda: ExponentialMechanism(1).choose("ab", [123456]),
        lambda: MWEM(1, 2).release([123456.5], [[1]], total=3),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidParameter) as caught:
            attempt()
        assert "123456" not in str(caught.value)
        assert "it is private" in str(caught.value)


def test_threads_are_never_given_the_same_noise() -> None:
    watch = NumericSparse(9 * 400, 400).start(0)
    released: list[float] = []

    def ask() -> None:
        try:
            while True:
                answer = watch.ask(10**6)
                assert answer is not None
                released.append(answer - 10**6)
        except InvalidParameter:
            pass

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(released) == sorted(watch._noise)  # noqa: SLF001  # each of them once
