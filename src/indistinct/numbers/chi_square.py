r"""The two tails of the chi-square law, in balls that are narrow relative to each tail however small it is.

With s = r/2 and z = x/2, both by sums of positive terms, so that nothing cancels:

    F(x) = z^s e^-z / Gamma(s + 1) * sum over k >= 0 of z^k / ((s + 1) ... (s + k)),
    S(x) = z^(s-1) e^-z / Gamma(s) * (1 + (s - 1)/z + (s - 1)(s - 2)/z^2 + ...) + the same tail for s = 1 or 1/2,

where the second sum ends with the last positive factor, and the tail for 1/2 is erfc(sqrt z). Either series is used on
its own side of the middle, the other tail is one less it. A series is cut where a geometric one bounds the rest.
(NIST Handbook, 8.7.1 and 8.8.2. Arb's own incomplete gamma functions are right as well, and wide for hundreds of
degrees of freedom.)
"""

from __future__ import annotations

from fractions import Fraction

from indistinct.numbers.balls import arb, ball, working_bits

__all__ = ["chi_square_tails"]


def chi_square_tails(degrees: int, x: arb) -> tuple[arb, arb]:
    """P(X <= x) and P(X > x) at the working precision, for x above 0.

    >>> from indistinct.numbers.balls import bracket_of
    >>> below, above = chi_square_tails(2, ball(2))  # 1 - 1/e and 1/e
    >>> print(bracket_of(below), bracket_of(above))
    0.632120558829 0.367879441172
    """
    order, z = Fraction(degrees, 2), x / 2
    if z < ball(order):
        below = _lower(order, z)
        return below, 1 - below
    above = _upper(order, z)
    return 1 - above, above


def _lower(order: Fraction, z: arb) -> arb:
    s, negligible = ball(order), _negligible()
    term = total = ball(1)
    k = 1
    while not term < total * negligible:  # the ratios fall, so this comes
        term *= z / (s + k)
        total += term
        k += 1
    return _height(order, z, s + 1) * (total + _rest(term, z / (s + k)))


def _upper(order: Fraction, z: arb) -> arb:
    s, negligible = ball(order), _negligible()
    steps = -(-order.numerator // order.denominator) - 1  # how often 1 can be taken off and leave 1 or 1/2
    if steps == 0:
        return _least(order, z)
    term = total = ball(1)
    for k in range(1, steps):
        ratio = (s - k) / z
        if term < total * negligible:
            total += _rest(term, ratio)
            break
        term *= ratio
        total += term
    return _height(order, z, s) / z * total + _least(order - steps, z)


def _height(order: Fraction, z: arb, gamma_at: arb) -> arb:
    """z^order e^-z / Gamma(gamma_at)."""
    return (ball(order) * z.log() - z - gamma_at.lgamma()).exp()


def _least(order: Fraction, z: arb) -> arb:
    """The upper tail for the order 1 or 1/2."""
    return (-z).exp() if order == 1 else z.sqrt().erfc()


def _negligible() -> arb:
    """Below the working precision."""
    return ball(Fraction(1, 1 << working_bits()))


def _rest(term: arb, ratio: arb) -> arb:
    """The sum of what follows a term where each is at most `ratio` times the one before, from nothing up."""
    return ball(0).union(term * ratio / (1 - ratio))
