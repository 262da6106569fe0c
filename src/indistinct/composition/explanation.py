"""Where a composition's privacy loss comes from, and how well it is known.

The share of a part is its share of the mean loss, under the law tilted to the epsilon in question: with K(t) the sum
over the parts, n_i K_i'(t) of K'(t) at the saddle t. That is what the loss is made of where it is as large as
epsilon, and the shares add up to one. Of the disclosures, a part has its share of sum -n_i log(1 - delta_i).
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.assembly import AnyDirection, directions_of
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.parts import Contributions, Thing, contributions_of
from indistinct.numbers import Bracket

__all__ = ["Explanation", "PartShare", "explanation_of"]

_ANALYTIC, _ON_A_GRID = 1e-6, 1e-4


@dataclass(frozen=True, slots=True)
class PartShare:
    """One row: a thing, how often it is used, and what it makes of the total."""

    thing: str
    count: int
    loss_share: float
    """Of the mean loss where the claim is decided."""
    disclosure_share: float
    method: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The parts, and the claim with how far it may be from the truth."""

    rows: tuple[PartShare, ...]
    epsilon: Bracket
    delta: Bracket
    aimed_at: float
    """The relative width that is aimed at: 1e-6, or 1e-4 where a part is enclosed on a grid."""

    @property
    def width(self) -> float:
        """The relative width of the answer."""
        return max(self.epsilon.relative_width, self.delta.relative_width)

    @property
    def is_met(self) -> bool:
        """Whether the answer is as narrow as was asked."""
        return self.width <= self.aimed_at

    def __str__(self) -> str:
        table = [_HEAD, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in table) for i in range(len(_HEAD))]
        lines = ["  ".join(_set(line, widths)).rstrip() for line in table]
        return "\n".join([self._claim(), "", *lines])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row)) + "</tr>" for row in self.rows
        )
        return (
            f"<div><p>{html.escape(self._claim())}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _claim(self) -> str:
        met = "as asked" if self.is_met else f"wider than the {self.aimed_at:g} asked for"
        return (
            f"epsilon {self.epsilon:.6g} at delta {self.delta:.6g}; "
            f"the bracket's relative width is {self.width:.1e}, {met}"
        )


_HEAD = ("part", "uses", "loss", "disclosure", "method")


def _cells(row: PartShare) -> tuple[str, ...]:
    return row.thing, f"{row.count:,}", f"{row.loss_share:.1%}", f"{row.disclosure_share:.1%}", row.method


def _set(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Words to the left, numbers to the right."""
    left = (0, 4)
    return [
        cell.ljust(width) if i in left else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]


def explanation_of(
    parts: Sequence[tuple[Thing, int]],
    directions: Sequence[AnyDirection],
    epsilon: Bracket,
    delta: Bracket,
) -> Explanation:
    """The table of a composition, in the direction that decides its claim."""
    at = Fraction(epsilon.upper) if math.isfinite(epsilon.upper) else Fraction(0)
    which = max(range(len(directions)), key=lambda i: directions[i].delta(at).upper) if len(directions) > 1 else 0
    whole = directions[which].steering
    tilt = whole.tilt_at(float(at))
    own = [contributions_of([part]) for part in parts]
    sides = [directions_of(single) for single in own]
    chosen = [side[min(which, len(side) - 1)] for side in sides]
    losses = [side.steering.cumulants(tilt)[1] for side in chosen]
    hidden = [_logarithm(side.disclosure) for side in chosen]
    rows = [
        PartShare(repr(thing), times, _share(loss, losses), _share(part, hidden), _method(single))
        for (thing, times), loss, part, single in zip(parts, losses, hidden, own, strict=True)
    ]
    rows.sort(key=lambda row: -row.loss_share)
    aim = _ON_A_GRID if any(single.enclosed for single in own) else _ANALYTIC
    return Explanation(tuple(rows), epsilon, delta, aim)


def _share(value: float, values: Sequence[float]) -> float:
    total = math.fsum(values)
    if math.isinf(total):
        return 1 / values.count(math.inf) if math.isinf(value) else 0.0
    return value / total if total else 0.0


def _logarithm(disclosure: Disclosure) -> float:
    """- log (1 - what is disclosed)."""
    return math.fsum(
        math.inf if delta == 1 else -times * math.log1p(-float(delta)) for delta, times in disclosure.parts
    )


def _method(single: Contributions) -> str:
    """How a part takes part in the computation."""
    if single.enclosed:
        return "enclosed on a grid"
    if single.curves:
        return "upper bound on its transform"
    if single.losses or single.gaussian or single.responses.levels:
        return "exact transform"
    return "exact"
