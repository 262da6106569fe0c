"""From contributions to directions: the one place that knows every way to compute."""

from __future__ import annotations

import math
from fractions import Fraction

from indistinct.composition.contour import ContourComposition
from indistinct.composition.curved import CurvedComposition
from indistinct.composition.direction import Direction, Steering
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.enumerated import EnumeratedComposition
from indistinct.composition.evaluators import Evaluator, evaluator_of
from indistinct.composition.gauss import GaussianComposition
from indistinct.composition.losses.gaussian import GaussianLoss
from indistinct.composition.losses.law import LossLaw
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.composition.parts import Contributions
from indistinct.composition.refined import RefinedDirection
from indistinct.numbers import Bracket
from indistinct.numbers.balls import ball, bracket_of, precision

__all__ = ["directions_of"]

_BITS = 192
_FEW = 200
"""So many responses have a transform that decays well."""
_INFINITE = Bracket(math.inf, math.inf)


def directions_of(contributions: Contributions) -> tuple[Direction | RefinedDirection, ...]:
    """One direction, or two where the neighbouring databases make a difference."""
    if contributions.enclosed:
        return tuple(RefinedDirection(lambda level, i=i: _enclosed(contributions, level, i)) for i in range(2))  # type: ignore[misc]  # i is bound
    return tuple(_direction(contributions, laws) for laws in contributions.directions)


def _enclosed(contributions: Contributions, level: int, which: int) -> tuple[Direction, Direction]:
    """What dominates and what is dominated, in one of both directions."""
    upper, lower = (_direction(side, side.directions[which]) for side in contributions.at(level))
    return upper, lower


def _direction(contributions: Contributions, laws: tuple[tuple[LossLaw, int], ...]) -> Direction:
    own = [(law.disclosed, times) for law, times in laws]
    everything = [*_shared(contributions), *laws]
    whole = ContourComposition(everything)
    steering = Steering(whole.cumulants, whole.steepest)
    evaluator: Evaluator
    if contributions.curves:
        evaluator = curved = CurvedComposition(everything, contributions.curves)
        steering = Steering(curved.cumulants, whole.steepest if everything else math.inf)
    elif laws or (contributions.gaussian and contributions.responses.groups):
        evaluator = EnumeratedComposition.of(everything) or whole
    elif contributions.gaussian:
        evaluator = GaussianComposition(contributions.gaussian)
    else:
        evaluator = evaluator_of(contributions.responses)
    disclosure = Disclosure([*contributions.disclosures, *own])
    is_quick = laws or contributions.gaussian or contributions.responses.count > _FEW
    contour = whole if is_quick and not contributions.curves else None
    return Direction(disclosure, evaluator, _largest(contributions, laws), steering, contour)


def _shared(contributions: Contributions) -> list[tuple[LossLaw, int]]:
    """What is the same in both directions."""
    laws: list[tuple[LossLaw, int]] = []
    if contributions.responses.groups:
        laws.append((ResponsesLoss(contributions.responses), 1))
    if contributions.gaussian:
        laws.append((GaussianLoss(math.sqrt(contributions.gaussian)), 1))
    return laws


def _largest(contributions: Contributions, laws: tuple[tuple[LossLaw, int], ...]) -> Bracket:
    """The largest loss there can be."""
    if contributions.gaussian or contributions.curves or any(math.isinf(law.largest) for law, _ in laws):
        return _INFINITE
    with precision(_BITS):
        total = contributions.responses.largest_loss()
        total += sum((times * ball(Fraction(law.largest)) for law, times in laws), ball(0))
        around = bracket_of(total)
    return around if not laws else Bracket(max(around.lower * (1 - 1e-14), 0.0), max(around.upper, 0.0))
