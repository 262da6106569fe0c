r"""What the accountant must know of a mechanism: the law of its privacy loss.

For a pair of laws (P, Q) the loss is L = log dP/dQ, drawn under P. Composition adds independent losses, so
all that is needed of one mechanism is the transform M(z) = E e^(z L) over its finite losses, in the strip of
z = t + i y where that is finite, and the probability that the loss is infinite. M is used through

- K(t) = log M(t) and its two derivatives at real t: the tilted law's mean and variance;
- log M(t + i y) / M(t), the log of the tilted law's characteristic function, at many y at once.

Floats suffice, if each law says how far its own may be from the truth (`doubt`): absolutely, at each tilt, the
rounding of its own parameters included. Repetition multiplies that, so a relative error where things cancel
would not be honest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.guarantees import Promise
from indistinct.numbers.balls import arb

__all__ = [
    "UNIT",
    "Adjacency",
    "Complexes",
    "Cumulants",
    "Curve",
    "Doubt",
    "ExactlyBounded",
    "Floats",
    "LossLaw",
    "PrivacyLoss",
    "bound_by_spread",
    "largest_of",
    "log1p",
]

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

UNIT = 2.0**-53
_ROUNDING = math.log(1e-12)


class Cumulants(NamedTuple):
    """K(t), K'(t) and K''(t)."""

    value: float
    mean: float
    variance: float


class Doubt(NamedTuple):
    """How far floats may be from the truth, at one tilt.

    K is right up to `value`. The log ratio r at y is right up to `constant + relative |r|`, e^r to a further
    `floor` + `slope` y, absolutely.
    """

    value: float
    constant: float
    relative: float
    slope: float
    floor: float = 0.0


class LossLaw(Protocol):
    """The law of one loss, in one direction of a pair."""

    @property
    def disclosed(self) -> Fraction:
        """The probability that the loss is infinite; all else is given that it is not."""
        ...

    @property
    def largest(self) -> float:
        """The largest finite loss, rounded up; infinite if there is none."""
        ...

    @property
    def steepest(self) -> float:
        """The largest tilt worth using, inside the strip where M is finite."""
        ...

    @property
    def smoothness(self) -> float:
        """A variance v such that `|M(t + i y)| <= M(t) e^(-v y^2 / 2)` for all y; 0 if there is none."""
        ...

    @property
    def size(self) -> int:
        """How many elementary terms the transform has, for what it costs."""
        ...

    def cumulants(self, tilt: float) -> Cumulants:
        """K and its derivatives at a real tilt above 0; these two steer alone, and are about right."""
        ...

    def doubt(self, tilt: float) -> Doubt:
        """How far from the truth K and the log ratios at a tilt may be."""
        ...

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        """log M(t + i y) / M(t), y at least 0."""
        ...

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        """An upper bound of `log |M(t + i y) / M(t)|` for all y within reach of each centre."""
        ...


@runtime_checkable
class ExactlyBounded(Protocol):
    """A law whose largest loss is known exactly, and is a rational number."""

    @property
    def exact_largest(self) -> Fraction:
        """The largest finite loss."""
        ...


def largest_of(laws: Iterable[tuple[LossLaw, int]]) -> Fraction | None:
    """The largest sum of so many losses of each law, if it is known exactly."""
    total = Fraction(0)
    for law, times in laws:
        if not isinstance(law, ExactlyBounded):
            return None
        total += times * law.exact_largest
    return total


class Curve(Protocol):
    """A bound on a loss that no single pair of laws gives: K(t) at most `bound(t)` in either direction."""

    def bound(self, tilt: arb) -> arb:
        """A bound of log E e^(tilt L), tilt above 0."""
        ...


class Adjacency(Enum):
    """Which databases are neighbours, where a loss holds for one kind only."""

    ADD_REMOVE = "add or remove a record"
    REPLACE_ONE = "replace a record"


@dataclass(frozen=True, eq=False, slots=True)
class PrivacyLoss:
    """The dominating pair of a mechanism, as the laws of its loss in both directions."""

    forward: LossLaw
    backward: LossLaw
    adjacency: Adjacency | None = None
    keeps: tuple[Promise, ...] = ()
    """What every use keeps, where a filter could not tell from the laws, or not exactly."""

    @classmethod
    def symmetric(
        cls, law: LossLaw, adjacency: Adjacency | None = None, keeps: tuple[Promise, ...] = ()
    ) -> PrivacyLoss:
        """The same law both ways."""
        return cls(law, law, adjacency, keeps)


def bound_by_spread(law: LossLaw, tilt: float, centres: Floats, reach: float) -> Floats:
    """A log bound for any law: the angle arccos |phi| moves by at most the tilted standard deviation times the way.

    Turned so that phi(y) = E cos(y L - c) is real and positive, its modulus moves by E (L - m) sin(y L - c), at most
    sqrt(K'' E sin^2), and E sin^2 = 1 - E cos^2 <= 1 - |phi|^2.
    """
    logs = np.minimum(np.logaddexp(law.log_ratio(tilt, centres).real, _ROUNDING), 0.0)
    spread = math.sqrt(law.cumulants(tilt).variance) * (1 + 1e-6)
    angles = 2 * np.arcsin(np.sqrt(-np.expm1(logs) / 2))
    nearest = np.maximum(angles - reach * spread, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(-np.minimum(2 * np.sin(nearest / 2) ** 2, 1.0)))


def log1p(w: Complexes) -> Complexes:
    """log(1 + w), accurate for small w in both parts (NumPy's own is not), and where 1 + w is small."""
    x, y = w.real, w.imag
    with np.errstate(divide="ignore"):
        near_one = 0.5 * np.log1p(np.maximum(2 * x + x * x + y * y, -1.0))
        modulus = np.where(np.abs(1 + w) < 0.5, np.log(np.maximum(np.abs(1 + w), 1e-300)), near_one)
    return np.asarray(modulus + 1j * np.arctan2(y, 1 + x))
