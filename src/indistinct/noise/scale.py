"""The scale of noise as an exact real number: a width divided by an epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon, NaturalLog, balls, read_epsilon, read_number
from indistinct.numbers.logarithm import ball_of

__all__ = ["LARGEST_SCALE", "SMALLEST_SCALE", "Scale", "read_scale", "read_variance"]

SMALLEST_SCALE = Fraction(1, 2**40)
LARGEST_SCALE = Fraction(2**60)


@dataclass(frozen=True, slots=True, init=False)
class Scale:
    """width / epsilon, exactly, also where epsilon is the logarithm of a rational number.

    >>> from indistinct import ln
    >>> Scale(1, ln(3))
    Scale(width=Fraction(1, 1), epsilon=ln(3))
    >>> Scale(10, 1) == Scale(100, 10)
    True
    """

    width: Fraction
    epsilon: Epsilon
    nearby: float = field(repr=False, compare=False)

    def __init__(self, width: object, epsilon: object = 1) -> None:
        exact_width, exact_epsilon = read_number("the width of a scale", width), read_epsilon("epsilon", epsilon)
        if not exact_width > 0:
            raise InvalidParameter("the width of a scale", width, "be above 0")
        if exact_epsilon == 0:
            raise InvalidParameter("epsilon", epsilon, "be above 0")
        if isinstance(exact_epsilon, Fraction):
            exact_width, exact_epsilon = exact_width / exact_epsilon, Fraction(1)
        object.__setattr__(self, "width", exact_width)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "nearby", _nearby(exact_width / Fraction(float(exact_epsilon))))

    def ball(self) -> balls.arb:
        """The scale at the working precision."""
        return balls.ball(self.width) / ball_of(self.epsilon)

    def decay(self, steps: int | Fraction) -> balls.arb:
        """e^(-steps / scale) at the working precision."""
        return (-balls.ball(steps / self.width) * ball_of(self.epsilon)).exp()

    def times(self, factor: Fraction | int) -> Scale:
        """The scale so many times as wide."""
        return Scale(self.width * factor, self.epsilon)

    def __float__(self) -> float:
        """The scale with a relative error below 2^-50."""
        return self.nearby


def read_scale(name: str, value: object) -> Scale:
    """A scale between 2^-40 and 2^60, given as a number or as a `Scale`.

    >>> read_scale("scale", "2.5")
    Scale(width=Fraction(5, 2), epsilon=Fraction(1, 1))
    """
    return _read(name, value, SMALLEST_SCALE, LARGEST_SCALE, "lie between 2^-40 and 2^60")


def read_variance(name: str, value: object) -> Scale:
    """The square of a scale."""
    return _read(name, value, SMALLEST_SCALE**2, LARGEST_SCALE**2, "lie between 2^-80 and 2^120")


def _read(name: str, value: object, least: Fraction, largest: Fraction, requirement: str) -> Scale:
    if isinstance(value, NaturalLog):
        raise InvalidParameter(name, value, "be a number, or Scale(width, epsilon) with epsilon a logarithm")
    number = value if isinstance(value, Scale) else None
    if number is None:
        exact = read_number(name, value)
        if not exact > 0:
            raise InvalidParameter(name, value, requirement)
        number = Scale(exact)
    if not float(least) <= float(number) <= float(largest):
        raise InvalidParameter(name, value, requirement)
    return number


def _nearby(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf
