"""The epsilon of mechanisms that take it as their one parameter of privacy."""

from __future__ import annotations

from fractions import Fraction

from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.parameters import read_positive

__all__ = ["EPSILON_KNOBS", "LARGEST_EPSILON", "read_level"]

LARGEST_EPSILON = 10**6

EPSILON_KNOBS = (
    Knob(
        "epsilon",
        quiets=False,
        because="what is claimed of a smaller epsilon implies what is claimed of a larger one",
        most=Fraction(LARGEST_EPSILON),
    ),
)


def read_level(epsilon: object) -> Fraction:
    """An epsilon above 0.

    >>> read_level("0.5")
    Fraction(1, 2)
    """
    level = read_positive("epsilon", epsilon)
    if level > LARGEST_EPSILON:
        raise InvalidParameter("epsilon", epsilon, f"be at most {LARGEST_EPSILON}")
    return level
