"""A proven enclosure of one real number by two floats."""

from __future__ import annotations

import math
import re
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
        return cls(float_below(value), float_above(value))

    @property
    def width(self) -> float:
        """upper - lower; 0 when both are the same infinity."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def relative_width(self) -> float:
        """The width as a share of ``upper``; 0 for an exact value, infinite where upper is 0 or infinite."""
        if self.lower == self.upper:
            return 0.0
        return self.width / abs(self.upper) if self.upper and math.isfinite(self.upper) else math.inf

    def __contains__(self, value: float | Fraction) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        """The claimed end in 12 digits, rounded up.

        >>> str(Bracket(1.59052306395573, 1.59052306395576))
        '1.59052306396'
        """
        return format(self, ".12g")

    def __format__(self, specification: str) -> str:
        """The claimed end in the given number of significant digits, rounded up: `.4g`, say.

        >>> f"{Bracket(0.1234, 0.12341):.3g}"
        '0.124'
        """
        digits = re.fullmatch(r"\.(\d+)g", specification)
        if digits is None:
            return format(self.upper, specification) if specification else str(self)
        return rounded_up(self.upper, int(digits[1]))


def rounded_up(value: float, digits: int) -> str:
    """The value with so many significant digits, not below it by more than a float's last places.

    >>> rounded_up(0.12341, 3), rounded_up(0.1 + 0.2, 12), rounded_up(math.inf, 3)
    ('0.124', '0.3', 'inf')
    """
    text = f"{value:.{digits}g}"
    if math.isfinite(value) and value and float(text) < value - 4 * math.ulp(value):
        step = Fraction(10) ** (math.floor(math.log10(abs(value))) - digits + 1)
        text = f"{float(Fraction(text) + step):.{digits}g}"
    return text


def float_below(value: Fraction | int) -> float:
    """The largest float that is not above an exact number.

    >>> float_below(Fraction(1, 3)) < Fraction(1, 3) < float_above(Fraction(1, 3))
    True
    """
    nearest, excess = _nearest(value)
    return math.nextafter(nearest, -math.inf) if excess > 0 else nearest


def float_above(value: Fraction | int) -> float:
    """The least float that is not below an exact number."""
    nearest, excess = _nearest(value)
    return (math.nextafter(nearest, math.inf) if excess < 0 else nearest) + 0.0  # which makes a -0.0 a 0


def _nearest(value: Fraction | int) -> tuple[float, int]:
    """A float next to an exact number, on either side, and the sign of what it is too much."""
    above, below = value.as_integer_ratio()
    try:
        nearest = above / below
    except OverflowError:
        return (math.inf, 1) if above > 0 else (-math.inf, -1)
    numerator, denominator = nearest.as_integer_ratio()
    excess = numerator * below - above * denominator
    return nearest, (excess > 0) - (excess < 0)
