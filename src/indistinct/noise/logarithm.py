r"""The natural logarithm of arrays, with a proven error: nothing is asked of the platform's mathematical library.

x = 2^e f with f in [1, 2); the leading eight bits of f choose c near 1 / f from a table, so that r = f c - 1 is below
2^-8, and ln x = e ln 2 - ln c + r - r^2/2 + ... - r^6/6. Only additions and multiplications of IEEE doubles are
used, and the constants are roundings of balls. Error: the product f c is off by 2^-53, the series' tail is below
2^-58, its arithmetic below 2^-60, the table's -ln c by 2^-54, e ln 2 by 2^-52 |e ln 2|, and the final sums by
2^-52 (1 + |ln x|): in all less than 2^-50 (1 + |ln x|), of which `ERROR` leaves a factor of four.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from indistinct.numbers import balls

__all__ = ["ERROR", "Reals", "horner", "logarithm"]

Reals = NDArray[np.float64]

ERROR: Final = 2.0**-48
"""|logarithm(x) - ln x| is below ERROR (1 + |ln x|)."""

_BITS = 8


def logarithm(x: Reals) -> Reals:
    """ln of positive normal floats, each off by less than ERROR (1 + |ln x|).

    >>> bool(abs(logarithm(np.array([10.0]))[0] - 2.302585092994046) < 1e-14)
    True
    """
    inverse, minus_log, log_two = _constants()
    code = x.view(np.int64)
    place = code >> (52 - _BITS)
    exponent = (place >> _BITS).astype(np.float64)
    exponent -= 1023
    place &= 2**_BITS - 1
    fraction = code & (2**52 - 1)
    fraction |= 1023 << 52
    r = fraction.view(np.float64)
    r *= inverse.take(place, mode="clip")
    r -= 1
    result = horner(r, (-1 / 6, 1 / 5, -1 / 4, 1 / 3, -1 / 2, 1.0))
    result *= r
    exponent *= log_two
    exponent += minus_log.take(place, mode="clip")
    result += exponent
    return result


def horner(x: Reals, coefficients: tuple[float, ...]) -> Reals:
    """A polynomial, from its highest coefficient to its constant one."""
    result = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        result += coefficient
        result *= x
    result += coefficients[-1]
    return result


@cache
def _constants() -> tuple[Reals, Reals, float]:
    """1/f at the middle of each cell in few bits, -ln of it, and ln 2."""
    cells = np.arange(2**_BITS)
    inverse = np.round(2.0**12 / (1 + (cells + 0.5) / 2**_BITS)) / 2.0**12
    with balls.precision(128):
        minus_log = np.array([float((-balls.ball(float(c)).log()).mid()) for c in inverse])
        log_two = float(balls.ball(2).log().mid())
    return inverse, minus_log, log_two
