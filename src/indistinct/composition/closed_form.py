r"""Composition in closed form: KOV, Theorem 3.4, and Theorem 3.5 for unequal mechanisms.

Mechanisms that are (epsilon_l, delta_l)-private compose to (epsilon', 1 - (1 - slack) prod (1 - delta_l)) with
epsilon' the least of

    sum of epsilon_l,
    m + sqrt(2 s ln(e + sqrt(s) / slack)),
    m + sqrt(2 s ln(1 / slack)),

m = sum of epsilon_l (e^epsilon_l - 1) / (e^epsilon_l + 1) and s = sum of epsilon_l^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from indistinct.composition.compose import Part, compose
from indistinct.composition.parts import plain_parts
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, read_count, read_delta, read_epsilon
from indistinct.numbers.balls import arb, ball, bracket_of, precision
from indistinct.numbers.logarithm import ball_of, logarithm_of, sign_of_sum

__all__ = ["ClosedForm", "Share", "closed_form_composition", "closed_form_delta", "closed_form_share"]

_BITS = 128


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The three branches of the theorem at one slack, and the delta they hold at."""

    basic: Bracket
    with_root: Bracket
    without_root: Bracket
    delta: Bracket

    @property
    def epsilon(self) -> Bracket:
        """The least of the three."""
        branches = (self.basic, self.with_root, self.without_root)
        return Bracket(min(branch.lower for branch in branches), min(branch.upper for branch in branches))


def closed_form_composition(things: Mapping[Any, object] | Iterable[Part], slack: object) -> ClosedForm:
    """All three branches of Theorem 3.5 (3.4 for equal mechanisms).

    >>> from indistinct import ApproximateDP
    >>> form = closed_form_composition({ApproximateDP("0.1", "0.001"): 30}, "0.02")
    >>> print(form.epsilon, form.delta)
    1.57914171921 0.0489776520822
    """
    profile = compose(things)
    room = read_delta("slack", slack)
    with precision(_BITS):
        mean, squares = _sums(profile)
        infinite = Bracket(math.inf, math.inf)
        if squares == 0:
            with_root = without_root = Bracket(0.0, 0.0)
        elif room == 0:
            with_root = without_root = infinite
        else:
            inner = ball(1).exp() + squares.sqrt() / ball(room)
            with_root = bracket_of(mean + (2 * squares * inner.log()).sqrt())
            without_root = bracket_of(mean + (-2 * squares * logarithm_of(room)).sqrt())
        return ClosedForm(profile.largest_epsilon, with_root, without_root, _with_disclosure(profile, ball(room)))


def closed_form_delta(things: Mapping[Any, object] | Iterable[Part], at_epsilon: object) -> Bracket:
    """The least delta that the theorem gives at an epsilon: its inverse in the slack.

    >>> from indistinct import ApproximateDP
    >>> print(closed_form_delta({ApproximateDP("0.1", "0.001"): 30}, "1.5"))
    0.058859934848
    """
    profile = compose(things)
    wanted = read_epsilon("at_epsilon", at_epsilon)
    with precision(_BITS):
        mean, squares = _sums(profile)
        room = ball_of(wanted) - mean
        if sign_of_sum((1, wanted), *((-times, part.epsilon) for part, times in plain_parts(profile.parts))) >= 0:
            return profile.disclosure
        if not room > 0:
            return Bracket(1.0, 1.0)
        exponent = room**2 / (2 * squares)
        slack = (-exponent).exp()
        if exponent > 1:
            slack = slack.min(squares.sqrt() / (exponent.exp() - ball(1).exp()))
        return _with_disclosure(profile, slack)


@dataclass(frozen=True, slots=True)
class Share:
    """What each of several mechanisms may have: an epsilon (claimed by the lower end) and a delta."""

    epsilon: Bracket
    delta: Fraction


def closed_form_share(epsilon: object, delta: object, times: object) -> Share:
    """Corollary 4.1: epsilon / (2 sqrt(k ln(e + epsilon/delta))) and delta / (2 k) each, for (epsilon, delta) in all.

    For epsilon in (0, 0.9] and delta in (0, 1].

    >>> share = closed_form_share("0.9", "1e-6", 100)
    >>> print(share.epsilon.lower, share.delta)
    0.0121532... 1/200000000
    """
    level, budget = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
    count = read_count("times", times, least=1)
    with precision(_BITS):
        if level == 0 or sign_of_sum((1, level), (-1, Fraction(9, 10))) > 0:
            raise InvalidParameter("epsilon", epsilon, "lie in (0, 0.9] for Corollary 4.1", instead=_INSTEAD)
        if budget == 0:
            raise InvalidParameter("delta", delta, "be above 0 for Corollary 4.1", instead=_INSTEAD)
        logarithm = (ball(1).exp() + ball_of(level) / ball(budget)).log()
        return Share(bracket_of(ball_of(level) / (2 * (count * logarithm).sqrt())), budget / (2 * count))


_INSTEAD = "optimal_share answers exactly, for every epsilon and delta."


def _sums(profile: PrivacyProfile) -> tuple[arb, arb]:
    """m and s of the head of this file; (e^x - 1) / (e^x + 1) is tanh(x / 2)."""
    mean, squares = ball(0), ball(0)
    for part, times in plain_parts(profile.parts):
        e = ball_of(part.epsilon)
        mean += times * e * (e / 2).tanh()
        squares += times * e**2
    return mean, squares


def _with_disclosure(profile: PrivacyProfile, slack: arb) -> Bracket:
    """1 - (1 - slack) prod (1 - delta_l)."""
    disclosure = ball(profile.disclosure.lower).union(ball(profile.disclosure.upper))
    around = bracket_of(disclosure + slack * (1 - disclosure))
    return Bracket(max(around.lower, 0.0), min(around.upper, 1.0))
