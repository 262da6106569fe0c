r"""The exact law of an answer: for each outcome two whole numbers around its probability, over one denominator.

Laws of rational probabilities are known exactly. Those of the samplers are irrational: their survival functions
S(i) = P(M >= i), which draws are decided by, enclose each probability within 2^-bits, and what lies beyond the last
outcome that is listed is bounded by `rest`. An enclosure suffices for certain answers in both directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from typing import Protocol, runtime_checkable

from indistinct.errors import InvalidParameter
from indistinct.noise import (
    Bernoulli,
    BoundedGeometric,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Geometric,
    UniformBelow,
)
from indistinct.noise.bernoulli import CoinLaw
from indistinct.noise.decay import BoundedLaw, GeometricLaw, LaplaceLaw
from indistinct.noise.gaussian_law import GaussianLaw
from indistinct.noise.staircase import StairLaw
from indistinct.noise.table import BITS, Integers
from indistinct.numbers.reading import read_number
from indistinct.regions import DiscretePair
from indistinct.regions.laws import Outcome, integers

__all__ = ["EnclosedLaw", "Survival", "law_of", "read_law"]

_MOST_OUTCOMES = 1 << 17


@runtime_checkable
class Survival(Protocol):
    """Anything that encloses the probabilities of a law on 0, 1, 2, ...: the laws of `indistinct.noise` do."""

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Whole numbers around 2^bits P(M >= i), for i >= 1."""
        ...


@runtime_checkable
class Tabled(Survival, Protocol):
    """A law with a table of thresholds, as most draws are decided by it."""

    def thresholds(self) -> tuple[Integers, int]:
        """Lower ends of 2^63 P(M >= i), and how wide each enclosure is."""
        ...


@dataclass(frozen=True, slots=True)
class EnclosedLaw:
    """Of each outcome: whole numbers `lower <= whole P(outcome) <= upper`; all others have `rest` at most together."""

    around: Mapping[Outcome, tuple[int, int]]
    whole: int
    rest: int = 0

    def shifted(self, by: int) -> EnclosedLaw:
        """The law of the same noise on another true answer."""
        return EnclosedLaw({outcome + by: ends for outcome, ends in self.around.items()}, self.whole, self.rest)


def read_law(name: str, law: object) -> EnclosedLaw:
    """A law given by a mapping outcome -> probability: exact numbers, or pairs (lower, upper) around them.

    Exact ones must sum to one, as in a `DiscretePair`; enclosures must allow it.

    >>> read_law("the law", {"yes": "3/4", "no": "1/4"}).around
    {'yes': (3, 3), 'no': (1, 1)}
    """
    if not isinstance(law, Mapping) or not law:
        raise InvalidParameter(name, law, "be a mapping from outcomes to probabilities")
    if not any(isinstance(value, tuple) for value in law.values()):
        numbers, whole = integers(DiscretePair(law, law).null)
        return EnclosedLaw(dict(zip(law, ((each, each) for each in numbers), strict=True)), whole)
    ends = [value if isinstance(value, tuple) else (value, value) for value in law.values()]
    if not all(len(each) == 2 for each in ends):
        raise InvalidParameter(name, law, "give one number or two around it for each outcome")
    numbers, whole = integers([read_number(f"a probability of {name}", end) for each in ends for end in each])
    around = list(zip(numbers[::2], numbers[1::2], strict=True))
    if not all(0 <= lower <= upper for lower, upper in around):
        raise InvalidParameter(name, law, "give the lower end before the upper, and none below 0")
    if not sum(lower for lower, _ in around) <= whole <= sum(upper for _, upper in around):
        raise InvalidParameter(name, law, "have a sum that can be one")
    return EnclosedLaw(dict(zip(law, around, strict=True)), whole)


