"""What each composed thing contributes, whatever currency it comes in, sorted by kind.

Multiplicity is multiplied in here and nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, runtime_checkable

from indistinct.composition.guarantees import (
    ApproximateDP,
    GaussianDP,
    Promise,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    key,
)
from indistinct.composition.losses.curves import ConcentratedCurve, RenyiCurve
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.law import Adjacency, Curve, LossLaw, PrivacyLoss
from indistinct.composition.losses.pair import discrete_loss
from indistinct.composition.responses import Responses
from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon
from indistinct.regions import DiscretePair

__all__ = ["Contributions", "Mechanism", "Thing", "contributions_of", "loss_of", "plain_parts"]


@runtime_checkable
class Mechanism(Protocol):
    """Anything that knows its privacy loss: a guarantee that says all of it, a dominating pair, or a bound."""

    @property
    def loss(self) -> Promise | PrivacyLoss | EnclosedLoss | Curve:
        """What the accountant must know."""
        ...


Thing = Promise | Mechanism | DiscretePair
"""What can be composed; a discrete pair is the mechanism with these two output laws."""


def loss_of(thing: Thing) -> Promise | PrivacyLoss | EnclosedLoss | Curve:
    """What the accountant knows of a thing: a promise is its own, a discrete pair's is exact."""
    match thing:
        case PureDP() | ApproximateDP() | ZeroConcentratedDP() | GaussianDP() | RenyiDP():
            return thing
        case DiscretePair():
            return discrete_loss(thing)
        case _:
            return thing.loss


@dataclass(frozen=True)
class Contributions:
    """A composition by kinds: disclosures, randomised responses, Gaussian noise, other laws, mere bounds."""

    disclosures: tuple[tuple[Fraction, int], ...]
    responses: Responses
    gaussian: Fraction
    """The sum of mu^2."""
    losses: tuple[tuple[PrivacyLoss, int], ...]
    curves: tuple[tuple[Curve, int], ...]
    enclosed: tuple[tuple[EnclosedLoss, int], ...] = ()

    def at(self, level: int) -> tuple[Contributions, Contributions]:
        """From above and from below, with the enclosed losses at a level of fineness."""
        laws = [(loss.laws(level), times) for loss, times in self.enclosed]
        upper, lower = (
            replace(self, losses=(*self.losses, *((pair[side], times) for pair, times in laws)), enclosed=())
            for side in (0, 1)
        )
        return upper, lower

    @property
    def are_equal_responses(self) -> bool:
        """Whether it is so many equal randomised responses, disclosures apart, and nothing else."""
        return len(self.responses.levels) == 1 and not (self.gaussian or self.losses or self.curves or self.enclosed)

    @property
    def directions(self) -> tuple[tuple[tuple[LossLaw, int], ...], ...]:
        """The laws in one direction if that says all, else in both."""
        forward = tuple((loss.forward, times) for loss, times in self.losses)
        backward = tuple((loss.backward, times) for loss, times in self.losses)
        return (forward,) if all(a[0] is b[0] for a, b in zip(forward, backward, strict=True)) else (forward, backward)


def contributions_of(parts: Iterable[tuple[Thing, int]]) -> Contributions:
    """Sorts the parts; refuses mechanisms whose neighbouring databases differ in kind."""
    levels: list[Epsilon] = []
    counts: list[int] = []
    latest, name = Fraction(0), key(Fraction(0))
    deltas: dict[object, Fraction] = {name: latest}
    disclosures: defaultdict[object, int] = defaultdict(int)
    gaussian = Fraction(0)
    losses: list[tuple[PrivacyLoss, int]] = []
    curves: list[tuple[Curve, int]] = []
    enclosed: list[tuple[EnclosedLoss, int]] = []
    for thing, times in parts:
        loss = thing if isinstance(thing, Promise) else loss_of(thing)
        match loss:
            case PureDP():
                levels.append(loss.epsilon)
                counts.append(times)
            case ApproximateDP():
                levels.append(loss.epsilon)
                counts.append(times)
                if loss.delta is not latest:  # as a rule it is, however many there are: a text is read once
                    latest, name = loss.delta, key(loss.delta)
                    deltas.setdefault(name, latest)
                disclosures[name] += times
            case GaussianDP(mu):
                gaussian += times * mu**2
            case ZeroConcentratedDP(rho):
                curves.append((ConcentratedCurve(rho), times))
            case RenyiDP(order, level):
                curves.append((RenyiCurve(order, level), times))
            case PrivacyLoss():
                losses.append((loss, times))
            case EnclosedLoss():
                enclosed.append((loss, times))
            case _:
                curves.append((loss, times))
    adjacencies = [loss.adjacency for loss, times in losses if times]
    _check_adjacency([*adjacencies, *(loss.adjacency for loss, times in enclosed if times)])
    return Contributions(
        tuple((deltas[name], times) for name, times in disclosures.items() if deltas[name] and times),
        Responses.of_columns(levels, counts),
        gaussian,
        tuple((loss, times) for loss, times in losses if times),
        tuple((curve, times) for curve, times in curves if times),
        tuple((loss, times) for loss, times in enclosed if times),
    )


def plain_parts(parts: Iterable[tuple[Thing, int]]) -> tuple[tuple[PureDP | ApproximateDP, int], ...]:
    """The parts as (epsilon, delta) guarantees, for theorems that speak of these alone; others are refused."""
    plain = []
    for thing, times in parts:
        loss = loss_of(thing)
        if not isinstance(loss, PureDP | ApproximateDP):
            raise InvalidParameter(
                "each part",
                thing,
                "be a PureDP or an ApproximateDP for this theorem",
                instead="compose answers for every mechanism and currency.",
            )
        plain.append((loss, times))
    return tuple(plain)


def _check_adjacency(adjacencies: Iterable[Adjacency | None]) -> None:
    kinds = {adjacency for adjacency in adjacencies if adjacency is not None}
    if len(kinds) > 1:
        raise InvalidParameter(
            "the composition",
            ", ".join(sorted(kind.value for kind in kinds)),
            "have one kind of neighbouring databases",
            instead="Subsampling holds for adding or removing a record, k-ary responses for replacing one: "
            "a guarantee for one kind says nothing about the other.",
        )
