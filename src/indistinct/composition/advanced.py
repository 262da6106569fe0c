r"""Advanced composition: for a little more delta, epsilon grows with the root of the number of uses.

Dwork and Roth, Theorem 3.20 (KOV, Theorem 3.2), after Dwork, Rothblum and Vadhan (2010): k uses of an
(epsilon, delta)-private mechanism are (epsilon', k delta + slack)-private with

    epsilon' = epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1).
"""

from __future__ import annotations

import math
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_count, read_delta, read_epsilon
from indistinct.numbers.balls import arb, ball, bracket_of, precision
from indistinct.numbers.logarithm import ball_of, exponential, logarithm_of, sign_of_sum

__all__ = ["advanced_composition", "advanced_delta", "advanced_share", "advanced_share_by_formula"]

_BITS = 128
_LARGEST_SLACK = Fraction(22, 25)  # below e^(-1/8) = 0.8825


def advanced_composition(epsilon: object, times: object, slack: object) -> Bracket:
    """epsilon' of so many uses, at delta = times * delta + slack; infinite for slack 0.

    >>> print(advanced_composition("0.1", 30, "0.02"))
    1.84757469921
    """
    level, count = read_epsilon("epsilon", epsilon), read_count("times", times)
    room = read_delta("slack", slack)
    if level == 0 or count == 0:
        return Bracket(0.0, 0.0)
    if room == 0:
        return Bracket(math.inf, math.inf)
    with precision(_BITS):
        return bracket_of(_composed(ball_of(level), exponential(level), count, room))


def advanced_delta(epsilon: object, times: object, at_epsilon: object) -> Bracket:
    """The slack that the theorem needs for a wanted epsilon', the inverse of the above; 1 if none will do.

    >>> print(advanced_delta("0.1", 30, 2))
    0.00883386952739
    """
    level, count = read_epsilon("epsilon", epsilon), read_count("times", times)
    wanted = read_epsilon("at_epsilon", at_epsilon)
    if level == 0 or count == 0:
        return Bracket(0.0, 0.0)
    with precision(_BITS):
        room = ball_of(wanted) - count * ball_of(level) * (exponential(level) - 1)
        if not room > 0:
            return Bracket(1.0, 1.0)
        return bracket_of((-(room**2) / (2 * count * ball_of(level) ** 2)).exp())


def advanced_share(epsilon: object, slack: object, times: object) -> Bracket:
    """The largest epsilon each of so many mechanisms may have for epsilon in all, by the theorem itself.

    The lower end is the claim: it is safe to use.

    >>> print(advanced_share(1, "1e-6", 100).lower)
    0.0183756741...
    """
    wanted, room, count = _share_arguments(epsilon, slack, times)
    if room == 1:
        raise InvalidParameter("slack", slack, "be below 1")
    with precision(_BITS):
        if wanted == 0:
            return Bracket(0.0, 0.0)

        def fits(each: arb) -> bool:
            return bool(_composed(each, each.exp(), count, room) <= ball_of(wanted))

        low, high = ball(0), ball_of(wanted).upper()
        while fits(high):  # with so much slack, one may have more than all together
            high *= 2
        for _ in range(_BITS):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if fits(middle) else (low, middle)
        return Bracket(bracket_of(low).lower, bracket_of(high).upper)


def advanced_share_by_formula(epsilon: object, slack: object, times: object) -> Bracket:
    """Corollary 3.21: epsilon / (2 sqrt(2 k ln(1/slack))), for epsilon below 1; the lower end is the claim.

    Requires slack <= 0.88: for slack close to 1 the corollary as printed is false (see the errata).

    >>> print(advanced_share_by_formula("0.5", "1e-6", 100))
    0.00475599666378
    """
    wanted, room, count = _share_arguments(epsilon, slack, times)
    if sign_of_sum((1, wanted), (-1, Fraction(1))) >= 0:
        raise InvalidParameter("epsilon", epsilon, "be below 1 for Corollary 3.21", instead=_INSTEAD)
    if room > _LARGEST_SLACK:
        raise InvalidParameter("slack", slack, "be at most 0.88 for Corollary 3.21", instead=_INSTEAD)
    with precision(_BITS):
        return bracket_of(ball_of(wanted) / (2 * (2 * count * -logarithm_of(room)).sqrt()))


_INSTEAD = "advanced_share inverts Theorem 3.20 itself and has no such limit."


def _composed(epsilon: arb, odds: arb, times: int, slack: Fraction) -> arb:
    return epsilon * (-2 * times * logarithm_of(slack)).sqrt() + times * epsilon * (odds - 1)


def _share_arguments(epsilon: object, slack: object, times: object) -> tuple[Epsilon, Fraction, int]:
    wanted, room = read_epsilon("epsilon", epsilon), read_delta("slack", slack)
    if room == 0:
        raise InvalidParameter("slack", slack, "be above 0", instead="Without slack only basic_share applies.")
    return wanted, room, read_count("times", times, least=1)
