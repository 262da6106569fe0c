"""A loss that is known by two laws that enclose it, the closer the finer they are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from indistinct.composition.folding.lines import SampledLine
from indistinct.composition.losses.cutting import cut
from indistinct.composition.losses.densities import LinePair
from indistinct.composition.losses.law import Adjacency, PrivacyLoss

__all__ = ["FINENESS", "EnclosedLoss"]

FINENESS = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
"""How many lattice steps the range of the loss has, from one try to the next."""


@dataclass(frozen=True)
class EnclosedLoss:
    """The loss of a pair of densities, at any fineness."""

    pair: LinePair
    adjacency: Adjacency | None = None
    lines: tuple[SampledLine, SampledLine] | None = None
    """The pair in both directions, where it is noise whose masses are known in balls."""

    def laws(self, level: int) -> tuple[PrivacyLoss, PrivacyLoss]:
        """What dominates the pair, and what the pair dominates."""
        return _laws(self, level)


@lru_cache(maxsize=16)
def _laws(loss: EnclosedLoss, level: int) -> tuple[PrivacyLoss, PrivacyLoss]:
    forward, backward = cut(loss.pair, FINENESS[level])
    return (
        PrivacyLoss(forward.upper(), backward.upper(), loss.adjacency),
        PrivacyLoss(forward.lower(), backward.lower(), loss.adjacency),
    )
