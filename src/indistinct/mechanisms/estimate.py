"""What randomised responses say of the people who gave them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indistinct.mechanisms.display import card
from indistinct.mechanisms.quantiles import upper
from indistinct.mechanisms.sizes import read_level
from indistinct.numbers.balls import arb, ball, bracket_of
from indistinct.numbers.logarithm import logarithm_of

__all__ = ["Estimate", "estimated"]

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Frequencies of categories among the people who responded; they sum to 1, and may lie outside of [0, 1]."""

    people: int
    frequencies: Reals
    """Without bias."""
    lower: Reals
    upper: Reals
    """Of each category, a true frequency is between these two with probability `level` at least."""
    level: float

    @property
    def counts(self) -> Reals:
        """The frequencies times the number of people."""
        return self.frequencies * self.people

    def __str__(self) -> str:
        rows = zip(self.frequencies.tolist(), self.lower.tolist(), self.upper.tolist(), strict=True)
        return "\n".join(f"{i}: {f:.4f}, between {low:.4f} and {high:.4f}" for i, (f, low, high) in enumerate(rows))

    def _repr_html_(self) -> str:
        rows = enumerate(str(self).split("\n"))
        return card(f"{self.people} responses", {str(i): row.partition(": ")[2] for i, row in rows})


def estimated(counts: NDArray[np.int64], kept: arb, other: arb, level: object) -> Estimate:
    """From how often each response was given: (share - other) / (kept - other), and the same of the ends of its mean.

    A share of independent coins is at least s above its mean m with probability at most e^(-n KL(s, m)), whatever
    the coins' own probabilities (Hoeffding 1963, Theorem 1): the means that are not refuted at either side.
    """
    sure, people = read_level(level), int(counts.sum())
    allowed = upper(lambda: logarithm_of(2 / (1 - sure))) * (1 + 1e-12) / people

    def true(share: float, side: Callable[[float], float]) -> float:
        found = bracket_of((ball(share) - other) / (kept - other))
        return min(max(side(found.lower if side is _down else found.upper), 0.0), 1.0)

    shares = [int(count) / people for count in counts]
    frequencies = [float(((ball(Fraction(int(count), people)) - other) / (kept - other)).mid()) for count in counts]
    least = [true(_least_mean(share, allowed), _down) for share in shares]
    most = [true(1 - _least_mean(1 - share, allowed), _up) for share in shares]
    return Estimate(people, np.array(frequencies), np.array(least), np.array(most), float(sure))


def _least_mean(share: float, allowed: float) -> float:
    """The least m <= share with KL(share, m) <= allowed, or a little less."""
    low, high = 0.0, share
    while high - low > 1e-15:
        middle = (low + high) / 2
        low, high = (low, middle) if _divergence(share, middle) <= allowed else (middle, high)
        if middle in (0.0, share):
            break
    return max(low - 1e-12, 0.0)


def _divergence(share: float, mean: float) -> float:
    """KL of two coins, in nats."""
    if not 0 < mean < 1:
        return 0.0 if share == mean else math.inf
    first = share * math.log(share / mean) if share else 0.0
    return first + ((1 - share) * math.log((1 - share) / (1 - mean)) if share < 1 else 0.0)


def _down(value: float) -> float:
    return math.nextafter(value, -math.inf)


def _up(value: float) -> float:
    return math.nextafter(value, math.inf)
