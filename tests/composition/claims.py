"""Whether what a theorem claims is true, judged by exact composition; and formulas at 50 digits.

A claim is a pair (epsilon, delta) about mechanisms with given guarantees. It is false if and only if the
optimal composition at that epsilon has a larger delta, which the lower end of a bracket proves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

import mpmath
from hypothesis import strategies as st
from mpmath import mpf

from indistinct import ApproximateDP, Bracket, compose, ln
from indistinct.composition.closed_form import ClosedForm
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.reading import LARGEST_EPSILON
from tests.composition.oracles import faults
from tests.exact import to_fraction

__all__ = ["Claim", "Parts", "claims_of", "formula_faults", "mixtures", "overclaims", "real"]

DIGITS = 50
WIDTH = 1e-13

Parts = Mapping[ApproximateDP, int]
Claim = tuple[object, Fraction | float | str]


def overclaims(things: Parts, claims: Iterable[Claim]) -> list[str]:
    """The claims that the exact composition refutes; [] if all of them are true."""
    profile = compose(things)
    found = []
    for epsilon, delta in claims:
        if isinstance(epsilon, float) and epsilon > LARGEST_EPSILON:
            continue  # claims next to nothing
        exact = profile.delta(epsilon).lower
        if exact > Fraction(delta):
            found.append(f"({epsilon}, {delta}) is claimed of {things}, but delta is {exact}")
    return found


def claims_of(form: ClosedForm) -> list[Claim]:
    """What each of the three branches of KOV's Theorem 3.5 claims."""
    return [(branch.upper, form.delta.upper) for branch in (form.basic, form.with_root, form.without_root)]


def real(value: object) -> mpf:
    """A number at the working precision of mpmath."""
    match value:
        case NaturalLog(argument):
            return mpmath.log(real(argument))
        case Fraction():
            return mpf(value.numerator) / value.denominator
        case _:
            return real(Fraction(str(value)))


def formula_faults(bracket: Bracket, truth: mpf) -> list[str]:
    """What is wrong with a bracket of a number that was computed at 50 digits; [] if nothing is."""
    if not mpmath.isfinite(truth):
        return [] if bracket.lower == bracket.upper == math.inf else [f"{bracket} is finite"]
    return faults(bracket, to_fraction(truth), WIDTH)


_epsilons: st.SearchStrategy[Epsilon] = st.one_of(
    st.fractions(Fraction(1, 1000), 3, max_denominator=1000),
    st.sampled_from([ln(3), ln("3/2"), ln("1.01"), ln(100)]),
)
_deltas = st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 20)])


@st.composite
def mixtures(draw: st.DrawFn, groups: int = 3, times: int = 30) -> dict[ApproximateDP, int]:
    """A few kinds of mechanisms, each used some number of times."""
    chosen = draw(
        st.lists(st.tuples(_epsilons, _deltas, st.integers(1, times)), min_size=1, max_size=groups, unique_by=str)
    )
    return {ApproximateDP(epsilon, delta): count for epsilon, delta, count in chosen}
