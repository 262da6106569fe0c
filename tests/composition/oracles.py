"""What compositions come to, computed by other ways than the library's.

Nothing here tilts, transforms, rounds or cancels: outcomes are enumerated, or laws convolved, with exact
fractions, with mpmath at 60 digits, or with positive long doubles. All of it is slow, and plain enough to
be checked by eye against KOV, Theorem 3.3 and its heterogeneous form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import mpmath
import numpy as np
from mpmath import mpf
from numpy.typing import NDArray

from indistinct import Bracket
from indistinct.numbers import Epsilon, NaturalLog
from tests.exact import to_fraction

__all__ = [
    "Part",
    "convolved",
    "disclosed",
    "equal",
    "faults",
    "knot_delta",
    "outcomes",
    "rational",
    "wide",
]

DIGITS = 60
DOUBT = Fraction(1, 10**40)
"""How far, relatively, a value computed at 60 digits is trusted."""

Part = tuple[Epsilon, Fraction, int]
"""A mechanism: its epsilon, its delta, and how often it is used."""


def faults(bracket: Bracket, truth: Fraction, width: float = 1e-12, doubt: Fraction = DOUBT) -> list[str]:
    """What is wrong with a bracket of a number that is known up to a relative doubt; [] if nothing is."""
    found = []
    margin = abs(truth) * doubt
    if not bracket.lower <= truth + margin:
        found.append(f"lower end {bracket.lower!r} is above {float(truth)!r}")
    if not truth - margin <= bracket.upper:
        found.append(f"upper end {bracket.upper!r} is below {float(truth)!r}")
    if not bracket.width <= width * bracket.upper + 2 * math.ulp(0.0):
        found.append(f"width {bracket.width!r} is more than {width} of {bracket.upper!r}")
    return found


def disclosed(parts: Iterable[Part]) -> Fraction:
    """1 - prod (1 - delta_i)."""
    return 1 - math.prod(((1 - delta) ** times for _, delta, times in parts), start=Fraction(1))


# Exact fractions, where every e^epsilon is rational.


def rational(parts: Iterable[tuple[Fraction, Fraction, int]], at: Fraction) -> Fraction:
    """delta(ln at) of mechanisms (e^epsilon, delta, times), exactly, outcome by outcome."""
    law = {Fraction(1): Fraction(1)}  # likelihood ratio: probability
    kept = Fraction(1)
    for ratio, delta, times in parts:
        kept *= (1 - delta) ** times
        for _ in range(times):
            grown: dict[Fraction, Fraction] = {}
            for likelihood, weight in law.items():
                for factor, chance in ((ratio, ratio / (1 + ratio)), (1 / ratio, 1 / (1 + ratio))):
                    grown[likelihood * factor] = grown.get(likelihood * factor, Fraction(0)) + weight * chance
            law = grown
    pure = sum((weight * (1 - at / ratio) for ratio, weight in law.items() if ratio > at), Fraction(0))
    return 1 - kept * (1 - pure)


def knot_delta(ratio: Fraction, delta: Fraction, times: int, i: int) -> Fraction:
    """KOV, equation (6): delta at epsilon = (times - 2i) ln(ratio), as it is printed.

    sum over l < i of C(k, l) (e^((k-l) e) - e^((k-2i+l) e)) / (1 + e^e)^k, and the disclosures.
    """
    terms = (
        math.comb(times, below) * (ratio ** (times - below) - ratio ** (times - 2 * i + below)) for below in range(i)
    )
    pure = sum(terms, Fraction(0)) / (1 + ratio) ** times
    return 1 - (1 - delta) ** times * (1 - pure)


# mpmath at 60 digits, for any epsilons.


def _real(epsilon: Epsilon) -> mpf:
    if isinstance(epsilon, NaturalLog):
        return mpmath.log(mpf(epsilon.argument.numerator) / epsilon.argument.denominator)
    return mpf(epsilon.numerator) / epsilon.denominator


def equal(epsilon: Epsilon, times: int, at: Epsilon) -> Fraction:
    """The pure delta(at) of equal randomised responses: KOV, Theorem 3.3, term by term."""
    with mpmath.workdps(DIGITS + len(str(times))):
        e, level = _real(epsilon), _real(at)
        high, low = 1 / (1 + mpmath.exp(-e)), 1 / (1 + mpmath.exp(e))
        total = mpf(0)
        for ups in range(times, -1, -1):
            gap = _gap(2 * ups - times, epsilon, e, at, level)
            if gap <= 0:
                break
            total += math.comb(times, ups) * high**ups * low ** (times - ups) * -mpmath.expm1(-gap)
        return to_fraction(total)


def _gap(steps: int, epsilon: Epsilon, e: mpf, at: Epsilon, level: mpf) -> mpf:
    """steps * epsilon - at, without cancellation where both are rational."""
    if isinstance(epsilon, Fraction) and isinstance(at, Fraction):
        return _real(steps * epsilon - at)
    return steps * e - level


def outcomes(responses: Iterable[tuple[Epsilon, int]], at: Epsilon) -> Fraction:
    """The pure delta(at) of randomised responses of any epsilons, every outcome enumerated."""
    with mpmath.workdps(DIGITS):
        law: list[tuple[Fraction, mpf, mpf]] = [(Fraction(0), mpf(0), mpf(1))]  # exact and other loss, weight
        for epsilon, times in responses:
            e = _real(epsilon)
            high, low = 1 / (1 + mpmath.exp(-e)), 1 / (1 + mpmath.exp(e))
            law = [
                (
                    exact + ((2 * ups - times) * epsilon if isinstance(epsilon, Fraction) else 0),
                    other + ((2 * ups - times) * e if isinstance(epsilon, NaturalLog) else 0),
                    weight * math.comb(times, ups) * high**ups * low ** (times - ups),
                )
                for exact, other, weight in law
                for ups in range(times + 1)
            ]
        total = mpf(0)
        for exact, other, weight in law:
            gap = _real(exact - at) + other if isinstance(at, Fraction) else _real(exact) + (other - _real(at))
            if gap > mpf(10) ** (10 - DIGITS) * abs(other):  # a smaller one is a tie among logarithms
                total -= weight * mpmath.expm1(-gap)
        return to_fraction(total)


def wide(parts: Sequence[Part], at: Epsilon) -> Fraction:
    """delta(at) of mechanisms with deltas of their own, every outcome enumerated."""
    pure = outcomes([(epsilon, times) for epsilon, _, times in parts], at)
    return 1 - (1 - disclosed(parts)) * (1 - pure)


# Dense convolution on a lattice, all terms positive.


def convolved(spacing: Fraction, multiples: Iterable[int], at: Fraction, *, tilt: float = 0.0) -> np.longdouble:
    """The pure delta(at) of randomised responses of epsilons m * spacing, one for each m.

    In long doubles, whose every probability is a sum of positive terms: the relative error is at most
    some units of 2^-64 for each response. A tilt keeps what matters above the smallest long double.
    """
    one = np.longdouble(1)
    h = np.longdouble(spacing.numerator) / np.longdouble(spacing.denominator)
    law: NDArray[np.longdouble] = np.ones(1, dtype=np.longdouble)
    logarithm = np.longdouble(0)  # of the normalising factors
    for m in multiples:
        e = m * h
        up, down = np.exp(tilt * e) / (one + np.exp(-e)), np.exp(-tilt * e) / (one + np.exp(e))
        logarithm += np.log(up + down)
        grown = np.zeros(law.size + m, dtype=np.longdouble)
        grown[: law.size] = law * (down / (up + down))
        grown[m:] += law * (up / (up + down))
        law = grown
    top = law.size - 1
    first = math.floor((at / spacing + top) / 2) + 1
    if first > top:
        return np.longdouble(0)
    gap = (2 * first - top) * spacing - at
    above = np.longdouble(gap.numerator) / np.longdouble(gap.denominator) + 2 * h * np.arange(top + 1 - first)
    level = np.longdouble(at.numerator) / np.longdouble(at.denominator)
    terms = law[first:] * np.exp(-tilt * above) * -np.expm1(-above)
    return np.longdouble(np.exp(logarithm - tilt * level) * np.sum(terms[::-1]))
