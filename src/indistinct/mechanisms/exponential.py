"""The exponential mechanism (McSherry and Talwar 2007; Dwork and Roth, section 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from indistinct.composition.losses import BoundedRangeCurve
from indistinct.composition.planning.knob import Knob
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.display import card
from indistinct.mechanisms.level import EPSILON_KNOBS, read_level
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.selecting import (
    WorstCase,
    accuracy_of,
    at_least,
    chosen_from,
    failure_of,
    read_beta,
    read_utilities,
)
from indistinct.noise import SYSTEM, BitSource
from indistinct.noise.standard import Kind
from indistinct.noise.winners import winners
from indistinct.numbers.balls import arb

__all__ = ["ExponentialMechanism"]

Candidate = TypeVar("Candidate")


@dataclass(frozen=True, slots=True, init=False)
class ExponentialMechanism:
    """A candidate chosen with probability proportional to `e^(epsilon score / (2 sensitivity))`.

    `sensitivity` is how much one person can change any candidate's score. With `monotone=True`, for scores that a
    further person can only raise (or only lower), all of them, the exponent is twice that, at the same privacy.

    It is epsilon-private (Dwork and Roth, Theorem 3.10), and its losses span at most epsilon, wherever that span
    lies, whence epsilon^2/8-zCDP (Cesar and Rogers 2021): both hold for analysts who choose the scores from earlier
    answers. No single pair of laws says all of it, so the claim is an upper bound.

    The law is exact: the largest of score plus Gumbel noise of scale `scale` is the choice, and that real noise is
    refined until the comparison is decided (`indistinct.noise`). The candidates must not depend on the data. A score
    of minus infinity leaves a candidate out; which are left out must not depend on the data either.

    >>> from indistinct import ExponentialMechanism, PureDP, compose
    >>> few, many = (compose({ExponentialMechanism("0.1"): k}).epsilon("1e-6") for k in (10, 1000))
    >>> print(f"{few:.6g} {many:.6g} {compose({PureDP('0.1'): 1000}).epsilon('1e-6'):.6g}")
    0.700206 8.84589 19.3447
    >>> ExponentialMechanism(1).choose(["red", "green", "blue"], [3, 500, 20])
    'green'
    """

    knobs: ClassVar[tuple[Knob, ...]] = EPSILON_KNOBS

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, epsilon: object, sensitivity: object = 1, *, monotone: bool = False) -> None:
        object.__setattr__(self, "epsilon", read_level(epsilon))
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        object.__setattr__(self, "monotone", bool(monotone))

    @property
    def scale(self) -> Fraction:
        """Of the Gumbel noise: a score that much higher makes a candidate e times as likely."""
        return self.sensitivity * (1 if self.monotone else 2) / self.epsilon

    @property
    def loss(self) -> BoundedRangeCurve:
        """The better of bounded range and randomised response, at every order.

        For monotone scores as well: each exponent rises by 0 to epsilon, and their sum by a factor of 1 to e^epsilon.
        """
        return BoundedRangeCurve(self.epsilon)

    def release(self, scores: object, *, source: BitSource = SYSTEM) -> int:
        """The index of the chosen candidate; costs `loss`.

        Scores are taken as the exact numbers they are, ten million of them in a few times their own memory.
        """
        return int(winners(Kind.GUMBEL, read_utilities("scores", scores), self.scale, source=source)[0])

    def choose(
        self,
        candidates: Sequence[Candidate],
        utility: Callable[[Candidate], Any] | object,
        *,
        source: BitSource = SYSTEM,
    ) -> Candidate:
        """The chosen candidate, by a function of candidates or by one number for each.

        >>> ExponentialMechanism(5).choose(range(100), lambda price: -((price - 30) ** 2)) in range(15, 46)
        True
        """
        return chosen_from(candidates, utility, lambda scores: self.release(scores, source=source))

    def accuracy(self, beta: object, candidates: object, *, best: object = 1) -> Accuracy:
        """How far below the best the choice is, except with probability beta (Theorem 3.11 and Corollary 3.12).

        At most alpha = scale ln(candidates / (best beta)), where `best` of the candidates have the highest score.
        `exact` is the least alpha for which that holds whatever the scores are.

        >>> print(ExponentialMechanism(1).accuracy("0.05", candidates=100))
        the error is at most 15.2018 except with probability 0.05 (Dwork and Roth, Theorem 3.11; exactly 15.0792)
        """
        case, bound = self._case(candidates, best)
        return accuracy_of(case, bound, read_beta(beta), self.scale, "Dwork and Roth, Theorem 3.11")

    def failure(self, alpha: object, candidates: object, *, best: object = 1) -> Accuracy:
        """How likely the choice is alpha or more below the best: the theorem the other way round.

        >>> ExponentialMechanism(1).failure(20, candidates=2).beta  # Example 3.6: 2 e^-10
        9.0799859524...e-05
        """
        case, bound = self._case(candidates, best)
        return failure_of(case, bound, alpha, self.scale, "Dwork and Roth, Theorem 3.11")

    def _case(self, candidates: object, best: object) -> tuple[WorstCase, Callable[[arb], arb]]:
        many = at_least("candidates", candidates, 1)
        few = at_least("best", best, 1, many)
        return WorstCase(Kind.GUMBEL, few, many - few), lambda t: (-t).exp() * many / few

    def _repr_html_(self) -> str:
        return card(
            self,
            {
                "weight of a candidate": f"e^(score / {float(self.scale):.6g})",
                "privacy of one choice": f"epsilon {float(self.epsilon):.6g}, of bounded range",
                "within, of 100 candidates": f"{self.accuracy('0.05', candidates=100).alpha:.6g} with probability 0.95",
            },
        )
