"""Reading numbers from users: exactly, or with one sentence that says what is wrong.

Text means the decimal it says ("0.1" is one tenth), and a float means the binary number it is.
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from indistinct.errors import InvalidParameter
from indistinct.numbers.logarithm import Epsilon, NaturalLog

__all__ = [
    "LARGEST_COUNT",
    "LARGEST_EPSILON",
    "read_count",
    "read_delta",
    "read_epsilon",
    "read_number",
    "read_probability",
]

LARGEST_EPSILON = 10**9
LARGEST_COUNT = 10**15
_LARGEST_EXPONENT = 5000
_LONGEST_TEXT = 1000
_USUAL = 40

_SHORTER = f"be text of at most {_LONGEST_TEXT} characters"
_FINITE = "be finite"
_A_NUMBER = 'be a number such as 0.1, "0.1" or "1/10"'

_TEXT = re.compile(
    r"\s*(?P<sign>[+-]?)(?P<number>\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[+-]?\d+)|/(?P<denominator>\d+))?\s*"
)
_LOGARITHM = re.compile(r"\s*ln\s*\((?P<argument>[^()]*)\)\s*", re.IGNORECASE)


def read_number(name: str, value: object) -> Fraction:
    """The exact number that a user gave as int, float, Fraction, Decimal or text.

    >>> read_number("epsilon", "0.1")
    Fraction(1, 10)
    >>> read_number("epsilon", "one")
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: epsilon must be a number such as 0.1, "0.1" or "1/10", but is 'one'.
    """
    match value:
        case str():
            found = _parsed(value) if len(value) <= _LONGEST_TEXT else _SHORTER  # not kept in the cache
            if isinstance(found, str):
                raise InvalidParameter(name, value, found)
            return found
        case bool():
            raise InvalidParameter(name, value, _A_NUMBER)
        case Fraction():
            return value
        case float() if math.isfinite(value):
            return Fraction(value)
        case Decimal():
            if value.is_finite() and abs(value.adjusted()) <= _LARGEST_EXPONENT:
                return Fraction(value)
            raise InvalidParameter(name, value, _FINITE)
    return _from_another(name, value)


def read_epsilon(name: str, value: object, *, largest: int = LARGEST_EPSILON) -> Epsilon:
    """A privacy level: at least 0 and finite; `ln(3)`, as an object or as text, stays exact.

    >>> read_epsilon("epsilon", "ln(3)")
    ln(3)
    >>> read_epsilon("epsilon", -1)
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: epsilon must lie in [0, 1000000000], but is -1.
    """
    if isinstance(value, str) and "(" in value and (logarithm := _LOGARITHM.fullmatch(value)):
        argument = read_number(name, logarithm["argument"])
        if argument <= 0:
            raise InvalidParameter(name, value, "be the logarithm of a number that is at least 1")
        value = NaturalLog(argument)
    if isinstance(value, NaturalLog):
        if value.argument < 1:
            raise InvalidParameter(name, value, "be the logarithm of a number that is at least 1")
        return Fraction(0) if value.argument == 1 else value
    epsilon = read_number(name, value)
    above, below = epsilon.as_integer_ratio()
    if not 0 <= above <= largest * below:
        raise InvalidParameter(name, value, f"lie in [0, {largest}]")
    return epsilon


def read_delta(name: str, value: object) -> Fraction:
    """A failure probability: in [0, 1].

    >>> read_delta("delta", 1e-6) == Fraction(1e-6)
    True
    """
    return read_probability(name, value)


def read_probability(name: str, value: object) -> Fraction:
    """An exact number in [0, 1]."""
    probability = read_number(name, value)
    above, below = probability.as_integer_ratio()
    if not 0 <= above <= below:
        raise InvalidParameter(name, value, "lie in [0, 1]")
    return probability


def read_count(name: str, value: object, *, least: int = 0) -> int:
    """A whole number of uses.

    >>> read_count("times", 2.5)
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: times must be a whole number from 0 to 1000000000000000, but is 2.5.
    """
    if type(value) is int and least <= value <= LARGEST_COUNT:
        return value
    number = read_number(name, value)
    if number.denominator != 1 or not least <= number <= LARGEST_COUNT:
        raise InvalidParameter(name, value, f"be a whole number from {least} to {LARGEST_COUNT}")
    return int(number)


def _from_another(name: str, value: object) -> Fraction:
    """Of NumPy's kinds, and all others that know their exact value."""
    try:
        return Fraction(operator.index(value))  # type: ignore[arg-type]  # refused just below
    except TypeError:
        pass
    try:
        return Fraction(*value.as_integer_ratio())  # type: ignore[attr-defined]  # likewise
    except (ValueError, OverflowError):
        raise InvalidParameter(name, value, _FINITE) from None
    except (AttributeError, TypeError):
        raise InvalidParameter(name, value, _A_NUMBER) from None


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Fraction | str:
    """The number that a text says, or what the text must do to say one."""
    whole, _, places = text.partition(".")
    digits = whole + places
    if digits.isdigit() and len(digits) <= _USUAL and digits.isascii():  # what most texts are; there may be many
        return Fraction(int(digits), 10 ** len(places))
    parts = _TEXT.fullmatch(text) if text.isascii() else None
    if parts is None:
        return _FINITE if _is_special(text) else _A_NUMBER
    exponent = int(parts["exponent"] or 0) if len(parts["exponent"] or "") <= 9 else _LARGEST_EXPONENT + 1
    if abs(exponent) > _LARGEST_EXPONENT:
        return f"have an exponent of at most {_LARGEST_EXPONENT}"
    whole, _, places = parts["number"].partition(".")
    above, exponent = int(f"{parts['sign']}{whole}{places}"), exponent - len(places)
    above, below = (above * 10**exponent, 1) if exponent >= 0 else (above, 10**-exponent)
    divisor = int(parts["denominator"] or 1)
    if divisor == 0:
        return "not divide by zero"
    return Fraction(above, below * divisor)


def _is_special(text: str) -> bool:
    """Whether the text is a float's spelling of infinity or of no number."""
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False
