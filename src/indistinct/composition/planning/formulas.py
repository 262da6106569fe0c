"""What the theorems in closed form ask for, beside the least that is certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.advanced import advanced_share, advanced_share_by_formula
from indistinct.composition.basic import basic_share
from indistinct.composition.closed_form import closed_form_share
from indistinct.composition.guarantees import PureDP
from indistinct.composition.noise import classic_sigma, gaussian_variance, laplace_variance
from indistinct.composition.optimal import optimal_share
from indistinct.composition.planning.budget import Budget
from indistinct.composition.planning.crossing import Crossing
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.numbers.bracket import float_above, float_below
from indistinct.numbers.logarithm import enclosure

__all__ = ["Formula", "Formulas", "Question", "gaussian_sigmas", "laplace_scales", "pure_levels"]

_BITS = 128


@dataclass(frozen=True, slots=True)
class Question:
    """So many equal answers of a sensitivity, under (epsilon, delta) in all."""

    epsilon: Epsilon
    delta: Fraction
    times: int
    sensitivity: Fraction


@dataclass(frozen=True, slots=True)
class Formula:
    """The value of a parameter that a theorem asks for: enough, by it."""

    theorem: str
    source: str
    value: Bracket
    """Of a noise scale the upper end is safe to use, of an epsilon the lower one."""


Formulas = Callable[[Question], tuple[Formula, ...]]


def pure_levels(question: Question) -> tuple[Formula, ...]:
    """The epsilon each answer may have, by every theorem whose conditions hold.

    >>> for formula in pure_levels(Question(Fraction(1, 2), Fraction(1, 10**6), 1000, Fraction(1))):
    ...     print(f"{formula.value.lower:.9f} {formula.source}")
    0.000500000 KOV Theorem 3.1
    0.001503978 Dwork and Roth Corollary 3.21
    0.002955336 Dwork and Roth Theorem 3.20
    0.002182398 KOV Corollary 4.1
    0.003929015 KOV Theorem 3.3
    """
    return tuple(_levels(question))


def laplace_scales(question: Question) -> tuple[Formula, ...]:
    """The scale of Laplace noise by the same theorems, and by KOV, Corollary 4.2."""
    found = [
        Formula(formula.theorem, formula.source, _over(question.sensitivity, formula.value))
        for formula in pure_levels(question)
    ]
    with suppress(InvalidParameter):
        variance = laplace_variance(question.epsilon, question.delta, question.times, question.sensitivity)
        found.insert(-1, Formula("closed form, as noise", "KOV Corollary 4.2", _root(variance, 2)))
    return tuple(found)


def gaussian_sigmas(question: Question) -> tuple[Formula, ...]:
    """sigma by KOV, Theorem 4.3, and by Dwork and Roth, Theorem A.1, which needs epsilon below 1.

    For many answers A.1 is used in two ways: for each, with the share that Corollary 3.21 leaves (delta in equal
    halves for it and for the slack); and for all as one vector, of l2 sensitivity sqrt(times) * sensitivity.
    """
    return tuple(_sigmas(question))


def _levels(question: Question) -> Iterator[Formula]:
    epsilon, delta, times = question.epsilon, question.delta, question.times
    yield Formula("basic", "KOV Theorem 3.1", Bracket.exactly(enclosure(basic_share(epsilon, 0, times).epsilon)[0]))
    if not delta:
        return
    with suppress(InvalidParameter):
        share = advanced_share_by_formula(epsilon, delta, times)
        yield Formula("advanced, in short", "Dwork and Roth Corollary 3.21", share)
    yield Formula("advanced", "Dwork and Roth Theorem 3.20", advanced_share(epsilon, delta, times))
    with suppress(InvalidParameter):
        yield Formula("closed form", "KOV Corollary 4.1", closed_form_share(epsilon, delta, times).epsilon)
    yield Formula("optimal", "KOV Theorem 3.3", _optimal(epsilon, delta, times))


def _sigmas(question: Question) -> Iterator[Formula]:
    epsilon, delta, times, width = question.epsilon, question.delta, question.times, question.sensitivity
    with suppress(InvalidParameter):
        if times > 1:
            share = advanced_share_by_formula(epsilon, delta / 2, times)
            each = classic_sigma(Fraction(share.lower), delta / (2 * times), width)
            yield Formula("advanced", "Dwork and Roth Theorem A.1 and Corollary 3.21", each)
    with suppress(InvalidParameter):
        yield Formula("closed form", "KOV Theorem 4.3", _root(gaussian_variance(epsilon, delta, times, width), 1))
    with suppress(InvalidParameter):
        one = classic_sigma(epsilon, delta, width)
        with precision(_BITS):
            root = ball(times).sqrt()
            all_ = Bracket(bracket_of(root * ball(one.lower)).lower, bracket_of(root * ball(one.upper)).upper)
        yield Formula("classic", "Dwork and Roth Theorem A.1", all_)


def _optimal(epsilon: Epsilon, delta: Fraction, times: int) -> Bracket:
    """What `optimal_share` gives, by the quicker search of this folder."""
    search = Crossing(
        lambda level: [(PureDP(level), times)],
        Budget.of(epsilon, delta),
        quiets=False,
        least=Fraction(1, 10**15),
        most=Fraction(10**15),
    )
    found = search.find(0.3 / math.sqrt(times))
    if found is None or found.insufficient is None:
        return optimal_share(epsilon, delta, times)
    return Bracket(float_below(found.enough), float_above(found.insufficient))


def _over(sensitivity: Fraction, epsilon: Bracket) -> Bracket:
    with precision(_BITS):
        ends = [bracket_of(ball(sensitivity) / ball(end)) for end in (epsilon.upper, epsilon.lower)]
    return Bracket(ends[0].lower, ends[1].upper)


def _root(variance: Bracket, share: int) -> Bracket:
    with precision(_BITS):
        ends = [bracket_of((ball(end) / share).sqrt()) for end in (variance.lower, variance.upper)]
    return Bracket(ends[0].lower, ends[1].upper)
