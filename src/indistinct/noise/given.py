"""Arrays and lists of private numbers as they were given: nothing is rounded on the way in, and nothing is shown.

NumPy makes floats of a list in which an int has a float, or an int of 64 bits without a sign, beside it. Two databases
that differ by 1 may differ by 1024 afterwards, or not at all. So a list is read by the types of its elements, which
are public as the form of a question is: only ints, or only floats, make an array of such; of a mixture the exact
numbers are kept. An array was made by its owner, who knows what its numbers are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter

__all__ = ["PRIVATE", "Said", "as_given", "refuse_masked", "unshown"]

Value = TypeVar("Value")


class Said:
    """Shown as the text that it is: in errors, what stands for a private value."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


PRIVATE = Said("not (it is private, and not shown)")


def unshown(read: Callable[[], Value]) -> Value:
    """What is read; if it is refused, the error tells why but not what was given."""
    try:
        return read()
    except InvalidParameter as error:
        refusal = InvalidParameter(error.name, PRIVATE, error.requirement, instead=error.instead)
    raise refusal  # outside, so that it does not carry the other one


def as_given(name: str, values: object) -> NDArray[Any]:
    """An array of any shape: as it is, or of int64, float64, or Python's own numbers, by the types in a list.

    >>> as_given("scores", [1, 2]).dtype, as_given("scores", [0.5, 2.0]).dtype
    (dtype('int64'), dtype('float64'))
    >>> as_given("scores", [2**62 + 1, 0.5])
    array([4611686018427387905, Fraction(1, 2)], dtype=object)
    """
    refuse_masked(name, values)
    array = np.asarray(values) if hasattr(values, "__array__") else _as_objects(name, values)
    return _by_types(name, array) if array.dtype == object else array


def refuse_masked(name: str, values: object) -> None:
    """Refuses masked arrays, also in lists: NumPy would read what is hidden."""
    if _any_masked(values):
        raise InvalidParameter(
            name, Said("masked"), "be without a mask", instead="Decide what hidden numbers count for."
        )


def _any_masked(values: object) -> bool:
    if isinstance(values, list | tuple):
        kinds = set(map(type, values))
        return not kinds <= {int, float} and any(map(_any_masked, values))
    return isinstance(values, np.ma.MaskedArray) or values is np.ma.masked


def _as_objects(name: str, values: object) -> NDArray[Any]:
    try:
        return np.array(values, dtype=object)
    except (ValueError, TypeError):
        refusal = _no_array(name)
    raise refusal


def _no_array(name: str) -> InvalidParameter:
    return InvalidParameter(name, PRIVATE, "be a vector of numbers, or rows of one length")


def _by_types(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Objects as the narrowest kind of array that their types allow, whatever their values are."""
    kinds = set(map(type, array.flat))
    if not kinds:
        return array.astype(np.float64)
    if np.ndarray in kinds:  # of no dimension
        return _by_types(name, _mapped(lambda value: value[()] if isinstance(value, np.ndarray) else value, array))
    if any(issubclass(kind, list | tuple) for kind in kinds):
        raise _no_array(name)
    if not all(map(_is_number, kinds)):
        raise InvalidParameter(name, PRIVATE, "be whole numbers, floats or fractions")
    if all(issubclass(kind, float | np.floating) for kind in kinds):
        return array.astype(np.float64)
    exact = array if kinds == {int} else _mapped(_exactly, array)
    if all(issubclass(kind, int | np.integer) for kind in kinds):
        try:
            return exact.astype(np.int64)
        except OverflowError:
            return exact
    return exact


def _is_number(kind: type) -> bool:
    if issubclass(kind, bool | np.longdouble):
        return False
    return issubclass(kind, int | float | np.integer | np.floating | Fraction)


def _exactly(value: Any) -> int | Fraction | float:
    """A Python number; infinities and what is no number stay floats, for the reader to judge."""
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Fraction):
        return value
    near = float(value)
    return Fraction(near) if math.isfinite(near) else near


def _mapped(function: Callable[[Any], object], array: NDArray[Any]) -> NDArray[Any]:
    result = np.empty(array.shape, dtype=object)
    result[...] = np.frompyfunc(function, 1, 1)(array)
    return result
