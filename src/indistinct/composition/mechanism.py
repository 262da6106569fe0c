"""Mechanisms whose output laws are known exactly, and so can be checked, sampled and enumerated.

A mechanism here gives an exact law to every answer that a query can have. That is all the composition
experiment needs: the laws on two databases show whether the declared guarantee holds, and a whole number
drawn uniformly below a common denominator is an exact sample.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Protocol

from indistinct.composition.guarantees import ApproximateDP, Guarantee, PureDP
from indistinct.errors import InvalidParameter
from indistinct.numbers import read_count, read_delta, read_epsilon
from indistinct.numbers.reading import read_probability
from indistinct.regions import DiscretePair, dominating_pair
from indistinct.regions.laws import integers
from indistinct.regions.ratios import epsilon_of, ratio_below

__all__ = [
    "Database",
    "ExactLaw",
    "FiniteMechanism",
    "Mechanism",
    "Query",
    "four_point",
    "geometric",
    "leaking",
    "randomized_response",
]

Database = tuple[Hashable, ...]
"""The rows, one for each person."""

Query = Callable[[Database], Hashable]
"""What is asked of a database, before any noise."""


class Mechanism(Protocol):
    """What the composition experiment may call; hashable, and never changing."""

    @property
    def guarantee(self) -> Guarantee:
        """What it declares to keep for every query that it takes and all neighbouring databases."""
        ...

    def laws(self, query: Query, database0: Database, database1: Database) -> DiscretePair:
        """The exact laws of what `release` gives on the two databases."""
        ...

    def release(self, query: Query, database: Database, random: Random) -> Hashable:
        """One random outcome, independent of all others."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ExactLaw:
    """A law over finitely many outcomes from which exact samples are drawn.

    >>> ExactLaw({"heads": "1/2", "tails": "1/2"}).draw(Random(1))
    'heads'
    """

    probabilities: Mapping[Hashable, Fraction]
    _outcomes: tuple[Hashable, ...] = field(init=False, repr=False)
    _bounds: tuple[int, ...] = field(init=False, repr=False)
    _total: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        law = {
            outcome: read_probability(f"the probability of {outcome!r}", probability)
            for outcome, probability in self.probabilities.items()
        }
        weights, total = integers(list(law.values()))
        if sum(weights) != total:
            raise InvalidParameter("the sum of a law", Fraction(sum(weights), total), "be one exactly")
        object.__setattr__(self, "probabilities", law)
        object.__setattr__(self, "_outcomes", tuple(law))
        object.__setattr__(self, "_bounds", tuple(accumulate(weights)))
        object.__setattr__(self, "_total", total)

    def draw(self, random: Random) -> Hashable:
        """One outcome: a whole number below the common denominator decides, so no rounding is involved."""
        return self._outcomes[bisect_right(self._bounds, random.randrange(self._total))]


@dataclass(frozen=True, slots=True, eq=False)
class FiniteMechanism:
    """A declared guarantee, and for every answer of a query the exact law of the outcome.

    The guarantee is what is *claimed*; the composition experiment checks it on every pair of databases
    that an adversary asks about.

    >>> table = {0: {"no": "3/4", "yes": "1/4"}, 1: {"no": "1/4", "yes": "3/4"}}
    >>> survey = FiniteMechanism(PureDP("ln(3)"), table)
    >>> survey.laws(len, (), ("Bob",)).null
    (Fraction(3, 4), Fraction(1, 4))
    """

    guarantee: Guarantee
    table: Mapping[Hashable, Mapping[Hashable, Fraction]]
    _laws: Mapping[Hashable, ExactLaw] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        laws = {answer: ExactLaw(row) for answer, row in self.table.items()}
        object.__setattr__(self, "table", {answer: law.probabilities for answer, law in laws.items()})
        object.__setattr__(self, "_laws", laws)

    def laws(self, query: Query, database0: Database, database1: Database) -> DiscretePair:
        """The exact output laws on the two databases, over the outcomes that either can have."""
        first, second = (self._law(query(database)).probabilities for database in (database0, database1))
        outcomes = dict.fromkeys([*first, *second])
        return DiscretePair(
            {outcome: first.get(outcome, 0) for outcome in outcomes},
            {outcome: second.get(outcome, 0) for outcome in outcomes},
        )

    def release(self, query: Query, database: Database, random: Random) -> Hashable:
        """One outcome drawn from the exact law."""
        return self._law(query(database)).draw(random)

    def _law(self, answer: Hashable) -> ExactLaw:
        try:
            return self._laws[answer]
        except KeyError:
            known = ", ".join(repr(each) for each in self._laws)
            raise InvalidParameter("the answer of the query", answer, f"be one of {known}") from None


