"""Delta of a few uses by other ways: integrals over the noise at 30 digits, and outcomes one by one."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from mpmath import mpf

DIGITS = 30


def number(value: Fraction) -> mpf:
    """An exact number at the working precision."""
    return mpf(value.numerator) / value.denominator


def tail(x: mpf) -> mpf:
    """The probability that a standard Gaussian is above x."""
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def of_one_sampled(sigma: mpf, rate: mpf, epsilon: mpf, *, back: bool) -> mpf:
    """delta of one sampled Gaussian answer at any epsilon, from the x at which the ratio passes e^epsilon.

    P(A) - e^epsilon Q(A) of the outcomes A beyond it; all of them, where every ratio is above.
    """
    odds = mpmath.exp(epsilon)
    if back:  # Q against the mixture: 1 / w > odds
        wanted = (1 / odds - (1 - rate)) / rate
        if wanted <= 0:
            return mpf(0)
        x = sigma**2 * mpmath.log(wanted) + mpf(1) / 2
        own, other = tail(-x / sigma), tail((1 - x) / sigma)
        return own - odds * ((1 - rate) * own + rate * other)
    wanted = (odds - (1 - rate)) / rate
    if wanted <= 0:
        return 1 - odds
    x = sigma**2 * mpmath.log(wanted) + mpf(1) / 2
    own, other = tail(x / sigma), tail((x - 1) / sigma)
    return (1 - rate) * own + rate * other - odds * own


def of_two_sampled(sigma: Fraction, rate: Fraction, epsilon: Fraction, *, back: bool) -> mpf:
    """delta of two: the mean over the first answer of that of the second, by Gauss-Legendre in pieces."""
    s, q, e = number(sigma), number(rate), number(epsilon)

    def integrand(x: mpf) -> mpf:
        w = 1 - q + q * mpmath.exp((2 * x - 1) / (2 * s**2))
        density = mpmath.npdf(x, 0, s) * (1 if back else w)
        loss = -mpmath.log(w) if back else mpmath.log(w)
        return density * of_one_sampled(s, q, e - loss, back=back)

    places = {centre + k * s for centre in (mpf(0), mpf(1)) for k in range(-14, 31)}
    # Where the first answer's loss is epsilon by itself there is a bend, as sharp as a typical loss is small.
    alone = (mpmath.exp(-e if back else e) - (1 - q)) / q
    if alone > 0:
        bend = s**2 * mpmath.log(alone) + mpf(1) / 2
        places |= {bend + sign * s * mpf(10) ** -k for k in range(12) for sign in (-1, 1)} | {bend}
    return mpmath.quad(integrand, sorted(places))


def of_laplace(epsilons: list[Fraction], at: mpf) -> mpf:
    """delta of Laplace answers, of noise of scale 1 and distances epsilons: the mean over the first of the rest.

    Of the loss of one: +e with probability 1/2, -e with e^-e / 2, and between them a density e^((l - e) / 2) / 4.
    """
    e = number(epsilons[0])
    if len(epsilons) == 1:
        if at >= e:
            return mpf(0)
        return -mpmath.expm1((at - e) / 2) if at >= -e else -mpmath.expm1(at)
    rest = epsilons[1:]
    ends = of_laplace(rest, at - e) / 2 + of_laplace(rest, at + e) * mpmath.exp(-e) / 2
    bends = {mpf(0)}
    for other in rest:
        bends = {b + sign * number(other) for b in bends for sign in (-1, 1)}
    places = [-e, *sorted(at - b for b in bends if -e < at - b < e), e]

    def between(loss: mpf) -> mpf:
        return mpmath.exp((loss - e) / 2) / 4 * of_laplace(rest, at - loss)

    return ends + mpmath.quad(between, places)
