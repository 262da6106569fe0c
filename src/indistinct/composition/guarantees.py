"""What a mechanism promises: (epsilon, 0)- or (epsilon, delta)-differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.numbers import Epsilon, read_delta, read_epsilon

__all__ = ["ApproximateDP", "Guarantee", "PureDP"]


@dataclass(frozen=True, slots=True, init=False)
class PureDP:
    """The promise of (epsilon, 0)-differential privacy (KOV, Definition 1.1).

    Epsilon is read exactly: the text "0.1" is one tenth, a float is the binary number it is, and
    `ln(3)` has e^epsilon = 3.

    >>> PureDP("0.1").epsilon
    Fraction(1, 10)
    """

    epsilon: Epsilon

    def __init__(self, epsilon: object) -> None:
        object.__setattr__(self, "epsilon", read_epsilon("epsilon", epsilon))

    @property
    def delta(self) -> Fraction:
        """0, by definition."""
        return Fraction(0)

    def __repr__(self) -> str:
        return f"PureDP({spelled(self.epsilon)})"


@dataclass(frozen=True, slots=True, init=False)
class ApproximateDP:
    """The promise of (epsilon, delta)-differential privacy (KOV, Definition 1.1).

    >>> ApproximateDP("0.1", "0.001")
    ApproximateDP('0.1', '0.001')
    """

    epsilon: Epsilon
    delta: Fraction

    def __init__(self, epsilon: object, delta: object) -> None:
        object.__setattr__(self, "epsilon", read_epsilon("epsilon", epsilon))
        object.__setattr__(self, "delta", read_delta("delta", delta))

    def __repr__(self) -> str:
        return f"ApproximateDP({spelled(self.epsilon)}, {spelled(self.delta)})"


Guarantee = PureDP | ApproximateDP


def spelled(number: Epsilon) -> str:
    """The number as its user would write it, and exactly: '0.1' for one tenth, a float as itself.

    >>> spelled(Fraction(1, 10)), spelled(Fraction(0.1)), spelled(Fraction(1, 3)), spelled(Fraction(2))
    ("'0.1'", '0.1', "'1/3'", '2')
    """
    if not isinstance(number, Fraction):
        return repr(number)
    if number.denominator == 1:
        return str(number.numerator)
    if number == (nearest := number.numerator / number.denominator) and not _short(nearest):
        return repr(nearest)
    text = repr(nearest)
    return repr(text) if Fraction(text) == number else repr(str(number))


def _short(value: float) -> bool:
    """Whether the float is exactly the decimal that it prints as, as 0.5 is."""
    return Fraction(repr(value)) == Fraction(value)
