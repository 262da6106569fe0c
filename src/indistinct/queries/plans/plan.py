"""The plan of a question: all that will be asked of an engine, and all that is made from its answer."""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from indistinct.queries.plans.expressions import Expression, Field
from indistinct.queries.plans.measures import Cells, Measure
from indistinct.queries.plans.relations import Relation, numbers_rows
from indistinct.queries.plans.results import Outcome
from indistinct.queries.policy.terms import Contribution, Key, Row

__all__ = ["GroupKey", "Ordering", "Output", "Plan", "QuantileSet"]

_PLACES = 30
"""The bits of the numbers by which an engine tells all public keys of a group together."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """What rows are grouped by; `public` are all its values, where they are declared."""

    expression: Expression
    public: tuple[Key, ...] | None


@dataclass(frozen=True, slots=True)
class QuantileSet:
    """Quantiles of one column, selected together from its cells."""

    cells: Cells
    shares: tuple[Fraction, ...]
    ranged: bool = False
    """Whether each is to have an interval of values, whatever that takes of its accuracy."""


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer."""

    name: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Ordering:
    """By what rows are ordered."""

    outcome: Outcome
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A question that may be asked of an engine; equal plans are equal questions."""

    table: str
    """The private table, for messages."""
    relation: Relation
    where: Expression | None
    unit: Field | Row
    keys: tuple[GroupKey, ...]
    contribution: Contribution
    measures: tuple[Measure, ...]
    quantiles: tuple[QuantileSet, ...]
    outputs: tuple[Output, ...]
    having: Outcome | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    top: int | None = None
    """So many groups of most units are asked for, in their order, and nothing else of them."""

    @property
    def public(self) -> bool:
        """Whether all groups are known beforehand (one group, where there is no GROUP BY)."""
        return all(key.public is not None for key in self.keys)

    @property
    def groups(self) -> int:
        """In how many groups one unit can be."""
        if not self.public:
            return self.contribution.groups
        return min(self.contribution.groups, math.prod(len(key.public or ()) for key in self.keys))

    @property
    def choosing(self) -> bool:
        """Whether a unit may be in more groups than it counts in."""
        if not self.keys or not isinstance(self.unit, Field):
            return False
        return not self.public or math.prod(len(key.public or ()) for key in self.keys) > self.contribution.groups

    @property
    def placed(self) -> bool:
        """Whether an engine tells public keys by numbers, from which it chooses a unit's groups."""
        return self.choosing and self.public

    @property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Numbers for the values of each public key; the sums of one of each are different, and below 2^30."""
        return _places(tuple(len(key.public or ()) for key in self.keys))

    @property
    def by_rows(self) -> bool:
        """Whether the unit is a row that is joined: the number by which it is known depends on other rows."""
        return numbers_rows(self.relation)

    def public_groups(self) -> Iterator[tuple[Key, ...]]:
        """All groups, where they are public, in the order in which they were declared."""
        return itertools.product(*(key.public or () for key in self.keys))

    def fingerprint(self) -> str:
        """Of what the engine is asked and what is selected, whatever is made of it afterwards."""
        asked = replace(self, outputs=(), having=None, order=(), limit=None, offset=0)
        return hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(64)
def _places(sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Drawn for so many values of each key: in some bits of each number, which are those of no other key."""
    drawn = random.Random(0)  # noqa: S311  # nobody needs to be unable to guess them
    needed = [(size - 1).bit_length() for size in sizes]
    spare, shift, places = (_PLACES - sum(needed)) // len(needed), 0, []
    for size, least in zip(sizes, needed, strict=True):
        bits = least + spare
        places.append(tuple(number << shift for number in drawn.sample(range(2**bits), size)))
        shift += bits
    return tuple(places)
