"""From contributions to directions: the one place that knows every way to compute."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

from indistinct.composition.alone import Alone, ClosedForm
from indistinct.composition.careful import CarefulDirection
from indistinct.composition.contour import LITTLE_WORK, MOST_WORK, ContourComposition
from indistinct.composition.curved import CurvedComposition
from indistinct.composition.direction import Direction, Steering
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.enumerated import EnumeratedComposition
from indistinct.composition.evaluators import Evaluator, evaluator_of
from indistinct.composition.gauss import GaussianComposition
from indistinct.composition.losses.curves import BoundedRangeCurve
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.gaussian import GaussianLoss
from indistinct.composition.losses.law import ExactlyBounded, LossLaw, largest_of
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.composition.parts import Contributions
from indistinct.composition.refined import RefinedDirection
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.numbers.logarithm import ball_of

__all__ = ["directions_of"]

_BITS = 192
_FEW_USES = 64
_FEW = 200
"""So many responses have a transform that decays well."""
_INFINITE = Bracket(math.inf, math.inf)


AnyDirection = Direction | RefinedDirection | CarefulDirection


def directions_of(contributions: Contributions) -> tuple[AnyDirection, ...]:
    """One direction, or two where the neighbouring databases make a difference."""
    if contributions.enclosed:
        return _refined(contributions)
    if (otherwise := _without_decay(contributions)) is None:
        return tuple(_direction(contributions, laws) for laws in contributions.directions)
    quick = (_direction(contributions, laws, only_narrow=True) for laws in contributions.directions)
    return tuple(CarefulDirection(first, second) for first, second in zip(quick, _refined(otherwise), strict=False))


def _refined(contributions: Contributions) -> tuple[RefinedDirection, ...]:
    return tuple(RefinedDirection(partial(_enclosed, contributions, which=which)) for which in range(2))


def _without_decay(contributions: Contributions) -> Contributions | None:
    """The same with all losses enclosed, where so few of them are used that their transforms hardly decay."""
    uses = contributions.responses.count + sum(times for _, times in contributions.losses)
    if contributions.gaussian or contributions.curves or not contributions.losses or not 1 < uses <= _FEW_USES:
        return None
    enclosed = []
    for loss, times in contributions.losses:
        found = loss.enclosed() if loss.enclosed else None
        if not isinstance(found, EnclosedLoss):
            return None
        enclosed.append((found, times))
    return replace(contributions, losses=(), enclosed=tuple(enclosed))


def _enclosed(contributions: Contributions, level: int, which: int) -> tuple[Direction, Direction]:
    """What dominates and what is dominated, in one of both directions."""
    upper, lower = (_direction(side, side.directions[which]) for side in contributions.at(level))
    return upper, lower


def _direction(
    contributions: Contributions, laws: tuple[tuple[LossLaw, int], ...], *, only_narrow: bool = False
) -> Direction:
    own = [(law.disclosed, times) for law, times in laws]
    everything = [*_shared(contributions), *laws]
    whole = ContourComposition(everything)
    steering = Steering(whole.cumulants, whole.steepest)
    evaluator: Evaluator
    if contributions.curves:
        evaluator = curved = CurvedComposition(everything, contributions.curves, _limits(contributions, laws))
        steering = Steering(curved.cumulants, whole.steepest if everything else math.inf)
    elif len(everything) == 1 and everything[0][1] == 1 and isinstance(everything[0][0], ClosedForm):
        evaluator = Alone(everything[0][0])
    elif laws or (contributions.gaussian and contributions.responses.levels):
        uses = contributions.responses.count + sum(times for _, times in laws)
        work = LITTLE_WORK if only_narrow or uses <= _FEW_USES else MOST_WORK
        if only_narrow or work < MOST_WORK:
            contour = ContourComposition(everything, only_narrow=only_narrow, work=work)
        else:
            contour = whole  # so that a curve finds what was laid out for a point
        evaluator = EnumeratedComposition.of(everything) or contour
    elif contributions.gaussian:
        evaluator = GaussianComposition(contributions.gaussian)
    else:
        evaluator = evaluator_of(contributions.responses)
    disclosure = Disclosure([*contributions.disclosures, *own])
    decays = contributions.responses.count > _FEW or (bool(laws) and not only_narrow)
    is_quick = (decays or contributions.gaussian) and not isinstance(evaluator, Alone)
    quick = whole if is_quick and not contributions.curves else None
    return Direction(disclosure, evaluator, _largest(contributions, laws), steering, quick)


def _shared(contributions: Contributions) -> list[tuple[LossLaw, int]]:
    """What is the same in both directions."""
    laws: list[tuple[LossLaw, int]] = []
    if contributions.responses.levels:
        laws.append((ResponsesLoss(contributions.responses), 1))
    if contributions.gaussian:
        laws.append((GaussianLoss(math.sqrt(contributions.gaussian)), 1))
    return laws


def _largest(contributions: Contributions, laws: tuple[tuple[LossLaw, int], ...]) -> Bracket:
    """The largest loss there can be; of a loss known by a bound alone none is proven to occur."""
    if contributions.gaussian or any(math.isinf(law.largest) for law, _ in laws):
        return _INFINITE
    with precision(_BITS):
        total, exact = contributions.responses.largest_loss(), largest_of(laws)
        if exact is not None:
            known = bracket_of(total := total + ball(exact))
        else:
            around = bracket_of(
                total := total + sum((times * ball(Fraction(law.largest)) for law, times in laws), ball(0))
            )
            known = Bracket(max(around.lower * (1 - 1e-14), 0.0), max(around.upper, 0.0))
        if not contributions.curves:
            return known
        limits = _limits(contributions, laws)
        if limits is None:
            return Bracket(known.lower, math.inf)
        upper = bracket_of(sum((times * ball_of(limit) for limit, times in limits), ball(0))).upper
    return Bracket(min(known.lower, max(upper, 0.0)), max(upper, 0.0))


def _limits(
    contributions: Contributions, laws: tuple[tuple[LossLaw, int], ...]
) -> tuple[tuple[Epsilon, int], ...] | None:
    """The largest loss of each part, rounded up where it is not exact; None where one has none."""
    if contributions.gaussian or any(math.isinf(law.largest) for law, _ in laws):
        return None
    if not all(isinstance(curve, BoundedRangeCurve) for curve, _ in contributions.curves):
        return None
    return (
        *((curve.epsilon, times) for curve, times in contributions.curves if isinstance(curve, BoundedRangeCurve)),
        *((group.epsilon, group.times) for group in contributions.responses.groups),
        *(
            (law.exact_largest if isinstance(law, ExactlyBounded) else Fraction(law.largest), times)
            for law, times in laws
        ),
    )