@singledispatch
def law_of(noise: object, bits: int) -> EnclosedLaw:
    """The law of a sampler's draws, each probability within about 2^-bits.

    A law of one's own needs a method `survival` as `indistinct.noise` defines it: it is then a law on 0, 1, 2, ..., or,
    if it is the `law` of a sampler, that of the magnitude of a symmetric number.

    >>> law = law_of(DiscreteLaplace("0.5"), 16)
    >>> [(lower / law.whole, upper / law.whole) for lower, upper in (law.around[0], law.around[-1])]
    [(0.76158..., 0.76159...), (0.10306..., 0.10308...)]
    """
    if isinstance(noise, Survival):
        return _one_sided(noise, bits)
    if isinstance(magnitude := getattr(noise, "law", None), Survival):
        return _two_sided(magnitude, bits)
    raise InvalidParameter(
        "the noise", noise, "be a sampler of indistinct.noise, or have a method survival(i, bits) that tells its law"
    )


@law_of.register
def _(noise: DiscreteLaplace, bits: int) -> EnclosedLaw:
    return _two_sided(LaplaceLaw(noise.scale), bits)


@law_of.register
def _(noise: DiscreteGaussian, bits: int) -> EnclosedLaw:
    return _two_sided(GaussianLaw(noise.variance, Fraction(1, 2)), bits)


@law_of.register
def _(noise: DiscreteStaircase, bits: int) -> EnclosedLaw:
    return _two_sided(StairLaw(noise.sensitivity, noise.epsilon, noise.step), bits)


@law_of.register
def _(noise: Geometric, bits: int) -> EnclosedLaw:
    return _one_sided(GeometricLaw(noise.scale), bits)


@law_of.register
def _(noise: BoundedGeometric, bits: int) -> EnclosedLaw:
    return _one_sided(BoundedLaw(noise.scale, noise.bound), bits)


@law_of.register
def _(noise: Bernoulli, bits: int) -> EnclosedLaw:
    return _one_sided(CoinLaw(noise.probability), bits)


@law_of.register
def _(noise: UniformBelow, bits: int) -> EnclosedLaw:  # noqa: ARG001  # it is exact
    if noise.n > _MOST_OUTCOMES:
        raise _too_many(noise)
    return EnclosedLaw(dict.fromkeys(range(noise.n), (1, 1)), noise.n)


def _one_sided(law: Survival, bits: int) -> EnclosedLaw:
    survival = _survival(law, bits)
    _check_table(law)
    around = {}
    for i, (here, after) in enumerate(pairwise(survival)):
        around[i] = max(here[0] - after[1], 0), here[1] - after[0]
    return EnclosedLaw(around, 1 << bits, survival[-1][1])


def _two_sided(magnitude: Survival, bits: int) -> EnclosedLaw:
    """Of a symmetric number with such a magnitude; halves are whole over twice the denominator."""
    half = _one_sided(magnitude, bits)
    lower, upper = half.around[0]
    around = {0: (2 * lower, 2 * upper)}
    for i, ends in half.around.items():
        if i:
            around[i] = around[-i] = ends
    return EnclosedLaw(around, 2 * half.whole, 2 * half.rest)


def _survival(law: Survival, bits: int) -> list[tuple[int, int]]:
    """2^bits P(M >= i) for i = 0, 1, ..., until at most 2^-bits is left."""
    if law.survival(_MOST_OUTCOMES, bits)[1] > 1:
        raise _too_many(law)
    found = [(1 << bits, 1 << bits)]
    while found[-1][1] > 1:
        lower, upper = law.survival(len(found), bits)
        found.append((lower, min(upper, found[-1][1])))
    return found


def _check_table(law: object) -> None:
    """Refuses a law whose table, by which most draws are decided, says otherwise than its survival function."""
    if not isinstance(law, Tabled):
        return
    thresholds, width = law.thresholds()
    for i, threshold in enumerate(thresholds.tolist(), start=1):
        lower, upper = law.survival(i, BITS)
        if not (threshold <= upper and lower <= threshold + width):
            raise InvalidParameter("the noise", law, f"have a table that agrees with its law at {i}, as draws use it")


def _too_many(law: object) -> InvalidParameter:
    return InvalidParameter(
        "the law",
        law,
        f"have at most {_MOST_OUTCOMES:,} outcomes that matter, to be enumerated",
        instead="Audit it at a smaller scale, or by test.",
    )
