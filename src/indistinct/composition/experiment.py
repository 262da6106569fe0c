r"""The composition experiment: an adaptive adversary against a sequence of private mechanisms.

Source: Kairouz, Oh, Viswanath, section 3, Compose(A, M, k, b); Dwork, Roth, section 3.5.2. For i = 1, ..., k
the adversary requests (D_{i,0}, D_{i,1}, q_i, M_i), M_i of the family, and receives y_i = M_i(D_{i,b}, q_i). It
does not know the hypothesis b. Its view is its own coin tosses R and the answers y_1, ..., y_k, from which it
has to tell b = 0 from b = 1.

The coins are tossed before anything is asked, as if they were written on a tape that the adversary reads. So
an adversary is a deterministic function of its view, and both the laws of the view under the two hypotheses
and the errors of the adversary's guess can be enumerated exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random, SystemRandom
from types import MappingProxyType
from typing import Literal, Protocol, cast

from indistinct.composition.allowance import Allowance, Family, Request
from indistinct.composition.mechanism import ExactLaw
from indistinct.errors import InvalidParameter
from indistinct.regions import DiscretePair, Errors, errors_of

__all__ = ["NO_COINS", "Adversary", "Hypothesis", "View", "exact_power", "run", "runs_of", "view_laws"]

Hypothesis = Literal[0, 1]
"""b: 0 is the null hypothesis, the databases D_{i,0} are used; 1 the alternative, D_{i,1}."""

NO_COINS: Mapping[Hashable, Fraction] = MappingProxyType({(): Fraction(1)})
"""The coins of an adversary that tosses none."""

_MOST_VIEWS = 1_000_000


@dataclass(frozen=True, slots=True)
class View:
    """All that an adversary has seen: its own coin tosses, and the answers so far."""

    coins: Hashable
    answers: tuple[Hashable, ...]


class Adversary(Protocol):
    """Whoever tries to tell the two hypotheses apart; a function of its view, with no other memory."""

    @property
    def coins(self) -> Mapping[Hashable, Fraction]:
        """The law of its coin tosses, all of them together; `NO_COINS` if it tosses none."""
        ...

    def request(self, view: View) -> Request | None:
        """What it asks for next, having seen so much; None to stop here."""
        ...

    def guess(self, view: View) -> Hypothesis:
        """The hypothesis that it decides for in the end; 1 rejects the null hypothesis."""
        ...


def run(
    adversary: Adversary, times: int, hypothesis: Hypothesis, *, family: Family, random: Random | None = None
) -> View:
    """Compose(A, M, k, b): the view of the adversary after at most `times` requests.

    Every request is checked before it is answered: the databases differ in one person at most, the laws
    keep what the mechanism declares, exactly, and the declared guarantee implies one that is left in
    `family` - one guarantee for all requests, or a stock of `times` of them as `compose` takes it, to be
    used in any order. Mechanisms are run on the databases of the hypothesis only.

    `random` defaults to the operating system's generator; a seeded one makes the run reproducible.

    >>> from indistinct.composition.adversaries import Repeater
    >>> from indistinct.composition.mechanism import randomized_response
    >>> asker = Repeater(randomized_response("ln(3)"))
    >>> run(asker, 5, 1, family=randomized_response("ln(3)").guarantee, random=Random(2)).answers
    (0, 0, 1, 1, 1)
    """
    return next(runs_of(adversary, times, hypothesis, family=family, random=random))


def runs_of(
    adversary: Adversary, times: int, hypothesis: Hypothesis, *, family: Family, random: Random | None = None
) -> Iterator[View]:
    """One independent `run` after the other, without end; equal requests are checked only once."""
    if hypothesis not in (0, 1):
        raise InvalidParameter("hypothesis", hypothesis, "be 0 or 1")
    whole = Allowance.of(family, times)
    source = SystemRandom() if random is None else random
    coins = ExactLaw(adversary.coins)
    while True:
        view = View(coins.draw(source), ())
        allowance = whole
        for _ in range(times):
            request = adversary.request(view)
            if request is None:
                break
            allowance = allowance.after(request)
            database = request.database1 if hypothesis else request.database0
            answer = request.mechanism.release(request.query, database, source)
            view = View(view.coins, (*view.answers, answer))
        yield view


def view_laws(adversary: Adversary, times: int, *, family: Family) -> DiscretePair:
    """The exact laws of the adversary's view under the two hypotheses: V^0 and V^1.

    Their region is all that any rejection rule can achieve with these requests. By KOV's Theorem 3.3 (and
    its heterogeneous form) it lies inside `compose(family).region()`, whatever the adversary does.
    Requires that there are at most a million views; takes time proportional to their number.

    >>> from indistinct import PureDP, Region
    >>> from indistinct.composition.adversaries import Repeater
    >>> from indistinct.composition.mechanism import randomized_response
    >>> asker = Repeater(randomized_response("ln(3)"))
    >>> Region.of(view_laws(asker, 2, family=PureDP("ln(3)"))).is_within("ln(9)")
    True
    """
    null: dict[Hashable, Fraction] = {}
    alternative: dict[Hashable, Fraction] = {}
    whole = Allowance.of(family, times)
    open_ends = [(View(coins, ()), p, p, whole) for coins, p in ExactLaw(adversary.coins).probabilities.items() if p]
    while open_ends:
        view, p, q, allowance = open_ends.pop()
        request = adversary.request(view) if len(view.answers) < times else None
        if request is None:
            null[view], alternative[view] = p, q
            if len(null) > _MOST_VIEWS:
                raise InvalidParameter("times", times, f"leave at most {_MOST_VIEWS:,} views to enumerate")
            continue
        following = allowance.after(request)
        laws = following.laws(request)
        for outcome, p_next, q_next in zip(laws.outcomes, laws.null, laws.alternative, strict=True):
            p_view, q_view = p * p_next, q * q_next
            if p_view or q_view:
                open_ends.append((View(view.coins, (*view.answers, outcome)), p_view, q_view, following))
    return DiscretePair(null, alternative)


def exact_power(adversary: Adversary, times: int, *, family: Family) -> Errors:
    """The exact errors of the adversary's guess, by enumeration of all views.

    The point (missed detection, false alarm) lies inside `compose(family).region()` (KOV, Theorem 3.3).
    Requires what `view_laws` does.

    >>> from indistinct import PureDP
    >>> from indistinct.composition.adversaries import Repeater
    >>> from indistinct.composition.mechanism import randomized_response
    >>> exact_power(Repeater(randomized_response("ln(3)")), 3, family=PureDP("ln(3)"))
    Errors(missed_detection=Fraction(5, 32), false_alarm=Fraction(5, 32))
    """
    laws = view_laws(adversary, times, family=family)
    return errors_of(laws, [view for view in laws.outcomes if rejects(adversary, cast(View, view))])


def rejects(adversary: Adversary, view: View) -> bool:
    """Whether the adversary decides for the alternative hypothesis."""
    guess = adversary.guess(view)
    if guess not in (0, 1):
        raise InvalidParameter("an adversary's guess", guess, "be 0 or 1")
    return guess == 1
