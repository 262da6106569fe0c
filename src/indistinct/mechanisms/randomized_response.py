"""Randomised response among any number of categories (Warner 1965; Kairouz, Oh and Viswanath 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.losses import Adjacency, PrivacyLoss
from indistinct.composition.losses.three_way import three_way_pair
from indistinct.composition.planning.formulas import pure_levels
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.answering import MOST_REVEALING
from indistinct.mechanisms.display import card
from indistinct.mechanisms.estimate import Estimate, estimated
from indistinct.mechanisms.quantiles import log_share, read_alpha, read_beta, upper
from indistinct.mechanisms.values import is_array
from indistinct.noise import Bernoulli, Logistic, UniformBelow
from indistinct.noise.given import refuse_masked
from indistinct.numbers import Epsilon, NaturalLog, ln, read_count, read_epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.bracket import float_above
from indistinct.numbers.logarithm import exponential

__all__ = ["RandomizedResponse"]

_BITS = 256
_LARGEST = 500


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """A person's own category with odds e^epsilon against each of the others, which are alike.

    Everybody's response is published, so it protects what a person answers and not that they do: neighbouring
    databases have one record replaced. With more than two categories it tells less than its epsilon allows: where
    neither value is the one reported the loss is 0. Beyond epsilon 40 it can be accounted for, as what others released,
    but gives no response: that would be the truth but once in 2^57.

    >>> from indistinct import RandomizedResponse, compose, ln
    >>> two, ten = (compose({RandomizedResponse(ln(3), categories=k): 20}) for k in (2, 10))
    >>> print(f"{two.epsilon('1e-3'):.6g}", f"{ten.epsilon('1e-3'):.6g}")
    21.5935 11.4738
    >>> RandomizedResponse(ln(3), categories=4).release(2) in range(4)
    True
    """

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob(
            "epsilon",
            quiets=False,
            because="a response of a smaller epsilon is one of a larger epsilon, replaced at random more often",
            most=Fraction(500),
            formulas=pure_levels,
        ),
    )

    epsilon: Epsilon
    categories: int

    def __init__(self, epsilon: object, categories: object = 2) -> None:
        level = read_epsilon("epsilon", epsilon, largest=_LARGEST)
        if level == 0:
            raise InvalidParameter("epsilon", epsilon, "be above 0", instead="At 0 a response tells nothing.")
        object.__setattr__(self, "epsilon", level)
        object.__setattr__(self, "categories", read_count("categories", categories, least=2))

    @classmethod
    def two_coins(cls) -> RandomizedResponse:
        """The survey of Dwork and Roth, section 3.2: heads, tell the truth; tails, let a second coin answer. ln 3.

        >>> RandomizedResponse.two_coins()
        RandomizedResponse(epsilon=ln(3), categories=2)
        """
        return cls(ln(3))

    @property
    def noise(self) -> Bernoulli:
        """The coin that decides whether the response is the true one."""
        return _coins(self)[0]

    @property
    def loss(self) -> PrivacyLoss:
        """The pair of two different answers."""
        with precision(_BITS):
            odds = exponential(self.epsilon)
            return three_way_pair(self.epsilon, odds / (odds + (self.categories - 1)), Adjacency.REPLACE_ONE)

    def release(self, value: Any) -> Any:
        """A response for each person: a category of 0, 1, ..., as the value is one, or an array of them.

        True and False are the two categories of a yes-or-no question, and their responses are of the same kind.
        """
        keep, other = _coins(self)
        if not is_array(value):
            own = self._read(value)
            response = own if keep.draw() else (own + 1 + other.draw()) % self.categories
            return bool(response) if isinstance(value, bool | np.bool_) else response
        labels = self._read_many(value)
        # Both are drawn for everybody, so that the time says nothing of who told the truth.
        away = (1 + other.draws(labels.shape)) * ~keep.draws(labels.shape)
        responses = np.asarray((labels + away) % self.categories)
        return responses.astype(bool) if np.asarray(value).dtype == bool else responses

    def estimate(self, responses: Any, level: object = "0.95") -> Estimate:
        """How many people have each category, from the responses: without bias, and with honest intervals.

        Each interval holds the true frequency among those who responded with probability `level` at least.

        >>> survey = RandomizedResponse.two_coins()
        >>> answers = survey.release([True] * 600 + [False] * 400)
        >>> print(survey.estimate([1] * 55 + [0] * 45).frequencies)
        [0.4 0.6]
        """
        counts = np.bincount(np.atleast_1d(self._read_many(responses)).ravel(), minlength=self.categories)
        if not counts.sum():
            raise InvalidParameter("the responses", "none", "be of one person at least")
        with precision(_BITS):
            odds = exponential(self.epsilon)
            total = odds + (self.categories - 1)
            return estimated(counts, odds / total, 1 / total, level)

    def accuracy(self, beta: object, count: object = 1, *, people: object = 1) -> Accuracy:
        """How far the estimated frequencies of so many categories are off at most, except with probability beta.

        Hoeffding 1963, Theorem 2: the share of each response is within sqrt(ln(2 count / beta) / (2 people)) of its
        mean, and the estimate magnifies that by (e^epsilon + categories - 1) / (e^epsilon - 1).
        """
        (chance, times), crowd = read_beta(beta, count), read_count("people", people, least=1)
        alpha = upper(lambda: self._factor() * (log_share(chance, 2 * times) / (2 * crowd)).sqrt())
        return Accuracy(alpha, float_above(chance), _THEOREM)

    def failure(self, alpha: object, count: object = 1, *, people: object = 1) -> Accuracy:
        """How probable it is that one of the frequencies is off by more than alpha: the inverse of `accuracy`."""
        (error, times), crowd = read_alpha(alpha, count), read_count("people", people, least=1)
        chance = upper(lambda: 2 * times * (-2 * crowd * (ball(error) / self._factor()) ** 2).exp())
        return Accuracy(float_above(error), min(chance, 1.0), _THEOREM)

    def interval(self, responses: Any, level: object = "0.95") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of the intervals of `estimate`, for the frequency of each category."""
        found = self.estimate(responses, level)
        return found.lower, found.upper

    def _factor(self) -> arb:
        odds = exponential(self.epsilon)
        return (odds + (self.categories - 1)) / (odds - 1)

    def _read(self, value: object) -> int:
        if isinstance(value, bool | np.bool_) and self.categories == 2:
            return int(value)
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < self.categories:
            return int(value)
        raise self._unknown()

    def _read_many(self, value: Any) -> NDArray[np.int64]:
        refuse_masked("the category", value)
        try:
            labels = np.asarray(value)
        except ValueError:
            raise self._unknown() from None
        if labels.size == 0 and labels.dtype == np.float64:  # what an empty list becomes
            labels = labels.astype(np.int64)
        if labels.dtype == bool and self.categories == 2:
            return labels.astype(np.int64)
        if labels.dtype.kind not in "iu" or (
            labels.size and not (labels.min() >= 0 and labels.max() < self.categories)
        ):
            raise self._unknown()
        return labels.astype(np.int64)

    def _unknown(self) -> InvalidParameter:
        kinds = "True, False, 0 or 1" if self.categories == 2 else f"a whole number from 0 to {self.categories - 1}"
        return InvalidParameter("the category", "something else", f"be {kinds}, or an array of such")

    def _repr_html_(self) -> str:
        with precision(_BITS):
            kept = float((exponential(self.epsilon) / (exponential(self.epsilon) + (self.categories - 1))).mid())
        facts = {
            "one response": f"{float(self.epsilon):.6g}-private",
            "told truly": f"with probability {kept:.6g}",
            "frequencies among 1,000 people": self.accuracy("0.05", people=1000),
        }
        return card(self, facts)


@lru_cache(maxsize=256)
def _coins(mechanism: RandomizedResponse) -> tuple[Bernoulli, UniformBelow]:
    """Whether the response is the true one, and which of the others it is if not."""
    rivals, epsilon = mechanism.categories - 1, mechanism.epsilon
    if float(epsilon) > MOST_REVEALING:
        raise InvalidParameter("epsilon", epsilon, f"be at most {MOST_REVEALING} for a response to hide anything")
    if isinstance(epsilon, NaturalLog):
        return Bernoulli(epsilon.argument / (epsilon.argument + rivals)), UniformBelow(rivals)
    return Bernoulli(Logistic(epsilon, rivals=rivals)), UniformBelow(rivals)


_THEOREM = "Hoeffding 1963, Theorem 2"
