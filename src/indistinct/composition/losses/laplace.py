r"""The loss of the Laplace mechanism.

With e = sensitivity / scale: +e with probability 1/2, -e with probability e^-e / 2, and between them a smooth
part; M(z) = [(z + 1) e^(z e) + z e^(-(z + 1) e)] / (2 z + 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Doubt, Floats, log1p
from indistinct.composition.losses.sums import second_order, second_order_at
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball
from indistinct.numbers.bracket import float_above
from indistinct.numbers.logarithm import ball_of

__all__ = ["LaplaceLoss"]

_SMALL = 0.5


@dataclass(frozen=True, slots=True)
class LaplaceLoss:
    """Laplace noise of scale sensitivity / epsilon, l1 sensitivity; exact, for vectors too."""

    exact_largest: Fraction
    """Sensitivity over scale."""
    epsilon: float = field(init=False)
    """The same, rounded up."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", float_above(self.exact_largest))

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @property
    def largest(self) -> float:
        return self.epsilon

    @property
    def steepest(self) -> float:
        return 60 / self.epsilon

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return 1

    def cumulants(self, tilt: float) -> Cumulants:
        """Closed forms, written so that nothing cancels for small epsilon."""
        e, t = self.epsilon, tilt
        width = 2 * t + 1
        if (t + 1) * e < _SMALL:
            # M = 1 + w, w (2 t + 1) = (t + 1) S(t e) + t S(-(t + 1) e), S' = e^x - 1, and so on.
            up, down = t * e, -(t + 1) * e
            rising, falling = math.expm1(up), math.expm1(down)
            s_up, s_down = second_order_at(up), second_order_at(down)
            w = ((t + 1) * s_up + t * s_down) / width
            slope = (s_up + s_down + (t + 1) * e * rising - t * e * falling - 2 * w) / width
            bend = 2 * e * (rising - falling) + e * e * ((t + 1) * (1 + rising) + t * (1 + falling))
            mean = slope / (1 + w)
            return Cumulants(math.log1p(w), mean, max((bend - 4 * slope) / width / (1 + w) - mean**2, 0.0))
        # log M = t e + log((t + 1) + t E) - log(2 t + 1), E = e^-((2 t + 1) e).
        fall = math.exp(-width * e)
        inner = (t + 1) + t * fall
        first = 1 + fall - 2 * e * t * fall
        second = -4 * e * fall + 4 * e * e * t * fall
        value = t * e + math.log1p(t * math.expm1(-width * e) / width)
        variance = second / inner - (first / inner) ** 2 + 4 / width**2
        return Cumulants(value, e + first / inner - 2 / width, max(variance, 0.0))

    def doubt(self, tilt: float) -> Doubt:
        """The log ratio is a difference of two log transforms, each as accurate as K; M has no zeros near y = 0."""
        value = 64 * UNIT * self.cumulants(tilt).value
        return Doubt(value, 2 * value, 64 * UNIT, 16 * UNIT * self.epsilon)

    def delta_of_one(self, epsilon: Epsilon) -> arb:
        """1 - e^((eps - e) / 2) below e."""
        if isinstance(epsilon, Fraction):
            away = ball(self.exact_largest - epsilon)
        else:
            away = ball(self.exact_largest) - ball_of(epsilon)
        return (-(-away / 2).expm1()).max(ball(0))

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        return np.asarray(self._log_transform(np.asarray(tilt + 1j * y)) - self.cumulants(tilt).value)

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        """From |M| <= |A c + B| / 2 + |A c - B| / (2 |2 z + 1|), with A and B the two exponentials' moduli."""
        e, t = self.epsilon, tilt
        b = np.exp(-(2 * t + 1) * e)  # relative to A
        sines, cosines = np.abs(np.sin(centres * e)), np.abs(np.cos(centres * e))
        margin = reach * e + 1e-15 * centres * e + 1e-14
        most_sine, most_cosine = np.minimum(sines + margin, 1), np.minimum(cosines + margin, 1)
        nearest = np.maximum(centres - reach, 0)
        together = np.sqrt((1 - b) ** 2 + 4 * b * most_cosine**2) / 2
        apart = np.sqrt((1 - b) ** 2 + 4 * b * most_sine**2) / (2 * np.hypot(2 * t + 1, 2 * nearest))
        whole = ((t + 1) + t * b) / (2 * t + 1)
        return np.asarray(np.log(np.minimum((together + apart) / whole * (1 + 1e-12), 1.0)))

    def _log_transform(self, z: Complexes) -> Complexes:
        e = self.epsilon
        small = np.abs(z + 1) * e < _SMALL
        result = np.empty(z.shape, dtype=np.complex128)
        near, far = z[small], z[~small]
        result[small] = log1p(
            ((near + 1) * second_order(near * e) + near * second_order(-(near + 1) * e)) / (2 * near + 1)
        )
        result[~small] = far * e + log1p(far * _expm1(-(2 * far + 1) * e) / (2 * far + 1))
        return result


def _expm1(w: Complexes) -> Complexes:
    """e^w - 1; NumPy's is accurate in both parts."""
    return np.asarray(np.expm1(w))
