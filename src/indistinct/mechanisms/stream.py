r"""How far the answers of a sparse vector are from the truth: Dwork and Roth's Theorem 3.24 and its exact value.

The theorem gives half of alpha to the threshold's noise and half to the values': with values' noise of scale b, and the
threshold's no wider, alpha = 2 b ln(2 k c / beta) for k queries and c runs (Theorem 3.26).

**Exactly, for one run.** Of k queries, the first k - 1 are alpha or more below the threshold. An error is most likely
where they are exactly alpha below, and the last is just more than alpha above: with r the threshold's noise and F the
values' distribution function, no error is made with probability E F(r + alpha)^(k-1) F(alpha - r). (Were the last one
below by alpha instead, its error would go with those of the others, which the threshold's noise makes together.) In
units of b, with K = b over the threshold's scale and t = alpha / b, the integral is in closed form for r < -t, on
[-t, 0] and [0, t] it is of analytic functions, and beyond, with w = e^(t - r), it is that of a polynomial.
"""

from __future__ import annotations

from fractions import Fraction

from indistinct.mechanisms.selecting import bits_for, integral, probability, where_it_falls_to
from indistinct.numbers import Bracket
from indistinct.numbers.balls import acb, arb, ball, bracket_of, precision

__all__ = ["exact_alpha", "exact_failure", "stream_alpha", "stream_beta"]

_BITS = 128


def stream_alpha(beta: Fraction, queries: int, runs: int, scale: Fraction) -> float:
    """2 b ln(2 k c / beta), rounded up."""
    with precision(_BITS):
        return bracket_of(2 * ball(scale) * ball(2 * queries * runs / beta).log()).upper


def stream_beta(alpha: Fraction, queries: int, runs: int, scale: Fraction) -> float:
    """2 k c e^(-alpha / (2 b)), rounded up."""
    with precision(_BITS):
        return probability(2 * queries * runs * (-ball(alpha / (2 * scale))).exp()).upper


def exact_failure(alpha: Fraction, queries: int, scale: Fraction, ratio: Fraction) -> Bracket:
    """The probability of an error in the worst case, for one run."""
    with precision(_BITS):
        return probability(_failure(ball(alpha / scale), queries, int(ratio)))


def exact_alpha(beta: Fraction, queries: int, scale: Fraction, ratio: Fraction) -> Bracket:
    """The least alpha whose failure probability is at most beta, for one run."""
    with precision(bits_for(beta)):
        found = where_it_falls_to(beta, lambda t: _failure(t, queries, int(ratio)))
        return bracket_of(ball(found.lower).union(ball(found.upper)) * ball(scale))


def _failure(t: arb, queries: int, ratio: int) -> arb:
    n, half = queries - 1, ball(Fraction(1, 2))
    below = half**n * ratio / 2 * (-ratio * t).exp()
    below *= ball(Fraction(1, ratio + n)) - (-2 * t).exp() / (2 * (ratio + n + 1))
    shrunk = (-2 * t).exp() / 2
    beyond = integral(lambda w: w**ratio * (1 - acb(shrunk) * w) ** n, ball(0), ball(1))
    total = below + beyond * ratio / 4 * (-ratio * t).exp()
    if t > 0:
        for sign, start, end in ((1, -t, ball(0)), (-1, ball(0), t)):

            def density(r: acb, sign: int = sign) -> acb:
                low, last = 1 - (-(r + acb(t))).exp() / 2, 1 - (r - acb(t)).exp() / 2
                return (sign * ratio * r).exp() * low**n * last * ratio / 2

            total += integral(density, start, end)
    return 1 - total
