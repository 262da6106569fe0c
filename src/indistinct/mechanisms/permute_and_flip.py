"""Permute-and-flip (McKenna and Sheldon 2020): the largest score with one-sided exponential noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from indistinct.composition.guarantees import PureDP
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

__all__ = ["PermuteAndFlip"]

Candidate = TypeVar("Candidate")
_THEOREM = "Dwork and Roth, Corollary 3.12, by McKenna and Sheldon, Theorem 2"


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip:
    r"""Candidates in random order, each accepted with probability `e^(epsilon (score - best) / (2 sensitivity))`.

    This is what reporting the largest score with one-sided exponential noise gives (Ding et al. 2021), which Dwork and
    Roth's Theorem 3.13 takes for the exponential mechanism. It is epsilon-private, and the expected error is at most
    the exponential mechanism's, whatever the scores are (McKenna and Sheldon 2020, Theorem 2). Nothing better than a
    black box of epsilon is known of its composition: of many choices, the exponential mechanism's may cost less.

    With `monotone=True`, for scores that a further person can only raise (or only lower), the noise is half as large.

    >>> from indistinct import ExponentialMechanism, PermuteAndFlip
    >>> PermuteAndFlip(1).choose(["red", "green", "blue"], [3, 500, 20])
    'green'
    >>> better, worse = PermuteAndFlip(1), ExponentialMechanism(1)
    >>> better.failure(8, candidates=10).exact.upper < worse.failure(8, candidates=10).exact.lower
    True
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
        """Of the exponential noise."""
        return self.sensitivity * (1 if self.monotone else 2) / self.epsilon

    @property
    def loss(self) -> PureDP:
        """A black box of epsilon."""
        return PureDP(self.epsilon)

    def release(self, scores: object, *, source: BitSource = SYSTEM) -> int:
        """The index of the chosen candidate; costs `loss`."""
        return int(winners(Kind.EXPONENTIAL, read_utilities("scores", scores), self.scale, source=source)[0])

    def choose(
        self,
        candidates: Sequence[Candidate],
        utility: Callable[[Candidate], Any] | object,
        *,
        source: BitSource = SYSTEM,
    ) -> Candidate:
        """The chosen candidate, by a function of candidates or by one number for each."""
        return chosen_from(candidates, utility, lambda scores: self.release(scores, source=source))

    def accuracy(self, beta: object, candidates: object) -> Accuracy:
        """How far below the best the choice is, except with probability beta.

        >>> print(PermuteAndFlip(1).accuracy("0.05", candidates=100).exact)
        13.7...
        """
        case, bound = self._case(candidates)
        return accuracy_of(case, bound, read_beta(beta), self.scale, _THEOREM)

    def failure(self, alpha: object, candidates: object) -> Accuracy:
        """How likely the choice is alpha or more below the best."""
        case, bound = self._case(candidates)
        return failure_of(case, bound, alpha, self.scale, _THEOREM)

    def _case(self, candidates: object) -> tuple[WorstCase, Callable[[arb], arb]]:
        many = at_least("candidates", candidates, 1)
        return WorstCase(Kind.EXPONENTIAL, 1, many - 1), lambda t: (-t).exp() * many

    def _repr_html_(self) -> str:
        return card(
            self,
            {
                "noise on a score": f"exponential of scale {float(self.scale):.6g}",
                "privacy of one choice": f"epsilon {float(self.epsilon):.6g}",
                "within, of 100 candidates": f"{self.accuracy('0.05', candidates=100).alpha:.6g} with probability 0.95",
            },
        )
