"""One loss of a composition, as outcomes from above and from below, as finely cut as is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from indistinct.composition.folding.lines import GaussianLine, LaplaceLine, SampledLine
from indistinct.composition.folding.outcomes import CERTAIN, Outcomes, in_order, merged, raised
from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.grid import GridLoss
from indistinct.composition.losses.laplace import LaplaceLoss
from indistinct.composition.losses.law import UNIT, Floats, LossLaw
from indistinct.composition.losses.subsampled import SubsampledLoss
from indistinct.composition.nodes import Integers
from indistinct.composition.responses import Response

__all__ = [
    "Cut",
    "KnownSource",
    "LineSource",
    "Source",
    "levels",
    "source_between",
    "source_of",
    "source_of_gaussian",
    "source_of_response",
    "subdivided",
]

_MISSING = 1e-320
"""More than the probability of what is left out of an infinite law."""
_COARSE = 300
_FEWEST = 1e-315
_DEEPEST = 720.0

Cut = tuple[Outcomes, Outcomes]
"""From above, and from below."""


class Source(Protocol):
    """A loss that can be cut."""

    @property
    def coarse(self) -> Outcomes:
        """Some hundreds of outcomes, from above."""
        ...

    @property
    def grid(self) -> Floats:
        """The losses between which `fine` counts its pieces."""
        ...

    def fine(self, pieces: Integers) -> Cut:
        """The loss with each of the grid's intervals in so many pieces."""
        ...


def subdivided(grid: Floats, pieces: Integers) -> Floats:
    """A rising grid with each of its intervals cut in so many equal pieces."""
    starts, widths = np.repeat(grid[:-1], pieces), np.repeat(np.diff(grid) / pieces, pieces)
    within = np.arange(starts.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.unique(np.append(starts + within * widths, grid[-1]))


def levels(outcomes: Outcomes) -> Floats:
    """Some hundreds of losses at growing steps of the logs of both tails."""
    if outcomes.size <= _COARSE:
        return outcomes.losses
    right = np.cumsum(outcomes.masses[::-1])[::-1]
    left = np.cumsum(outcomes.masses)
    steps = 0.1 * (1.045 ** np.arange(200.0) - 1) / 0.045
    deep = steps[steps < _DEEPEST]
    shallow = steps[steps < 45.0]
    with np.errstate(divide="ignore"):
        at_right = np.searchsorted(-np.log(np.maximum(right / right[0], _FEWEST)), deep)
        at_left = np.searchsorted(np.log(np.maximum(left / left[-1], _FEWEST)), -shallow)
    chosen = np.unique(np.concatenate([at_right, at_left, [0, outcomes.size - 1]]))
    return np.unique(outcomes.losses[chosen[chosen < outcomes.size]])


@dataclass(frozen=True, eq=False)
class LineSource:
    """Noise on the line."""

    line: SampledLine

    @cached_property
    def _rungs(self) -> Floats:
        return self.line.rungs()

    @cached_property
    def coarse(self) -> Outcomes:
        return self.line.cut(self._rungs)[0]

    @cached_property
    def grid(self) -> Floats:
        return self.coarse.losses

    def fine(self, pieces: Integers) -> Cut:
        # The intervals are those of the coarse outcomes, which may leave out some at the ends.
        count = self._rungs.size - 1
        own = np.ones(count, np.int64)
        own[: pieces.size] = pieces[:count]
        return self.line.cut(subdivided(self._rungs, own[::-1] if self.line.back else own))


@dataclass(frozen=True, eq=False)
class KnownSource:
    """A loss with finitely many values, or bounds of it that have."""

    upper: Outcomes
    lower: Outcomes

    @cached_property
    def grid(self) -> Floats:
        return levels(self.upper)

    @cached_property
    def coarse(self) -> Outcomes:
        return raised(self.upper, self.grid)

    def fine(self, pieces: Integers) -> Cut:
        if self.upper.size <= int(np.sum(pieces)):
            return self.upper, self.lower
        grid = subdivided(self.grid, pieces)
        return raised(self.upper, grid), merged(self.lower, grid)


def source_of(law: LossLaw) -> Source | None:
    """The source of a law, if there is one."""
    match law:
        case LaplaceLoss():
            return LineSource(SampledLine(LaplaceLine(law.exact_largest), Fraction(1), back=False))
        case SubsampledLoss():
            line = GaussianLine(1 / law.exact_sigma**2)
            return LineSource(SampledLine(line, law.exact_rate, back=not law.removing))
        case AtomsLoss():
            return _of_atoms(law)
        case _:
            return None


def source_between(upper: LossLaw, lower: LossLaw) -> Source | None:
    """The source of a loss that is between two on grids."""
    if isinstance(upper, GridLoss) and isinstance(lower, GridLoss):
        return KnownSource(_of_grid(upper), _of_grid(lower))
    return None


def source_of_response(response: Response) -> Source:
    """A randomised response: two values."""
    e = float(response.epsilon)
    logs = np.array([-e - math.log1p(math.exp(-e)), -math.log1p(math.exp(-e))])
    return _around(np.array([-e, e]), np.exp(logs), 8 * UNIT * (1 + np.abs(logs)), np.zeros(2), 0.0)


def source_of_gaussian(mu_squared: Fraction) -> Source:
    """All Gaussian noise together."""
    return LineSource(SampledLine(GaussianLine(mu_squared), Fraction(1), back=False))


def _of_atoms(law: AtomsLoss) -> Source:
    relative = law.rounding + (8 * np.abs(law.log_probabilities) + 64) * UNIT
    absolute = np.where(law.losses == 0, law.rounding, 0.0)
    missing = _MISSING if math.isfinite(law.unbounded_from) else 0.0
    masses = np.exp(law.log_probabilities)
    return _around(law.losses + law.shift, masses, relative, absolute, missing, abs(law.shift))


def _around(
    losses: Floats, masses: Floats, relative: Floats, absolute: Floats, missing: float, shift: float = 0.0
) -> Source:
    """Known up to 4 units and some errors of the masses."""
    moved = 8 * UNIT * (np.abs(losses) + 2 * shift)
    upper = in_order(Outcomes(losses + moved, masses * (1 + relative) + absolute, missing))
    lower = in_order(Outcomes(losses - moved, np.maximum(masses * (1 - relative) - absolute, 0.0)))
    return KnownSource(_possible(upper), _possible(lower))


def _of_grid(law: GridLoss) -> Outcomes:
    used = law.log_masses > -math.inf
    hidden = float(law.disclosed)
    side = 1 if law.margin >= 0 else -1
    masses = np.exp(law.log_masses[used] + law.margin) * (1 - hidden) * (1 + side * 64 * UNIT)
    losses = law.losses[used]
    losses = losses + side * 8 * UNIT * np.abs(losses)
    if hidden:
        losses, masses = np.append(losses, CERTAIN), np.append(masses, hidden * (1 + side * 4 * UNIT))
    return _possible(Outcomes(losses, masses))


def _possible(outcomes: Outcomes) -> Outcomes:
    """Without what has no mass that a float can tell."""
    used = outcomes.masses > _FEWEST
    lost = outcomes.lost + float(np.sum(outcomes.masses[~used])) + 1e-319 * int(np.count_nonzero(~used))
    if not np.any(used):
        return Outcomes(outcomes.losses[:1], outcomes.masses[:1], lost)
    return Outcomes(outcomes.losses[used], outcomes.masses[used], lost)
