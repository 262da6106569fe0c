"""How large noise gets: certified tails and quantiles, of one number and of the largest of many."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, balls, read_count
from indistinct.numbers.bracket import float_above, float_below
from indistinct.numbers.logarithm import logarithm_of
from indistinct.numbers.reading import read_number, read_probability

__all__ = [
    "WholeTail",
    "any_of",
    "each_of",
    "gaussian_quantile",
    "gaussian_tail",
    "laplace_quantile",
    "laplace_tail",
    "log_share",
    "read_alpha",
    "read_beta",
    "upper",
    "whole_quantile",
    "whole_tail",
]

BITS = 256
_MOST_BITS = 4096
_LEAST_BETA = Fraction(1, 10**300)


class WholeTail(Protocol):
    """How probable magnitudes are, of noise on the whole numbers."""

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Whole numbers around 2^bits P(|X| >= i), for i >= 1."""
        ...


def read_beta(beta: object, count: object) -> tuple[Fraction, int]:
    """The probability of failure, and of how many answers together."""
    probability = read_probability("beta", beta)
    if not _LEAST_BETA <= probability < 1:
        raise InvalidParameter("beta", beta, "lie between 1e-300 and 1, 1 excluded")
    return probability, read_count("count", count, least=1)


def read_alpha(alpha: object, count: object) -> tuple[Fraction, int]:
    """The error that is allowed, and of how many answers together."""
    error = read_number("alpha", alpha)
    if not error >= 0:
        raise InvalidParameter("alpha", alpha, "be at least 0")
    return error, read_count("count", count, least=1)


def upper(number: Callable[[], balls.arb]) -> float:
    """The float above a real number."""
    with balls.precision(BITS):
        return balls.bracket_of(number()).upper


def log_share(beta: Fraction, count: int) -> balls.arb:
    """ln(count / beta), as in Theorem 3.8 of Dwork and Roth, at the working precision."""
    return logarithm_of(count / beta)


def any_of(tail: balls.arb, count: int) -> balls.arb:
    """The probability that one of so many independent events of this probability happens."""
    return -(count * (-tail).log1p()).expm1() if tail < 1 else tail


def each_of(beta: Fraction, count: int) -> balls.arb:
    """The probability that each of so many may have for all together to have probability beta."""
    return -((-balls.ball(beta)).log1p() / count).expm1()


def whole_tail(law: WholeTail, least: int, count: int) -> Bracket:
    """P(the largest of so many magnitudes >= least)."""
    if least <= 0:
        return Bracket(1.0, 1.0)
    bits = BITS
    while True:
        lower, higher = law.survival(least, bits)
        if lower or bits >= _MOST_BITS:
            break
        bits *= 2
    with balls.precision(bits + 64):
        ends = [any_of(balls.ball(Fraction(end, 2**bits)), count) for end in (lower, higher)]
        return Bracket(max(balls.bracket_of(ends[0]).lower, 0.0), min(balls.bracket_of(ends[1]).upper, 1.0))


def whole_quantile(law: WholeTail, beta: Fraction, count: int, guess: float) -> Bracket:
    """The least a with P(the largest of so many magnitudes > a) <= beta: both ends are it, but for undecided ties."""
    with balls.precision(2 * _precision(beta)):
        each = each_of(beta, count)
        least, most = (balls.exact(end) for end in (each.lower(), each.upper()))
    bits = _precision(beta)

    def surely(a: int) -> bool:
        return bool(law.survival(a + 1, bits)[1] <= least * 2**bits)

    def perhaps(a: int) -> bool:
        return bool(law.survival(a + 1, bits)[0] <= most * 2**bits)

    sure = _first(surely, guess)
    if sure and perhaps(sure - 1):
        return Bracket(float_below(Fraction(_first(perhaps, sure))), float_above(Fraction(sure)))
    return Bracket.exactly(sure)


def laplace_tail(scale: Fraction, distance: Fraction) -> balls.arb:
    """P(|Y| > distance) of Laplace noise."""
    return (-balls.ball(max(distance, Fraction(0)) / scale)).exp()


def gaussian_tail(sigma: Fraction, distance: Fraction) -> balls.arb:
    """P(|Y| > distance) of Gaussian noise."""
    return (balls.ball(max(distance, Fraction(0)) / sigma) / balls.ball(2).sqrt()).erfc()


def laplace_quantile(scale: Fraction, beta: Fraction, count: int) -> Bracket:
    """The size that the largest of so many Laplace noises exceeds with probability beta."""
    with balls.precision(_precision(beta)):
        return balls.bracket_of(-balls.ball(scale) * each_of(beta, count).log())


def gaussian_quantile(sigma: Fraction, beta: Fraction, count: int) -> Bracket:
    """The size that the largest of so many Gaussian noises exceeds with probability beta, by bisection."""
    with balls.precision(_precision(beta)):
        each = each_of(beta, count)
        root = balls.ball(2).sqrt()
        low, high = 0.0, balls.bracket_of((-2 * each.log()).sqrt()).upper  # erfc(x) <= e^(-x^2)
        least, most = low, high
        while True:  # the last point that is surely too low
            middle = (low + high) / 2
            if not low < middle < high:
                break
            if (balls.ball(middle) / root).erfc() > each:
                low = least = middle
            else:
                high = middle
        low, high = least, most
        while True:  # the first that surely suffices
            middle = (low + high) / 2
            if not low < middle < high:
                break
            if (balls.ball(middle) / root).erfc() < each:
                high = most = middle
            else:
                low = middle
        return Bracket(
            balls.bracket_of(balls.ball(least) * balls.ball(sigma)).lower,
            balls.bracket_of(balls.ball(most) * balls.ball(sigma)).upper,
        )


def _precision(beta: Fraction) -> int:
    return BITS + 2 * (1 / beta).__ceil__().bit_length()


def _first(holds: Callable[[int], bool], guess: float) -> int:
    """The first whole number from 0 for which something holds that holds from there on."""
    low, high, step = -1, max(math.ceil(guess), 1), 1
    while not holds(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
