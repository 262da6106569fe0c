r"""What mechanisms that choose one of many share: how scores are read, and how far from the best a choice may be.

How likely a choice is `alpha` or more below the best depends on all scores. It is most likely where all other
candidates are exactly `alpha` below: to raise a bad candidate's score to there, or to make a better one bad, only takes
from the good ones, as the mechanisms here report the largest of independent noisy scores. For r best candidates, n
others and t = alpha / scale that worst case is, with q = e^-t:

- Gumbel noise: n q / (r + n q), the weight of the others;
- exponential noise, one best: it is met after j others with probability 1 / (n + 1), each of which flipped in vain with
  probability 1 - q, so that the best is chosen with probability (1 - (1 - q)^(n+1)) / ((n + 1) q);
- Laplace noise, one best: 1 - E F(X + t)^n, where F is the distribution function of X.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from indistinct.errors import InternalError, InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.noise.given import PRIVATE, Said, as_given, unshown
from indistinct.noise.scores import Numbers, read_scores
from indistinct.noise.standard import Kind
from indistinct.numbers import Bracket, read_count, read_number
from indistinct.numbers.balls import acb, arb, ball, bracket_of, precision

__all__ = [
    "PRIVATE",
    "Said",
    "WorstCase",
    "accuracy_of",
    "at_least",
    "bits_for",
    "chosen_from",
    "failure_of",
    "integral",
    "probability",
    "read_beta",
    "read_distance",
    "read_utilities",
    "unshown",
    "where_it_falls_to",
]

Candidate = TypeVar("Candidate")

_BITS = 128
_STEPS = 80
_LEAST_BETA = Fraction(1, 10**300)
_CLOSE = 1e-10


def read_utilities(name: str, scores: object) -> Numbers:
    """A vector of scores of any length; what cannot be compared with noise is refused, without showing it.

    >>> read_utilities("scores", [1, 2])
    array([1, 2])
    """
    numbers = as_given(name, scores)
    if numbers.ndim != 1:
        raise InvalidParameter(name, PRIVATE, "be a vector of numbers")
    return unshown(lambda: read_scores(name, numbers, len(numbers)))


def chosen_from(
    candidates: Sequence[Candidate], utility: Callable[[Candidate], Any] | object, select: Callable[[Numbers], int]
) -> Candidate:
    """The candidate that a mechanism selects by its utility: a function of candidates, or one number for each."""
    if not hasattr(candidates, "__len__") or not hasattr(candidates, "__getitem__") or isinstance(candidates, Mapping):
        raise InvalidParameter("candidates", Said(f"a {type(candidates).__name__}"), "be in an order, such as a list")
    if not len(candidates):
        raise InvalidParameter("candidates", candidates, "not be empty")
    scores = [utility(candidate) for candidate in candidates] if callable(utility) else utility
    numbers = read_utilities("utility", scores)
    if len(numbers) != len(candidates):
        raise InvalidParameter("utility", PRIVATE, f"give one number for each of the {len(candidates)} candidates")
    return candidates[select(numbers)]


@dataclass(frozen=True, slots=True)
class WorstCase:
    """So many best candidates and others, and noise of a kind on each score; distances are in units of its scale."""

    kind: Kind
    best: int
    others: int

    def failure(self, distance: arb) -> arb:
        """The probability that the choice is so far from the best, all others being exactly so far."""
        n, q = self.others, (-distance).exp()
        match self.kind:
            case Kind.GUMBEL:
                return n * q / (self.best + n * q)
            case Kind.EXPONENTIAL:
                return 1 + (ball(n + 1) * (-q).log1p()).expm1() / ((n + 1) * q) if distance > 0 else ball(n) / (n + 1)
            case Kind.LAPLACE:
                return 1 - self._best_wins(distance, q)

    def _best_wins(self, t: arb, q: arb) -> arb:
        """E F(X + t)^n: outside of -t < X < 0 in closed form."""
        n, half = self.others, ball(Fraction(1, 2))
        a = q / 2
        below = half ** (n + 1) * q / (n + 1)
        above = -(ball(n + 1) * (-a).log1p()).expm1() / (2 * a * (n + 1))
        if not t > 0:
            return below + above
        between = integral(lambda x: x.exp() / 2 * (1 - (-(x + acb(t))).exp() / 2) ** n, -t, ball(0))
        return below + between + above


def integral(function: Callable[[acb], acb], start: arb, end: arb) -> arb:
    """A certified integral of a function that is analytic everywhere."""
    return acb.integral(lambda z, _: function(z), acb(start), acb(end)).real


def accuracy_of(
    case: WorstCase, bound: Callable[[arb], arb], share: Fraction, scale: float | Fraction | arb, theorem: str
) -> Accuracy:
    """How far from the best the choice is, except with probability beta: by a bound on the failure, and exactly."""
    with precision(bits_for(share)):
        unit = scale if isinstance(scale, arb) else ball(scale)
        by_theorem, exact = (where_it_falls_to(share, failure) for failure in (bound, case.failure))
        exactly = bracket_of(ball(exact.lower).union(ball(exact.upper)) * unit)
        alpha = bracket_of(ball(by_theorem.upper) * unit).upper
    return Accuracy(alpha, float(share), theorem, exactly)


def failure_of(
    case: WorstCase, bound: Callable[[arb], arb], alpha: object, scale: float | Fraction | arb, theorem: str
) -> Accuracy:
    """The probability that the choice is `alpha` or more from the best."""
    distance = read_distance(alpha)
    with precision(_BITS):
        t = ball(distance) / (scale if isinstance(scale, arb) else ball(scale))
        return Accuracy(float(distance), probability(bound(t)).upper, theorem, probability(case.failure(t)))


def probability(value: arb) -> Bracket:
    """The bracket of a probability."""
    found = bracket_of(value)
    return Bracket(min(max(found.lower, 0.0), 1.0), max(min(found.upper, 1.0), 0.0))


def where_it_falls_to(share: Fraction, failure: Callable[[arb], arb]) -> Bracket:
    """Where a failure probability that falls with the distance reaches a share: certified on both sides."""
    target = ball(share)
    low, high = 0.0, 1.0
    if failure(ball(0)) <= target:
        return Bracket(0.0, 0.0)
    while not failure(ball(high)) <= target:
        low, high = high, 2 * high
        if high > 2.0**40:
            raise InternalError("a failure probability does not fall")
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if high - low <= _CLOSE * high or not low < middle < high:
            break
        value = failure(ball(middle))
        if value <= target:
            high = middle
        elif value > target:
            low = middle
        else:
            break
    return Bracket(low if failure(ball(low)) >= target else 0.0, high)


def read_beta(beta: object) -> Fraction:
    """A failure probability that something can be promised about."""
    share = read_number("beta", beta)
    if not _LEAST_BETA <= share < 1:
        raise InvalidParameter("beta", beta, "lie strictly between 0 and 1, and be at least 1e-300")
    return share


def bits_for(share: Fraction) -> int:
    """A working precision at which a probability as small as this is told from 0, as the difference of larger ones."""
    return _BITS + share.denominator.bit_length() - share.numerator.bit_length()


def read_distance(alpha: object) -> Fraction:
    """How far from the truth an answer may be."""
    distance = read_number("alpha", alpha)
    if not distance >= 0:
        raise InvalidParameter("alpha", alpha, "be at least 0")
    return distance


def at_least(name: str, value: object, least: int, most: int | None = None) -> int:
    """A whole number in a range."""
    number = read_count(name, value, least=least)
    if most is not None and number > most:
        raise InvalidParameter(name, value, f"be at most {most}")
    return number
