r"""Statistics of an answer: numbers that are large where the answer speaks for the first input.

Each is fitted to answers on both inputs and then gives a score to any others; an event is the answers whose score is
above a threshold, or below. The best statistic is the likelihood ratio (Neyman and Pearson), of which these are
estimates, from plain to elaborate:

- the number itself, at one place of the answer: right for every law whose likelihood ratio is monotone;
- its last bit, that is the largest power of two of which it is a multiple: floating-point noise shows there;
- traits below its size, such as residues, single bits and the last characters (`indistinct.audit.traits`);
- a histogram of one place, or of whole answers, in bins of equal size and atoms of their own;
- naive Bayes, the sum of all places' histograms: right for independent places;
- logistic regression, for places that share a noise;
- a decision tree, for places that mean different things depending on each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indistinct.audit.outputs import Codes, Column, Floats, Outputs, last_bits
from indistinct.audit.traits import coded_of
from indistinct.audit.tree import Tree

__all__ = ["Bayes", "Histogram", "LastBit", "Logistic", "Number", "Statistic", "Whole", "statistics_of"]

_BINS = 48
_ATOM = 6  # so many equal numbers are an atom of their own
_PRIOR = 0.5
_SHOWN = 4
_RIDGE = 1e-3
_LEAST_AXIS = 1e-10


class Statistic(Protocol):
    """A score of answers, and words for the events that it makes."""

    def scores(self, outputs: Outputs) -> Floats:
        """Large where an answer speaks for the first input, or simply large."""
        ...

    def event(self, threshold: float, *, above: bool) -> str:
        """What the answers of a score of at least, or below, a threshold are; after "answers"."""
        ...


@dataclass(frozen=True, slots=True)
class Number:
    """The number at one place; whatever is not a number is below all."""

    at: int
    name: str
    has_others: bool

    def scores(self, outputs: Outputs) -> Floats:
        """The number."""
        return np.nan_to_num(outputs.columns[self.at].numbers, nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def event(self, threshold: float, *, above: bool) -> str:
        """At least, or less than."""
        return f"with {self.name} {'at least' if above else 'less than'} {threshold:.9g}" + (
            ", or no number there" if self.has_others and not above else ""
        )


@dataclass(frozen=True, slots=True)
class LastBit:
    """The largest k for which the number at one place is a multiple of 2^k."""

    at: int
    name: str

    def scores(self, outputs: Outputs) -> Floats:
        """The exponent."""
        return last_bits(outputs.columns[self.at].numbers)

    def event(self, threshold: float, *, above: bool) -> str:
        """A multiple of a power of two, or none."""
        return f"with {self.name} {'a' if above else 'no'} multiple of 2^{threshold:.0f}"


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """One place in bins: kinds, numbers that come often, and ranges between quantiles, each with its log ratio."""

    at: int
    name: str
    labels: tuple[Hashable, ...]
    atoms: Floats
    edges: Floats
    ratios: Floats
    seen: NDArray[np.bool_]

    @classmethod
    def of(cls, at: int, first: Column, second: Column) -> Histogram:
        """Fitted to answers on both inputs."""
        numbers = np.concatenate([first.numbers, second.numbers])
        numbers = numbers[~np.isnan(numbers)]
        values, counts = np.unique(numbers, return_counts=True)
        atoms = values[counts >= _ATOM]
        rest = numbers[~np.isin(numbers, atoms)] if len(atoms) else numbers
        bins = min(_BINS, len(rest) // 20)
        edges = np.unique(np.quantile(rest, np.arange(1, bins) / bins, method="lower")) if bins > 1 else np.empty(0)
        empty = cls(at, first.name, first.labels, atoms, edges, np.empty(0), np.empty(0, dtype=bool))
        size = len(first.labels) + len(atoms) + len(edges) + 1
        cells = empty.cells(first), empty.cells(second)
        seen = np.bincount(np.concatenate(cells), minlength=size) > 0
        return cls(at, first.name, first.labels, atoms, edges, _ratios(*cells, size), seen)

    def cells(self, column: Column) -> Codes:
        """The bin of each answer."""
        base = len(self.labels)
        numbers = np.where(column.kinds >= 0, 0.0, column.numbers)
        cells = base + len(self.atoms) + np.searchsorted(self.edges, numbers, side="left")
        if len(self.atoms):
            near = np.minimum(np.searchsorted(self.atoms, numbers), len(self.atoms) - 1)
            cells = np.where(self.atoms[near] == numbers, base + near, cells)
        return np.where(column.kinds >= 0, column.kinds, cells).astype(np.int64)

    def scores(self, outputs: Outputs) -> Floats:
        """The log ratio of the bin."""
        return self.ratios[self.cells(outputs.columns[self.at])]

    def event(self, threshold: float, *, above: bool) -> str:
        """The bins."""
        chosen = np.flatnonzero(((self.ratios >= threshold) == above) & self.seen)
        base, atoms = len(self.labels), len(self.atoms)
        words = [repr(self.labels[cell]) for cell in chosen if cell < base]
        words += [f"{self.atoms[cell - base]:.9g}" for cell in chosen if base <= cell < base + atoms]
        bounds = [-np.inf, *self.edges, np.inf]
        words += [
            f"({bounds[cell - base - atoms]:.6g}, {bounds[cell - base - atoms + 1]:.6g}]"
            for cell in chosen
            if cell >= base + atoms
        ]
        return f"with {self.name} among {_listed(words)}"


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Each whole answer with its log ratio; those never seen have 0."""

    labels: tuple[Hashable, ...]
    ratios: Floats

    @classmethod
    def of(cls, first: Outputs, second: Outputs) -> Whole:
        """Fitted to answers on both inputs."""
        if first.whole is None or second.whole is None:
            return cls((), np.empty(0))
        return cls(first.labels, _ratios(first.whole, second.whole, len(first.labels)))

    def scores(self, outputs: Outputs) -> Floats:
        """The log ratio of the answer."""
        return np.zeros(len(outputs)) if outputs.whole is None else self.ratios[outputs.whole]

    def event(self, threshold: float, *, above: bool) -> str:
        """The answers, those of the largest ratios first."""
        chosen = np.flatnonzero((self.ratios >= threshold) == above)
        ordered = chosen[np.argsort(-self.ratios[chosen] if above else self.ratios[chosen], kind="stable")]
        return f"among {_listed([repr(self.labels[code]) for code in ordered])}"


