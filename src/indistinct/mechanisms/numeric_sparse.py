r"""NumericSparse (Dwork and Roth, Algorithm 3): which few of many queries are above a threshold, and their values.

A released value is a whole number of steps of a lattice that does not depend on the data, with discrete Laplace noise
of the same scale: no floating-point noise is released. Values are rounded to the lattice first, halves upwards, which
commutes with shifts by steps: values that differ by at most m steps stay within m steps.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from indistinct.composition.compose import compose
from indistinct.composition.guarantees import ApproximateDP, PureDP
from indistinct.composition.planning.budget import Budget
from indistinct.composition.planning.crossing import Crossing
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InternalError, InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.display import card
from indistinct.mechanisms.level import EPSILON_KNOBS, read_level
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.selecting import PRIVATE, at_least, probability, read_beta, read_distance, unshown
from indistinct.mechanisms.sparse import LARGEST_CUTOFF, read_accounting, read_open_delta
from indistinct.mechanisms.stream import stream_alpha, stream_beta
from indistinct.mechanisms.watch import Watch, read_stream
from indistinct.noise import SYSTEM, BitSource, DiscreteLaplace, Scale
from indistinct.noise.scores import exact_number
from indistinct.numbers import read_number
from indistinct.numbers.balls import ball, bracket_of, precision

__all__ = ["NumericSparse", "NumericWatch"]

_THEOREM = "Dwork and Roth, Theorem 3.28"
_CORRECTED = "Dwork and Roth, Theorem 3.28, with the released values' own noise"
_BITS = 128
_GRANULARITY = 200


@dataclass(frozen=True, slots=True, init=False)
class NumericSparse:
    r"""Sparse, with a noisy value instead of "above"; the `cutoff`-th value is the last.

    It is the composition of Sparse with so many uses of Laplace noise, which share epsilon as in Algorithm 3: 8 to 1
    for delta = 0, sqrt(512) to 1 otherwise, with half of delta for each (Theorem 3.27). Each run costs
    `each_epsilon`, each value `value_epsilon`. With `accounting="optimal"` both are raised in proportion as far as
    optimal composition allows; `saving` tells by how much the noise is smaller.

    Values are released as whole multiples of `granularity`, 1 or another power of two. With the granularity 1 that is
    there by default they must be whole numbers; if one is given, values are rounded to it first.

    >>> from indistinct import NumericSparse
    >>> watch = NumericSparse(epsilon=4, cutoff=2).start(threshold=500)
    >>> watch.ask(3), abs(watch.ask(9000) - 9000) < 500
    (None, True)
    >>> finer = NumericSparse(epsilon=4, cutoff=2, granularity="1/1024")
    >>> abs(finer.release([0.25, 999.75], threshold=500)[1] - 999.75) < 500
    True
    """

    knobs: ClassVar[tuple[Knob, ...]] = EPSILON_KNOBS

    epsilon: Fraction
    cutoff: int
    delta: Fraction
    sensitivity: Fraction
    monotone: bool
    accounting: str
    granularity: Fraction | None

    def __init__(
        self,
        epsilon: object,
        cutoff: object,
        delta: object = 0,
        sensitivity: object = 1,
        *,
        monotone: bool = False,
        accounting: str = "paper",
        granularity: object = None,
    ) -> None:
        object.__setattr__(self, "epsilon", read_level(epsilon))
        object.__setattr__(self, "cutoff", at_least("cutoff", cutoff, 1, LARGEST_CUTOFF))
        object.__setattr__(self, "delta", read_open_delta(delta))
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        object.__setattr__(self, "monotone", bool(monotone))
        object.__setattr__(self, "accounting", read_accounting(accounting))
        object.__setattr__(self, "granularity", None if granularity is None else _power_of_two(granularity))
        if self.delta and self.accounting == "paper":
            _check_paper(self.epsilon, self.delta, self.cutoff)

    @property
    def each_epsilon(self) -> Fraction:
        """What each run of AboveThreshold costs."""
        return self._shares[0]

    @property
    def value_epsilon(self) -> Fraction:
        """What each released value costs."""
        return self._shares[1]

    @property
    def _shares(self) -> tuple[Fraction, Fraction]:
        if not self.delta:
            return 8 * self.epsilon / (9 * self.cutoff), self.epsilon / (9 * self.cutoff)
        shares = _optimal_shares if self.accounting == "optimal" else _paper_shares
        return shares(self.epsilon, self.delta, self.cutoff)

    @property
    def saving(self) -> float:
        """By which share the noise is smaller than the paper's."""
        if not self.delta:
            return 0.0
        return 1 - float(_paper_shares(self.epsilon, self.delta, self.cutoff)[0] / self.each_epsilon)

    @property
    def threshold_scale(self) -> Fraction:
        """Of the Laplace noise on the threshold."""
        return 2 * self.sensitivity / self.each_epsilon

    @property
    def query_scale(self) -> Fraction:
        """Of the Laplace noise on each value that is compared."""
        return self.threshold_scale * (1 if self.monotone else 2)

    @property
    def step(self) -> Fraction:
        """What released values are multiples of."""
        return self.granularity or Fraction(1)

    @property
    def value_scale(self) -> Fraction:
        """Of the discrete Laplace noise on each released value; sensitivities count in whole steps."""
        return self.step * math.ceil(self.sensitivity / self.step) / self.value_epsilon

    @property
    def loss(self) -> PureDP | ApproximateDP:
        """Of the whole stream: charge it when the stream is started."""
        return ApproximateDP(self.epsilon, self.delta) if self.delta else PureDP(self.epsilon)

    @property
    def parts(self) -> Mapping[PureDP, int]:
        """The runs and the values one by one, for `compose`: a finer account than `loss`."""
        return {PureDP(self.each_epsilon): self.cutoff, PureDP(self.value_epsilon): self.cutoff}

    def start(self, threshold: object = None, *, source: BitSource = SYSTEM) -> NumericWatch:
        """A stream of queries; costs `loss`. Without a threshold, each query brings its own."""
        watch = Watch(threshold, self.threshold_scale, self.query_scale, self.cutoff, self.sensitivity, source)
        noise = DiscreteLaplace(Scale(self.value_scale / self.step)).draws(self.cutoff, source)
        return NumericWatch(watch, noise.tolist(), self.granularity, threshold)

    def release(self, values: object, threshold: object, *, source: BitSource = SYSTEM) -> list[int | float | None]:
        """The answers to values that are known already, up to and including the last released; costs `loss`."""
        return self.start(source=source).ask_many(values, threshold)

    def accuracy(self, beta: object, queries: object) -> Accuracy:
        """How far answers are from the truth, except with probability beta (Theorem 3.28).

        Of so many queries, at most `cutoff` less than alpha below the threshold, or above it: every released value is
        within alpha of the true one, every "below" is to a value of at most threshold + alpha, and if fewer than
        `cutoff` of the queries before the last are so near or above, all are answered.

        Half of beta is for the comparisons and half for the values; alpha is the larger of what the two need. The
        theorem names the first alone. That is the larger one for delta = 0; for delta > 0 and few queries it is not,
        as the noise on a value has the scale of sqrt(8) of its units and not of 1. Rounding to the lattice and the
        discrete noise are counted in.

        >>> print(NumericSparse(epsilon=1, cutoff=10).accuracy("0.05", queries=1000))
        the error is at most 1223.31 except with probability 0.05 (Dwork and Roth, Theorem 3.28)
        """
        share, count = read_beta(beta), at_least("queries", queries, 1)
        watching = stream_alpha(share / 2, count, self.cutoff, self.query_scale)
        with precision(_BITS):
            values = bracket_of(
                ball(self.value_scale) * ball(2 * self.cutoff / share).log() + ball(self._rounding)
            ).upper
        return Accuracy(max(watching, values), float(share), _THEOREM if watching >= values else _CORRECTED)

    def failure(self, alpha: object, queries: object) -> Accuracy:
        """How likely an answer is further than alpha from the truth: the same the other way round."""
        distance, count = read_distance(alpha), at_least("queries", queries, 1)
        watching = min(1.0, 2 * stream_beta(distance, count, self.cutoff, self.query_scale))
        with precision(_BITS):
            beyond = max(distance - self._rounding, Fraction(0))
            values = probability(2 * self.cutoff * (-ball(beyond / self.value_scale)).exp()).upper
        return Accuracy(float(distance), max(watching, values), _THEOREM if watching >= values else _CORRECTED)

    @property
    def _rounding(self) -> Fraction:
        """What rounding a value, and noise on a lattice, add: P(|noise| > x + step) is at most e^(-x / scale)."""
        return self.step if self.granularity is None else self.step * 3 / 2

    def _repr_html_(self) -> str:
        return card(
            self,
            {
                "noise on the threshold": f"Laplace of scale {float(self.threshold_scale):.6g}",
                "noise on a value compared": f"Laplace of scale {float(self.query_scale):.6g}",
                "noise on a value released": f"discrete Laplace of scale {float(self.value_scale):.6g}",
                "smaller than the paper's by": f"{100 * self.saving:.3g} %",
                "privacy of the stream": f"epsilon {float(self.epsilon):.6g}, delta {float(self.delta):.6g}",
            },
        )


