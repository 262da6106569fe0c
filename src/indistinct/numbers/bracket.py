"""A proven enclosure of one real number by two floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InternalError

__all__ = ["Bracket"]


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two floats between which the truth lies: ``lower <= truth <= upper``.

    What is claimed about privacy is ``upper``; how tight the claim is, ``lower`` shows.

    >>> Bracket(0.25, 0.5).width
    0.25
    >>> Fraction(1, 3) in Bracket(0.25, 0.5)
    True
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InternalError(f"a bracket from {self.lower!r} to {self.upper!r} holds no number")

    @classmethod
    def exactly(cls, value: Fraction | int) -> Bracket:
        """The tightest bracket of an exact number.

        >>> Bracket.exactly(Fraction(1, 4))
        Bracket(lower=0.25, upper=0.25)
        """
        return cls(float_below(Fraction(value)), float_above(Fraction(value)))

    @property
    def width(self) -> float:
        """upper - lower; 0 when both are the same infinity."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def relative_width(self) -> float:
        """The width as a share of ``upper``; 0 for an exact value."""
        return 0.0 if self.lower == self.upper else self.width / abs(self.upper)

    def __contains__(self, value: float | Fraction) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        """The claimed end, with as many digits as the bracket supports (rounded up).

        >>> str(Bracket(1.59052306395573, 1.59052306395576))
        '1.59052306396'
        """
        if self.lower == self.upper or not math.isfinite(self.upper):
            return f"{self.upper:.15g}"
        digits = 15 if not self.relative_width else min(15, math.floor(-math.log10(self.relative_width)))
        return rounded_up(self.upper, max(digits - 1, 3))


def rounded_up(value: float, digits: int) -> str:
    """The value with so many significant digits, never below it.

    >>> rounded_up(0.12341, 3), rounded_up(2.0, 3)
    ('0.124', '2')
    """
    text = f"{value:.{digits}g}"
    if math.isfinite(value) and Fraction(text) < Fraction(value):
        step = Fraction(10) ** (math.floor(math.log10(abs(value))) - digits + 1)
        text = f"{float(Fraction(text) + step):.{digits}g}"
    return text


def float_below(value: Fraction) -> float:
    """The largest float that is not above an exact number.

    >>> float_below(Fraction(1, 3)) < Fraction(1, 3) < float_above(Fraction(1, 3))
    True
    """
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        return math.nextafter(math.inf, 0) if value > 0 else -math.inf
    return math.nextafter(nearest, -math.inf) if Fraction(nearest) > value else nearest


def float_above(value: Fraction) -> float:
    """The least float that is not below an exact number."""
    return -float_below(-value)
