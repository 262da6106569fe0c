"""Randomised response among any number of categories (Warner 1965; Kairouz, Oh and Viswanath 2014)."""

from __future__ import annotations

from dataclasses import dataclass

from indistinct.composition.losses import Adjacency, PrivacyLoss
from indistinct.composition.losses.three_way import three_way_pair
from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon, read_count, read_epsilon
from indistinct.numbers.balls import precision
from indistinct.numbers.logarithm import exponential

__all__ = ["RandomizedResponse"]

_BITS = 256
_LARGEST = 500


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """A person's own category with odds e^epsilon against each of the others, which are alike.

    Everybody's response is published, so it protects what a person answers and not that they do: neighbouring
    databases have one record replaced. With more than two categories it tells less than its epsilon allows: where
    neither value is the one reported the loss is 0.

    >>> from indistinct import RandomizedResponse, compose, ln
    >>> two, ten = (compose({RandomizedResponse(ln(3), categories=k): 20}) for k in (2, 10))
    >>> print(f"{two.epsilon('1e-3'):.6g}", f"{ten.epsilon('1e-3'):.6g}")
    21.5935 11.4738
    """

    epsilon: Epsilon
    categories: int

    def __init__(self, epsilon: object, categories: object = 2) -> None:
        level = read_epsilon("epsilon", epsilon, largest=_LARGEST)
        if level == 0:
            raise InvalidParameter("epsilon", epsilon, "be above 0", instead="At 0 a response tells nothing.")
        object.__setattr__(self, "epsilon", level)
        object.__setattr__(self, "categories", read_count("categories", categories, least=2))

    @property
    def loss(self) -> PrivacyLoss:
        """The pair of two different answers."""
        with precision(_BITS):
            odds = exponential(self.epsilon)
            return three_way_pair(self.epsilon, odds / (odds + (self.categories - 1)), Adjacency.REPLACE_ONE)
