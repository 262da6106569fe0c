r"""Three adversaries for the composition experiment, two of them as strong as any can be.

For (epsilon, delta)-private mechanisms the best that an adversary can do in k requests is said by KOV's
Theorem 3.3: run the 4-point mechanism each time and decide by the likelihood ratio. Every answer then speaks
for one of the databases, with a likelihood ratio of e^epsilon, or gives one of them away. So the evidence is a
number: how many answers spoke for the null hypothesis, less how many spoke for the alternative, and plus or
minus infinity once a database was given away. Retaining the null hypothesis from a threshold on is a corner of
the region.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import cast

from indistinct.composition.allowance import Request
from indistinct.composition.experiment import NO_COINS, Hypothesis, View
from indistinct.composition.mechanism import Database, Mechanism, four_point, geometric, leaking
from indistinct.numbers import read_count, read_delta

__all__ = ["AdaptiveAdversary", "LikelihoodAdversary", "Repeater"]

_BOB = "Bob"
_STRANGERS = ("Ann", "Carl")
_FAIR_COIN: Mapping[Hashable, Fraction] = MappingProxyType({0: Fraction(1, 2), 1: Fraction(1, 2)})


def people(database: Database) -> int:
    """How many there are."""
    return len(database)


def bobs(database: Database) -> int:
    """How many of them are Bob: 0 or 1."""
    return database.count(_BOB)


@dataclass(frozen=True, slots=True)
class Repeater:
    """Asks how many people there are, again and again, and decides by the mean answer.

    Bob is in the database or not, beside so many others. A mean of more than halfway between the two
    counts rejects the null hypothesis that he is not; exactly halfway, a coin decides. For mechanisms with
    numeric outcomes, `randomized_response` (a majority vote) or `geometric`, say.

    >>> from indistinct.composition.mechanism import randomized_response
    >>> asker = Repeater(randomized_response("ln(3)"))
    >>> asker.guess(View(coins=0, answers=(1, 0, 1)))
    1
    """

    mechanism: Mechanism
    others: int = 0
    _request: Request = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        others = tuple(range(read_count("others", self.others)))
        object.__setattr__(self, "_request", Request(others, (*others, _BOB), people, self.mechanism))

    @property
    def coins(self) -> Mapping[Hashable, Fraction]:
        """A fair coin, for when the answers are balanced."""
        return _FAIR_COIN

    def request(self, view: View) -> Request:  # noqa: ARG002  # whatever was seen
        """The same, always."""
        return self._request

    def guess(self, view: View) -> Hypothesis:
        """1 if the answers are nearer to the count with Bob."""
        answers = cast(tuple[int, ...], view.answers)
        excess = 2 * sum(answers) - (2 * self.others + 1) * len(answers)
        if excess == 0:
            return 1 if view.coins == 1 else 0
        return 1 if excess > 0 else 0


@dataclass(frozen=True, slots=True)
class LikelihoodAdversary:
    r"""Runs the 4-point mechanism every time and decides by the likelihood ratio of all answers.

    It retains the null hypothesis if P(answers | 0) >= e^(threshold epsilon) P(answers | 1).

    Guaranteed (KOV, Theorem 3.3 and section 5.1): with threshold = k - 2i its errors after k requests are a
    corner of the optimal region, and lie on the line of slope e^((k - 2i) epsilon). The thresholds
    k + 2, k, ..., -k give all corners. Exact where e^epsilon is rational, as for "ln(3)".

    >>> from indistinct import PureDP
    >>> from indistinct.composition.experiment import exact_power
    >>> exact_power(LikelihoodAdversary("ln(3)", threshold=2), 2, family=PureDP("ln(3)"))
    Errors(missed_detection=Fraction(1, 16), false_alarm=Fraction(7, 16))
    """

    epsilon: object
    delta: object = 0
    threshold: int = 0
    _request: Request = field(init=False, repr=False, compare=False)
    _evidence: Mapping[Hashable, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        request = Request((), (_BOB,), bobs, four_point(self.epsilon, self.delta))
        object.__setattr__(self, "_request", request)
        object.__setattr__(self, "_evidence", evidence_in(request))

    @property
    def coins(self) -> Mapping[Hashable, Fraction]:
        """None."""
        return NO_COINS

    def request(self, view: View) -> Request:  # noqa: ARG002  # whatever was seen
        """The 4-point mechanism, always."""
        return self._request

    def guess(self, view: View) -> Hypothesis:
        """0 if the evidence for the null hypothesis reaches the threshold."""
        return 0 if sum(self._evidence[answer] for answer in view.answers) >= self.threshold else 1


@dataclass(frozen=True, slots=True)
class AdaptiveAdversary:
    r"""As strong as `LikelihoodAdversary`, but its questions depend on what it has seen.

    It asks about the databases in the order that its evidence favours, lets the evidence choose between two
    queries and two mechanisms (who is Bob, by the 4-point mechanism; how many people, by a geometric
    mechanism with the same leak), and stops once nothing that it could still see would change its mind.

    Guaranteed: its errors are exactly those of `LikelihoodAdversary` with the same threshold, a corner of the
    optimal region for k = `times` requests (KOV, Theorem 3.3): both mechanisms tell as much as the family
    allows (KOV, Theorem 4.4), and exchanging the databases only exchanges the meaning of an answer.

    >>> from indistinct import PureDP
    >>> from indistinct.composition.experiment import exact_power
    >>> asker = AdaptiveAdversary("ln(3)", times=2, threshold=2)
    >>> exact_power(asker, 2, family=PureDP("ln(3)"))
    Errors(missed_detection=Fraction(1, 16), false_alarm=Fraction(7, 16))
    """

    epsilon: object
    delta: object = 0
    threshold: int = 0
    times: int = field(kw_only=True)
    _leaks: bool = field(init=False, repr=False, compare=False)
    _requests: Mapping[tuple[bool, bool], Request] = field(init=False, repr=False, compare=False)
    _evidence: Mapping[tuple[bool, bool], Mapping[Hashable, float]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        without, with_bob = _STRANGERS, (*_STRANGERS, _BOB)
        asks = (
            (bobs, four_point(self.epsilon, self.delta)),
            (people, _leaking_count(self.epsilon, self.delta)),
        )
        requests = {}
        for odd, (query, mechanism) in zip((False, True), asks, strict=True):
            requests[False, odd] = Request(without, with_bob, query, mechanism)
            requests[True, odd] = Request(with_bob, without, query, mechanism)
        object.__setattr__(self, "_leaks", read_delta("delta", self.delta) > 0)
        object.__setattr__(self, "_requests", requests)
        object.__setattr__(self, "_evidence", {key: evidence_in(each) for key, each in requests.items()})

    @property
    def coins(self) -> Mapping[Hashable, Fraction]:
        """None."""
        return NO_COINS

    def request(self, view: View) -> Request | None:
        """The next question that can still change its mind."""
        evidence = self.evidence(view)
        left = math.inf if self._leaks else self.times - len(view.answers)
        if math.isinf(evidence) or not evidence - left < self.threshold <= evidence + left:
            return None
        return self._requests[_mood(evidence)]

    def guess(self, view: View) -> Hypothesis:
        """0 if the evidence for the null hypothesis reaches the threshold."""
        return 0 if self.evidence(view) >= self.threshold else 1

    def evidence(self, view: View) -> float:
        """The log likelihood ratio of what it has seen, in epsilons, positive for the null hypothesis."""
        evidence = 0.0
        for answer in view.answers:
            evidence += self._evidence[_mood(evidence)][answer]
        return evidence


def evidence_in(request: Request) -> dict[Hashable, float]:
    """What each answer says: 1 for the null hypothesis, -1 for the alternative, infinite if for certain."""
    laws = request.mechanism.laws(request.query, request.database0, request.database1)
    return {
        outcome: (math.inf if min(p, q) == 0 else 1) * ((p > q) - (p < q)) if p != q else 0
        for outcome, p, q in zip(laws.outcomes, laws.null, laws.alternative, strict=True)
    }


def _mood(evidence: float) -> tuple[bool, bool]:
    """What the next question depends on: who is favoured, and whether by an odd number of answers."""
    return evidence < 0, evidence % 2 == 1


def _leaking_count(epsilon: object, delta: object) -> Mechanism:
    return leaking(geometric(epsilon, 2 * len(_STRANGERS)), delta)
