"""Values on their way into a mechanism and answers on their way out: numbers stay numbers, arrays keep their shape."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.draws import Drawn

__all__ = [
    "LARGEST_VALUE",
    "add",
    "array_off_lattice",
    "array_onto_lattice",
    "is_array",
    "is_whole",
    "off_lattice",
    "onto_lattice",
    "read_array",
    "read_whole",
    "whole_array",
]

LARGEST_VALUE = 2**61
"""Values are at most so many steps from 0, so that no sum with 64-bit noise wraps."""

_LARGEST_NOISE = 2**62
_LARGEST_FLOAT = 2.0**61


def is_array(value: object) -> bool:
    """Whether a value is many numbers."""
    return isinstance(value, np.ndarray | list | tuple)


def is_whole(value: object) -> bool:
    """Whether one number is of a kind that holds whole numbers alone."""
    return isinstance(value, int | np.integer)


def read_array(value: Any) -> NDArray[Any]:
    """An array of integers or floats, all finite; nothing else is turned into one."""
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        raise InvalidParameter("the value", value, "be one number or an array of them, all of one shape") from None
    if array.dtype.kind not in "iuf":
        if array.size == 0:
            return array.astype(np.int64) if array.dtype.kind == "O" else array
        raise InvalidParameter(
            "the value", array.dtype, "be made of integers of at most 64 bits or of floats, and of nothing else"
        )
    if array.dtype.kind == "f" and array.itemsize > 8:
        raise InvalidParameter("the value", array.dtype, "be made of floats of at most 64 bits")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidParameter("every value", "not-a-number or infinite", "be finite")
    return array


def whole_array(value: Any) -> NDArray[np.int64]:
    """64-bit integers, far enough from the largest; floats only if they are whole."""
    array = read_array(value)
    if array.dtype.kind == "f" and not (array == np.floor(array)).all():
        raise InvalidParameter("every value", "not whole", "be a whole number", instead=_INSTEAD)
    if _size(array) > LARGEST_VALUE:
        raise InvalidParameter("every value", "larger", "be at most 2^61 in size, so that no sum can overflow")
    return array.astype(np.int64)


def read_whole(value: object) -> int:
    """One whole number of any size."""
    if type(value) is int:
        return value
    match value:
        case bool() | np.bool_():
            pass
        case int() | np.integer():
            return int(value)
        case float() | np.floating() if math.isfinite(value) and float(value).is_integer():
            return int(value)
        case float() | np.floating() if math.isfinite(value):
            raise InvalidParameter("the value", "a float between whole numbers", "be whole", instead=_INSTEAD)
        case float() | np.floating():
            raise InvalidParameter("the value", value, "be finite")
        case Fraction(numerator=whole, denominator=1):
            return whole
    raise InvalidParameter("the value", type(value).__name__, "be a whole number or an array of them")


def onto_lattice(value: Any, exponent: int) -> int:
    """The whole number nearest to value / 2^exponent, halves upwards."""
    match value:
        case float() | np.floating() if not isinstance(value, np.longdouble):
            if not math.isfinite(value):
                raise InvalidParameter("the value", value, "be finite")
            try:
                scaled = math.ldexp(value, -exponent)
            except OverflowError:
                scaled = math.inf
            if not abs(scaled) <= _LARGEST_FLOAT:
                raise _too_large(exponent)
            low = math.floor(scaled)
            return low + (scaled - low >= 0.5)  # the difference is exact, or so near 1 that it does not matter
        case bool() | np.bool_():
            pass
        case int() | np.integer() if exponent <= 0:
            step = int(value) << -exponent
            if not -LARGEST_VALUE <= step <= LARGEST_VALUE:
                raise _too_large(exponent)
            return step
        case int() | np.integer() | Fraction():
            exact = Fraction(int(value) if isinstance(value, np.integer) else value) / Fraction(2) ** exponent
            if not abs(exact) <= LARGEST_VALUE:
                raise _too_large(exponent)
            return math.floor(exact + _HALF)
    raise InvalidParameter("the value", type(value).__name__, "be a number or an array of them")


def array_onto_lattice(array: NDArray[Any], exponent: int) -> NDArray[np.int64]:
    """The same for an array."""
    if array.dtype.kind != "f":
        most = _size(array)
        if not Fraction(most) / Fraction(2) ** exponent <= LARGEST_VALUE:
            raise _too_large(exponent)
        whole = array.astype(np.int64)
        if most == 0:
            return whole
        if exponent <= 0:
            return whole << -exponent if exponent else whole
        return (whole + (1 << (exponent - 1))) >> exponent if exponent < 62 else whole * 0
    with np.errstate(over="ignore", under="ignore"):
        scaled = array.astype(np.float64) * 2.0**-exponent  # exact, but for what is next to nothing
    if not (np.abs(scaled) <= _LARGEST_FLOAT).all():
        raise _too_large(exponent)
    low = np.floor(scaled)
    return low.astype(np.int64) + (scaled - low >= 0.5)


def add(values: NDArray[np.int64], noise: Drawn) -> Drawn:
    """The sums: 64-bit integers unless some noise does not fit into 63 of them, then Python's whole numbers."""
    if noise.dtype != object and (not noise.size or (noise.min() >= -_LARGEST_NOISE and noise.max() <= _LARGEST_NOISE)):
        total: Drawn = np.asarray(values + noise)
        return total
    result: Drawn = np.asarray(values.astype(object) + noise.astype(object))
    return result


def off_lattice(steps: int, exponent: int) -> float:
    """The float nearest to steps times 2^exponent."""
    return math.ldexp(steps, exponent)


def array_off_lattice(steps: Drawn, exponent: int) -> NDArray[np.float64]:
    """The same for an array."""
    return np.asarray(steps.astype(np.float64) * 2.0**exponent)


def _size(array: NDArray[Any]) -> int:
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


def _too_large(exponent: int) -> InvalidParameter:
    return InvalidParameter(
        "every value", "larger", f"be at most 2^{61 + exponent} in size", instead="A larger granularity allows more."
    )


_HALF = Fraction(1, 2)
_INSTEAD = "Round it where the data are made, or use a mechanism for real numbers, such as Laplace or Gaussian."
