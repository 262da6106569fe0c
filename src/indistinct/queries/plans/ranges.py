"""Exact arithmetic on ranges: between which numbers a result lies, if those it is made of lie between theirs."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

__all__ = ["Range", "difference", "product", "quotient", "size", "total"]

Range: TypeAlias = tuple[Fraction, Fraction]


def total(one: Range, other: Range) -> Range:
    """Of a sum."""
    return one[0] + other[0], one[1] + other[1]


def difference(one: Range, other: Range) -> Range:
    """Of the first less the second."""
    return one[0] - other[1], one[1] - other[0]


def product(one: Range, other: Range) -> Range:
    """Of a product.

    >>> product((Fraction(-1), Fraction(2)), (Fraction(3), Fraction(4)))
    (Fraction(-4, 1), Fraction(8, 1))
    """
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)


def quotient(one: Range, other: Range) -> Range | None:
    """Of a quotient; None where the second may be 0."""
    if other[0] <= 0 <= other[1]:
        return None
    return product(one, (1 / other[1], 1 / other[0]))


def size(one: Range) -> Range:
    """Of an absolute value."""
    low, high = sorted((abs(one[0]), abs(one[1])))
    return (Fraction(0) if one[0] <= 0 <= one[1] else low), high
