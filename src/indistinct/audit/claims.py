"""What is claimed of a mechanism, in any of the ways in which this library says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition import ApproximateDP, PrivacyProfile, PureDP, compose
from indistinct.composition.guarantees import spelled
from indistinct.composition.parts import Thing
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_delta, read_epsilon
from indistinct.regions import Region
from indistinct.regions.ratios import epsilon_of

__all__ = ["Claim", "read_claim"]

_INSTEAD = "Give PureDP(1), ApproximateDP(1, '1e-6'), a profile of compose, or pairs [(epsilon, delta), ...]."


@dataclass(frozen=True, slots=True)
class Claim:
    """Pairs (epsilon, delta) that are all to hold, or a whole profile.

    Made by `read_claim`, which every audit calls on what it is given.

    >>> print(read_claim([("ln(3)", 0), (0, "1/2")]))
    (ln(3), 0)- and (0, 0.5)-differential privacy
    """

    pairs: tuple[tuple[Epsilon, Fraction], ...]
    profile: PrivacyProfile | None = None

    def __str__(self) -> str:
        if self.profile is not None:
            return f"the profile of {_parts(self.profile)}"
        return "- and ".join(f"({_short(epsilon)}, {_short(delta)})" for epsilon, delta in self.pairs) + (
            "-differential privacy"
        )

    def region(self) -> Region:
        """The errors that the claim leaves to an adversary; rounded so that it is never smaller than claimed."""
        return Region.of_guarantees(self.pairs) if self.profile is None else self.profile.region()

    def deltas(self, ratios: Sequence[Fraction]) -> list[Bracket]:
        """The delta that a profile claims at each epsilon = ln(ratio), for ratios from 1."""
        if self.profile is None:
            raise InvalidParameter("the claim", str(self), "be a profile for this")
        return self.profile.deltas([epsilon_of(ratio) for ratio in ratios])


def read_claim(claim: object) -> Claim:
    """A guarantee in any currency, a profile, one pair (epsilon, delta) or several, or anything that has a loss.

    >>> read_claim("private")
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: the claim must be a guarantee, a profile or (epsilon, delta), but ...
    """
    match claim:
        case Claim():
            return claim
        case PureDP() | ApproximateDP():
            return Claim(((claim.epsilon, claim.delta),))
        case PrivacyProfile():
            return Claim((), claim)
    if isinstance(claim, Thing):
        return Claim((), compose([claim]))
    pairs = _pairs(list(claim)) if isinstance(claim, Iterable) and not isinstance(claim, str | bytes) else None
    if not pairs:
        raise InvalidParameter("the claim", claim, "be a guarantee, a profile or (epsilon, delta)", instead=_INSTEAD)
    return Claim(tuple((read_epsilon("epsilon", epsilon), read_delta("delta", delta)) for epsilon, delta in pairs))


def _pairs(given: list[object]) -> list[tuple[object, object]] | None:
    """One pair, or a list of them; None for anything else."""
    if len(given) == 2 and not any(isinstance(each, tuple | list) for each in given):
        return [(given[0], given[1])]
    if all(isinstance(each, tuple | list) and len(each) == 2 for each in given):
        return [(each[0], each[1]) for each in given if isinstance(each, tuple | list)]
    return None


def _short(number: Epsilon) -> str:
    return spelled(number).strip("'") if isinstance(number, Fraction) else repr(number)


def _parts(profile: PrivacyProfile) -> str:
    """What is composed, as its user would write it."""
    uses = [f"{part!r}" if times == 1 else f"{times:,} uses of {part!r}" for part, times in profile.parts]
    return ", ".join(uses[:3]) + (f" and {len(uses) - 3:,} more" if len(uses) > 3 else "")
