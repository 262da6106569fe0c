"""Small random pairs of laws, and brute force over all their tests."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from indistinct.regions import DiscretePair, Errors, StochasticMap, errors_of

ratios = st.fractions(Fraction(1, 12), 12, max_denominator=12)
deltas = st.fractions(0, 1, max_denominator=24)
epsilons = st.one_of(
    st.fractions(0, 4, max_denominator=8), st.fractions(1, 9, max_denominator=6).map(lambda r: f"ln({r})")
)


@st.composite
def laws(draw: st.DrawFn, size: int) -> tuple[Fraction, ...]:
    weights = draw(st.lists(st.integers(0, 8), min_size=size, max_size=size).filter(any))
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@st.composite
def pairs(draw: st.DrawFn, largest: int = 5) -> DiscretePair:
    size = draw(st.integers(1, largest))
    return DiscretePair(draw(laws(size)), draw(laws(size)))


@st.composite
def kernels(draw: st.DrawFn, inputs: int) -> StochasticMap:
    size = draw(st.integers(1, 5))
    rows = {x: dict(enumerate(draw(laws(size)))) for x in range(inputs)}
    return StochasticMap(rows, tuple(range(size)))


def all_rejections(pair: DiscretePair) -> Iterator[frozenset[Any]]:
    for size in range(len(pair) + 1):
        yield from map(frozenset, combinations(pair.outcomes, size))


def all_errors(pair: DiscretePair) -> list[Errors]:
    return [errors_of(pair, rejection) for rejection in all_rejections(pair)]


def brute_delta(pair: DiscretePair, ratio: Fraction) -> Fraction:
    """max_S P0(S) - ratio P1(S), by looking at every S."""
    null = dict(zip(pair.outcomes, pair.null, strict=True))
    alternative = dict(zip(pair.outcomes, pair.alternative, strict=True))
    return max(sum((null[x] - ratio * alternative[x] for x in chosen), Fraction(0)) for chosen in all_rejections(pair))