class NumericWatch:
    """A running NumericSparse: as a `Watch`, with a number for "above" and None for "below".

    It has a lock of its own, from the question to the value: no two threads are given the same noise.
    """

    __slots__ = ("_granularity", "_lock", "_noise", "_threshold", "_watch")

    def __init__(self, watch: Watch, noise: list[int], granularity: Fraction | None, threshold: object) -> None:
        self._lock = Lock()
        self._watch = watch
        self._noise = noise
        self._granularity = granularity
        self._threshold = threshold

    def ask(self, value: Any, threshold: Any = None, *, sensitivity: object = None) -> int | float | None:
        """The value with noise, if the value with another noise is at or above the noisy threshold; else None."""
        steps = self._steps(value)
        with self._lock:
            spent = self._watch.found
            above = self._watch.ask(value, threshold, sensitivity=sensitivity)
        return self._answer(steps, spent) if above else None

    def ask_many(self, values: object, thresholds: object = None) -> list[int | float | None]:
        """The answers of a block of queries, up to and including the one that halts; the rest is not asked."""
        numbers, _ = read_stream(values, self._threshold if thresholds is None else thresholds)
        if self._granularity is None:
            self._check_whole(numbers)
        answers: list[int | float | None] = []
        with self._lock:
            spent = self._watch.found
            found = self._watch.ask_many(numbers, thresholds).tolist()
        for above, value in zip(found, numbers.tolist(), strict=False):
            answers.append(self._answer(self._steps(value), spent) if above else None)
            spent += above
        return answers

    @property
    def halted(self) -> bool:
        """Whether all values that may be released were."""
        return self._watch.halted

    @property
    def left(self) -> int:
        """How many values may still be released."""
        return self._watch.left

    @property
    def found(self) -> int:
        """How many values were released."""
        return self._watch.found

    @property
    def asked(self) -> int:
        """How many queries were answered."""
        return self._watch.asked

    def __repr__(self) -> str:
        return repr(self._watch).replace("Watch", type(self).__name__, 1)

    def __reduce__(self) -> str:
        raise TypeError("a running watch can be neither copied nor stored: its noise is used once")

    def _steps(self, value: object) -> int:
        number = unshown(lambda: read_number("value", value))
        if self._granularity is None:
            if number.denominator != 1:
                raise _not_whole()
            return int(number)
        return math.floor(number / self._granularity + Fraction(1, 2))

    def _answer(self, steps: int, spent: int) -> int | float:
        noisy = (steps + self._noise[spent]) * (self._granularity or 1)
        if isinstance(noisy, int) or noisy.denominator == 1:
            return int(noisy)
        return float(min(max(noisy, -_LARGEST_FLOAT), _LARGEST_FLOAT))

    def _check_whole(self, numbers: Any) -> None:
        if numbers.dtype == np.float64:
            whole = bool((np.floor(numbers) == numbers).all())
        else:
            whole = numbers.dtype != object or all(exact_number(value).denominator == 1 for value in numbers.tolist())
        if not whole:
            raise _not_whole()


