"""Stochastic maps: what may be done to an outcome without knowing the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InternalError, InvalidParameter
from indistinct.numbers.reading import read_probability
from indistinct.regions.laws import DiscretePair, Outcome, integers

__all__ = ["StochasticMap"]


@dataclass(frozen=True, slots=True)
class StochasticMap:
    """From every input outcome an exact law over the output outcomes; outputs that are not named have 0.

    Data processing (Kairouz, Oh, Viswanath, Theorem 2.4): the region of `apply(pair)` lies inside the
    region of `pair`.

    >>> blur = StochasticMap({"yes": {"yes": "3/4", "no": "1/4"}, "no": {"no": 1}}, ("yes", "no"))
    >>> blur.push({"yes": Fraction(1), "no": Fraction(0)})
    {'yes': Fraction(3, 4), 'no': Fraction(1, 4)}
    """

    rows: Mapping[Outcome, Mapping[Outcome, Fraction]]
    outputs: tuple[Outcome, ...]

    def __post_init__(self) -> None:
        known = frozenset(self.outputs)
        rows = {}
        for x, row in self.rows.items():
            law = {y: read_probability(f"the probability of {y!r} from {x!r}", p) for y, p in row.items()}
            if not law.keys() <= known:
                raise InvalidParameter(f"the row of {x!r}", law, "name outcomes among the outputs only")
            weights, denominator = integers(list(law.values()))
            if sum(weights) != denominator:
                raise InvalidParameter(f"the row of {x!r}", Fraction(sum(weights), denominator), "sum to one exactly")
            rows[x] = law
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "outputs", tuple(self.outputs))

    def probability(self, x: Outcome, y: Outcome) -> Fraction:
        """The probability of output y from input x."""
        return self._row(x).get(y, Fraction(0))

    def push(self, law: Mapping[Outcome, Fraction]) -> dict[Outcome, Fraction]:
        """The law of the output when the input has this law."""
        result = dict.fromkeys(self.outputs, Fraction(0))
        for x, mass in law.items():
            for y, probability in self._row(x).items() if mass else ():
                result[y] += mass * probability
        return result

    def apply(self, pair: DiscretePair) -> DiscretePair:
        """The output laws of the mechanism followed by this map."""
        return DiscretePair(
            self.push(dict(zip(pair.outcomes, pair.null, strict=True))),
            self.push(dict(zip(pair.outcomes, pair.alternative, strict=True))),
        )

    def then(self, other: StochasticMap) -> StochasticMap:
        """This map followed by another."""
        rows = {x: {y: p for y, p in other.push(row).items() if p} for x, row in self.rows.items()}
        return StochasticMap(rows, other.outputs)

    def sample(self, x: Outcome, random: Random) -> Outcome:
        """An output drawn from the exact law of the row; `random.SystemRandom()` for real use."""
        weights, denominator = integers(list(self._row(x).values()))
        left = random.randrange(denominator)
        for y, weight in zip(self._row(x), weights, strict=True):
            left -= weight
            if left < 0:
                return y
        raise InternalError(f"the row of {x!r} does not sum to one")

    def as_matrix(self) -> NDArray[np.float64]:
        """The nearest floats: a row for each input, a column for each output."""
        column = {y: index for index, y in enumerate(self.outputs)}
        matrix = np.zeros((len(self.rows), len(column)))
        for index, row in enumerate(self.rows.values()):
            for y, probability in row.items():
                matrix[index, column[y]] = float(probability)
        return matrix

    def _row(self, x: Outcome) -> Mapping[Outcome, Fraction]:
        if x not in self.rows:
            raise InvalidParameter("the input", x, "be an outcome that the map starts from")
        return self.rows[x]
