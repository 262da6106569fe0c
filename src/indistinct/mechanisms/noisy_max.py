"""Report noisy max (Dwork and Roth, section 3.3): whose score is largest after noise, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np

from indistinct.composition.guarantees import PureDP
from indistinct.composition.losses.law import Curve
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.display import card
from indistinct.mechanisms.exponential import ExponentialMechanism
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
from indistinct.noise.scores import Numbers, left_out
from indistinct.noise.standard import Kind
from indistinct.noise.table import Integers
from indistinct.noise.winners import winners
from indistinct.numbers.balls import arb

__all__ = ["NoisyMax"]

Candidate = TypeVar("Candidate")
_NOISES = {"laplace": Kind.LAPLACE, "exponential": Kind.EXPONENTIAL, "gumbel": Kind.GUMBEL}
_THEOREMS = {
    Kind.LAPLACE: "the union bound over differences of Laplace noise",
    Kind.EXPONENTIAL: "Dwork and Roth, Corollary 3.12, by McKenna and Sheldon, Theorem 2",
    Kind.GUMBEL: "Dwork and Roth, Corollary 3.12",
}
_MOST = 10**6


@dataclass(frozen=True, slots=True, init=False)
class NoisyMax:
    r"""The index of the largest noisy score, or of the k largest in their order; never a noisy score itself.

    `sensitivity` is how much one person can change any of the scores; however many scores there are, and however many
    of them one person changes, costs nothing. With `monotone=True`, for scores such as counts that a further person can
    only raise (or only lower), all of them, the noise is half as large. Of scale b = 2 sensitivity / epsilon, or b =
    sensitivity / epsilon for monotone scores, it is

    - `"laplace"`: Report Noisy Max, epsilon-private (Dwork and Roth, Claim 3.9, for counts);
    - `"exponential"`, one-sided: the same proof, and the law of `PermuteAndFlip`;
    - `"gumbel"`: the law of `ExponentialMechanism`.

    (Theorem 3.13 there says that exponential noise gives the exponential mechanism. It does not: Gumbel noise does.)

    **The k largest** are chosen one after the other from those that are left, each with fresh noise and an epsilon
    of epsilon / k: k adaptive uses, which `parts` lists for a finer account than their sum. For Gumbel noise the k
    largest with one and the same noise of the same scale have that law (Durfee and Rogers 2019), and so are taken at
    once.

    The candidates must not depend on the data. A score of minus infinity leaves one out; which are left out must not
    depend on the data either.

    >>> from indistinct import NoisyMax, compose
    >>> diagnoses = NoisyMax(epsilon=1, monotone=True)  # one person may have any number of them
    >>> diagnoses.release([120, 5000, 3200])
    1
    >>> NoisyMax(epsilon=1, k=2, noise="gumbel").release([120, 5000, 3200])
    array([1, 2])
    >>> print(compose(NoisyMax(epsilon=1, k=100).parts).epsilon("1e-6"))
    0.392263943094
    """

    knobs: ClassVar[tuple[Knob, ...]] = EPSILON_KNOBS

    epsilon: Fraction
    sensitivity: Fraction
    noise: str
    monotone: bool
    k: int

    def __init__(
        self,
        epsilon: object,
        sensitivity: object = 1,
        *,
        noise: object = "laplace",
        monotone: bool = False,
        k: object = 1,
    ) -> None:
        level = read_level(epsilon)
        if not isinstance(noise, str) or noise not in _NOISES:
            raise InvalidParameter("noise", noise, f"be one of {', '.join(map(repr, _NOISES))}")
        object.__setattr__(self, "epsilon", level)
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "monotone", bool(monotone))
        object.__setattr__(self, "k", at_least("k", k, 1, _MOST))

    @property
    def each_epsilon(self) -> Fraction:
        """What each of the k choices is charged."""
        return self.epsilon / self.k

    @property
    def scale(self) -> Fraction:
        """Of the noise on each score."""
        return self.sensitivity * (1 if self.monotone else 2) / self.each_epsilon

    @property
    def loss(self) -> PureDP | Curve:
        """A black box of epsilon; for Gumbel noise and one choice, the exponential mechanism's."""
        if self.noise == "gumbel" and self.k == 1:
            return ExponentialMechanism(self.epsilon).loss
        return PureDP(self.epsilon)

    @property
    def parts(self) -> Mapping[PureDP | ExponentialMechanism, int]:
        """The k choices one by one, for `compose`: for large k much less than their sum."""
        if self.noise == "gumbel":
            return {ExponentialMechanism(self.each_epsilon, self.sensitivity, monotone=self.monotone): self.k}
        return {PureDP(self.each_epsilon): self.k}

    def release(self, scores: object, *, source: BitSource = SYSTEM) -> int | Integers:
        """The index of the largest noisy score, or an array of k, the first choice first; costs `loss`."""
        numbers = read_utilities("scores", scores)
        found = self._chosen(numbers, source)
        return int(found[0]) if self.k == 1 else found

    def choose(
        self,
        candidates: Sequence[Candidate],
        utility: Callable[[Candidate], Any] | object,
        *,
        source: BitSource = SYSTEM,
    ) -> Candidate:
        """The chosen candidate, by a function of candidates or by one number for each; for k = 1."""
        if self.k != 1:
            raise InvalidParameter("k", self.k, "be 1 to choose one candidate", instead="release gives k indices.")
        return chosen_from(candidates, utility, lambda scores: int(self._chosen(scores, source)[0]))

    def _chosen(self, scores: Numbers, source: BitSource) -> Integers:
        kind = _NOISES[self.noise]
        if self.k == 1 or kind is Kind.GUMBEL:
            return winners(kind, scores, self.scale, self.k, source)
        out = left_out(scores)
        possible = np.arange(len(scores)) if out is None else np.flatnonzero(~out)
        if self.k > len(possible):
            requirement = f"be a whole number from 1 to {len(possible)}, the number of finite scores"
            raise InvalidParameter("k", self.k, requirement)
        chosen = []
        for _ in range(self.k):
            at = int(winners(kind, scores[possible], self.scale, source=source)[0])
            chosen.append(int(possible[at]))
            possible = np.delete(possible, at)
        return np.array(chosen, dtype=np.int64)

    def accuracy(self, beta: object, candidates: object) -> Accuracy:
        """How far below the best the choice is, except with probability beta.

        For k choices: each of them, below the best of those that were left, all with probability 1 - beta.

        >>> print(NoisyMax(1, monotone=True).accuracy("0.05", candidates=100))
        the error is at most 8.5618 ... (the union bound over differences of Laplace noise; exactly 7.77473)
        """
        share = read_beta(beta)
        case, bound = self._case(candidates)
        found = accuracy_of(case, bound, share / self.k, self.scale, _THEOREMS[case.kind])
        return Accuracy(found.alpha, float(share), found.theorem, found.exact if self.k == 1 else None)

    def failure(self, alpha: object, candidates: object) -> Accuracy:
        """How likely the choice, or one of the k, is alpha or more below the best."""
        case, bound = self._case(candidates)
        found = failure_of(case, bound, alpha, self.scale, _THEOREMS[case.kind])
        if self.k == 1:
            return found
        return Accuracy(found.alpha, min(1.0, float(np.nextafter(found.beta * self.k, 2))), found.theorem)

    def _case(self, candidates: object) -> tuple[WorstCase, Callable[[arb], arb]]:
        many = at_least("candidates", candidates, self.k)
        case = WorstCase(_NOISES[self.noise], 1, many - 1)
        if case.kind is Kind.LAPLACE:  # one of the others' noise is larger than the best's by t or more
            return case, lambda t: (-t).exp() * (2 + t) / 4 * case.others
        return case, lambda t: (-t).exp() * many

    def _repr_html_(self) -> str:
        return card(
            self,
            {
                "noise on a score": f"{self.noise} of scale {float(self.scale):.6g}",
                "chosen": "one" if self.k == 1 else f"{self.k}, epsilon {float(self.each_epsilon):.6g} each",
                "privacy of it all": f"epsilon {float(self.epsilon):.6g}",
            },
        )
