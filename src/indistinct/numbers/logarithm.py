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

__all__ = [
    "Epsilon",
    "NaturalLog",
    "ball_of",
    "bracket_of",
    "enclosure",
    "exponential",
    "ln",
    "logarithm_of",
    "sign_of_sum",
]


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


def logarithm_of(value: Fraction) -> balls.arb:
    """The ball of ln(value), as narrow relatively for values next to 1 as elsewhere."""
    return balls.ball(value - 1).log1p() if 2 * value > 1 else balls.ball(value).log()


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


def enclosure(epsilon: Epsilon) -> tuple[Fraction, Fraction]:
    """Exact numbers around an epsilon: equal where it is rational, some 2^-250 apart otherwise."""
    if isinstance(epsilon, Fraction):
        return epsilon, epsilon
    with balls.precision(256):
        around = ball_of(epsilon)
        return balls.exact(around.lower()), balls.exact(around.upper())


def sign_of_sum(*terms: tuple[int, Epsilon]) -> int:
    """The exact sign of a sum of whole multiples of epsilons.

    >>> sign_of_sum((2, ln(3)), (-1, ln(9)))
    0
    >>> sign_of_sum((1, ln(3)), (-1, Fraction("1.0986122886681098")))
    -1

    A sum of logarithms of rationals is itself such a logarithm, hence 0 or transcendental: unless
    the rational terms cancel and the arguments multiply to one, some precision decides.
    """
    rational = sum((factor * value for factor, value in terms if isinstance(value, Fraction)), Fraction(0))
    factors: dict[NaturalLog, int] = {}
    for factor, value in terms:
        if isinstance(value, NaturalLog):
            factors[value] = factors.get(value, 0) + factor
    shared = math.gcd(*factors.values())  # taken out below, so that no power is needlessly enormous
    if shared == 0:
        return (rational > 0) - (rational < 0)

    def total() -> balls.arb:
        return sum((factor * ball_of(value) for value, factor in factors.items()), balls.ball(rational))

    with balls.precision(512):
        if not (nearby := total()).contains(0):
            return 1 if nearby > 0 else -1
    powers = (value.argument ** (factor // shared) for value, factor in factors.items())
    if rational == 0 and math.prod(powers, start=Fraction(1)) == 1:
        return 0
    return balls.sign_of(total)
