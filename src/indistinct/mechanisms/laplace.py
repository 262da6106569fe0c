"""Laplace noise (Dwork and Roth, Definition 3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from indistinct.composition.losses import LaplaceLoss, PrivacyLoss
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.laplace_line import laplace_line
from indistinct.composition.planning.formulas import laplace_scales
from indistinct.composition.planning.knob import Knob
from indistinct.mechanisms.parameters import read_positive, read_scale

__all__ = ["Laplace"]


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    """Laplace noise of a scale on a query, or a vector of them, of an l1 sensitivity.

    One answer is (sensitivity / scale)-private (Dwork and Roth, Theorem 3.6); many compose by their exact loss.

    >>> from indistinct import Laplace, compose
    >>> print(f"{compose({Laplace(scale=10): 1000}).epsilon('1e-6'):.9g}")
    18.9502874
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

    def __init__(self, sensitivity: object = 1, scale: object = None, *, epsilon: object = None) -> None:
        width = read_positive("sensitivity", sensitivity)
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "scale", read_scale(width, scale, epsilon))

    @property
    def epsilon(self) -> Fraction:
        """The privacy level of one answer."""
        return self.sensitivity / self.scale

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return 2 * float(self.scale) ** 2

    @property
    def loss(self) -> PrivacyLoss:
        """The same in both directions, for every kind of neighbouring databases."""
        law = LaplaceLoss(self.epsilon)
        return PrivacyLoss.symmetric(law, enclosed=lambda: EnclosedLoss(laplace_line(law.epsilon)))
