"""A line below which no test against a mechanism can go."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_number

__all__ = ["Tangent"]


@dataclass(frozen=True, slots=True)
class Tangent:
    r"""The condition false_alarm + ratio * missed_detection >= 1 - delta.

    With ratio = e^epsilon this is the first of the two conditions of Kairouz, Oh, Viswanath, Theorem 2.1;
    the second is `Tangent(ratio, delta).swapped()`, a line of ratio e^-epsilon. A ratio below one needs
    delta >= 1 - ratio: a smaller delta would rule out even tests that ignore the output.

    >>> Tangent(3, 0).swapped()
    Tangent(ratio=Fraction(1, 3), delta=Fraction(2, 3))
    """

    ratio: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        ratio, delta = read_number("ratio", self.ratio), read_number("delta", self.delta)
        if not ratio > 0:
            raise InvalidParameter("ratio", self.ratio, "be above 0")
        least = max(Fraction(0), 1 - ratio)
        if not least <= delta <= 1:
            raise InvalidParameter("delta", self.delta, f"lie in [{least}, 1]")
        object.__setattr__(self, "ratio", ratio)
        object.__setattr__(self, "delta", delta)

    def swapped(self) -> Tangent:
        """The same line with the two databases, and so the two errors, exchanged."""
        return Tangent(1 / self.ratio, 1 - (1 - self.delta) / self.ratio)

    def slack(self, missed_detection: Fraction, false_alarm: Fraction) -> Fraction:
        """How far a point lies on the allowed side of the line; negative if it breaks the condition.

        >>> Tangent(3, 0).slack(Fraction(1, 4), Fraction(1, 4))
        Fraction(0, 1)
        """
        return false_alarm + self.ratio * missed_detection - (1 - self.delta)
