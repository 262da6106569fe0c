"""Discrete Gaussian noise (Canonne, Kamath and Steinke 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from indistinct.composition.guarantees import ZeroConcentratedDP
from indistinct.composition.losses import PrivacyLoss, discrete_gaussian_loss
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.answering import MOST_REVEALING, on_whole_numbers, refuse_many, size_of
from indistinct.mechanisms.display import card
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.quantiles import WholeTail, gaussian_tail, log_share
from indistinct.mechanisms.sizes import Bound, Ends, WholeSizes, around
from indistinct.noise import DiscreteGaussian as Sampler
from indistinct.noise import Scale
from indistinct.noise.gaussian_law import GaussianLaw
from indistinct.noise.uniform import ends
from indistinct.numbers.balls import ball

__all__ = ["DiscreteGaussian"]

_LARGEST_SENSITIVITY = 10_000


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian:
    """Noise of law proportional to `e^(-x^2 / (2 sigma^2))` on a whole number.

    One number is composed by its exact loss. A vector with noise on every coordinate is *not* the same pair, and
    its l2 sensitivity says less: for `vector=True` the claim is sensitivity^2 / (2 sigma^2)-zCDP, which holds in any
    dimension (Theorem 4 there).

    >>> from indistinct import DiscreteGaussian, compose
    >>> print(f"{compose({DiscreteGaussian(sigma=10): 100}).epsilon('1e-6'):.9g}")
    4.88657075
    >>> DiscreteGaussian(sigma=10, vector=True).loss
    ZeroConcentratedDP('0.005')
    >>> type(DiscreteGaussian(sigma=10).release(4711))
    <class 'int'>
    >>> print(DiscreteGaussian(sigma=10).accuracy("0.05"))
    the error is at most 25.4775 except with probability 0.05 (Canonne, Kamath and Steinke, tail bound; exactly 20)
    """

    knobs: ClassVar[tuple[Knob, ...]]

    sensitivity: Fraction
    sigma: Fraction
    vector: bool

    def __init__(self, sensitivity: object = 1, sigma: object = 1, *, vector: bool = False) -> None:
        width = read_positive("sensitivity", sensitivity)
        if not vector and (width.denominator != 1 or width > _LARGEST_SENSITIVITY):
            raise InvalidParameter(
                "sensitivity",
                sensitivity,
                f"be a whole number up to {_LARGEST_SENSITIVITY} for discrete Gaussian noise on one number",
                instead="For the l2 sensitivity of a vector of whole numbers, say vector=True.",
            )
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "sigma", read_positive("sigma", sigma))
        object.__setattr__(self, "vector", bool(vector))

    @property
    def loss(self) -> PrivacyLoss | ZeroConcentratedDP:
        """The exact pair for one number, zCDP for a vector (Canonne, Kamath and Steinke 2020, Theorem 4)."""
        concentrated = ZeroConcentratedDP(self.sensitivity**2 / (2 * self.sigma**2))
        if self.vector:
            return concentrated
        return PrivacyLoss.symmetric(discrete_gaussian_loss(int(self.sensitivity), self.sigma), keeps=(concentrated,))

    @property
    def variance(self) -> float:
        """At most the variance of the noise: sigma^2, from below which it differs only for small sigma."""
        return float(self.sigma) ** 2

    @property
    def noise(self) -> Sampler:
        """The sampler."""
        return _noise(self.sigma)

    def release(self, value: Any, *, disjoint: bool = False) -> Any:
        """The whole number, or the array of them, with noise: 64-bit integers in arrays, of the same shape.

        Floats are taken if they are whole. The claim for one number holds for several only if any two neighbouring
        databases differ in one of them, as the counts of a histogram do: say `disjoint=True`, or make the mechanism
        with `vector=True`.
        """
        refuse_many(value, disjoint=disjoint or self.vector, instead=_INSTEAD)
        return on_whole_numbers(_noise(self.sigma), value)

    def accuracy(self, beta: object, count: object = 1) -> Accuracy:
        """How far the worst of so many answers is off at most, except with probability beta.

        1 + sigma sqrt(2 ln(count / beta)): P(X >= i) is at most P(Y >= i - 1) for Gaussian Y (Canonne, Kamath and
        Steinke 2020, section 3).
        """
        return self._sizes().accuracy(beta, count)

    def failure(self, alpha: object, count: object = 1) -> Accuracy:
        """How probable it is that the worst of so many answers is off by more than alpha: the inverse of `accuracy`."""
        return self._sizes().failure(alpha, count)

    def interval(self, answer: Any, level: object = "0.95", *, together: bool = False) -> Ends:
        """Ends around the true value with probability `level` at least: for each answer, or for all together."""
        return around(answer, self._sizes().margin(level, size_of(answer) if together else 1))

    def _sizes(self) -> WholeSizes:
        return WholeSizes(
            Bound(
                "Canonne, Kamath and Steinke, tail bound",
                lambda beta, times: 1 + ball(self.sigma) * (2 * log_share(beta, times)).sqrt(),
                lambda alpha, times: times * gaussian_tail(self.sigma, Fraction(alpha.__floor__())),
            ),
            _tails(self.sigma),
        )

    def _repr_html_(self) -> str:
        rho = f"{float(self.sensitivity**2 / (2 * self.sigma**2)):.6g}"
        return card(self, {"one answer": f"{rho}-zCDP", "accuracy": self.accuracy("0.05")})


def _of_sigma(sigma: Fraction, sensitivity: object = 1, vector: bool = False) -> DiscreteGaussian:
    return DiscreteGaussian(sensitivity, sigma, vector=vector)


# That more noise tells less is proven for the claim of a vector; for one number it is assumed, and tests look for
# an exception.
DiscreteGaussian.knobs = (
    Knob(
        "sigma",
        quiets=True,
        because="",
        least=Fraction(1, 10),
        build=_of_sigma,
        at_deviation=lambda deviation, _: deviation,
    ),
)


@dataclass(frozen=True, slots=True)
class WideGaussianLaw:
    """The magnitude for large sigma, enclosed without a sum over all weights.

    The weights from i on are between the integrals from i and from i - 1, and all of them together between
    sigma sqrt(2 pi) and that times 1 + 3 e^(-2 pi^2 sigma^2), which is below 1 + 2^-1000 here (Poisson's sum).
    """

    sigma: Fraction

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits P(|X| >= i), apart by what the integrals are."""
        least = ends(lambda: gaussian_tail(self.sigma, Fraction(i)) * (1 - ball(Fraction(1, 2**1000))), bits)[0]
        return least, ends(lambda: gaussian_tail(self.sigma, Fraction(i - 1)), bits)[1]


@lru_cache(maxsize=256)
def _noise(sigma: Fraction) -> Sampler:
    if 2 * MOST_REVEALING * sigma**2 < 1:
        raise InvalidParameter("sigma", sigma, "be at least 0.112 for an answer to have any noise")
    return Sampler(sigma)


def _tails(sigma: Fraction) -> WholeTail:
    square = Scale(sigma**2)
    return GaussianLaw(square, Fraction(1, 2)) if sigma <= _SUMMED else WideGaussianLaw(sigma)


_SUMMED = 1000
_INSTEAD = "Say disjoint=True if neighbouring databases differ in one of them, or make it with vector=True."
