"""What an audit found, as values that say it in a sentence."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from indistinct.numbers import Epsilon
from indistinct.numbers.bracket import rounded_up
from indistinct.regions.laws import Outcome

__all__ = ["ExactAudit", "Place", "Verdict"]

Verdict = Literal["holds", "violates", "undecided", "consistent"]

_NEGLIGIBLE = Fraction(1, 10**30)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where a claim is broken: probability(event on first) - e^epsilon probability(event on second) = found > allowed.

    `found`, `likely` and `unlikely` are proven: what is said to be likely is at least so, what is not at most. Where
    the accountant alone knows the laws, there is no event to name.
    """

    epsilon: Epsilon
    allowed: Fraction
    found: Fraction
    first: Outcome = None
    second: Outcome = None
    event: tuple[Outcome, ...] = ()
    likely: Fraction = Fraction(0)
    unlikely: Fraction = Fraction(0)

    @property
    def excess(self) -> Fraction:
        """By how much delta is passed, at least."""
        return self.found - self.allowed

    def __str__(self) -> str:
        at = f"epsilon = {float(self.epsilon):.6g}"
        if not self.event:
            return f"at {at} delta is {float(self.found):.6g} at least, where {float(self.allowed):.6g} is allowed"
        return (
            f"on inputs {self.first!r} and {self.second!r}, {_named(self.event)} probability {float(self.likely):.6g} "
            f"and {float(self.unlikely):.6g}; at {at} that takes a delta of {float(self.found):.6g}, where "
            f"{float(self.allowed):.6g} is allowed"
        )


@dataclass(frozen=True, slots=True)
class ExactAudit:
    """What an exact audit found: the worst place at which the claim is broken, or none.

    `doubt` bounds by how much an event that was not convicted might still break the claim: 0 for rational laws,
    about 2^-bits for those of the samplers. Where it is too large to call anything certain, the verdict is
    "undecided". `pairs` is the number of ordered pairs of inputs, 0 where the accountant answered; `promised` says that
    it knew some of the parts by a promise or a bound alone, which these may keep with room to spare.
    """

    claim: str
    pairs: int
    worst: Place | None
    doubt: Fraction
    promised: bool = False

    @property
    def verdict(self) -> Verdict:
        """ "holds", "violates" or "undecided"."""
        if self.worst is not None:
            return "violates"
        return "holds" if self.doubt <= _NEGLIGIBLE else "undecided"

    @property
    def violates(self) -> bool:
        """Whether the claim is proven to be false."""
        return self.worst is not None

    def __str__(self) -> str:
        known = "by what is promised" if self.promised else "by the accountant's exact laws"
        where = f"on {self.pairs:,} pairs of inputs" if self.pairs else known
        doubt = f" by more than {rounded_up(_float(self.doubt), 1)}" if self.doubt > 0 else ""
        match self.worst:
            case None if self.verdict == "holds":
                return f"Holds: {where}, no event breaks {self.claim}{doubt}."
            case None if self.promised:
                return (
                    f"Undecided: {where}, an event may break {self.claim}, though by no more than "
                    f"{rounded_up(_float(self.doubt), 1)}. A promise bounds what is lost from above, so it convicts "
                    "nobody: audit the law of the mechanism, or its answers by test."
                )
            case None:
                return (
                    f"Undecided: {where}, no event was proven to break {self.claim}, and none breaks it{doubt}, "
                    "which is as much as the laws are known to. Ask for more bits, or give narrower laws."
                )
            case place:
                return f"Violates {self.claim}: {place}, {float(place.excess):.6g} too much."

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"


def _named(event: tuple[Outcome, ...]) -> str:
    """The event by its likeliest outcomes."""
    if len(event) == 1:
        return f"the outcome {event[0]!r} has"
    shown = ", ".join(repr(outcome) for outcome in event[:_SHOWN])
    return (
        f"the outcomes {shown} have"
        if len(event) <= _SHOWN
        else f"the outcomes {shown}, ... ({len(event):,} of them) have"
    )


def _float(value: Fraction) -> float:
    """A float that is not below; numbers too small for floats become the smallest."""
    nearest = float(value)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < value else nearest
