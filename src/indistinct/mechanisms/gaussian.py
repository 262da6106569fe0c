"""Gaussian noise (Dwork and Roth, appendix A)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar

from indistinct.composition.guarantees import GaussianDP
from indistinct.composition.noise import classic_sigma
from indistinct.composition.planning.formulas import gaussian_sigmas
from indistinct.composition.planning.knob import Knob
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.answering import on_lattice, size_of
from indistinct.mechanisms.display import card
from indistinct.mechanisms.lattice import Lattice, lattice_for, read_granularity, root_above
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.quantiles import gaussian_quantile, gaussian_tail, log_share
from indistinct.mechanisms.sizes import Bound, Ends, RealSizes, around
from indistinct.noise import RoundedGaussian
from indistinct.numbers import Bracket, read_count
from indistinct.numbers.balls import ball

__all__ = ["Gaussian"]


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """Gaussian noise of standard deviation sigma on a vector of an l2 sensitivity.

    Composed exactly (Balle and Wang 2018), for any epsilon, where Theorem A.1 needs epsilon below 1. `classic` and
    `analytic` find sigma for one answer under (epsilon, delta).

    What is released lies on a lattice, multiples of a power of two, and is exactly the rounding of the real number
    plus real Gaussian noise, so that the claim holds for the bits that are seen. `lattice` tells which, and how much
    wider the noise is where rounding the values costs something.

    >>> from indistinct import Gaussian, compose
    >>> print(compose([Gaussian(sigma=1)]).delta(1))
    0.126936737507
    >>> type(Gaussian(sigma=10).release(4711.5))
    <class 'float'>
    >>> print(Gaussian(sigma=10).accuracy("0.05"))
    the error is at most 24.4853 except with probability 0.05 (Gaussian tail, at most e^(-x^2/2); exactly 19.6075)
    """

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob(
            "sigma",
            quiets=True,
            because="Gaussian noise of a larger sigma is that of a smaller one with independent noise added",
            formulas=gaussian_sigmas,
            at_deviation=lambda deviation, _: deviation,
        ),
    )

    sensitivity: Fraction
    sigma: Fraction
    chosen_granularity: Fraction | None = field(repr=False)
    """What was asked for; None leaves it to `lattice`."""

    def __init__(self, sensitivity: object = 1, sigma: object = 1, *, granularity: object = None) -> None:
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        object.__setattr__(self, "sigma", read_positive("sigma", sigma))
        object.__setattr__(self, "chosen_granularity", read_granularity(granularity))
        if granularity is not None:
            self.lattice()

    @classmethod
    def classic(cls, epsilon: object, delta: object, sensitivity: object = 1) -> Gaussian:
        """With the sigma of Theorem A.1 of Dwork and Roth, which holds for epsilon below 1 alone.

        >>> float(Gaussian.classic("0.5", "1e-5").sigma)
        9.6896105252...
        """
        return cls(sensitivity, Fraction(classic_sigma(epsilon, delta, sensitivity).upper))

    @classmethod
    def analytic(cls, epsilon: object, delta: object, sensitivity: object = 1) -> Gaussian:
        """With the least sigma that is certified to be (epsilon, delta)-private, for every epsilon.

        >>> float(Gaussian.analytic("0.5", "1e-5").sigma)
        7.0318...
        """
        from indistinct.composition.planning import least_noise

        found = least_noise(cls, epsilon=epsilon, delta=delta, sensitivity=sensitivity)
        return cls(sensitivity, found.value)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return float(self.sigma) ** 2

    @property
    def granularity(self) -> Fraction:
        """The distance of neighbouring answers, for one real number; of the vectors' `lattice` tells."""
        return self.lattice().granularity

    @property
    def noise(self) -> RoundedGaussian:
        """The sampler, in steps of the lattice, for one real number."""
        return _plan(self, 1, False)[1]

    @property
    def loss(self) -> GaussianDP:
        """(sensitivity / sigma)-Gaussian privacy, no more and no less."""
        return GaussianDP(self.sensitivity / self.sigma)

    def lattice(self, count: object = 1, *, whole: bool = False) -> Lattice:
        """The lattice of so many answers, and the sigma of their noise; `whole` if the values are of an integer type.

        A vector of k real numbers may lose a step in every coordinate to rounding: sqrt(k) steps in l2 distance.
        """
        return _plan(self, read_count("count", count, least=1), whole)[0]

    def release(self, value: Any) -> Any:
        """The value with noise: a float for a number, an array of floats of the same shape for an array.

        Values of an integer type on a lattice of whole numbers stay such: in arrays of 64 bits, and the nearest number
        where an answer does not fit, but Python's own for noise of more than 2^54 steps, and for unsigned 64-bit values
        on a lattice coarser than 1.
        """
        return on_lattice(lambda count, whole: _plan(self, count, whole), value)

    def accuracy(self, beta: object, count: object = 1) -> Accuracy:
        """How far the worst of so many answers is off at most, except with probability beta.

        sigma sqrt(2 ln(count / beta)), as `P(|Y| > y) <= e^(-y^2 / (2 sigma^2))`, plus a step of the lattice.
        """
        return self._sizes(count).accuracy(beta, count)

    def failure(self, alpha: object, count: object = 1) -> Accuracy:
        """How probable it is that the worst of so many answers is off by more than alpha: the inverse of `accuracy`."""
        return self._sizes(count).failure(alpha, count)

    def interval(self, answer: Any, level: object = "0.95", *, together: bool = False, among: object = None) -> Ends:
        """Ends around the true value with probability `level` at least: for each answer, or for all together.

        `among` is how many numbers were released at once, where these are only some of them: a vector's noise may be
        wider than that of one number (`lattice`).
        """
        count = size_of(answer)
        sizes = self._sizes(max(count, 1) if among is None else among)
        return around(answer, sizes.margin(level, max(count, 1) if together else 1))

    def _sizes(self, count: object) -> RealSizes:
        lattices = [self.lattice(count, whole=whole) for whole in (False, True)]
        narrow, wide = sorted(lattice.scale for lattice in lattices)
        return RealSizes(
            Bound(
                "Gaussian tail, at most e^(-x^2/2)",
                lambda beta, times: ball(wide) * (2 * log_share(beta, times)).sqrt(),
                lambda alpha, times: times * (-(ball(alpha / wide) ** 2) / 2).exp(),
            ),
            max(lattice.granularity for lattice in lattices),
            lambda beta, times: Bracket(
                gaussian_quantile(narrow, beta, times).lower, gaussian_quantile(wide, beta, times).upper
            ),
            (partial(gaussian_tail, narrow), partial(gaussian_tail, wide)),
        )

    def _repr_html_(self) -> str:
        mu = f"{float(self.sensitivity / self.sigma):.6g}"
        return card(self, {"one answer": f"{mu}-Gaussian private", "accuracy": self.accuracy("0.05")})


@lru_cache(maxsize=256)
def _plan(mechanism: Gaussian, count: int, whole: bool) -> tuple[Lattice, RoundedGaussian]:
    lattice = lattice_for(
        mechanism.sensitivity,
        mechanism.sigma,
        mechanism.chosen_granularity,
        whole=whole,
        count=count,
        spread=root_above,
    )
    return lattice, RoundedGaussian(lattice.steps)
