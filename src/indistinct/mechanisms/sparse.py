"""Sparse (Dwork and Roth, Algorithm 2): which few of many queries are above a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.compose import compose
from indistinct.composition.guarantees import ApproximateDP, PureDP
from indistinct.composition.planning.calibration import least_noise
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.display import card
from indistinct.mechanisms.level import EPSILON_KNOBS, read_level
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.selecting import at_least, read_beta, read_distance
from indistinct.mechanisms.stream import exact_alpha, exact_failure, stream_alpha, stream_beta
from indistinct.mechanisms.watch import Watch
from indistinct.noise import SYSTEM, BitSource
from indistinct.numbers import read_delta
from indistinct.numbers.balls import ball, bracket_of, precision

__all__ = ["LARGEST_CUTOFF", "Sparse", "read_accounting", "read_open_delta"]

LARGEST_CUTOFF = 10**6
_THEOREM = "Dwork and Roth, Theorem 3.26"
_ACCOUNTINGS = ("paper", "optimal")
_BITS = 128


@dataclass(frozen=True, slots=True, init=False)
class Sparse:
    r"""Queries, as many as you like, are answered "below" or "above"; the `cutoff`-th that is "above" is the last.

    It is AboveThreshold, begun anew after each answer "above" with fresh noise on the threshold: `cutoff` runs of
    `each_epsilon`, whose composition is (epsilon, delta)-private (Theorem 3.25). What each run may cost:

    - delta = 0: epsilon / cutoff;
    - delta > 0, `accounting="paper"`: epsilon / sqrt(8 cutoff ln(1/delta)), by advanced composition. That this is
      (epsilon, delta)-private is checked by optimal composition, and refused where it is not (for very large epsilon,
      or delta near 1);
    - delta > 0, `accounting="optimal"`: the most that optimal composition allows, always more. `saving` tells by how
      much the noise is smaller.

    `sensitivity` bounds what one person changes in any query; for `monotone` see `AboveThreshold`.

    >>> from indistinct import Sparse
    >>> alarms = Sparse(epsilon=1, cutoff=10, delta="1e-6", accounting="optimal")
    >>> print(f"{alarms.saving:.3f}")
    0.6...
    >>> alarms.release([0, 9000, 1, 2, 8000], threshold=4000)
    array([False,  True, False, False,  True])
    """

    knobs: ClassVar[tuple[Knob, ...]] = EPSILON_KNOBS

    epsilon: Fraction
    cutoff: int
    delta: Fraction
    sensitivity: Fraction
    monotone: bool
    accounting: str

    def __init__(
        self,
        epsilon: object,
        cutoff: object,
        delta: object = 0,
        sensitivity: object = 1,
        *,
        monotone: bool = False,
        accounting: str = "paper",
    ) -> None:
        object.__setattr__(self, "epsilon", read_level(epsilon))
        object.__setattr__(self, "cutoff", at_least("cutoff", cutoff, 1, LARGEST_CUTOFF))
        object.__setattr__(self, "delta", read_open_delta(delta))
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        object.__setattr__(self, "monotone", bool(monotone))
        object.__setattr__(self, "accounting", read_accounting(accounting))
        if self.delta and self.accounting == "paper":
            _check_paper(self.epsilon, self.delta, self.cutoff)

    @property
    def each_epsilon(self) -> Fraction:
        """What each run of AboveThreshold costs."""
        if not self.delta:
            return self.epsilon / self.cutoff
        share = _optimal_share if self.accounting == "optimal" else _paper_share
        return share(self.epsilon, self.delta, self.cutoff)

    @property
    def saving(self) -> float:
        """By which share the noise is smaller than the paper's."""
        if not self.delta:
            return 0.0
        return 1 - float(_paper_share(self.epsilon, self.delta, self.cutoff) / self.each_epsilon)

    @property
    def threshold_scale(self) -> Fraction:
        """Of the Laplace noise on the threshold, Dwork and Roth's sigma."""
        return 2 * self.sensitivity / self.each_epsilon

    @property
    def query_scale(self) -> Fraction:
        """Of the Laplace noise on each value."""
        return self.threshold_scale * (1 if self.monotone else 2)

    @property
    def loss(self) -> PureDP | ApproximateDP:
        """Of the whole stream: charge it when the stream is started."""
        return ApproximateDP(self.epsilon, self.delta) if self.delta else PureDP(self.epsilon)

    @property
    def parts(self) -> Mapping[PureDP, int]:
        """The runs one by one, for `compose`: a finer account than `loss`."""
        return {PureDP(self.each_epsilon): self.cutoff}

    def start(self, threshold: object = None, *, source: BitSource = SYSTEM) -> Watch:
        """A stream of queries; costs `loss`. Without a threshold, each query brings its own."""
        return Watch(threshold, self.threshold_scale, self.query_scale, self.cutoff, self.sensitivity, source)

    def release(self, values: object, threshold: object, *, source: BitSource = SYSTEM) -> NDArray[np.bool_]:
        """The answers to values that are known already, up to and including the one that halts; costs `loss`."""
        return self.start(source=source).ask_many(values, threshold)

    def accuracy(self, beta: object, queries: object) -> Accuracy:
        """How far answers are from the truth, except with probability beta (Theorem 3.26).

        Of so many queries, at most `cutoff` less than alpha below the threshold, or above it: every answer "above"
        is to a value of at least threshold - alpha, every "below" to one of at most threshold + alpha, and if fewer
        than `cutoff` of the queries before the last are so near or above, all are answered. (The theorem promises this
        last for `cutoff` of them as well, where it does not hold: the algorithm halts there.) `exact`, known for
        `cutoff` 1, is the least alpha for which that holds whatever the values are.

        >>> print(Sparse(epsilon=1, cutoff=10).accuracy("0.05", queries=1000))
        the error is at most 1031.94 except with probability 0.05 (Dwork and Roth, Theorem 3.26)
        """
        share, count = read_beta(beta), at_least("queries", queries, 1)
        alpha = stream_alpha(share, count, self.cutoff, self.query_scale)
        ratio = self.query_scale / self.threshold_scale
        exact = exact_alpha(share, count, self.query_scale, ratio) if self.cutoff == 1 else None
        return Accuracy(alpha, float(share), _THEOREM, exact)

    def failure(self, alpha: object, queries: object) -> Accuracy:
        """How likely an answer is further than alpha from the truth: the theorem the other way round."""
        distance, count = read_distance(alpha), at_least("queries", queries, 1)
        beta = stream_beta(distance, count, self.cutoff, self.query_scale)
        ratio = self.query_scale / self.threshold_scale
        exact = exact_failure(distance, count, self.query_scale, ratio) if self.cutoff == 1 else None
        return Accuracy(float(distance), beta, _THEOREM, exact)

    def _repr_html_(self) -> str:
        return card(
            self,
            {
                "noise on the threshold": f"Laplace of scale {float(self.threshold_scale):.6g}",
                "noise on a value": f"Laplace of scale {float(self.query_scale):.6g}",
                "smaller than the paper's by": f"{100 * self.saving:.3g} %",
                "privacy of the stream": f"epsilon {float(self.epsilon):.6g}, delta {float(self.delta):.6g}",
                "within, of 1,000 queries": f"{self.accuracy('0.05', queries=1000).alpha:.6g} with probability 0.95",
            },
        )


