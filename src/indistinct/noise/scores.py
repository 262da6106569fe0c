"""Arrays of numbers that noise is compared with: read exactly, and subtracted with a single rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.given import PRIVATE, as_given
from indistinct.noise.logarithm import Reals
from indistinct.numbers import read_number

__all__ = ["Numbers", "below_highest", "differences", "exact_number", "left_out", "read_finite", "read_scores"]

Numbers = NDArray[Any]
"""64-bit integers, doubles, or Python's own numbers: ints of any size and fractions."""

_EXACT_FLOATS = 2**53


def read_scores(name: str, scores: object, count: int) -> Numbers:
    """A vector of so many scores; minus infinity is a score that is never chosen, but not for all.

    >>> read_scores("scores", [3, -2], 2)
    array([ 3, -2])
    >>> read_scores("scores", [0.5, float("nan")], 2)
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: scores must be numbers below infinity, but is not (it is private, ...
    """
    numbers = _read(name, scores)
    if numbers.ndim != 1 or len(numbers) != count or not count:
        raise InvalidParameter(name, PRIVATE, f"be a vector of {count} numbers" if count else "not be empty")
    finite = _finite(numbers)
    if not (finite.all() or np.isneginf(numbers[~finite].astype(np.float64)).all()):
        raise InvalidParameter(name, PRIVATE, "be numbers below infinity")
    out = left_out(numbers)
    if out is not None and out.all():
        raise InvalidParameter(name, PRIVATE, "not all be minus infinity")
    return numbers


def read_finite(name: str, values: object, count: int) -> Numbers:
    """A vector of so many finite numbers, or one number for all."""
    numbers = _read(name, values)
    if numbers.shape not in ((), (count,)):
        raise InvalidParameter(name, PRIVATE, f"be a number or a vector of {count} numbers")
    if not _finite(numbers).all():
        raise InvalidParameter(name, PRIVATE, "be finite")
    return numbers


def left_out(scores: Numbers) -> NDArray[np.bool_] | None:
    """Which scores are minus infinity, of those that were read; None if none is."""
    if scores.dtype == np.int64:
        return None
    out = ~_finite(scores)
    return out if out.any() else None


def exact_number(value: object) -> Fraction:
    """One of the numbers, exactly."""
    return read_number("a number to compare with noise", value)


def below_highest(scores: Numbers) -> Reals:
    """score - highest, each with a single rounding; minus infinity where a float cannot say."""
    highest = scores.max()
    return differences(scores, np.asarray(highest, dtype=scores.dtype))


def differences(values: Numbers, others: Numbers) -> Reals:
    """values - others, each with a single rounding."""
    if values.dtype == others.dtype == np.float64 or (_fit_floats(values) and _fit_floats(others)):
        with np.errstate(over="ignore"):
            return values.astype(np.float64) - others.astype(np.float64)
    if values.dtype == others.dtype == np.int64 and not _overflow(values, others):
        return (values - others).astype(np.float64)
    exact = np.frompyfunc(lambda value, other: _to_float(exact_number(value) - exact_number(other)), 2, 1)
    return np.asarray(exact(values.astype(object), others.astype(object)), dtype=np.float64)


def _read(name: str, values: object) -> Numbers:
    numbers = as_given(name, values)
    match numbers.dtype.kind:
        case "i":
            return numbers.astype(np.int64, copy=False)
        case "u":
            return numbers.astype(object if numbers.dtype.itemsize == 8 else np.int64)
        case "f" if numbers.dtype.itemsize <= 8:
            return numbers.astype(np.float64, copy=False)
        case "O":
            return numbers
        case _:
            raise InvalidParameter(name, PRIVATE, "be whole numbers, floats or fractions")


def _finite(numbers: Numbers) -> NDArray[np.bool_]:
    """Of Python's own numbers, only those that are not finite are floats."""
    if numbers.dtype == np.float64:
        return np.isfinite(numbers)
    if numbers.dtype == object:
        return np.array([not isinstance(value, float) for value in numbers.flat], dtype=np.bool_).reshape(numbers.shape)
    return np.ones(numbers.shape, dtype=np.bool_)


def _fit_floats(numbers: Numbers) -> bool:
    """Whether each number is a float exactly; all that is known of floats."""
    if numbers.dtype == np.int64:
        return not numbers.size or bool(numbers.min() >= -_EXACT_FLOATS and numbers.max() <= _EXACT_FLOATS)
    return numbers.dtype == np.float64


def _overflow(values: Numbers, others: Numbers) -> bool:
    if not values.size or not others.size:
        return False
    return int(values.max()) - int(others.min()) >= 2**63 or int(values.min()) - int(others.max()) < -(2**63)


def _to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
