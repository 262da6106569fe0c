"""AboveThreshold (Dwork and Roth, Algorithm 1): how long a stream of queries stays below a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.guarantees import PureDP
from indistinct.composition.planning.knob import Knob
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.display import card
from indistinct.mechanisms.level import EPSILON_KNOBS, read_level
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.selecting import at_least, read_beta, read_distance
from indistinct.mechanisms.stream import exact_alpha, exact_failure, stream_alpha, stream_beta
from indistinct.mechanisms.watch import Watch
from indistinct.noise import SYSTEM, BitSource

__all__ = ["AboveThreshold"]

_THEOREM = "Dwork and Roth, Theorem 3.24"


@dataclass(frozen=True, slots=True, init=False)
class AboveThreshold:
    r"""Queries, as many as you like, are answered "below"; the first that is "above" is the last.

    Each value gets Laplace noise of scale 4 sensitivity / epsilon, the threshold one of 2 sensitivity / epsilon, and
    what is told is which is larger. It is epsilon-private for analysts who choose every query from the answers before
    (Theorem 3.23), however many there are. `sensitivity` bounds what one person changes in any query.

    With `monotone=True`, for queries that a further person can only raise, all of them, or only lower, all of them,
    the values' noise is half as large. Proof, for the larger and the smaller database of the two: from the larger to
    the smaller, all values before the last fall, and to keep the answers it is enough to raise the last noise by the
    sensitivity; the other way round, the threshold's noise and the last noise are raised by it; in all
    e^(epsilon/2 + epsilon/2) either way (Lyu, Su and Li 2017).

    >>> from indistinct import AboveThreshold
    >>> watch = AboveThreshold(epsilon=1).start(threshold=1000)
    >>> [watch.ask(value) for value in (3, 14, 8000)]
    [False, False, True]
    >>> watch.halted
    True
    """

    knobs: ClassVar[tuple[Knob, ...]] = EPSILON_KNOBS

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, epsilon: object, sensitivity: object = 1, *, monotone: bool = False) -> None:
        object.__setattr__(self, "epsilon", read_level(epsilon))
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        object.__setattr__(self, "monotone", bool(monotone))

    @property
    def threshold_scale(self) -> Fraction:
        """Of the Laplace noise on the threshold."""
        return 2 * self.sensitivity / self.epsilon

    @property
    def query_scale(self) -> Fraction:
        """Of the Laplace noise on each value."""
        return self.threshold_scale * (1 if self.monotone else 2)

    @property
    def loss(self) -> PureDP:
        """A black box of epsilon, for the whole stream: charge it when the stream is started."""
        return PureDP(self.epsilon)

    def start(self, threshold: object = None, *, source: BitSource = SYSTEM) -> Watch:
        """A stream of queries; costs `loss`. Without a threshold, each query brings its own."""
        return Watch(threshold, self.threshold_scale, self.query_scale, 1, self.sensitivity, source)

    def release(self, values: object, threshold: object, *, source: BitSource = SYSTEM) -> NDArray[np.bool_]:
        """The answers to values that are known already, up to and including the first above; costs `loss`."""
        return self.start(source=source).ask_many(values, threshold)

    def accuracy(self, beta: object, queries: object) -> Accuracy:
        """How far answers are from the truth, except with probability beta (Theorem 3.24).

        Of so many queries, all but the last alpha or more below the threshold: none of these is answered "above",
        and the last is if it is above by more than alpha, and is not if it is below by more than alpha. `exact` is
        the least alpha for which that holds whatever the values are.

        >>> print(AboveThreshold(epsilon=1).accuracy("0.05", queries=1000))
        the error is at most 84.7731 ... (Dwork and Roth, Theorem 3.24; exactly 37.7186)
        """
        share, count = read_beta(beta), at_least("queries", queries, 1)
        alpha = stream_alpha(share, count, 1, self.query_scale)
        exact = exact_alpha(share, count, self.query_scale, self.query_scale / self.threshold_scale)
        return Accuracy(alpha, float(share), _THEOREM, exact)

    def failure(self, alpha: object, queries: object) -> Accuracy:
        """How likely an answer is further than alpha from the truth: the theorem the other way round."""
        distance, count = read_distance(alpha), at_least("queries", queries, 1)
        beta = stream_beta(distance, count, 1, self.query_scale)
        exact = exact_failure(distance, count, self.query_scale, self.query_scale / self.threshold_scale)
        return Accuracy(float(distance), beta, _THEOREM, exact)

    def _repr_html_(self) -> str:
        return card(
            self,
            {
                "noise on the threshold": f"Laplace of scale {float(self.threshold_scale):.6g}",
                "noise on a value": f"Laplace of scale {float(self.query_scale):.6g}",
                "privacy of the stream": f"epsilon {float(self.epsilon):.6g}",
                "within, of 1,000 queries": f"{self.accuracy('0.05', queries=1000).alpha:.6g} with probability 0.95",
            },
        )
