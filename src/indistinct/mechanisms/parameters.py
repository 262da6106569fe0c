"""Reading the parameters that mechanisms share."""

from __future__ import annotations

from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import read_number

__all__ = ["read_positive", "read_scale"]


def read_positive(name: str, value: object) -> Fraction:
    """A number above 0.

    >>> read_positive("scale", "0.5")
    Fraction(1, 2)
    """
    number = read_number(name, value)
    if not _LEAST <= number <= _LARGEST:
        raise InvalidParameter(name, value, "be above 0: from 1e-30 to 1e18")
    return number


def read_scale(sensitivity: Fraction, scale: object, epsilon: object) -> Fraction:
    """The noise scale, given itself or as the epsilon of one answer."""
    if (scale is None) == (epsilon is None):
        raise InvalidParameter("the noise", (scale, epsilon), "be given by either scale or epsilon")
    if scale is not None:
        return read_positive("scale", scale)
    return sensitivity / read_positive("epsilon", epsilon)


_LEAST = Fraction(1, 10**30)
_LARGEST = 10**18
