"""Group privacy: what a guarantee for one person says of several."""

from __future__ import annotations

from fractions import Fraction

from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise, PureDP, RenyiDP, ZeroConcentratedDP
from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon, NaturalLog, read_count
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.numbers.logarithm import enclosure, exponential

__all__ = ["group_privacy"]

_BITS = 192
_LONGEST_POWER = 4096


def group_privacy(guarantee: Promise, size: object) -> Promise:
    """The guarantee for databases that differ in as many people as `size`, one after another.

    Pure: epsilon times size (Dwork and Roth, Theorem 2.2). Approximate: also delta times
    (e^(size epsilon) - 1) / (e^epsilon - 1), rounded up (Vadhan 2017, Lemma 2.2). Zero-concentrated: rho times size^2
    (Bun and Steinke 2016, Proposition 1.9). Gaussian: mu times size (Dong, Roth and Su 2022, Theorem 2.14). Renyi:
    for size <= 2^c the order over 2^c and 3^c times the divergence, if the order is at least 2^(c + 1) (Mironov 2017,
    Proposition 2).

    >>> group_privacy(PureDP("0.1"), 3), group_privacy(GaussianDP("0.5"), 4), group_privacy(RenyiDP(8, 1), 4)
    (PureDP('0.3'), GaussianDP(2), RenyiDP(2, 9))
    >>> group_privacy(ApproximateDP("ln(2)", "1e-6"), 3)
    ApproximateDP(ln(8), '7e-06')
    """
    count = read_count("size", size, least=1)
    if count == 1:
        return guarantee
    match guarantee:
        case PureDP(epsilon):
            return PureDP(_multiplied(epsilon, count))
        case ApproximateDP(epsilon, delta):
            return ApproximateDP(_multiplied(epsilon, count), min(Fraction(1), _steps(epsilon, count, delta)))
        case ZeroConcentratedDP(rho):
            return ZeroConcentratedDP(rho * count**2)
        case GaussianDP(mu):
            return GaussianDP(mu * count)
        case RenyiDP(order, epsilon=divergence):
            doublings = (count - 1).bit_length()
            if order < 2 ** (doublings + 1):
                raise InvalidParameter("order", order, f"be at least {2 ** (doublings + 1)} for a group of {count}")
            return RenyiDP(order / 2**doublings, divergence * 3**doublings)


def _multiplied(epsilon: Epsilon, count: int) -> Epsilon:
    """Exact, but for the logarithms of enormous numbers, which are rounded up."""
    if isinstance(epsilon, Fraction):
        return epsilon * count
    bits = epsilon.argument.numerator.bit_length() + epsilon.argument.denominator.bit_length()
    return NaturalLog(epsilon.argument**count) if bits * count <= _LONGEST_POWER else enclosure(epsilon)[1] * count


def _steps(epsilon: Epsilon, count: int, delta: Fraction) -> Fraction:
    """delta * sum over i < count of e^(i epsilon), rounded up where it is irrational."""
    if delta == 0 or epsilon == 0:
        return delta * count
    if isinstance(epsilon, NaturalLog) and isinstance(power := _multiplied(epsilon, count), NaturalLog):
        return delta * (power.argument - 1) / (epsilon.argument - 1)
    with precision(_BITS):
        odds = exponential(epsilon)
        upper = bracket_of(ball(delta) * (odds**count - 1) / (odds - 1)).upper
    return Fraction(1) if upper > 1 else Fraction(upper)
