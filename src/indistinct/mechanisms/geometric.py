"""Two-sided geometric noise, the discrete Laplace (KOV, section 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from indistinct.composition.guarantees import PureDP
from indistinct.composition.losses import AtomsLoss, PrivacyLoss
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.planning.formulas import pure_levels
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.parameters import read_positive
from indistinct.numbers import read_count

__all__ = ["Geometric"]

_LARGEST_SENSITIVITY = 10_000


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """Noise of law proportional to `e^(-epsilon |x| / sensitivity)` on a whole number.

    For a count (sensitivity 1) it is optimal under composition: its loss is that of randomised response, the
    largest that epsilon-privacy allows (KOV, Theorem 4.4).

    >>> from indistinct import Geometric, PureDP, compose
    >>> compose({Geometric(epsilon="0.1"): 30}).delta(1) == compose({PureDP("0.1"): 30}).delta(1)
    True
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
        end, unit = 1 / (1 + math.exp(-step)), math.tanh(step / 2)
        inner = [(level * (width - 2 * x) / width, unit * math.exp(-step * x)) for x in range(1, width)]
        atoms = [(level, end), *inner, (-level, math.exp(-level) * end)]
        lattice = LossLattice(2 * self.epsilon / width, self.epsilon)
        return PrivacyLoss.symmetric(AtomsLoss.of(atoms, lattice=lattice, balanced=True))
