"""compose: any mechanisms and guarantees, any number of each, in any order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, cast

from indistinct.composition.parts import Thing
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import LARGEST_COUNT, read_count

__all__ = ["compose"]

Part = Thing | PrivacyProfile


def compose(things: Mapping[Any, object] | Iterable[Part]) -> PrivacyProfile:
    """The privacy of answering everything, in any order, each chosen after seeing the answers before.

    `things` holds mechanisms, guarantees in any currency, or profiles composed before: an iterable of them, or a
    mapping to how often each is used. The composition is optimal: for guarantees of (epsilon, delta) no smaller
    epsilon or delta holds for all mechanisms that keep them (KOV, Theorem 3.3 and its heterogeneous form), and
    mechanisms are composed by their own losses, exactly.

    What is composed, and how many there are of each, must be fixed in advance; what is asked under each, and
    in which order, may depend on earlier answers. For an analyst who also chooses the *privacy levels* from what
    was seen, use a filter (`indistinct.composition.filters`).

    >>> from indistinct import ApproximateDP, PureDP
    >>> print(compose([PureDP("0.1")] * 100).epsilon("1e-6"))
    4.77456758811
    >>> print(compose({PureDP("0.1"): 50, ApproximateDP("0.01", "1e-9"): 1000}).epsilon("1e-6"))
    5.20840467723
    """
    parts, counts = _counted(things)
    if not parts:
        raise InvalidParameter("things", things, "hold at least one guarantee", instead=_EXAMPLE)
    if sum(counts) > LARGEST_COUNT:
        raise InvalidParameter("times", sum(counts), f"add up to at most {LARGEST_COUNT}")
    profile = PrivacyProfile(zip(parts, counts, strict=True))
    if math.isfinite(profile.largest_epsilon.upper) and profile.largest_epsilon.lower > _LARGEST_SUM:
        raise InvalidParameter("the sum of all epsilons", profile.largest_epsilon.lower, f"be at most {_LARGEST_SUM:g}")
    return profile


_LARGEST_SUM = 1e18
_EXAMPLE = "For thirty uses of one guarantee: compose({PureDP('0.1'): 30})."


def _counted(things: Mapping[Any, object] | Iterable[Part]) -> tuple[list[Thing], list[int]]:
    """What is used, profiles taken apart, and how often each."""
    if not isinstance(things, Mapping):
        try:
            things = Counter(iter(things))
        except TypeError:
            raise InvalidParameter(
                "things", things, "be a mapping or an iterable of guarantees", instead=_EXAMPLE
            ) from None
    parts = [_checked(thing) for thing in things]
    counts = [read_count("times", times) for times in things.values()]
    if not any(isinstance(thing, PrivacyProfile) for thing in parts):
        return cast(list[Thing], parts), counts
    together: Counter[Thing] = Counter()
    for thing, times in zip(parts, counts, strict=True):
        for part, inner in thing.parts if isinstance(thing, PrivacyProfile) else ((thing, 1),):
            together[part] += inner * times
    return list(together), list(together.values())


def _checked(thing: object) -> Part:
    # A class has the names of what its objects have, and so passes for a mechanism.
    if isinstance(thing, type) or not isinstance(thing, Part):
        raise InvalidParameter(
            "a composed thing", thing, "be a guarantee such as PureDP('0.1') or a mechanism", instead=_EXAMPLE
        )
    return thing
