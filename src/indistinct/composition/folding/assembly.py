"""From contributions to directions, for a few uses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from indistinct.composition.alone import Alone
from indistinct.composition.direction import Direction
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.enumerated import EnumeratedComposition
from indistinct.composition.folding.direction import FoldedDirection, FoldedEvaluator
from indistinct.composition.folding.folded import FoldedComposition
from indistinct.composition.folding.sources import (
    LineSource,
    Source,
    source_between,
    source_of,
    source_of_gaussian,
    source_of_response,
)
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.lattices import common_lattice
from indistinct.composition.losses.law import UNIT, LossLaw
from indistinct.composition.parts import Contributions
from indistinct.composition.refined import RefinedDirection
from indistinct.composition.residues import ResidueComposition
from indistinct.numbers import Bracket
from indistinct.numbers.balls import bracket_of

__all__ = ["folded_directions"]

_FEW_USES = 64
_NODES = 2000
_FAR = (0.5, 0.7, 1.0)
_NEGLIGIBLE = 25.0
"""A transform that is not below e^-25 so many nodes away from the middle is not worth asking."""
_LEVEL = 2
_SHORT = 1024
_ROUGHLY = 0.3

Laws = Sequence[tuple[LossLaw, int]]


def folded_directions(
    contributions: Contributions,
    quick: Callable[[Laws], Direction],
    refined: Callable[[], Sequence[RefinedDirection]],
) -> tuple[Direction | FoldedDirection, ...] | None:
    """Directions that work outcome by outcome, where so few losses are used that their transforms hardly decay.

    `quick` gives the direction that rests on the transforms of laws, `refined` those on grids. None where there are
    many uses, or a loss that cannot be cut.
    """
    whole = (*contributions.losses, *contributions.enclosed)
    uses = contributions.responses.count + sum(times for _, times in whole)
    if contributions.curves or not whole or uses > _FEW_USES:
        return None
    if contributions.enclosed and not contributions.losses and _on_grids(contributions):
        return None
    found: list[Direction | FoldedDirection | None]
    if contributions.enclosed:
        found = [_enclosed(contributions, refined, side) for side in (0, 1)]
    else:
        found = [_from_laws(contributions, laws, quick(laws)) for laws in contributions.directions]
    made = tuple(direction for direction in found if direction is not None)
    return made if len(made) == len(found) else None


def known_evaluator(contributions: Contributions, laws: Laws) -> FoldedEvaluator | None:
    """What answers roughly, and at once, for few uses of exact losses beside others that are known by a bound."""
    parts = _sources(contributions, laws)
    uses = contributions.responses.count + sum(times for _, times in laws)
    if not laws or parts is None or uses > _FEW_USES:
        return None
    return FoldedEvaluator(FoldedComposition(parts), gap=_ROUGHLY, layouts=1)


def _from_laws(contributions: Contributions, laws: Laws, first: Direction) -> Direction | FoldedDirection | None:
    if isinstance(first.evaluator, Alone | EnumeratedComposition | ResidueComposition):
        return first
    parts = _sources(contributions, laws)
    if parts is None:
        return None
    at_once = bool(contributions.gaussian) or _may_decay(laws)
    return FoldedDirection(partial(_itself, first), FoldedComposition(parts), at_once=at_once)


def _itself(direction: Direction) -> Direction:
    return direction


def _may_decay(laws: Laws) -> bool:
    """Whether it is worth while to ask the transform first."""
    if common_lattice(laws) is not None:
        return sum(law.size for law, _ in laws) <= _SHORT
    if sum(law.size for law, _ in laws) > _SHORT:
        return False
    spread = math.sqrt(math.fsum(times * law.cumulants(1.0).variance for law, times in laws))
    far = _NODES / max(spread, 1.0) * np.array(_FAR)
    modulus = sum((times * law.log_ratio(1.0, far).real for law, times in laws), np.zeros(far.size))
    return bool(np.all(modulus < -_NEGLIGIBLE))


def _enclosed(
    contributions: Contributions, refined: Callable[[], Sequence[RefinedDirection]], side: int
) -> FoldedDirection | None:
    """With noise whose masses are known, or that is known between two laws on grids."""
    laws = [(loss.backward if side else loss.forward, times) for loss, times in contributions.losses]
    own = [(law.disclosed, times) for law, times in laws]
    parts = _sources(contributions, laws)
    if parts is None:
        return None
    for enclosed, times in contributions.enclosed:
        source = _source_of_enclosed(enclosed, side)
        if source is None:
            return None
        parts.append((source, times))
    largest = _largest(contributions, side)
    disclosure = Disclosure([*contributions.disclosures, *own])

    def first() -> RefinedDirection:
        return refined()[side]

    return FoldedDirection(first, FoldedComposition(parts), disclosure, largest)


def _on_grids(contributions: Contributions) -> bool:
    """Whether all that is enclosed is known on grids alone."""
    return all(enclosed.lines is None for enclosed, _ in contributions.enclosed)


def _source_of_enclosed(enclosed: EnclosedLoss, side: int) -> Source | None:
    if enclosed.lines is not None:
        return LineSource(enclosed.lines[side])
    upper, lower = enclosed.laws(_LEVEL)
    return source_between(upper.backward, lower.backward) if side else source_between(upper.forward, lower.forward)


def _largest(contributions: Contributions, side: int) -> Bracket:
    """Around the largest loss; nothing is known where a law has none, or one that is not known."""
    if contributions.gaussian or any(enclosed.lines is None for enclosed, _ in contributions.enclosed):
        return Bracket(0.0, math.inf)
    bounds = [(enclosed.lines[side].largest, times) for enclosed, times in contributions.enclosed if enclosed.lines]
    own = [((loss.backward if side else loss.forward).largest, times) for loss, times in contributions.losses]
    responses = bracket_of(contributions.responses.largest_loss())
    lower = math.fsum([*(times * bound.lower for bound, times in bounds), responses.lower])
    lower += math.fsum(times * largest * (1 - 1e-14) for largest, times in own)
    upper = math.fsum([*(times * bound.upper for bound, times in bounds), responses.upper])
    upper += math.fsum(times * largest for largest, times in own)
    if not math.isfinite(upper):
        return Bracket(math.inf, math.inf)
    return Bracket(max(lower * (1 - 1e-14), 0.0), max(upper * (1 + 16 * UNIT), 0.0))


def _sources(contributions: Contributions, laws: Laws) -> list[tuple[Source, int]] | None:
    """The sources of all that is known exactly; None where there is one that cannot be cut."""
    parts = _shared(contributions)
    for law, times in laws:
        source = source_of(law)
        if source is None:
            return None
        parts.append((source, times))
    return parts


def _shared(contributions: Contributions) -> list[tuple[Source, int]]:
    """What is the same in both directions."""
    found = [(source_of_response(group), group.times) for group in contributions.responses.groups]
    if contributions.gaussian:
        found.append((source_of_gaussian(contributions.gaussian), 1))
    return found
