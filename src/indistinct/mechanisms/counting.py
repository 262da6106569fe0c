"""Counts, histograms and linear queries over data in memory, with their sensitivities (Dwork and Roth, section 3.3).

A record is one person's. Neighbouring databases differ by a record that is added or removed. Nothing about the data is
asked that would change these sensitivities: the categories of a histogram are given, not found, and weights are
brought into [0, 1] one by one, on a lattice, so that sums are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.discrete_gaussian import DiscreteGaussian
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.mechanisms.geometric import Geometric
from indistinct.mechanisms.laplace import Laplace
from indistinct.mechanisms.staircase import Staircase
from indistinct.noise.given import Said

__all__ = ["Additive", "count", "histogram", "linear"]

Additive = Laplace | Geometric | Gaussian | DiscreteGaussian | Staircase

_STEPS = 2**20  # a weight is a multiple of 2^-20


def count(data: Iterable[Any], condition: Callable[[Any], bool], mechanism: Additive) -> Any:
    """How many records satisfy a condition, with noise: sensitivity 1 (Dwork and Roth, Example 3.1).

    >>> from indistinct import Geometric
    >>> answer = count([31, 45, 62, 19], lambda age: age >= 40, Geometric(epsilon=1))
    >>> type(answer)
    <class 'int'>
    """
    _check(mechanism, changed=1)
    return mechanism.release(sum(1 for record in data if condition(record)))


def histogram(
    data: Iterable[Hashable], categories: Sequence[Hashable], mechanism: Additive, *, replacing: bool = False
) -> dict[Any, Any]:
    """How many records are of each category, with noise: sensitivity 1 however many there are (Example 3.2).

    The categories must not come from the data; records of none of them are not counted. If neighbouring databases have
    a record *replaced*, two counts change, by 1 each: say `replacing=True`, which asks for an l1 sensitivity of 2, or
    an l2 sensitivity of sqrt(2).

    >>> from indistinct import Laplace
    >>> list(histogram("abracadabra", "abc", Laplace(epsilon=1)))
    ['a', 'b', 'c']
    """
    try:
        known = dict.fromkeys(categories, 0)
    except TypeError:
        raise InvalidParameter("the categories", "something else", "be values such as text or numbers") from None
    if not known or len(known) != len(categories):
        raise InvalidParameter("the categories", f"{len(categories)}", "be at least one, and all different")
    _check(mechanism, changed=2 if replacing else 1)
    try:
        found = Counter(data.tolist() if isinstance(data, np.ndarray) else data)
    except TypeError:
        found = None
    if found is None:
        raise InvalidParameter("every record", Said("something else"), "be a value such as text or a number")
    counts = np.array([found[category] for category in known], dtype=np.int64)
    disjoint = {"disjoint": True} if isinstance(mechanism, DiscreteGaussian | Staircase) else {}
    return dict(zip(known, mechanism.release(counts, **disjoint).tolist(), strict=True))


def linear(
    data: Iterable[Any],
    weights: Callable[[Any], float] | Sequence[Callable[[Any], float]],
    mechanism: Additive,
) -> Any:
    """The sum of a weight in [0, 1] over the records, with noise; or of several, as an array.

    Of m weights the l1 sensitivity is m and the l2 sensitivity sqrt(m) (Dwork and Roth, Example 3.1). Weights
    outside of [0, 1] are moved to its ends, and each is rounded to a multiple of 2^-20.

    >>> from indistinct import Laplace
    >>> type(linear([31, 45, 62, 19], lambda age: age / 100, Laplace(epsilon=1)))
    <class 'float'>
    """
    if isinstance(mechanism, Geometric | DiscreteGaussian):
        raise InvalidParameter("the mechanism", mechanism, "be one for real numbers: Laplace, Gaussian or Staircase")
    single = callable(weights)
    functions = [weights] if callable(weights) else list(weights)
    _check(mechanism, changed=len(functions))
    totals = [0] * len(functions)
    for record in data:
        for place, function in enumerate(functions):
            totals[place] += _steps(function(record))
    if single:
        return mechanism.release(Fraction(totals[0], _STEPS))
    return mechanism.release([Fraction(total, _STEPS) for total in totals])


def _steps(weight: float) -> int:
    try:
        known = -math.inf <= weight <= math.inf
    except TypeError:
        known = False
    if not known:
        raise InvalidParameter("every weight", Said("not"), "be a number")
    return round(min(max(weight, 0.0), 1.0) * _STEPS)


def _check(mechanism: Additive, *, changed: int) -> None:
    """That the mechanism is made for so many numbers that change at once, by 1 at most."""
    match mechanism:
        case Laplace() | Geometric():
            needed, enough = f"{changed}", mechanism.sensitivity >= changed
        case Gaussian() | DiscreteGaussian(vector=True):
            needed, enough = f"the square root of {changed}", mechanism.sensitivity**2 >= changed
        case DiscreteGaussian() | Staircase():
            if changed > 1:
                raise InvalidParameter(
                    "the mechanism", mechanism, "be one for several numbers that change at once, such as Laplace"
                )
            needed, enough = "1", mechanism.sensitivity >= 1
        case _:
            raise InvalidParameter("the mechanism", mechanism, "be an additive one, such as Laplace or Geometric")
    if not enough:
        raise InvalidParameter("the mechanism's sensitivity", mechanism.sensitivity, f"be at least {needed}")
