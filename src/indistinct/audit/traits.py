r"""Traits of answers that hide below their size: residues, single bits, characters, the sign of a zero.

Noise on a coarser lattice than the values (2 r + x, 1000 r + x, 17 r + x) leaves x in a residue; a float may carry it
in any of its bits, a text in its last characters. There are some hundreds of such traits, so all are tried on the
answers that teach, by the log-likelihood that each gains, and only the few that tell most become statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indistinct.audit.outputs import Codes, Column, Floats, Outputs

__all__ = ["Coded", "Trait", "coded_of"]

_KEPT = 4
_MOST_LEARNED, _LEAST_LEARNED = 50_000, 4_000
_GAIN = 8.0  # nats beyond one for each value: less is chance
_PRIOR = 0.5
_MODULI = (*range(2, 17), 32, 64, 100, 1000)
_PLACES = 8  # this many decimal digits are looked at behind the point
_TEXTS = 8  # of this many places of an answer the spelling is looked at
_LARGEST = 2**62
_CHARACTERS = (-1, -2, -3, -4, 0, 1, 2, 3)


class Trait(Protocol):
    """A small whole number of each answer, below `size`; 0 where it has no meaning."""

    @property
    def size(self) -> int:
        """How many values there are."""
        ...

    def codes(self, column: Column) -> Codes:
        """The value of each answer."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Residue:
    """The remainder of (number / unit - offset) / step by a modulus, rounded down; 0 where the former is not whole."""

    unit: Fraction
    modulus: int
    offset: int = 0
    step: int = 1

    @property
    def size(self) -> int:
        return min(self.modulus, 1000) + 1

    def codes(self, column: Column) -> Codes:
        whole, valid = _whole(column, self.unit)
        left = (whole - self.offset) % (self.step * self.modulus) // self.step
        return np.where(valid, np.minimum(left, self.size - 2) + 1, 0)

    def __str__(self) -> str:
        shown = "it" if self.unit == 1 else f"it / {self.unit}"
        shown = f"({shown} - {self.offset})" if self.offset else shown
        return f"{shown}{f' / {self.step}' if self.step > 1 else ''} modulo {self.modulus}"


@dataclass(frozen=True, slots=True)
class Bit:
    """One of the 64 bits of a float, the sign the last."""

    at: int
    size: int = 2

    def codes(self, column: Column) -> Codes:
        bits: NDArray[np.uint64] = column.numbers.view(np.uint64) >> np.uint64(self.at)
        return (bits & np.uint64(1)).astype(np.int64)

    def __str__(self) -> str:
        return f"bit {self.at} of it as a float"


@dataclass(frozen=True, slots=True)
class WholeBit:
    """One of the bits of a whole number, or of a number in units of a power of two."""

    at: int
    unit: Fraction
    size: int = 3

    def codes(self, column: Column) -> Codes:
        whole, valid = _whole(column, self.unit)
        return np.where(valid, ((whole >> self.at) & 1).astype(np.int64) + 1, 0)

    def __str__(self) -> str:
        return f"bit {self.at} of it" if self.unit == 1 else f"bit {self.at} of it / {self.unit}"


@dataclass(frozen=True, slots=True)
class NegativeZero:
    """Which zero it is."""

    size: int = 2

    def codes(self, column: Column) -> Codes:
        found: NDArray[np.bool_] = (column.numbers == 0) & np.signbit(column.numbers)
        return found.astype(np.int64)

    def __str__(self) -> str:
        return "the indicator of -0.0"


@dataclass(frozen=True, slots=True)
class Character:
    """One character as it is written, counted from the front or, below 0, from the end."""

    at: int
    size: int = 258

    def codes(self, column: Column) -> Codes:
        at = self.at
        reach = at + 1 if at >= 0 else -at
        found = (min(ord(text[at]), 256) + 1 if len(text) >= reach else 0 for text in _texts(column))
        return np.fromiter(found, np.int64, len(column.numbers))

    def __str__(self) -> str:
        return f"character {self.at} of it as it is written"