def read_open_delta(delta: object) -> Fraction:
    """A delta below 1."""
    share = read_delta("delta", delta)
    if share == 1:
        raise InvalidParameter("delta", delta, "be below 1")
    return share


def read_accounting(accounting: object) -> str:
    """How what each run may cost is found."""
    if not isinstance(accounting, str) or accounting not in _ACCOUNTINGS:
        raise InvalidParameter("accounting", accounting, f"be one of {', '.join(map(repr, _ACCOUNTINGS))}")
    return accounting


@lru_cache(maxsize=256)
def _paper_share(epsilon: Fraction, delta: Fraction, cutoff: int) -> Fraction:
    """epsilon / sqrt(8 cutoff ln(1/delta)), rounded down."""
    with precision(_BITS):
        return Fraction(bracket_of(ball(epsilon) / (-8 * cutoff * ball(delta).log()).sqrt()).lower)


@lru_cache(maxsize=256)
def _check_paper(epsilon: Fraction, delta: Fraction, cutoff: int) -> None:
    share = _paper_share(epsilon, delta, cutoff)
    if cutoff * share > epsilon and not compose({PureDP(share): cutoff}).delta(epsilon).upper <= delta:
        raise InvalidParameter(
            "epsilon",
            float(epsilon),
            "be smaller for the paper's noise: beyond, its advanced composition does not hold",
            instead='accounting="optimal" finds the noise for any epsilon and delta.',
        )


@lru_cache(maxsize=256)
def _optimal_share(epsilon: Fraction, delta: Fraction, cutoff: int) -> Fraction:
    """The most that each of the runs may cost, certified."""
    found = least_noise(PureDP, epsilon=epsilon, delta=delta, times=cutoff)
    return max(found.value, epsilon / cutoff)
