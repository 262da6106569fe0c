"""How privacy loss adds up: the composition theorems, exact composition, the composition experiment."""

from indistinct.composition.compose import compose
from indistinct.composition.guarantees import ApproximateDP, Guarantee, PureDP
from indistinct.composition.profile import PrivacyProfile

__all__ = ["ApproximateDP", "Guarantee", "PrivacyProfile", "PureDP", "compose"]