@dataclass(frozen=True, slots=True)
class Length:
    """How many characters it is written with."""

    size: int = 128

    def codes(self, column: Column) -> Codes:
        return np.fromiter((min(len(text), 127) for text in _texts(column)), np.int64, len(column.numbers))

    def __str__(self) -> str:
        return "how many characters it is written with"


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A trait of one place, each value with its log ratio."""

    at: int
    name: str
    trait: Trait
    ratios: Floats
    seen: NDArray[np.bool_]

    def scores(self, outputs: Outputs) -> Floats:
        """The log ratio of the value."""
        return self.ratios[self.trait.codes(outputs.columns[self.at])]

    def event(self, threshold: float, *, above: bool) -> str:
        """The values of the trait; of characters, their numbers in Unicode plus one."""
        chosen = np.flatnonzero(((self.ratios >= threshold) == above) & self.seen)
        start = 0 if self.trait.size == 2 or isinstance(self.trait, Length) else 1
        words = [chr(code - 1) if isinstance(self.trait, Character) and code else str(code - start) for code in chosen]
        shown = ", ".join(words[:4]) + (f", ... ({len(words):,} in all)" if len(words) > 4 else "")
        return f"with {self.name} such that {self.trait} is {shown}"


def coded_of(first: Outputs, second: Outputs) -> Iterator[Coded]:
    """The few traits that tell most about which input it was, on so many answers at most."""
    some = slice(0, max(_MOST_LEARNED // len(first.columns), _LEAST_LEARNED))
    mine, other = first.part(some), second.part(some)
    found: list[tuple[float, int, Trait, Codes, Codes]] = []
    for at, (p, q) in enumerate(zip(mine.columns, other.columns, strict=True)):
        most = _gain(*_by_size(p, q))
        for trait in _traits(p, q, spelled=at < _TEXTS):
            counts = [np.bincount(trait.codes(each), minlength=trait.size) for each in (p, q)]
            gain = _gain(counts[0], counts[1])
            if isinstance(trait, Length | Character):  # slow on many answers: only if it tells more than all before
                gain = gain if gain > most else 0.0
            most = max(gain, most)
            if gain > _GAIN:
                found = sorted([*found, (gain, at, trait, counts[0], counts[1])], key=lambda entry: -entry[0])[:_KEPT]
    for _, at, trait, p_counts, q_counts in found:
        ratios = np.log((p_counts + _PRIOR) / (q_counts + _PRIOR))
        yield Coded(at, mine.columns[at].name, trait, ratios, p_counts + q_counts > 0)


def _by_size(first: Column, second: Column) -> tuple[Codes, Codes]:
    """How many numbers of either input lie between quantiles of both."""
    numbers = np.concatenate([first.numbers, second.numbers])
    finite = np.sort(numbers[np.isfinite(numbers)])
    edges = np.unique(finite[:: max(len(finite) // 32, 1)])
    codes = (np.searchsorted(edges, each.numbers[np.isfinite(each.numbers)]) for each in (first, second))
    p, q = (np.bincount(each, minlength=len(edges) + 1) for each in codes)
    return p, q


def _traits(first: Column, second: Column, *, spelled: bool) -> Iterator[Trait]:
    numbers = np.concatenate([first.numbers, second.numbers])
    if first.has_floats or second.has_floats:
        yield NegativeZero()
        yield from map(Bit, range(64))
    finite = numbers[np.isfinite(numbers)]
    if len(finite):
        for unit in _units(finite):
            yield from _residues(first, second, unit)
    if spelled and (first.is_spelled or second.is_spelled):
        yield Length()
        yield from map(Character, _CHARACTERS)


def _units(numbers: Floats) -> Iterator[Fraction]:
    """Of what all numbers are multiples: one, a power of two, and of a power of ten about."""
    if (numbers == np.rint(numbers)).all():
        yield Fraction(1)
        return
    mantissas, exponents = np.frexp(numbers[numbers != 0])
    whole = (mantissas * 2.0**53).astype(np.int64)
    _, sizes = np.frexp((whole & -whole).astype(np.float64))
    least = int((exponents - 53 + sizes - 1).min())
    if least > -62 and np.abs(numbers).max() < math.ldexp(1.0, least + 62):
        yield Fraction(2) ** least
    for places in range(1, _PLACES + 1):
        scaled = numbers * 10.0**places
        if np.abs(scaled).max() < 2**52 and (np.abs(scaled - np.rint(scaled)) <= 1e-15 * np.abs(scaled) + 1e-9).all():
            yield Fraction(1, 10**places)
            return


def _residues(first: Column, second: Column, unit: Fraction) -> Iterator[Trait]:
    """By small numbers, by the lattice of all answers, and by that of the answers on either input alone."""
    yield from (Residue(unit, modulus) for modulus in _MODULI)
    wholes = [whole[valid] for whole, valid in (_whole(each, unit) for each in (first, second))]
    both = np.concatenate(wholes)
    if not len(both):
        return
    if not unit.denominator & (unit.denominator - 1):
        yield from (WholeBit(at, unit) for at in range(int(np.abs(both).max()).bit_length() + 1))
    step = _step(both)
    if 1 < step < _LARGEST // max(_MODULI):
        yield from (Residue(unit, modulus, int(both[0]), step) for modulus in _MODULI)
    for step in {_step(values) for values in wholes if len(values)}:
        if 1 < step < _LARGEST:
            yield from (
                Residue(unit, step, start) for start in {int(values[0]) % step for values in wholes if len(values)}
            )


def _step(values: NDArray[np.int64]) -> int:
    """The largest number of which all differences are multiples."""
    return int(np.gcd.reduce(values - values[0]))


def _whole(column: Column, unit: Fraction) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers in multiples of a unit, and which of them are such, about; of larger ones the last 62 bits."""
    if unit == 1 and column.exact is not None:
        return column.exact
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = column.numbers * float(unit.denominator) / float(unit.numerator)
        near = np.rint(scaled)
        valid = (np.abs(scaled) < _LARGEST) & (np.abs(scaled - near) <= 1e-15 * np.abs(scaled) + 1e-9)
    return np.where(valid, near, 0.0).astype(np.int64), valid


def _texts(column: Column) -> list[str]:
    return list(map(repr, column.numbers.tolist())) if column.texts is None else column.texts.tolist()


def _gain(first: Codes, second: Codes) -> float:
    """By how much the likelihood grows if the two inputs may have laws of their own; less one for each value."""
    total = first + second
    share = len(np.flatnonzero(total))
    sums = first.sum(), second.sum()
    if not sums[0] + sums[1]:
        return 0.0
    gain = 0.0
    for counts, whole in zip((first, second), sums, strict=True):
        some = counts > 0
        expected = total[some] * (whole / (sums[0] + sums[1]))
        gain += float((counts[some] * np.log(counts[some] / expected)).sum())
    return gain - share
