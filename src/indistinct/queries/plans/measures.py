"""What an engine counts and sums: whole numbers, each with the most that one unit can change it by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from indistinct.queries.plans.expressions import Expression
from indistinct.queries.policy.terms import Contribution

__all__ = [
    "CELL_WEIGHT",
    "Cells",
    "CountRows",
    "CountUnits",
    "CountValues",
    "Measure",
    "Quantised",
    "Sum",
    "UnitTotal",
    "change",
    "lattice",
]

CELL_WEIGHT = 1024
"""What a row that counts in full weighs in a cell; a fraction of it where a unit has more rows than it may."""

_STEPS = 20
_LARGEST_WHOLE = 2**31


@dataclass(frozen=True, slots=True)
class CountRows:
    """Rows."""


@dataclass(frozen=True, slots=True)
class CountUnits:
    """Units of privacy that have a row."""


@dataclass(frozen=True, slots=True)
class CountValues:
    """Rows whose value is not NULL (and, of a number, not not-a-number)."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Quantised:
    """A number of each row as a whole number of steps from a centre: floor((clamp(x) - centre) / step + 1/2).

    `low`, `high` and `centre` are doubles, and `inverse` is that of the step. The operations are those of IEEE 754 on
    every engine and in Python, and each is monotone, so `least` and `most`, computed here, are the ends of what an
    engine can compute: the sensitivity is exact.
    """

    value: Expression
    low: float
    high: float
    centre: float
    step: Fraction

    @property
    def inverse(self) -> float:
        """Steps in one."""
        return float(1 / self.step)

    def steps(self, number: float) -> int:
        """What an engine makes of a number."""
        return math.floor((min(max(number, self.low), self.high) - self.centre) * self.inverse + 0.5)

    @property
    def largest(self) -> int:
        """The most steps from the centre that a row can be."""
        return max(abs(self.steps(self.low)), abs(self.steps(self.high)))


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a quantised number over rows, or of its square."""

    of: Quantised
    power: int = 1


@dataclass(frozen=True, slots=True)
class Cells:
    """How the values of a column are spread over the cells of a public grid, for quantiles."""

    value: Expression
    low: float
    high: float
    number: int


@dataclass(frozen=True, slots=True)
class UnitTotal:
    """The sum over units of what each one's rows of the group add up to, moved between two bounds, in steps from 0.

    Rows are moved between the bounds, or 0, first. However many there are, a unit changes the sum by a bound at most.
    """

    of: Quantised
    least: int
    most: int


Measure: TypeAlias = CountRows | CountUnits | CountValues | Sum | UnitTotal


def change(measure: Measure, contribution: Contribution) -> int:
    """The most by which one unit changes the measure of one group: the exact bound on the whole numbers.

    >>> change(CountRows(), Contribution(groups=5, rows=10))
    10
    """
    match measure:
        case CountRows() | CountValues():
            return contribution.rows
        case CountUnits():
            return 1
        case Sum(of=of, power=power):
            most: int = max(of.largest, 1) ** power
            return contribution.rows * most
        case UnitTotal(least=least, most=highest):
            return max(abs(least), abs(highest), 1)


def lattice(
    value: Expression, low: Fraction, high: Fraction, *, centred: bool, step: Fraction | None = None
) -> Quantised:
    """The lattice on which a column is summed.

    Whole numbers up to 2^31 are summed as they are. Otherwise a step is at most 2^-20 of the largest value, so that
    rounding each row, by at most half a step and evenly to both sides, does not matter beside the noise.
    """
    least, most = float(low), float(high)
    middle = float((low + high) / 2) if centred else 0.0
    reach = max(abs(least - middle), abs(most - middle), 2.0**-500)
    whole = value.type == "integer" and reach <= _LARGEST_WHOLE
    if step is None:
        step = Fraction(1) if whole else Fraction(2) ** (math.frexp(reach)[1] - _STEPS)
    centre = math.floor(Fraction(middle) / step) * step
    return Quantised(value, least, most, float(centre), step)
