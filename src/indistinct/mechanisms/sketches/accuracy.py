r"""How far an answer of a sketch may be from the truth.

An answer is q chi/r, debiased, where q is the quadratic form on the reweighted graph and chi is chi-square with r
degrees of freedom. So everything rests on how far chi/r is from 1: by more than eta with probability
2 e^(-r eta^2 / 8) at most, for eta up to 1 (Johnson and Lindenstrauss's lemma, as in KOV's Lemma 1), or exactly, by its
tails. For k questions fixed in advance the probabilities of failure add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, read_number
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.numbers.bracket import float_above, rounded_up
from indistinct.numbers.chi_square import chi_square_tails

__all__ = ["SketchAccuracy", "accuracy_of", "failure_of", "read_share", "spread_of"]

_BITS = 128
_NARROW = 1e-9


@dataclass(frozen=True, slots=True)
class SketchAccuracy:
    """(1 - eta) q - tau <= answer <= (1 + eta) q + tau, for each of so many answers, except with probability nu.

    KOV, equation (9). `eta` and `tau` follow from the lemma, `exact_eta` and `exact_tau` from the exact law of an
    answer. The questions must not depend on the sketch: those that do are private all the same, but no promise about
    them is made here beyond one for all questions that they could have been.
    """

    eta: float
    tau: float
    nu: float
    questions: int
    exact_eta: float
    exact_tau: float

    def interval(self, answer: float) -> tuple[float, float]:
        """Where the truth lies by the exact law, given an answer; it is at least 0, and so are both ends.

        >>> SketchAccuracy(0.25, 40.0, 0.05, 1, 0.125, 20.0).interval(25.0)
        (4.444444444444445, 51.42857142857143)
        """
        low = max(answer - self.exact_tau, 0.0) / (1 + self.exact_eta)
        most = max(answer + self.exact_tau, 0.0)
        return low, most / (1 - self.exact_eta) if self.exact_eta < 1 else math.inf

    def __str__(self) -> str:
        what = "an answer is" if self.questions == 1 else f"each of {self.questions:,} answers is"
        return (
            f"{what} within {rounded_up(self.eta, 4)} of the truth, relatively, and {rounded_up(self.tau, 6)} more, "
            f"except with probability {rounded_up(self.nu, 4)} (exactly: within {rounded_up(self.exact_eta, 4)} and "
            f"{rounded_up(self.exact_tau, 6)})"
        )


def read_share(name: str, value: object) -> Fraction:
    """A number strictly between 0 and 1.

    >>> read_share("eta", "0.25")
    Fraction(1, 4)
    """
    share = read_number(name, value)
    if not _LEAST <= share < 1:
        raise InvalidParameter(name, value, "be above 0 (from 1e-30) and below 1")
    return share


_LEAST = Fraction(1, 10**30)


def failure_of(rows: int, eta: Fraction) -> Bracket:
    """The probability that chi/r is further than eta from 1, exactly.

    >>> print(f"{failure_of(473, Fraction(1, 4)):.3g}")  # where the lemma says 0.05
    0.000182
    """
    with precision(_BITS):
        above = chi_square_tails(rows, rows * (1 + ball(eta)))[1]
        below = chi_square_tails(rows, rows * (1 - ball(eta)))[0] if eta < 1 else ball(0)
        return bracket_of(above + below)


@lru_cache(maxsize=256)
def spread_of(rows: int, nu: Fraction) -> tuple[float, float]:
    """The eta that fails with probability nu at most: by the lemma while that holds, and exactly; rounded up.

    >>> found = spread_of(473, Fraction(1, 20))
    >>> print(f"{found[0]:.4f} {found[1]:.4f}")
    0.2498 0.1273
    """
    exact = _exact_spread(rows, nu)
    with precision(_BITS):
        lemma = bracket_of((8 * (2 / ball(nu)).log() / rows).sqrt()).upper
    return (lemma if lemma <= 1 else exact), exact


def _exact_spread(rows: int, nu: Fraction) -> float:
    low, high = 0.0, 1.0
    while failure_of(rows, Fraction(high)).upper > nu:
        low, high = high, 2 * high
    while high - low > _NARROW * high:
        middle = (low + high) / 2
        low, high = (low, middle) if failure_of(rows, Fraction(middle)).upper <= nu else (middle, high)
    return high


def accuracy_of(rows: int, added: Fraction, questions: int, nu: Fraction) -> SketchAccuracy:
    """The promise for answers that are debiased by `added`: that much is multiplied by chi/r - 1 as well."""
    lemma, exact = spread_of(rows, nu / questions)
    taus = [float_above(Fraction(eta) * added) for eta in (lemma, exact)]
    return SketchAccuracy(lemma, taus[0], float_above(nu), questions, exact, taus[1])
