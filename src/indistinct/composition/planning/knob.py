"""What may be turned on a mechanism to make it more private: a scale, a sigma, an epsilon, a sampling rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from indistinct.composition.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from indistinct.composition.parts import Thing
from indistinct.composition.planning.formulas import Formulas, pure_levels
from indistinct.errors import InvalidParameter

__all__ = ["Adjustable", "Knob", "chosen_knob"]


@dataclass(frozen=True, slots=True)
class Knob:
    """One parameter of a mechanism, and which way it must be turned for more privacy.

    `because` argues that turning it that way is post-processing, so that nothing is told that was not told
    before: then a value that is proven insufficient proves all values before it insufficient.
    """

    name: str
    quiets: bool
    """Whether more of it is more private, as of a noise scale; of an epsilon or a rate, less is."""
    because: str
    least: Fraction = Fraction(1, 10**15)
    most: Fraction = Fraction(10**15)
    build: Callable[..., Thing] | None = None
    """How to make the mechanism from this and the fixed parameters, where it is not the class itself."""
    settled_by: frozenset[str] = frozenset()
    """Other parameters that, once given, leave nothing of this one to be found."""
    formulas: Formulas | None = None
    """What the theorems in closed form say of it."""
    at_deviation: Callable[[float, float], float] | None = None
    """The value at which the noise has a standard deviation, for a sensitivity; where noise is added at all."""


@runtime_checkable
class Adjustable(Protocol):
    """A class of mechanisms that says what can be turned, the usual parameter first."""

    knobs: tuple[Knob, ...]


def chosen_knob(mechanism: Any, unknown: str | None, fixed: Mapping[str, object]) -> Knob:
    """The knob of a class, or of a user's own function of one number, that is to be found.

    Without a name it is the first that is not fixed. A function is taken to be noisier for larger numbers.
    """
    knobs = _GUARANTEES.get(mechanism) or (mechanism.knobs if isinstance(mechanism, Adjustable) else ())
    if not knobs:
        if not callable(mechanism) or isinstance(mechanism, type):
            raise InvalidParameter(
                "mechanism",
                mechanism,
                "be a class of mechanisms such as Laplace, or a function of one number",
                instead="For example least_noise(lambda scale: Laplace(scale=scale), ...).",
            )
        return Knob(unknown or "the parameter", quiets=True, because="")
    names = [knob.name for knob in knobs]
    open_ = [
        knob
        for knob in knobs
        if (unknown is None or knob.name == unknown) and not fixed.keys() & {knob.name, *knob.settled_by}
    ]
    if not open_:
        raise InvalidParameter("unknown", unknown, f"be one of {', '.join(names)}, and not be given as well")
    return open_[0]


_WEAKER = "a guarantee of a smaller one implies that of a larger one"
_GUARANTEES: dict[Any, tuple[Knob, ...]] = {
    PureDP: (Knob("epsilon", quiets=False, because=_WEAKER, formulas=pure_levels),),
    ApproximateDP: (Knob("epsilon", quiets=False, because=_WEAKER),),
    GaussianDP: (Knob("mu", quiets=False, because=_WEAKER),),
    ZeroConcentratedDP: (Knob("rho", quiets=False, because=_WEAKER),),
    RenyiDP: (Knob("epsilon", quiets=False, because=_WEAKER),),
}