@dataclass(frozen=True, slots=True, eq=False)
class Bayes:
    """Naive Bayes: the sum of the log ratios of all places."""

    places: tuple[Histogram, ...]

    def scores(self, outputs: Outputs) -> Floats:
        """The sum."""
        total = np.zeros(len(outputs))
        for place in self.places:
            total += place.scores(outputs)
        return total

    def event(self, threshold: float, *, above: bool) -> str:
        """A likelihood ratio."""
        bound = f"e^{threshold:.4g}"
        return f"{'at least' if above else 'less than'} {bound} times as likely on the first input, by naive Bayes"


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """Logistic regression on the numbers, along their principal axes; what is not a number counts as the mean."""

    centre: Floats
    axes: Floats
    weights: Floats

    @classmethod
    def of(cls, first: Outputs, second: Outputs) -> Logistic:
        """Fitted by Newton's method with a slight penalty."""
        raw = np.concatenate([_numbers(first), _numbers(second)])
        counts = np.maximum((~np.isnan(raw)).sum(axis=0), 1)
        centre = np.nansum(raw, axis=0) / counts
        spread = np.sqrt(np.nansum((raw - centre) ** 2, axis=0) / counts)
        scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        even = np.nan_to_num((raw - centre) * scale, nan=0.0)
        sizes, directions = np.linalg.eigh(even.T @ even / len(even))
        axes = scale[:, None] * directions / np.sqrt(np.maximum(sizes, _LEAST_AXIS))
        rows = _along(raw, centre, axes)
        labels = np.concatenate([np.ones(len(first)), np.zeros(len(second))])
        weights = np.zeros(rows.shape[1])
        for _ in range(8):
            chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
            slope = rows.T @ (labels - chance) - _RIDGE * len(rows) * weights
            bend = (rows * (chance * (1 - chance))[:, None]).T @ rows + _RIDGE * len(rows) * np.eye(len(weights))
            weights = weights + np.linalg.solve(bend, slope)
        return cls(centre, axes, weights)

    def scores(self, outputs: Outputs) -> Floats:
        """The log odds."""
        found: Floats = _along(_numbers(outputs), self.centre, self.axes) @ self.weights
        return found

    def event(self, threshold: float, *, above: bool) -> str:
        """Odds."""
        side = "at least" if above else "less than"
        return f"with log odds {side} {threshold:.4g} for the first input, by logistic regression"


def statistics_of(first: Outputs, second: Outputs) -> Iterator[Statistic]:
    """All of them, fitted to answers on both inputs, from plain to elaborate."""
    histograms = []
    for at, (mine, other) in enumerate(zip(first.columns, second.columns, strict=True)):
        if (mine.kinds < 0).any() or (other.kinds < 0).any():
            yield Number(at, mine.name, bool((mine.kinds >= 0).any() or (other.kinds >= 0).any()))
            if mine.has_floats or other.has_floats:
                yield LastBit(at, mine.name)
        histograms.append(Histogram.of(at, mine, other))
        yield histograms[-1]
    yield from coded_of(first, second)
    if first.whole is not None:
        yield Whole.of(first, second)
    if len(histograms) > 1:
        yield Bayes(tuple(histograms))
        if any((column.kinds < 0).any() for column in first.columns):
            yield Logistic.of(first, second)
    if len(histograms) > 1 or any(column.has_floats for column in first.columns):
        yield Tree.of(first, second)


def _ratios(first: Codes, second: Codes, size: int) -> Floats:
    """ln P/Q of each code, drawn towards 0 where little was seen."""
    mine = np.bincount(first, minlength=size) + _PRIOR
    other = np.bincount(second, minlength=size) + _PRIOR
    return np.log(mine / other)


def _numbers(outputs: Outputs) -> Floats:
    return np.stack([np.where(np.isfinite(each.numbers), each.numbers, np.nan) for each in outputs.columns], axis=1)


def _along(raw: Floats, centre: Floats, axes: Floats) -> Floats:
    scaled = np.nan_to_num(raw - centre, nan=0.0) @ axes
    return np.hstack([scaled, np.ones((len(raw), 1))])


def _listed(words: list[str]) -> str:
    shown = ", ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown}, ... ({len(words):,} in all)"
