"""Laplace noise (Dwork and Roth, Definition 3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar

from indistinct.composition.losses import LaplaceLoss, PrivacyLoss
from indistinct.composition.planning.formulas import laplace_scales
from indistinct.composition.planning.knob import Knob
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.answering import on_lattice, size_of
from indistinct.mechanisms.display import card
from indistinct.mechanisms.lattice import Lattice, lattice_for, read_granularity
from indistinct.mechanisms.parameters import read_positive, read_scale
from indistinct.mechanisms.quantiles import laplace_quantile, laplace_tail, log_share
from indistinct.mechanisms.sizes import Bound, Ends, RealSizes, around
from indistinct.noise import RoundedLaplace
from indistinct.numbers import Bracket, read_count
from indistinct.numbers.balls import ball

__all__ = ["Laplace"]


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    """Laplace noise of a scale on a query, or a vector of them, of an l1 sensitivity.

    One answer is (sensitivity / scale)-private (Dwork and Roth, Theorem 3.6); many compose by their exact loss.
    Moving a vector by an l1 distance, however it is spread over the coordinates, tells no more than moving one
    coordinate that far: laws of this shape lose nothing by group privacy.

    What is released lies on a lattice, multiples of a power of two, and is exactly the rounding of the real number
    plus real Laplace noise, so that the claim holds for the bits that are seen. `lattice` tells which, and how much
    wider the noise is where rounding the values costs something.

    >>> from indistinct import Laplace, compose
    >>> print(f"{compose({Laplace(scale=10): 1000}).epsilon('1e-6'):.9g}")
    18.9502874
    >>> count = Laplace(epsilon="0.1")
    >>> type(count.release(4711)), count.release([0.5, 1.5]).shape
    (<class 'float'>, (2,))
    >>> print(count.accuracy("0.05"))  # Theorem 3.8
    the error is at most 29.9651 except with probability 0.05 (Dwork and Roth, Theorem 3.8; exactly 29.9652)
    """

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob(
            "scale",
            quiets=True,
            because="Laplace noise of a larger scale is that of a smaller one with independent noise added",
            formulas=laplace_scales,
            at_deviation=lambda deviation, _: deviation / math.sqrt(2),
        ),
    )

    sensitivity: Fraction
    scale: Fraction
    chosen_granularity: Fraction | None = field(repr=False)
    """What was asked for; None leaves it to `lattice`."""

    def __init__(
        self, sensitivity: object = 1, scale: object = None, *, epsilon: object = None, granularity: object = None
    ) -> None:
        width = read_positive("sensitivity", sensitivity)
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "scale", read_scale(width, scale, epsilon))
        object.__setattr__(self, "chosen_granularity", read_granularity(granularity))
        if granularity is not None:
            self.lattice()

    @property
    def epsilon(self) -> Fraction:
        """The privacy level of one answer."""
        return self.sensitivity / self.scale

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return 2 * float(self.scale) ** 2

    @property
    def granularity(self) -> Fraction:
        """The distance of neighbouring answers, for one real number; of the vectors' `lattice` tells."""
        return self.lattice().granularity

    @property
    def noise(self) -> RoundedLaplace:
        """The sampler, in steps of the lattice, for one real number."""
        return _plan(self, 1, False)[1]

    @property
    def loss(self) -> PrivacyLoss:
        """The same in both directions, for every kind of neighbouring databases."""
        return PrivacyLoss.symmetric(LaplaceLoss(self.epsilon))

    def lattice(self, count: object = 1, *, whole: bool = False) -> Lattice:
        """The lattice of so many answers, and the scale of their noise; `whole` if the values are of an integer type.

        A vector of real numbers may lose a step in every coordinate to rounding, and an l1 sensitivity as many steps.
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

        Dwork and Roth, Theorem 3.8: scale ln(count / beta), for the noise as wide as it is, plus a step of the lattice.
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
                "Dwork and Roth, Theorem 3.8",
                lambda beta, times: ball(wide) * log_share(beta, times),
                lambda alpha, times: times * laplace_tail(wide, alpha),
            ),
            max(lattice.granularity for lattice in lattices),
            lambda beta, times: Bracket(
                laplace_quantile(narrow, beta, times).lower, laplace_quantile(wide, beta, times).upper
            ),
            (partial(laplace_tail, narrow), partial(laplace_tail, wide)),
        )

    def _repr_html_(self) -> str:
        return card(self, {"one answer": f"{float(self.epsilon):.6g}-private", "accuracy": self.accuracy("0.05")})


@lru_cache(maxsize=256)
def _plan(mechanism: Laplace, count: int, whole: bool) -> tuple[Lattice, RoundedLaplace]:
    lattice = lattice_for(
        mechanism.sensitivity, mechanism.scale, mechanism.chosen_granularity, whole=whole, count=count, spread=Fraction
    )
    return lattice, RoundedLaplace(lattice.steps)
