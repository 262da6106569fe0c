"""The natural logarithm of a rational number, kept exact.

Differential privacy speaks of epsilon but acts by e^epsilon, and for many mechanisms that is the
rational one of the two: the two-coin survey has e^epsilon = 3. `ln(3)` is that epsilon, exactly, and
may stand wherever an epsilon may.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import balls
from indistinct.numbers.bracket import Bracket

__all__ = ["Epsilon", "NaturalLog", "ball_of", "bracket_of", "exponential", "ln"]


@dataclass(frozen=True, slots=True)
class NaturalLog:
    """The natural logarithm of an exact positive number; build it with `ln`."""

    argument: Fraction

    def __float__(self) -> float:
        """The nearest float or its neighbour, for display; `bracket` is the proven form."""
        return self.bracket.upper

    def __repr__(self) -> str:
        return f"ln({self.argument})"

    @property
    def bracket(self) -> Bracket:
        """The floats on either side.

        >>> ln(3).bracket
        Bracket(lower=1.0986122886681096, upper=1.0986122886681098)
        """
        return bracket_of(self)


Epsilon = Fraction | NaturalLog
"""A privacy level: an exact number, or the exact logarithm of one."""


def ln(argument: object) -> NaturalLog:
    """The exact natural logarithm of a rational number.

    >>> ln(3)
    ln(3)
    >>> ln("1.5")
    ln(3/2)
    """
    from indistinct.numbers.reading import read_number

    value = read_number("the argument of ln", argument)
    if not value > 0:
        raise InvalidParameter("the argument of ln", argument, "be above 0")
    return NaturalLog(value)


def ball_of(epsilon: Epsilon) -> balls.arb:
    """The ball of an epsilon at the working precision."""
    match epsilon:
        case NaturalLog(argument):
            return balls.ball(argument).log()
        case _:
            return balls.ball(epsilon)


def exponential(epsilon: Epsilon) -> balls.arb:
    """The ball of e^epsilon at the working precision; exact where e^epsilon is rational."""
    match epsilon:
        case NaturalLog(argument):
            return balls.ball(argument)
        case _:
            return balls.ball(epsilon).exp()


def bracket_of(epsilon: Epsilon) -> Bracket:
    """The tightest pair of floats around an epsilon.

    >>> bracket_of(Fraction(1, 2))
    Bracket(lower=0.5, upper=0.5)
    """
    match epsilon:
        case NaturalLog(argument):
            if argument == 1:
                return Bracket(0.0, 0.0)
            bits = argument.numerator.bit_length() + argument.denominator.bit_length()
            with balls.precision(64 + math.ceil(math.log2(bits + 1)) + bits):
                return balls.bracket_of(ball_of(epsilon))
        case _:
            return Bracket.exactly(epsilon)
