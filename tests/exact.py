"""Numbers of other libraries as exact fractions."""

from __future__ import annotations

from fractions import Fraction

import mpmath


def to_fraction(value: mpmath.mpf) -> Fraction:
    """Exactly the number that an mpmath float is."""
    sign, mantissa, exponent, _ = value._mpf_  # the only exact way out of mpmath
    magnitude = int(mantissa) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude
