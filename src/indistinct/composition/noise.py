r"""How much noise the theorems ask for: KOV, Corollary 4.2 and Theorem 4.3; Dwork and Roth, Theorem A.1.

The first two give a variance of 8 k Delta^2 ln(e + epsilon/delta) / epsilon^2 for each of k answers of sensitivity
Delta, once as Laplace and once as Gaussian noise; the last a sigma of sqrt(2 ln(1.25/delta)) Delta / epsilon for
one answer.
"""

from __future__ import annotations

from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_count, read_delta, read_epsilon, read_number
from indistinct.numbers.balls import arb, ball, bracket_of, precision
from indistinct.numbers.logarithm import ball_of, logarithm_of, sign_of_sum

__all__ = ["classic_sigma", "gaussian_variance", "laplace_variance"]

_BITS = 128


def laplace_variance(epsilon: object, delta: object, times: object, sensitivity: object = 1) -> Bracket:
    """Corollary 4.2: the variance of Laplace noise on each answer; the upper end is the claim.

    For epsilon in (0, 0.9] and delta in (0, 1].

    >>> print(laplace_variance("0.9", "1e-6", 1000))
    135408.919137
    """
    level, budget, count, width = _arguments(epsilon, delta, times, sensitivity)
    with precision(_BITS):
        if sign_of_sum((1, level), (-1, Fraction(9, 10))) > 0:
            raise InvalidParameter("epsilon", epsilon, "lie in (0, 0.9] for Corollary 4.2")
        return bracket_of(_variance(level, budget, count, width))


def gaussian_variance(epsilon: object, delta: object, times: object, sensitivity: object = 1) -> Bracket:
    """Theorem 4.3: the variance of Gaussian noise on each answer; the upper end is the claim.

    Requires epsilon <= 8 ln(e + epsilon/delta), which the proof needs and the printed theorem omits: for
    larger epsilon this variance is too small (see the errata).

    >>> print(gaussian_variance(1, "1e-6", 1000))
    110524.10621
    """
    level, budget, count, width = _arguments(epsilon, delta, times, sensitivity)
    with precision(_BITS):
        if not ball_of(level) <= 8 * _logarithm(level, budget):
            raise InvalidParameter(
                "epsilon", epsilon, "be at most 8 ln(e + epsilon/delta), where the proof of Theorem 4.3 ends"
            )
        return bracket_of(_variance(level, budget, count, width))


def classic_sigma(epsilon: object, delta: object, sensitivity: object = 1) -> Bracket:
    """Theorem A.1 of Dwork and Roth: sigma of Gaussian noise on one answer; the upper end is the claim.

    For epsilon in (0, 1) and delta in (0, 1]. For larger epsilon the formula is too small; the least sigma, for
    every epsilon, is 1 / `conversions.largest_mu`.

    >>> print(classic_sigma("0.5", "1e-5"))
    9.68961052522
    """
    level, budget, _, width = _arguments(epsilon, delta, 1, sensitivity)
    if sign_of_sum((1, level), (-1, Fraction(1))) >= 0:
        raise InvalidParameter(
            "epsilon", epsilon, "lie in (0, 1) for Theorem A.1", instead="least_noise answers for every epsilon."
        )
    with precision(_BITS):
        return bracket_of((2 * logarithm_of(Fraction(5, 4) / budget)).sqrt() * ball(width) / ball_of(level))


def _arguments(
    epsilon: object, delta: object, times: object, sensitivity: object
) -> tuple[Epsilon, Fraction, int, Fraction]:
    level, budget = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
    count, width = read_count("times", times, least=1), read_number("sensitivity", sensitivity)
    if level == 0:
        raise InvalidParameter("epsilon", epsilon, "be above 0: no noise is enough for epsilon 0")
    if budget == 0:
        raise InvalidParameter("delta", delta, "be above 0 for this formula")
    if not width > 0:
        raise InvalidParameter("sensitivity", sensitivity, "be above 0")
    return level, budget, count, width


def _logarithm(epsilon: Epsilon, delta: Fraction) -> arb:
    return (ball(1).exp() + ball_of(epsilon) / ball(delta)).log()


def _variance(epsilon: Epsilon, delta: Fraction, times: int, sensitivity: Fraction) -> arb:
    return 8 * times * ball(sensitivity) ** 2 * _logarithm(epsilon, delta) / ball_of(epsilon) ** 2
