r"""The loss of a Johnson-Lindenstrauss sketch: N(0, 1)^r against N(0, 1 + x)^r.

The ratio of the densities depends on s = |y|^2 alone, which is chi-square with r degrees of freedom, and

    log P/Q = a - s x / (2 (1 + x)),    a = (r/2) log(1 + x),

is affine in it. From E e^(-u s) = (1 + 2 u)^(-r/2) the transform is

    M(z) = (1 + x)^(r z / 2) (1 + z x / (1 + x))^(-r/2)        for the loss of P against Q, Re z > -(1 + x)/x,
    M(z) = (1 + x)^(-r z / 2) (1 - z x)^(-r/2)                 for that of Q against P, Re z < 1/x.

On a contour Re z = t the modulus is (1 + (g y)^2)^(-r/4) of that at y = 0, g = x / (1 + x + t x) or x / (1 - t x). One
use is known in closed form: delta is a difference of chi-square tails (`numbers.chi_square`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.law import UNIT, Adjacency, Complexes, Cumulants, Doubt, Floats, PrivacyLoss, log1p
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball
from indistinct.numbers.bracket import float_above
from indistinct.numbers.chi_square import chi_square_tails
from indistinct.numbers.logarithm import ball_of, exponential

__all__ = ["ChiSquareLoss", "chi_square_loss"]

_NEAREST = 1 - 2.0**-10
"""How near to the end of its strip a transform is used."""
_SMALL = 0.5


@dataclass(frozen=True, slots=True)
class ChiSquareLoss:
    """N(0, 1)^r against N(0, 1 + x)^r, or the other way where `back`."""

    rows: int
    excess: Fraction
    """x, exactly."""
    back: bool

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @property
    def largest(self) -> float:
        """a for the narrow law, whose loss is largest at 0; the wide one has no largest."""
        if self.back:
            return math.inf
        half = float_above(Fraction(self.rows, 2) * Fraction(math.log1p(float(self.excess))))
        return half * (1 + 16 * UNIT)

    @property
    def steepest(self) -> float:
        return _NEAREST / float(self.excess) if self.back else math.inf

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return 1

    def cumulants(self, tilt: float) -> Cumulants:
        """Written so that what is of first order in x, and cancels, does not appear."""
        x, g, half = float(self.excess), self._growth(tilt), self.rows / 2
        mean = tilt * x * g - _log1p_less(x) if self.back else (tilt + 1) * x * g + _log1p_less(x)
        return Cumulants(half * self._unit(tilt), half * mean, half * g * g)

    def doubt(self, tilt: float) -> Doubt:
        """Some last places of what K is a difference of; g is off by more where the end of the strip is near."""
        x, g = float(self.excess), self._growth(tilt)
        amplified = max(g / x, 1.0)
        slope = 8 * UNIT * self.rows * (x + g * amplified)
        return Doubt(32 * UNIT * self.rows * self._terms(tilt), 0.0, 64 * UNIT * amplified, slope)

    def delta_of_one(self, epsilon: Epsilon) -> arb:
        """Of s below a point for the narrow law, above one for the wide law; nothing beyond the largest loss."""
        x, r = ball(self.excess), self.rows
        half, scale, level = ball(Fraction(r, 2)) * x.log1p(), 2 * (1 + 1 / x), ball_of(epsilon)
        if self.back:
            point = (half + level) * scale
            return chi_square_tails(r, point / (1 + x))[1] - exponential(epsilon) * chi_square_tails(r, point)[1]
        point = (half - level) * scale
        if not point > 0:
            return ball(0) if point <= 0 else ball(0).union(chi_square_tails(r, point.upper())[0])
        return chi_square_tails(r, point)[0] - exponential(epsilon) * chi_square_tails(r, point / (1 + x))[0]

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        """-(r/2) log(1 + i g y) and the turning by a; for the loss the other way each of the other sign."""
        sign = -1.0 if self.back else 1.0
        turned = log1p(np.asarray(1j * sign * self._growth(tilt) * y, dtype=np.complex128))
        return np.asarray(self.rows / 2 * (sign * 1j * y * math.log1p(float(self.excess)) - turned))

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        """The modulus falls with |y|: that at the nearest y."""
        nearest = np.maximum(np.abs(centres) - reach, 0) * self._growth(tilt)
        return np.asarray(-self.rows / 4 * np.log1p(nearest**2) * (1 - 1e-12))

    def _growth(self, tilt: float) -> float:
        """g."""
        x = float(self.excess)
        return x / (1 - tilt * x) if self.back else x / (1 + x + tilt * x)

    def _unit(self, tilt: float) -> float:
        """2 K / r."""
        x = float(self.excess)
        if self._is_small(tilt):
            return tilt * (tilt + 1) * _second_order(x, -tilt if self.back else tilt + 1)
        if self.back:
            return -tilt * math.log1p(x) - math.log1p(-tilt * x)
        return tilt * math.log1p(x) - math.log1p(tilt * x / (1 + x))

    def _is_small(self, tilt: float) -> bool:
        return (tilt + 1) * float(self.excess) < _SMALL

    def _terms(self, tilt: float) -> float:
        """The size of what 2 K / r is a difference of; its own where it is found without one."""
        if self._is_small(tilt):
            return 2 * abs(self._unit(tilt))
        ratio = self._growth(tilt) / float(self.excess)
        return (tilt + 1) * math.log1p(float(self.excess)) + abs(math.log(ratio)) + max(ratio, 1.0)


def _second_order(x: float, s: float) -> float:
    r"""(s log(1 + x) - log(1 + s x)) / (s (s - 1)) for small x and s x, by its series

        sum over k >= 2 of (-1)^k x^k / k * (1 + s + ... + s^(k - 2)).

    With s = z + 1 the numerator is 2 K / r one way, with s = -z the other way.
    """
    total, geometric, power = 0.0, 0.0, 1.0
    signed = -x
    for k in range(2, 200):
        signed *= -x
        geometric += power
        power *= s
        total += signed * geometric / k
        if abs(signed) * (abs(geometric) + abs(power)) < 1e-18 * abs(total):
            break
    return total


def _log1p_less(x: float) -> float:
    """log(1 + x) - x."""
    return -_second_order(x, 0.0) if x < _SMALL else math.log1p(x) - x


def chi_square_loss(rows: int, excess: Fraction, adjacency: Adjacency | None = None) -> PrivacyLoss:
    """Both directions of the pair, for r rows and the excess x of the variance.

    >>> loss = chi_square_loss(473, Fraction(1, 70))
    >>> print(loss.forward.largest < loss.backward.largest)
    True
    """
    return PrivacyLoss(ChiSquareLoss(rows, excess, back=False), ChiSquareLoss(rows, excess, back=True), adjacency)
