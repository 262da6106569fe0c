r"""What is surely lost: the part of a composition that is known by its law, and not by a promise or a bound alone.

A law says how much is lost. A promise, a bound on Renyi divergence or on the range of the loss say how much is lost *at
most*: a mechanism that never answers keeps them, too. So the upper end of a composition holds for all its parts, but
only the parts known by their laws prove that something is lost. They do so in any company: whoever sees all answers
can look at theirs alone.
"""

from __future__ import annotations

from indistinct.composition import PrivacyProfile, compose
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.law import PrivacyLoss
from indistinct.composition.parts import Thing, loss_of
from indistinct.mechanisms import Gaussian, Geometric, PoissonSubsampled

__all__ = ["attained", "is_attained"]


def attained(profile: PrivacyProfile) -> PrivacyProfile | None:
    """The composition of the parts that are known by their laws; None if there are none.

    >>> from indistinct import ApproximateDP
    >>> attained(compose([Gaussian(sigma=1), ApproximateDP(1, "1e-6")])).parts == ((Gaussian(sigma=1), 1),)
    True
    """
    parts = {thing: times for thing, times in profile.parts if is_attained(thing)}
    if len(parts) == len(profile.parts):
        return profile
    return compose(parts) if parts else None


def is_attained(thing: Thing) -> bool:
    """Whether what the accountant knows of a thing is its law, on the worst pair of neighbours, and not only a bound.

    Two mechanisms say by a guarantee all that there is to say: Gaussian noise is mu-Gaussian differential privacy, no
    less, and geometric noise on a count is randomised response in disguise. A sample is known as its mechanism is.
    """
    match thing:
        case PoissonSubsampled(mechanism=whole):
            return is_attained(whole)
        case Gaussian() | Geometric():
            return True
    return isinstance(loss_of(thing), PrivacyLoss | EnclosedLoss)
