r"""The two laws between which an adversary has to decide.

A mechanism with finitely many outcomes, run on two neighbouring databases, has two output laws P0 and P1
(Kairouz, Oh, Viswanath, section 2: the null and the alternative hypothesis). Everything in this folder is
a function of the two.

Sums over a law are done on integers over one common denominator, and outcomes are ordered by likelihood
ratio by an integer key: two different fractions a/b and c/d differ by at least 1/(bd), so their first
2 log2(max(b, d)) binary digits tell them apart, and a plain sort of integers is an exact sort of ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_number

__all__ = ["DiscretePair", "Law", "Outcome", "by_likelihood", "integers"]

Outcome = Any
"""Anything hashable. (As keys of a mapping are invariant, `Hashable` would refuse a dict[str, float].)"""

Law = Mapping[Outcome, object] | Iterable[object]
"""Probabilities by outcome, or in a row; each any exact number or float."""

_TOLERANCE = Fraction(1, 1 << 50)


@dataclass(frozen=True, slots=True, init=False)
class DiscretePair:
    """The output laws of a mechanism on two neighbouring databases, exact.

    Give two mappings outcome -> probability over the same outcomes, or two sequences of equal length (the
    outcomes are then 0, 1, ...). Each law must sum to one exactly; a law with floats may miss it by
    2^-50 per outcome and is then divided by its exact sum, and everything computed from the pair is exact
    for the law so normalised.

    >>> survey = DiscretePair({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> survey.outcomes, survey.null
    (('yes', 'no'), (Fraction(3, 4), Fraction(1, 4)))
    >>> DiscretePair([0.5, 0.5], [0.5, 0.25])
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: the sum of the alternative law must be one, but is 0.75. ...
    """

    outcomes: tuple[Outcome, ...]
    null: tuple[Fraction, ...]
    alternative: tuple[Fraction, ...]

    def __init__(self, null: Law, alternative: Law) -> None:
        outcomes, first, second = _aligned(null, alternative)
        object.__setattr__(self, "outcomes", outcomes)
        object.__setattr__(self, "null", _law("null", outcomes, first))
        object.__setattr__(self, "alternative", _law("alternative", outcomes, second))

    def __len__(self) -> int:
        return len(self.outcomes)

    def swapped(self) -> DiscretePair:
        """The same outcomes with the two databases exchanged."""
        return DiscretePair(
            dict(zip(self.outcomes, self.alternative, strict=True)),
            dict(zip(self.outcomes, self.null, strict=True)),
        )

    def tensor(self, other: DiscretePair) -> DiscretePair:
        """Both mechanisms run independently on the same database: outcomes are pairs.

        >>> coin = DiscretePair(["2/3", "1/3"], ["1/3", "2/3"])
        >>> coin.tensor(coin).null
        (Fraction(4, 9), Fraction(2, 9), Fraction(2, 9), Fraction(1, 9))
        """
        outcomes = [(x, y) for x in self.outcomes for y in other.outcomes]
        return DiscretePair(
            dict(zip(outcomes, (p * q for p in self.null for q in other.null), strict=True)),
            dict(zip(outcomes, (p * q for p in self.alternative for q in other.alternative), strict=True)),
        )


def integers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """The numerators of exact numbers over their least common denominator, and that denominator.

    >>> integers([Fraction(1, 2), Fraction(1, 3)])
    ([3, 2], 6)
    """
    denominator = math.lcm(*{value.denominator for value in values})
    return [value.numerator * (denominator // value.denominator) for value in values], denominator


def by_likelihood(pair: DiscretePair) -> list[list[int]]:
    """The indices of the outcomes that can happen, by rising P0/P1, those of equal ratio together.

    >>> by_likelihood(DiscretePair(["1/2", "1/4", "1/4", 0], [0, "1/4", "1/4", "1/2"]))
    [[3], [1, 2], [0]]
    """
    first, first_denominator = integers(pair.null)
    second, second_denominator = integers(pair.alternative)
    shared = math.gcd(first_denominator, second_denominator)
    p_scale, q_scale = second_denominator // shared, first_denominator // shared
    weights = [(p * p_scale, p * p_scale + q * q_scale) for p, q in zip(first, second, strict=True)]
    bits = 2 * max(total for _, total in weights).bit_length()
    keys = {index: (p << bits) // total for index, (p, total) in enumerate(weights) if total}
    groups: list[list[int]] = []
    last = -1
    for index in sorted(keys, key=keys.__getitem__):
        if keys[index] != last:
            groups.append([])
            last = keys[index]
        groups[-1].append(index)
    return groups


def _aligned(null: Law, alternative: Law) -> tuple[tuple[Outcome, ...], Sequence[object], Sequence[object]]:
    """The outcomes, and the two laws in their order, still as the user wrote the numbers."""
    match null, alternative:
        case Mapping(), Mapping():
            for name, law, other in (("null", null, alternative), ("alternative", alternative, null)):
                for outcome in other:
                    if outcome not in law:
                        raise InvalidParameter(
                            f"the {name} law",
                            law,
                            f"name the outcome {outcome!r} as the other law does",
                            instead="Give it probability 0 if it cannot happen.",
                        )
            outcomes = tuple(null)
            return outcomes, list(null.values()), [alternative[outcome] for outcome in outcomes]
        case Mapping(), _:
            raise InvalidParameter("the alternative law", alternative, "be a mapping, as the null law is")
        case _, Mapping():
            raise InvalidParameter("the null law", null, "be a mapping, as the alternative law is")
    first, second = _listed("null", null), _listed("alternative", alternative)
    if len(first) != len(second):
        raise InvalidParameter(
            "the alternative law",
            alternative,
            f"have as many outcomes as the null law ({len(first)}, not {len(second)})",
            instead="Give an outcome probability 0 if it cannot happen.",
        )
    return tuple(range(len(first))), first, second


def _listed(name: str, law: object) -> list[object]:
    """The numbers of a sequence or of a one-dimensional array."""
    if getattr(law, "ndim", 1) != 1:
        raise InvalidParameter(f"the {name} law", law, "be one-dimensional")
    if isinstance(law, str | bytes) or not isinstance(law, Iterable):
        raise InvalidParameter(f"the {name} law", law, "be a mapping or a sequence of probabilities")
    return law.tolist() if isinstance(law, np.ndarray) else list(law)


def _law(name: str, outcomes: Sequence[Outcome], given: Sequence[object]) -> tuple[Fraction, ...]:
    """The exact law, normalised if it was given in floats."""
    if not given:
        raise InvalidParameter(f"the {name} law", given, "have at least one outcome")
    law = []
    for outcome, value in zip(outcomes, given, strict=True):
        probability = read_number(f"the {name} probability of {outcome!r}", value)
        if not 0 <= probability <= 1 + _TOLERANCE:
            raise InvalidParameter(f"the {name} probability of {outcome!r}", value, "lie in [0, 1]")
        law.append(probability)
    numerators, denominator = integers(law)
    total = sum(numerators)
    if total == denominator:
        return tuple(law)
    rounded = any(isinstance(value, float | np.floating) for value in given)
    if not (rounded and abs(total - denominator) <= len(law) * _TOLERANCE * denominator):
        gap = (total - denominator) / denominator
        raise InvalidParameter(
            f"the sum of the {name} law",
            total / denominator,
            "be one",
            instead=f"It is too {'large' if gap > 0 else 'small'} by {abs(gap):.6g}.",
        )
    return tuple(Fraction(numerator, total) for numerator in numerators)
