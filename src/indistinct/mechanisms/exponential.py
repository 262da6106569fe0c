"""The exponential mechanism (McSherry and Talwar 2007; Dwork and Roth, section 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.losses import BoundedRangeCurve
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.parameters import read_positive

__all__ = ["ExponentialMechanism"]

_LARGEST = 10**6


@dataclass(frozen=True, slots=True, init=False)
class ExponentialMechanism:
    """A candidate chosen with probability proportional to `e^(epsilon score / (2 sensitivity))`.

    It is epsilon-private (Dwork and Roth, Theorem 3.10), and its losses span at most epsilon, wherever that span
    lies, whence epsilon^2/8-zCDP (Cesar and Rogers 2021): both hold for analysts who choose the scores from earlier
    answers. No single pair of laws says all of it, so the claim is an upper bound.

    >>> from indistinct import ExponentialMechanism, PureDP, compose
    >>> few, many = (compose({ExponentialMechanism("0.1"): k}).epsilon("1e-6") for k in (10, 1000))
    >>> print(f"{few:.6g} {many:.6g} {compose({PureDP('0.1'): 1000}).epsilon('1e-6'):.6g}")
    0.999371 8.84589 19.3447
    """

    epsilon: Fraction
    sensitivity: Fraction

    def __init__(self, epsilon: object, sensitivity: object = 1) -> None:
        level = read_positive("epsilon", epsilon)
        if level > _LARGEST:
            raise InvalidParameter("epsilon", epsilon, f"be at most {_LARGEST}")
        object.__setattr__(self, "epsilon", level)
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))

    @property
    def loss(self) -> BoundedRangeCurve:
        """The better of bounded range and randomised response, at every order."""
        return BoundedRangeCurve(self.epsilon)
