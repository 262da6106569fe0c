"""Values on their way into a mechanism and answers on their way out: numbers stay numbers, arrays keep their shape."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.draws import Drawn
from indistinct.noise.given import Said, as_given

__all__ = [
    "LARGEST_VALUE",
    "add",
    "all_whole",
    "array_off_lattice",
    "array_onto_lattice",
    "is_array",
    "is_whole",
    "off_lattice",
    "onto_lattice",
    "read_array",
    "read_whole",
    "whole_array",
    "within_64_bits",
]

LARGEST_VALUE = 2**61
"""Values are at most so many steps from 0, so that no sum with 64-bit noise wraps."""

_LARGEST_NOISE = 2**62
_LARGEST_FLOAT = 2.0**61
_BITS = 64


def is_array(value: object) -> bool:
    """Whether a value is many numbers."""
    return isinstance(value, np.ndarray | list | tuple)


def is_whole(value: object) -> bool:
    """Whether one number is of a kind that holds whole numbers alone."""
    return isinstance(value, int | np.integer)


def read_array(value: Any) -> NDArray[Any]:
    """An array of integers or floats, all finite; of a list that mixes kinds, the exact numbers."""
    array = as_given("the value", value)
    if array.dtype.kind not in ("iuf" if isinstance(value, np.ndarray) else "iufO"):
        if array.size == 0:
            return array.astype(np.int64) if array.dtype.kind == "O" else array
        raise InvalidParameter(
            "the value", Said("not"), "be made of integers of at most 64 bits or of floats, and of nothing else"
        )
    if array.dtype.kind == "f" and array.itemsize > 8:
        raise InvalidParameter("the value", array.dtype, "be made of floats of at most 64 bits")
    finite = np.isfinite(array) if array.dtype.kind == "f" else not _any_of(array, float)
    if not np.all(finite):
        raise InvalidParameter("every value", Said("not-a-number or infinite"), "be finite")
    return array


def all_whole(array: NDArray[Any]) -> bool:
    """Whether an array that was read is of a kind that holds whole numbers alone, whatever they are."""
    return array.dtype.kind in "iu" or (array.dtype.kind == "O" and not _any_of(array, Fraction))


def whole_array(value: Any) -> NDArray[np.int64]:
    """64-bit integers, far enough from the largest; others only if they are whole."""
    array = read_array(value)
    match array.dtype.kind:
        case "f":
            whole = bool((array == np.floor(array)).all())
        case "O":
            whole = all(number.denominator == 1 for number in array.flat)
        case _:
            whole = True
    if not whole:
        raise InvalidParameter("every value", Said("not whole"), "be a whole number", instead=_INSTEAD)
    if _size(array) > LARGEST_VALUE:
        raise InvalidParameter("every value", Said("larger"), "be at most 2^61 in size, so that no sum can overflow")
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
            raise InvalidParameter("the value", Said("a float between whole numbers"), "be whole", instead=_INSTEAD)
        case float() | np.floating():
            raise InvalidParameter("the value", Said("not-a-number or infinite"), "be finite")
        case Fraction(numerator=whole, denominator=1):
            return whole
    raise InvalidParameter(
        "the value", Said(f"of type {type(value).__name__}"), "be a whole number or an array of them"
    )


def onto_lattice(value: Any, exponent: int) -> int:
    """The whole number nearest to value / 2^exponent, halves upwards."""
    match value:
        case float() | np.floating() if not isinstance(value, np.longdouble):
            if not math.isfinite(value):
                raise InvalidParameter("the value", Said("not-a-number or infinite"), "be finite")
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
    raise InvalidParameter("the value", Said(f"of type {type(value).__name__}"), "be a number or an array of them")


def array_onto_lattice(array: NDArray[Any], exponent: int) -> NDArray[np.int64]:
    """The same for an array."""
    if array.dtype.kind == "O":
        steps = [onto_lattice(number, exponent) for number in array.flat]
        return np.array(steps, dtype=np.int64).reshape(array.shape)
    if array.dtype.kind != "f":
        most = _size(array)
        if not Fraction(most) / Fraction(2) ** exponent <= LARGEST_VALUE:
            raise _too_large(exponent)
        if most == 0 or exponent > _BITS:
            return np.zeros(array.shape, dtype=np.int64)
        if exponent <= 0:
            return np.asarray(array.astype(np.int64) << -exponent)
        # A half step and less is cut off first, so that nothing is added that could overflow.
        kind = np.uint64 if array.dtype == np.uint64 else np.int64
        halves = array.astype(kind) >> kind(exponent - 1)
        return np.asarray(((halves >> kind(1)) + (halves & kind(1))).astype(np.int64))
    with np.errstate(over="ignore", under="ignore"):
        scaled = array.astype(np.float64) * 2.0**-exponent  # exact, but for what is next to nothing
    if not (np.abs(scaled) <= _LARGEST_FLOAT).all():
        raise _too_large(exponent)
    low = np.floor(scaled)
    return np.asarray(low.astype(np.int64) + (scaled - low >= 0.5))


def add(values: NDArray[np.int64], noise: Drawn, *, wide: bool) -> Drawn:
    """The sums: Python's whole numbers for wide noise, else 64-bit integers, and the nearest where one does not fit.

    Which of them is no matter of the noise that was drawn: it would tell of it.
    """
    fits = noise.dtype != object
    if fits and not wide and (not noise.size or (noise.min() >= -_LARGEST_NOISE and noise.max() <= _LARGEST_NOISE)):
        return np.asarray(values + noise)
    exact = np.asarray(values.astype(object) + noise.astype(object))
    return exact if wide else within_64_bits(exact)


def within_64_bits(numbers: Drawn, multiple: int = 1) -> NDArray[np.int64]:
    """Python's whole numbers, all multiples of one, as 64-bit integers: each the nearest multiple that fits."""
    most = (2**63 - 1) // multiple * multiple
    return np.asarray(np.clip(numbers, -most, most).astype(np.int64))


def off_lattice(steps: int, exponent: int) -> float:
    """The float nearest to steps times 2^exponent."""
    return math.ldexp(steps, exponent)


def array_off_lattice(steps: Drawn, exponent: int) -> NDArray[np.float64]:
    """The same for an array."""
    return np.asarray(steps.astype(np.float64) * 2.0**exponent)


def _size(array: NDArray[Any]) -> int:
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


def _any_of(array: NDArray[Any], kind: type) -> bool:
    """Whether any of Python's own numbers in an array is of a type; in other arrays there are none."""
    return array.dtype.kind == "O" and any(isinstance(number, kind) for number in array.flat)


def _too_large(exponent: int) -> InvalidParameter:
    return InvalidParameter(
        "every value",
        Said("larger"),
        f"be at most 2^{61 + exponent} in size",
        instead="A larger granularity allows more.",
    )


_HALF = Fraction(1, 2)
_INSTEAD = "Round it where the data are made, or use a mechanism for real numbers, such as Laplace or Gaussian."
