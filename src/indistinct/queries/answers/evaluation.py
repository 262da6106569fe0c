"""Columns of an answer from released numbers: their values, and intervals for the noise alone."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from indistinct.queries.answers.quantiles import cell_value
from indistinct.queries.plans.plan import Plan
from indistinct.queries.plans.ranges import difference, product, quotient, size, total
from indistinct.queries.plans.results import (
    Average,
    Combine,
    Combining,
    Count,
    Figure,
    KeyOf,
    Outcome,
    Quantile,
    Spread,
    Terms,
    Total,
)
from indistinct.queries.policy.terms import Key

__all__ = ["Interval", "Released", "Value", "interval_of", "shown", "value_of"]

Value: TypeAlias = Fraction | float | str | bool | Key | list["Value"]
Interval: TypeAlias = tuple[Fraction, Fraction]
_LARGEST = Fraction(sys.float_info.max)


class Ends(Protocol):
    """Where the exact numbers of a group are, each statement with the same probability."""

    def __call__(self, measure: int) -> Interval:
        """Of one measure."""
        ...

    def together(self, terms: Terms) -> Interval:
        """Of a combination of measures."""
        ...

    def quantile(self, cells: int, share: Fraction) -> Interval:
        """Of a quantile's value."""
        ...


@dataclass(frozen=True, slots=True)
class Released:
    """What was released of one group."""

    keys: tuple[Key, ...]
    numbers: tuple[int, ...]
    cells: tuple[tuple[int, ...], ...]
    """For each set of quantiles, the chosen cells."""
    prefixes: tuple[tuple[int, ...], ...] = ()
    """For each set that comes from a tree, the estimated weights below each cell; for others nothing."""


def value_of(outcome: Outcome, group: Released, plan: Plan) -> Value:
    """The value of a column; None where it has none, as SQL's NULL."""
    match outcome:
        case KeyOf(index=index):
            return group.keys[index]
        case Figure(value=value):
            return value
        case Count(measure=measure):
            return group.numbers[measure]
        case Total(terms=terms):
            total = sum((factor * group.numbers[measure] for factor, measure in terms), Fraction(0))
            return int(total) if all(factor.denominator == 1 for factor, _ in terms) else total
        case Average():
            count = max(group.numbers[outcome.count], 1)
            mean = outcome.centre + outcome.step * Fraction(group.numbers[outcome.total], count)
            return min(max(mean, Fraction(outcome.low)), Fraction(outcome.high))
        case Spread():
            return _spread(
                outcome, *(Fraction(group.numbers[i]) for i in (outcome.total, outcome.squares, outcome.count))
            )
        case Quantile(cells=index, share=share):
            quantiles = plan.quantiles[index]
            return cell_value(quantiles.cells, group.cells[index][quantiles.shares.index(share)])
        case Combine(how=how, arguments=arguments):
            return _combined(how, [value_of(each, group, plan) for each in arguments])


def shown(value: Value) -> Value:
    """As it is given to the analyst: whole counts as int, other numbers as float; beyond the doubles as NULL."""
    if isinstance(value, list):
        return [shown(each) for each in value]
    if not isinstance(value, Fraction):
        return value
    return float(value) if abs(value) <= _LARGEST else None


def interval_of(outcome: Outcome, group: Released, ends: Ends) -> Interval | None:
    """Where the outcome of the exact numbers is, if each of these is within its ends; None if that is not known."""
    match outcome:
        case Figure(value=Fraction() as value):
            return value, value
        case Count(measure=measure):
            return ends(measure)
        case Total(terms=terms):
            return ends.together(terms)
        case Average():
            quotient = _quotient(ends(outcome.total), ends(outcome.count), Fraction(1))
            low, high = (outcome.centre + outcome.step * each for each in quotient)
            least, most = Fraction(outcome.low), Fraction(outcome.high)
            return min(max(low, least), most), max(min(high, most), least)
        case Spread():
            return _spread_interval(outcome, ends)
        case Quantile(cells=cells, share=share):
            return ends.quantile(cells, share)
        case Combine(how=how, arguments=arguments):
            told = [interval_of(each, group, ends) for each in arguments]
            if how is Combining.ROUND and told[0] is not None and isinstance(arguments[1], Figure):
                digits = int(arguments[1].value)  # type: ignore[arg-type]  # a whole number, by the planner
                return _rounded(told[0][0], digits), _rounded(told[0][1], digits)
            known = [each for each in told if each is not None]
            return _combined_interval(how, known) if len(known) == len(told) else None
    return None


def _spread(spread: Spread, total: Fraction, squares: Fraction, count: Fraction) -> Fraction | float:
    least = Fraction(2 if spread.sample else 1)
    number = max(count, least)
    variance = spread.step**2 * (squares / number - (total / number) ** 2)
    return _finished(spread, variance, number)


