"""Two-sided geometric noise, the discrete Laplace (KOV, section 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from indistinct.composition.guarantees import PureDP
from indistinct.composition.losses import AtomsLoss, PrivacyLoss
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.planning.formulas import pure_levels
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.answering import MOST_REVEALING, on_whole_numbers, size_of
from indistinct.mechanisms.display import card
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.quantiles import log_share
from indistinct.mechanisms.sizes import Bound, Ends, WholeSizes, around
from indistinct.noise import DiscreteLaplace, Scale
from indistinct.noise.decay import LaplaceLaw
from indistinct.numbers import read_count

__all__ = ["Geometric"]

_LARGEST_SENSITIVITY = 10_000


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """Noise of law proportional to `e^(-epsilon |x| / sensitivity)` on a whole number, or a vector of them.

    The sensitivity of a vector is an l1 sensitivity: spread over several coordinates, it tells no more than in one, as
    laws of this shape lose nothing by group privacy.

    For a count (sensitivity 1) it is optimal under composition: its loss is that of randomised response, the
    largest that epsilon-privacy allows (KOV, Theorem 4.4).

    >>> from indistinct import Geometric, PureDP, compose
    >>> compose({Geometric(epsilon="0.1"): 30}).delta(1) == compose({PureDP("0.1"): 30}).delta(1)
    True
    >>> count = Geometric(epsilon="0.1")
    >>> type(count.release(4711)), count.release([0, 12]).dtype
    (<class 'int'>, dtype('int64'))
    >>> print(count.accuracy("0.05"))
    the error is at most 30.4448 except with probability 0.05 (the law's own tail, summed over the answers; exactly 30)
    """

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob(
            "epsilon",
            quiets=False,
            because="geometric noise of a smaller epsilon is that of a larger one with independent noise added",
            formulas=pure_levels,
            at_deviation=lambda deviation, sensitivity: 2 * sensitivity * math.asinh(1 / (math.sqrt(2) * deviation)),
        ),
    )

    sensitivity: int
    epsilon: Fraction

    def __init__(self, sensitivity: object = 1, *, epsilon: object) -> None:
        width = read_count("sensitivity", sensitivity, least=1)
        if width > _LARGEST_SENSITIVITY:
            raise InvalidParameter("sensitivity", sensitivity, f"be at most {_LARGEST_SENSITIVITY} for geometric noise")
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "epsilon", read_positive("epsilon", epsilon))

    @property
    def variance(self) -> float:
        """The variance of the noise: `2 a / (1 - a)^2` with a = e^(-epsilon / sensitivity)."""
        return 0.5 / math.sinh(float(self.epsilon) / (2 * self.sensitivity)) ** 2

    @property
    def loss(self) -> PureDP | PrivacyLoss:
        """Randomised response for a count; else one value for each place between the two databases' answers."""
        if self.sensitivity == 1:
            return PureDP(self.epsilon)
        width, level = self.sensitivity, float(self.epsilon)
        step = float(self.epsilon / width)
        # By logs: what one law makes all but impossible may be most of the other.
        end, unit = -math.log1p(math.exp(-step)), math.log(math.tanh(step / 2))
        inner = [(level * (width - 2 * x) / width, unit - step * x) for x in range(1, width)]
        losses, logs = zip((level, end), *inner, (-level, end - level), strict=True)
        lattice = LossLattice(2 * self.epsilon / width, self.epsilon)
        law = AtomsLoss(np.array(losses), np.array(logs), lattice=lattice, balanced=True)
        return PrivacyLoss.symmetric(law, keeps=(PureDP(self.epsilon),))

    @property
    def noise(self) -> DiscreteLaplace:
        """The sampler."""
        return _noise(self.sensitivity, self.epsilon)

    def release(self, value: Any) -> Any:
        """The whole number, or the array of them, with noise: 64-bit integers in arrays, of the same shape.

        Floats are taken if they are whole. For noise of a scale above 2^54 the array is of Python's whole numbers;
        for any other, a sum that does not fit into 64 bits, which is next to impossible, is given as the nearest.
        """
        return on_whole_numbers(_noise(self.sensitivity, self.epsilon), value)

    def accuracy(self, beta: object, count: object = 1) -> Accuracy:
        """How far the worst of so many answers is off at most, except with probability beta.

        With a = e^(-epsilon / sensitivity), `P(|X| >= i) = 2 a^i / (1 + a)`: Theorem 3.8 of Dwork and Roth for whole
        numbers, (sensitivity / epsilon) ln(2 count / ((1 + a) beta)).
        """
        return self._sizes().accuracy(beta, count)

    def failure(self, alpha: object, count: object = 1) -> Accuracy:
        """How probable it is that the worst of so many answers is off by more than alpha: the inverse of `accuracy`."""
        return self._sizes().failure(alpha, count)

    def interval(self, answer: Any, level: object = "0.95", *, together: bool = False) -> Ends:
        """Ends around the true value with probability `level` at least: for each answer, or for all together."""
        return around(answer, self._sizes().margin(level, size_of(answer) if together else 1))

    def _sizes(self) -> WholeSizes:
        scale = Scale(self.sensitivity, self.epsilon)
        return WholeSizes(
            Bound(
                "the law's own tail, summed over the answers",
                lambda beta, times: scale.ball() * (log_share(beta, times) + (2 / (1 + scale.decay(1))).log()),
                lambda alpha, times: times * 2 * scale.decay(math.floor(alpha) + 1) / (1 + scale.decay(1)),
            ),
            LaplaceLaw(scale),
        )

    def _repr_html_(self) -> str:
        return card(self, {"one answer": f"{float(self.epsilon):.6g}-private", "accuracy": self.accuracy("0.05")})


@lru_cache(maxsize=256)
def _noise(sensitivity: int, epsilon: Fraction) -> DiscreteLaplace:
    if epsilon > MOST_REVEALING * sensitivity:
        raise InvalidParameter(
            "epsilon", epsilon, f"be at most {MOST_REVEALING} times the sensitivity for an answer to have any noise"
        )
    return DiscreteLaplace(Scale(sensitivity, epsilon))
