"""A few uses of losses with few values: every outcome, one by one.

All terms are positive, so nothing cancels. The logs of multinomial coefficients are as accurate as the number of uses
allows, so that on a lattice its own form is better for all but the fewest. Losses are sums of floats: delta is taken
a little to the left of epsilon for the upper end and a little to the right for the lower, by what their rounding may
add up to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.grid import GridLoss
from indistinct.composition.losses.lattices import common_lattice
from indistinct.composition.losses.law import UNIT, Floats, LossLaw
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.logarithm import ball_of

__all__ = ["EnumeratedComposition"]

_MOST_OUTCOMES = 1 << 17
_MOST_USES, _MOST_USES_ON_A_LATTICE = 4096, 64

_MISSING = 1e-320
"""More than the probability of what is left out of an infinite law."""
_UNDERFLOW = 1e-322
"""More than what a term may lose that is too small for floats."""

Atoms = tuple[Floats, Floats]


class EnumeratedComposition:
    """delta(eps) of independent losses, from all their outcomes; an evaluator (see `evaluators`)."""

    def __init__(self, losses: Floats, log_probabilities: Floats, uses: int, missing: float = 0.0) -> None:
        self._losses = losses
        self._missing = missing
        self._log_probabilities = log_probabilities
        rarest = max(-float(np.min(log_probabilities)), 1.0)
        self._accuracy = (64 + 8 * uses + 4 * rarest) * UNIT
        self._margin = 4 * (uses + 2) * UNIT * float(np.max(np.abs(losses), initial=0.0))

    @classmethod
    def of(
        cls, laws: Iterable[tuple[LossLaw, int]], outcomes_at_most: int = _MOST_OUTCOMES
    ) -> EnumeratedComposition | None:
        """Where all losses have few values and few uses; otherwise None."""
        parts: list[tuple[Atoms, int]] = []
        outcomes, uses = 1, 0
        laws = list(laws)
        most = _MOST_USES if common_lattice(laws) is None else _MOST_USES_ON_A_LATTICE
        for law, times in laws:
            kinds = _atoms_of(law)
            if kinds is None:
                return None
            for atoms, repeated in kinds:
                count, uses = repeated * times, uses + repeated * times
                if uses > most:
                    return None
                outcomes *= math.comb(count + atoms[0].size - 1, count)
                parts.append((atoms, count))
                if outcomes > outcomes_at_most:
                    return None
        losses, logs = np.zeros(1), np.zeros(1)
        for atoms, count in parts:
            more, other = _repeated(atoms, count)
            losses, logs = np.add.outer(losses, more).ravel(), np.add.outer(logs, other).ravel()
        infinite = sum(times for law, times in laws if math.isinf(law.largest))
        return cls(losses, logs, uses, infinite * _MISSING)

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        with precision(128):
            around = ball_of(epsilon)
            at = float(around.mid())
            margin = self._margin + 2 * UNIT * abs(at)
            least, most = (self._at(at + side * margin) for side in (1, -1))
            if most or np.any(self._losses > at - margin):
                most += _UNDERFLOW * self._losses.size
            return ball(least * (1 - self._accuracy)).union(ball(most * (1 + self._accuracy) + self._missing))

    def _at(self, epsilon: float) -> float:
        above = self._losses > epsilon
        return float(np.sum(np.exp(self._log_probabilities[above]) * -np.expm1(epsilon - self._losses[above])))


def _atoms_of(law: LossLaw) -> list[tuple[Atoms, int]] | None:
    """The values of a loss with the logs of their probabilities; of responses, each kind by itself."""
    match law:
        case AtomsLoss():
            return [((law.losses + law.shift, law.log_probabilities), 1)]
        case ResponsesLoss():
            kinds = zip(law.responses.epsilons.tolist(), law.responses.groups, strict=True)
            return [
                ((np.array([e, -e]), np.array([-math.log1p(math.exp(-e)), -e - math.log1p(math.exp(-e))])), group.times)
                for e, group in kinds
            ]
        case GridLoss():
            possible = law.log_masses > -math.inf
            return [((law.losses[possible], law.log_masses[possible] + law.margin), 1)]
        case _:
            return None


def _repeated(atoms: Atoms, count: int) -> Atoms:
    """Every multiset of so many atoms, by how often each occurs."""
    if count == 1:
        return atoms
    left, losses = np.array([count]), np.zeros(1)
    logs = np.array([math.lgamma(count + 1)])
    factorials = np.array([math.lgamma(k + 1) for k in range(count + 1)])
    for i, (loss, log) in enumerate(zip(*atoms, strict=True)):
        if i + 1 < atoms[0].size:
            rows = np.repeat(np.arange(left.size), left + 1)
            times = np.concatenate([np.arange(n + 1) for n in left.tolist()])
        else:
            rows, times = np.arange(left.size), left
        losses = losses[rows] + times * loss
        logs = logs[rows] + times * log - factorials[times]
        left = left[rows] - times
    return losses, logs