_LARGEST_FLOAT = Fraction(sys.float_info.max)


def _not_whole() -> InvalidParameter:
    return InvalidParameter(
        "value", PRIVATE, "be a whole number", instead="For other values give a granularity, such as 1/1024."
    )


def _power_of_two(granularity: object) -> Fraction:
    number = read_number("granularity", granularity)
    whole = number if number >= 1 else 1 / number if number > 0 else Fraction(0)
    if whole.denominator != 1 or int(whole).bit_count() != 1 or not whole <= 2**_GRANULARITY:
        raise InvalidParameter("granularity", granularity, "be a power of two, such as 1/1024")
    return number


@lru_cache(maxsize=256)
def _paper_shares(epsilon: Fraction, delta: Fraction, cutoff: int) -> tuple[Fraction, Fraction]:
    """What each run and each value cost by Algorithm 3, rounded down."""
    with precision(_BITS):
        root = ball(512).sqrt()
        unit = ball(epsilon) / (root + 1) / (8 * cutoff * ball(2 / delta).log()).sqrt()
        return Fraction(bracket_of(root * unit).lower), Fraction(bracket_of(unit).lower)


@lru_cache(maxsize=256)
def _check_paper(epsilon: Fraction, delta: Fraction, cutoff: int) -> None:
    shares = _paper_shares(epsilon, delta, cutoff)
    together = {PureDP(share): cutoff for share in shares}
    if cutoff * sum(shares) > epsilon and not compose(together).delta(epsilon).upper <= delta:
        raise InvalidParameter(
            "epsilon",
            float(epsilon),
            "be smaller for the paper's noise: beyond, its advanced composition does not hold",
            instead='accounting="optimal" finds the noise for any epsilon and delta.',
        )


@lru_cache(maxsize=256)
def _optimal_shares(epsilon: Fraction, delta: Fraction, cutoff: int) -> tuple[Fraction, Fraction]:
    """The paper's shares, raised in proportion as far as optimal composition allows, certified."""
    watching, value = _paper_shares(epsilon, delta, cutoff)
    crossing = Crossing(
        lambda factor: [(PureDP(watching * factor), cutoff), (PureDP(value * factor), cutoff)],
        Budget.of(epsilon, delta),
        quiets=False,
        least=Fraction(1, 10**6),
        most=Fraction(10**6),
    )
    found = crossing.find(2.0)
    if found is None:
        raise InternalError("no noise is enough for a sparse vector")
    factor = max(found.enough, epsilon / (cutoff * (watching + value)))
    return watching * factor, value * factor