def _finished(spread: Spread, variance: Fraction, number: Fraction) -> Fraction | float:
    most = Fraction(spread.reach) ** 2
    variance = min(max(variance, Fraction(0)), most)
    if spread.sample:
        variance *= number / (number - 1)
    return math.sqrt(variance) if spread.root else variance


def _spread_interval(spread: Spread, ends: Ends) -> Interval:
    least = Fraction(2 if spread.sample else 1)
    count = ends(spread.count)
    mean_low, mean_high = _quotient(ends(spread.total), count, least)
    square_low, square_high = _quotient(ends(spread.squares), count, least)
    squares = sorted((mean_low**2, mean_high**2))
    nearest = Fraction(0) if mean_low <= 0 <= mean_high else squares[0]
    low, high = spread.step**2 * (square_low - squares[1]), spread.step**2 * (square_high - nearest)
    # A sample's factor falls with its number.
    few, many = max(count[0], least), max(count[1], least)
    finished = (_finished(spread, low, many), _finished(spread, high, few))
    if spread.root:
        return Fraction(math.nextafter(finished[0], -math.inf)), Fraction(math.nextafter(finished[1], math.inf))
    return Fraction(finished[0]), Fraction(finished[1])


def _quotient(top: Interval, bottom: Interval, least: Fraction) -> Interval:
    """Of numbers in two intervals, the lower not below `least`."""
    low, high = max(bottom[0], least), max(bottom[1], least)
    corners = [a / b for a in top for b in (low, high)]
    return min(corners), max(corners)


def _combined(how: Combining, values: list[Value]) -> Value:
    match how:
        case Combining.LIST:
            return values
        case Combining.COALESCE:
            return next((each for each in values if each is not None), None)
        case Combining.IS_NULL:
            return values[0] is None
        case Combining.CASE:
            pairs = zip(values[:-1:2], values[1:-1:2], strict=True)
            return next((value for condition, value in pairs if condition is True), values[-1])
        case Combining.AND | Combining.OR:
            decided = how is Combining.OR
            if decided in values and any(each is decided for each in values):
                return decided
            return None if None in values else not decided
        case Combining.NOT:
            return None if values[0] is None else not values[0]
        case Combining.EQUAL | Combining.UNEQUAL | Combining.LESS | Combining.LESS_OR_EQUAL | Combining.NULL_IF:
            return _compared(how, values[0], values[1])
    return _number(how, values)


def _compared(how: Combining, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return left if how is Combining.NULL_IF else None
    try:
        match how:
            case Combining.NULL_IF:
                return None if left == right else left
            case Combining.EQUAL:
                return left == right
            case Combining.UNEQUAL:
                return left != right
            case Combining.LESS:
                return bool(left < right)  # type: ignore[operator]  # what cannot be compared is NULL
        return bool(left <= right)  # type: ignore[operator]
    except TypeError:
        return None


def _number(how: Combining, values: list[Value]) -> Value:  # noqa: C901  # one branch for each operation
    numbers = []
    for each in values:
        if isinstance(each, bool) or not isinstance(each, int | float | Fraction) or not -_LARGEST <= each <= _LARGEST:
            return None
        numbers.append(Fraction(each))
    match how:
        case Combining.ADD:
            return numbers[0] + numbers[1]
        case Combining.SUBTRACT:
            return numbers[0] - numbers[1]
        case Combining.MULTIPLY:
            return numbers[0] * numbers[1]
        case Combining.DIVIDE:
            return numbers[0] / numbers[1] if numbers[1] else None
        case Combining.ABSOLUTE:
            return abs(numbers[0])
        case Combining.LEAST:
            return min(numbers)
        case Combining.GREATEST:
            return max(numbers)
        case Combining.ROOT:
            return math.sqrt(numbers[0]) if numbers[0] >= 0 else None
        case Combining.ROUND:
            return _rounded(numbers[0], int(numbers[1]))
    return None


def _rounded(number: Fraction, digits: int) -> Fraction:
    unit = Fraction(10) ** -digits
    return math.floor(number / unit + Fraction(1, 2)) * unit


def _combined_interval(how: Combining, told: Sequence[Interval]) -> Interval | None:
    first, last = told[0], told[-1]
    match how:
        case Combining.ADD:
            return total(first, last)
        case Combining.SUBTRACT:
            return difference(first, last)
        case Combining.MULTIPLY:
            return product(first, last)
        case Combining.DIVIDE:
            return quotient(first, last)
        case Combining.ABSOLUTE:
            return size(first)
        case Combining.LEAST:
            return min(low for low, _ in told), min(high for _, high in told)
        case Combining.GREATEST:
            return max(low for low, _ in told), max(high for _, high in told)
        case Combining.ROOT if first[0] >= 0 and first[1] <= _LARGEST:
            low, high = math.sqrt(first[0]), math.sqrt(first[1])
            return Fraction(math.nextafter(low, 0.0)), Fraction(math.nextafter(high, math.inf))
    return None
