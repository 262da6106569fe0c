"""Columns of an answer, computed from noisy numbers: free, whatever is done with them.

An `Outcome` is an expression over keys of groups and released numbers. It is evaluated twice: for the value, and for
an interval of values that the true numbers would give with a stated probability, by interval arithmetic.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

__all__ = [
    "Average",
    "Combine",
    "Combining",
    "Count",
    "Figure",
    "KeyOf",
    "Outcome",
    "Quantile",
    "Spread",
    "Total",
    "Terms",
    "noises_of",
]

Terms: TypeAlias = tuple[tuple[Fraction, int], ...]
"""Factors and the measures that they multiply."""


@dataclass(frozen=True, slots=True)
class KeyOf:
    """A key of the group."""

    index: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A number or a word that stands in the question."""

    value: Fraction | str | bool | None


@dataclass(frozen=True, slots=True)
class Count:
    """A noisy count."""

    measure: int


@dataclass(frozen=True, slots=True)
class Total:
    """A noisy sum, in steps from 0; or from a centre, which is then added so many times as the noisy count tells."""

    measure: int
    step: Fraction
    centre: Fraction = Fraction(0)
    count: int | None = None

    @property
    def terms(self) -> Terms:
        """The sum as a combination of measures."""
        own = ((self.step, self.measure),)
        return own if self.count is None else (*own, (self.centre, self.count))


@dataclass(frozen=True, slots=True)
class Average:
    """centre + step * sum / count, within the bounds of the values."""

    total: int
    count: int
    centre: Fraction
    step: Fraction
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread:
    """A variance, or its root: step^2 (squares / count - (total / count)^2), within what the bounds allow."""

    total: int
    squares: int
    count: int
    step: Fraction
    reach: float
    """Half of the distance of the bounds."""
    sample: bool
    root: bool


@dataclass(frozen=True, slots=True)
class Quantile:
    """One of the quantiles that are selected together."""

    cells: int
    share: Fraction


class Combining(enum.Enum):
    """Operations on noisy numbers."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    ABSOLUTE = "abs"
    ROUND = "round"
    ROOT = "sqrt"
    LEAST = "least"
    GREATEST = "greatest"
    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    AND = "and"
    OR = "or"
    NOT = "not"
    COALESCE = "coalesce"
    NULL_IF = "nullif"
    IS_NULL = "is null"
    CASE = "case"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Combine:
    """An operation on outcomes."""

    how: Combining
    arguments: tuple[Outcome, ...]


Outcome: TypeAlias = KeyOf | Figure | Count | Total | Average | Spread | Quantile | Combine


def noises_of(outcome: Outcome) -> frozenset[object]:
    """The noisy numbers that an outcome rests on, each of which has an interval of its own."""
    match outcome:
        case Count(measure=measure):
            return frozenset({measure})
        case Total(measure=measure, count=None):
            return frozenset({measure})
        case Total() | Quantile():
            return frozenset({outcome})
        case Average(total=total, count=count):
            return frozenset({total, count})
        case Spread(total=total, squares=squares, count=count):
            return frozenset({total, squares, count})
        case Combine(arguments=arguments):
            return frozenset().union(*(noises_of(each) for each in arguments))
    return frozenset()
