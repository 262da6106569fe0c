r"""Real noise on a lattice: which lattice, and what rounding the values onto it costs.

A value x becomes the whole number nearest to x / h (halves go up), h being the granularity, a power of two that no
data decide. To it is added Laplace or Gaussian noise on the lattice, rounded likewise, so that the answer is exactly
the rounding of h (whole number + real noise): post-processing of the mechanism on real numbers.

Rounding may move neighbouring databases apart. Two numbers at a distance of at most D are at most ceil(D / h) steps
apart afterwards: nothing is lost where D is a multiple of h. Each of k coordinates may lose a whole step, so that an l1
sensitivity grows by k h and an l2 sensitivity by sqrt(k) h. Whole numbers that are on the lattice already lose
nothing. Whatever is lost is paid for by noise that is wider in the same proportion: the claim stays what it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.noise.scale import LARGEST_SCALE
from indistinct.numbers import read_number

__all__ = ["FINEST", "Lattice", "exponent_of", "lattice_for", "read_granularity"]

_FINE = 10  # the default is finer than the noise by this many powers of two
FINEST = 50
"""The noise is at most 2^50 steps wide by default, so that 64-bit integers suffice."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Where the answers of one kind of question lie, and the noise that they get.

    >>> from indistinct import Laplace
    >>> lattice = Laplace(sensitivity="0.1", scale=1).lattice()
    >>> print(lattice.granularity, float(lattice.scale))
    1/16384 1.00036621...
    """

    exponent: int
    scale: Fraction
    """Of the noise that is added: that of the mechanism, times what the sensitivity grew by."""

    @property
    def granularity(self) -> Fraction:
        """The distance of neighbouring points."""
        return Fraction(2) ** self.exponent

    @property
    def steps(self) -> Fraction:
        """The scale of the noise, in steps of the lattice."""
        return self.scale / self.granularity


def read_granularity(value: object) -> Fraction | None:
    """A power of two, or None for the default."""
    if value is None:
        return None
    number = read_number("granularity", value)
    if not number > 0 or (number.numerator & (number.numerator - 1)) or (number.denominator & (number.denominator - 1)):
        raise InvalidParameter("granularity", value, "be a power of two, such as 1 or 1/1024")
    return number


def lattice_for(
    sensitivity: Fraction,
    scale: Fraction,
    granularity: Fraction | None,
    *,
    whole: bool,
    count: int,
    spread: Callable[[int], Fraction],
) -> Lattice:
    """The lattice of so many coordinates, whole numbers or not; `spread` is by how many steps rounding moves them.

    By default it is finer than the noise by 2^10 and, where rounding costs anything, so fine that the noise widens by
    less than 2^-10 of itself.
    """

    def widened(exponent: int) -> Fraction:
        step = Fraction(2) ** exponent
        if whole and exponent <= 0:
            return sensitivity
        if count == 1:
            return step * -(-sensitivity // step)
        return sensitivity + spread(count) * step

    if granularity is not None:
        if granularity > scale:
            raise InvalidParameter("granularity", granularity, f"be at most the scale of the noise, {float(scale):.6g}")
        exponent = exponent_of(granularity)
    else:
        exponent = exponent_of(scale) - _FINE
        if whole:
            exponent = min(exponent, 0)
        elif widened(exponent) != sensitivity:
            room = sensitivity / max(spread(count), Fraction(1))
            exponent = max(min(exponent, exponent_of(room) - _FINE), exponent_of(scale) - FINEST)
    lattice = Lattice(exponent, scale * widened(exponent) / sensitivity)
    if lattice.steps > LARGEST_SCALE:
        raise InvalidParameter(
            "the noise",
            f"{float(scale / sensitivity):.6g} times the sensitivity, for {count} numbers",
            "be at most 2^60 steps of the lattice wide",
            instead="Use a larger granularity, less noise, or values of an integer type.",
        )
    return lattice


def exponent_of(number: Fraction) -> int:
    """The exponent of the largest power of two that is not above a number.

    >>> exponent_of(Fraction(9)), exponent_of(Fraction(1, 9))
    (3, -4)
    """
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= number else exponent - 1


def root_above(number: int) -> Fraction:
    """A number above the square root, off by less than 2^-20.

    >>> root_above(4) >= 2, float(root_above(2))
    (True, 1.4142141342163086)
    """
    return Fraction(math.isqrt(number << 40) + 1, 1 << 20)