def four_point(epsilon: object, delta: object = 0) -> FiniteMechanism:
    """The mechanism that tells as much as (epsilon, delta) allows, for queries that answer 0 or 1.

    KOV, equations (12) and (13). Outcome 0 gives answer 0 away, outcome 3 answer 1; 1 and 2 are randomised
    response. Where e^epsilon is irrational it is rounded *down*, by a share of 2^-128 at most: it keeps the
    guarantee.

    >>> {outcome: str(p) for outcome, p in four_point("ln(3)", "1/5").table[0].items()}
    {0: '1/5', 1: '3/5', 2: '1/5', 3: '0'}
    """
    pair = dominating_pair(epsilon_of(_ratio(epsilon)), delta)
    guarantee = ApproximateDP(epsilon, delta) if read_delta("delta", delta) else PureDP(epsilon)
    table: dict[Hashable, dict[Hashable, Fraction]] = {
        answer: dict(zip(pair.outcomes, law, strict=True)) for answer, law in enumerate((pair.null, pair.alternative))
    }
    return FiniteMechanism(guarantee, table)


def geometric(epsilon: object, most: object) -> FiniteMechanism:
    """A count from 0 to `most`, plus two-sided geometric noise, moved into that range: (epsilon, 0)-private.

    For queries that one person changes by at most 1. On neighbouring counts every outcome has likelihood
    ratio e^epsilon or e^-epsilon, so it tells as much as randomised response does (KOV, Theorem 4.4).
    Where e^epsilon is irrational it is rounded down, as in `four_point`.

    >>> {outcome: str(p) for outcome, p in geometric("ln(2)", 2).table[0].items()}
    {0: '2/3', 1: '1/6', 2: '1/6'}
    """
    largest = read_count("most", most, least=1)
    decay = 1 / _ratio(epsilon)

    def beyond(distance: int) -> Fraction:
        """The probability of noise that is at least so far away, on one side."""
        return decay**distance / (1 + decay)

    table: dict[Hashable, dict[Hashable, Fraction]] = {}
    for count in range(largest + 1):
        row: dict[Hashable, Fraction] = {y: (1 - decay) * beyond(abs(y - count)) for y in range(largest + 1)}
        table[count] = row | {0: beyond(count), largest: beyond(largest - count)}
    return FiniteMechanism(PureDP(epsilon), table)


def randomized_response(epsilon: object) -> FiniteMechanism:
    """The answer 0 or 1, told truly with probability e^epsilon / (1 + e^epsilon).

    It is `geometric` with counts of at most 1.

    >>> {outcome: str(p) for outcome, p in randomized_response("ln(3)").table[1].items()}
    {0: '1/4', 1: '3/4'}
    """
    return geometric(epsilon, 1)


def leaking(mechanism: FiniteMechanism, delta: object) -> FiniteMechanism:
    """Gives the exact answer away with probability delta, as ("exact", answer); else asks the mechanism.

    (epsilon, delta')-private for an (epsilon, 0)-private mechanism and delta' = delta, and in general with
    1 - delta' the product of 1 - delta and 1 minus the mechanism's own.

    >>> leaking(randomized_response("ln(3)"), "1/5").guarantee
    ApproximateDP(ln(3), '0.2')
    """
    leak = read_delta("delta", delta)
    if leak == 0:
        return mechanism
    own = mechanism.guarantee
    table: dict[Hashable, dict[Hashable, Fraction]] = {}
    for answer, row in mechanism.table.items():
        table[answer] = {outcome: (1 - leak) * p for outcome, p in row.items()}
        table[answer]["exact", answer] = table[answer].get(("exact", answer), Fraction(0)) + leak
    return FiniteMechanism(ApproximateDP(own.epsilon, 1 - (1 - leak) * (1 - own.delta)), table)


def _ratio(epsilon: object) -> Fraction:
    """e^epsilon, rounded down where it is irrational; never below 1."""
    return max(Fraction(1), ratio_below(read_epsilon("epsilon", epsilon)))
