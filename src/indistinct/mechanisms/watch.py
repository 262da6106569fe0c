r"""A sparse vector that is running: queries come one at a time or in blocks, and are compared with a noisy threshold.

The comparison value + noise >= threshold + the threshold's noise is that of real numbers (`indistinct.noise`): floats
with proven errors decide, and where they cannot, the two noises are refined until they are told apart. Noises are drawn
ahead, in blocks of the `_SIZES`, and each is used for one query: whether queries come one at a time or in
blocks, the same bits give the same answers.

Whoever could copy a running watch, or run it in two processes, could ask the same noise twice, or more than the cutoff
allows. So it is bound to the process that began it, can be neither copied nor stored, and is locked while it answers.
An answer that fails on the way, as its source of bits did or someone interrupted it, may be told by that, and the
noises that it met would meet others: from then on the watch answers nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction
from os import getpid
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.selecting import PRIVATE, Said, unshown
from indistinct.noise import BitSource
from indistinct.noise.bits import Words
from indistinct.noise.given import as_given
from indistinct.noise.lazy_real import ROUNDING, LazyReal, sign_of_sum
from indistinct.noise.logarithm import Reals
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.scores import Numbers, differences, exact_number, read_finite
from indistinct.noise.standard import Kind, approximated
from indistinct.numbers import read_number

__all__ = ["Watch", "read_stream"]

_SIZES = (1 << 6, 1 << 10, 1 << 14)
_WINDOW = 1 << 8
_EXACT = 2**53
_OWN = (int, float)


class Watch:
    """A running sparse vector: made by `start`, spent after so many answers above the threshold.

    All of its privacy is charged at the start, however few queries follow. An object belongs to one process.

    >>> from indistinct import Sparse
    >>> watch = Sparse(epsilon=1, cutoff=2).start(threshold=1000)
    >>> watch.ask(10), watch.ask(5000), watch.left, watch.halted
    (False, True, 1, False)
    >>> watch.ask_many([0, 0, 9000, 0, 0])  # up to and including the one that halts
    array([False, False,  True])
    >>> watch.ask(0)
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: the watch must be running, but is halted after 2 answers above. ...
    """

    __slots__ = (
        "_above",
        "_array",
        "_bases",
        "_begun",
        "_blocks",
        "_broken",
        "_cutoff",
        "_errors",
        "_left",
        "_lock",
        "_next",
        "_noises",
        "_process",
        "_radius",
        "_rho",
        "_rho_error",
        "_rho_near",
        "_scale",
        "_sensitivity",
        "_source",
        "_threshold",
        "_threshold_scale",
        "_thresholds",
        "_words",
    )

    def __init__(
        self,
        threshold: object,
        threshold_scale: Fraction,
        query_scale: Fraction,
        cutoff: int,
        sensitivity: Fraction,
        source: BitSource,
    ) -> None:
        self._threshold = None if threshold is None else read_number("threshold", threshold)
        self._bases = _floats_and_integers(self._threshold)
        self._scale: Scale = read_scale("scale", query_scale)
        self._sensitivity = sensitivity
        self._cutoff = self._left = cutoff
        self._source = source
        self._broken = False
        self._lock = Lock()
        self._process = getpid()
        self._threshold_scale: Scale = read_scale("scale", threshold_scale)
        self._thresholds: list[LazyReal] = []
        self._begun = self._next = self._blocks = 0
        self._array: Reals = np.zeros(0)
        self._radius: Reals = np.zeros(0)
        self._words = np.zeros(0, dtype=np.uint64)
        self._noises: list[float] = []
        self._errors: list[float] = []
        self._renew()

    def ask(self, value: Any, threshold: Any = None, *, sensitivity: object = None) -> bool:
        """Whether the value, with noise, is at or above its threshold, with the threshold's noise.

        `threshold`, where it is given, is this query's own; it is public. `sensitivity` is the query's, where it
        is worth saying: a larger one than was declared is refused.
        """
        with self._lock:
            if not self._left or self._broken or getpid() != self._process:
                raise self._refusal()
            if sensitivity is not None:
                self._check(sensitivity)
            if threshold is None:
                bases = self._bases
            else:
                bases = {type(threshold): threshold} if type(threshold) in _OWN else _floats_and_integers(threshold)
            self._broken = True  # until there is an answer
            at = self._next
            try:
                shift = value - bases[type(value)]
                gap = shift + self._noises[at] - self._rho_near
                unsure = self._errors[at] + self._rho_error + abs(shift) * ROUNDING
            except (KeyError, TypeError, OverflowError, IndexError):
                above = self._asked_with_care(value, threshold)
            else:
                # The comparisons are made on every path, so that their time is that of no particular answer.
                is_above, is_below = gap > unsure, gap < -unsure
                above = is_above if is_above is not is_below else self._asked_with_care(value, threshold)
            self._next += 1
            if above:
                self._found()
            self._broken = False
            return above

    def ask_many(self, values: object, thresholds: object = None) -> NDArray[np.bool_]:
        """The answers of a block of queries, up to and including the one that halts; the rest is not asked.

        `thresholds` is one number, or one for each value. All are checked before any is asked.
        """
        numbers, bases = read_stream(values, self._threshold if thresholds is None else thresholds)
        with self._lock:
            if not self._left or self._broken or getpid() != self._process:
                raise self._refusal()
            answers = np.zeros(len(numbers), dtype=np.bool_)
            done = 0
            self._broken = True  # until there are answers
            while done < len(numbers) and self._left:
                if self._next == len(self._array):
                    self._refill()
                part = slice(done, done + len(self._array) - self._next)
                done += self._asked_part(numbers[part], bases[part] if bases.ndim else bases, answers[part])
            self._broken = False
            return answers[:done]

    @property
    def halted(self) -> bool:
        """Whether as many answers were above as may be."""
        return not self._left

    @property
    def left(self) -> int:
        """How many answers may still be above."""
        return self._left

    @property
    def found(self) -> int:
        """How many answers were above."""
        return self._cutoff - self._left

    @property
    def asked(self) -> int:
        """How many queries were answered."""
        return self._begun + self._next - len(self._array)

    def __repr__(self) -> str:
        state = "halted" if self.halted else "broken" if self._broken else "running"
        return f"<{type(self).__name__} {state}: {self.asked} asked, {self.found} of {self._cutoff} above>"

    def __reduce__(self) -> str:
        raise TypeError("a running watch can be neither copied nor stored: its noise is used once")

    def _asked_part(self, values: Numbers, thresholds: Numbers, answers: NDArray[np.bool_]) -> int:
        """Answers as many of the values as come before a halt, at most as many as there are noises; how many."""
        first = self._next
        sums = np.broadcast_to(differences(values, thresholds), len(values))
        radius = np.abs(sums)
        radius *= ROUNDING
        radius += self._radius[first : first + len(values)]
        sums = sums + self._array[first : first + len(values)]
        with np.errstate(invalid="ignore", over="ignore"):
            lower, upper = sums - radius, sums + radius
        at, window = 0, _WINDOW
        while at < len(values):
            # not(upper < ...) rather than upper >= ..., so that what is no number is looked at exactly
            able = ~(upper[at : at + window] < self._rho_near - self._rho_error)
            step = int(able.argmax())
            if not able[step]:
                at += len(able)
                window *= 2
                continue
            at, window = at + step, _WINDOW
            threshold = thresholds[at] if thresholds.ndim else thresholds[()]
            above = bool(lower[at] > self._rho_near + self._rho_error) or self._compared(
                exact_number(_plain(values[at])) - exact_number(_plain(threshold)), first + at
            )
            at += 1
            if above:
                answers[at - 1] = True
                self._next = first + at
                self._found()
                if not self._left:
                    break
        self._next = first + at
        return at

    def _asked_with_care(self, value: object, threshold: object) -> bool:
        """The same for numbers of any kind, and where floats do not decide; refuses what is no number."""
        try:
            exact = self._read(value, threshold)
        except BaseException:
            self._broken = False  # nothing was compared
            raise
        if self._next == len(self._array):
            self._refill()
        at = self._next
        if not self._noises:
            self._noises, self._errors = self._array.tolist(), self._radius.tolist()
        shift = _near(exact)
        gap = shift + self._noises[at] - self._rho_near
        unsure = self._errors[at] + self._rho_error + abs(shift) * ROUNDING
        is_above, is_below = gap > unsure, gap < -unsure
        return is_above if is_above is not is_below else self._compared(exact, at)

    def _read(self, value: object, threshold: object) -> Fraction:
        """How far a value is above its threshold."""
        if threshold is None and self._threshold is None:
            raise InvalidParameter("threshold", threshold, "be given, to start or with each query")
        base = self._threshold if threshold is None else read_number("threshold", threshold)
        return unshown(lambda: read_number("value", value)) - (base or 0)

    def _compared(self, exact: Fraction, at: int) -> bool:
        noise = LazyReal(Kind.LAPLACE, self._scale, int(self._words[at]), self._source)
        return sign_of_sum(exact, (1, noise), (-1, self._rho)) > 0

    def _found(self) -> None:
        self._left -= 1
        if self._left:
            self._renew()

    def _renew(self) -> None:
        """A fresh noise for the threshold."""
        if not self._thresholds:
            words = self._source.words(min(self._left, _SIZES[1]))
            near, error = (part.tolist() for part in _laplace(words, self._threshold_scale))
            drawn = zip(words.tolist(), near, error, strict=True)
            self._thresholds = [
                LazyReal(Kind.LAPLACE, self._threshold_scale, word, self._source, *floats) for word, *floats in drawn
            ]
        self._rho = self._thresholds.pop()
        self._rho_near = self._rho.approximation
        self._rho_error = self._rho.error

    def _refill(self) -> None:
        """Fresh noises for the queries to come; those before are spent."""
        self._words = self._source.words(_SIZES[min(self._blocks, len(_SIZES) - 1)])
        self._array, self._radius = _laplace(self._words, self._scale)
        self._noises, self._errors = [], []
        self._begun += len(self._array)
        self._blocks += 1
        self._next = 0

    def _check(self, sensitivity: object) -> None:
        if read_number("sensitivity", sensitivity) > self._sensitivity:
            raise InvalidParameter(
                "sensitivity",
                sensitivity,
                f"be at most {self._sensitivity}, what this watch was declared for",
                instead="Scale the query down, or start a watch of a larger sensitivity.",
            )

    def _refusal(self) -> InvalidParameter:
        if not self._left:
            return InvalidParameter(
                "the watch",
                Said(f"halted after {self._cutoff} answers above"),
                "be running",
                instead="Start another one, which is charged again.",
            )
        if self._broken:
            return InvalidParameter(
                "the watch",
                Said("broken: an answer failed on its way"),
                "be running",
                instead="Start another one, which is charged again.",
            )
        return InvalidParameter("the watch", Said("of another process"), "be asked by the process that started it")


def read_stream(values: object, thresholds: object) -> tuple[Numbers, Numbers]:
    """A vector of values, and one threshold for all or one for each."""
    if thresholds is None:
        raise InvalidParameter("threshold", thresholds, "be given, to start or with each query")
    vector = as_given("values", values)
    if vector.ndim != 1:
        raise InvalidParameter("values", PRIVATE, "be a vector of numbers")
    numbers = read_finite("values", vector, len(vector))
    if isinstance(thresholds, Fraction | str):
        thresholds = _simplest(read_number("threshold", thresholds))
    return numbers, read_finite("thresholds", thresholds, len(vector))


def _laplace(words: Words, scale: Scale) -> tuple[Reals, Reals]:
    """Noises near those of the words, and by how much they may be off, roundings of sums with them included."""
    noise, error = approximated(Kind.LAPLACE, words)
    noise *= float(scale)
    error *= float(scale) * (1 + ROUNDING)
    error += np.abs(noise) * (2 * ROUNDING)
    return noise, error


def _simplest(number: Fraction) -> object:
    """A number as an int of 64 bits or a float where it is one exactly, so that arrays of them stay fast."""
    if number.denominator == 1 and abs(number) < _EXACT:
        return int(number)
    near = _near(number)
    return near if math.isfinite(near) and Fraction(near) == number else number


def _floats_and_integers(threshold: object) -> dict[type, Any]:
    """The threshold as what can be taken from an int and from a float with a single rounding."""
    if threshold is None:
        return {}
    number = threshold if isinstance(threshold, Fraction) else read_number("threshold", threshold)
    near = _near(number)
    bases: dict[type, Any] = {}
    if number.denominator == 1:
        bases[int] = int(number)
    if math.isfinite(near) and Fraction(near) == number:
        bases[float] = near
    return bases


def _near(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _plain(value: Any) -> object:
    return value.item() if isinstance(value, np.generic | np.ndarray) else value
