"""The laws of privacy losses by other ways than the library's: sums and integrals over the noise itself, at 50 digits.

Each function gives M(z) = E_P e^(z L) from the exact parameters, by the definition: a sum over outputs, or an integral
over the noise's density, of the two laws' ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath
from mpmath import mpc, mpf

Transform = Callable[[mpc], mpc]
DIGITS = 50


def number(value: Fraction) -> mpf:
    """An exact number at the working precision."""
    return mpf(value.numerator) / value.denominator


def of_atoms(atoms: Callable[[], list[tuple[mpf, mpf]]]) -> Transform:
    """From (P, Q) masses of all outputs, made at the working precision."""

    def transform(z: mpc) -> mpc:
        return mpmath.fsum(p * (p / q) ** z for p, q in atoms())

    return transform


def response(epsilon: Fraction) -> Transform:
    def atoms() -> list[tuple[mpf, mpf]]:
        up = 1 / (1 + mpmath.exp(-number(epsilon)))
        return [(up, 1 - up), (1 - up, up)]

    return of_atoms(atoms)


def laplace(epsilon: Fraction) -> Transform:
    """Noise of scale 1, answers 0 and epsilon; the part between them by quadrature."""

    def transform(z: mpc) -> mpc:
        e = number(epsilon)
        left, right = mpmath.exp(z * e) / 2, mpmath.exp(-e - z * e) / 2
        pieces = mpmath.linspace(0, e, 2 + int(abs(z) * e / 4))
        between = mpmath.quad(lambda x: mpmath.exp(-x) / 2 * mpmath.exp(z * (e - 2 * x)), pieces)
        return left + between + right

    return transform


def geometric(sensitivity: int, epsilon: Fraction) -> Transform:
    """Answers 0 and the sensitivity; the outputs on either side of both add up to geometric series."""

    def atoms() -> list[tuple[mpf, mpf]]:
        e = number(epsilon)
        fall = mpmath.exp(-e / sensitivity)
        unit = (1 - fall) / (1 + fall)
        inner = [(unit * fall**x, unit * fall ** (sensitivity - x)) for x in range(1, sensitivity)]
        near, far = 1 / (1 + fall), fall**sensitivity / (1 + fall)
        return [(near, far), *inner, (far, near)]

    return of_atoms(atoms)


def staircase(epsilon: Fraction, gamma: Fraction) -> Transform:
    """Answers 0 and 1: the density of either on the intervals on which both are constant, far enough out."""

    def atoms() -> list[tuple[mpf, mpf]]:
        e, share = number(epsilon), number(gamma)
        fall = mpmath.exp(-e)
        height = (1 - fall) / (2 * (share + fall * (1 - share)))

        def density(x: mpf) -> mpf:
            steps, rest = divmod(abs(x), 1)
            return height * fall ** (steps if rest < share else steps + 1)

        far = int(mpmath.ceil(130 / e)) + 2
        ends = sorted({i + s for i in range(-far, far + 1) for s in (mpf(0), share, 1 - share)})
        pieces = [(b - a, (a + b) / 2) for a, b in pairwise(ends)]
        return [(width * density(x), width * density(x - 1)) for width, x in pieces if width > mpf(10) ** -40]

    return of_atoms(atoms)


def three_way(epsilon: Fraction, certain: Fraction) -> Transform:
    def atoms() -> list[tuple[mpf, mpf]]:
        up = number(certain)
        down = up * mpmath.exp(-number(epsilon))
        return [(up, down), (1 - up - down, 1 - up - down), (down, up)]

    return of_atoms(atoms)


def discrete_gaussian(sensitivity: int, sigma: Fraction, furthest: int) -> Transform:
    def atoms() -> list[tuple[mpf, mpf]]:
        square = 2 * number(sigma) ** 2
        reach = int(20 * sigma) + 20 + furthest
        mass = {x: mpmath.exp(-(mpf(x) ** 2) / square) for x in range(-reach - sensitivity, reach + sensitivity + 1)}
        total = mpmath.fsum(mass.values())
        return [(mass[x] / total, mass[x - sensitivity] / total) for x in range(-reach, reach + 1)]

    return of_atoms(atoms)


def gaussian(mu: Fraction) -> Transform:
    """By quadrature over x of N(0, 1) against N(mu, 1)."""
    return _integral(lambda x: (mpf(0), number(mu) * (number(mu) / 2 - x)), lambda t: -number(mu) * t, Fraction(1))


def subsampled(sigma: Fraction, rate: Fraction, *, removing: bool) -> Transform:
    """N(0, sigma^2) against its mixture with N(1, sigma^2), either way."""

    def logs(x: mpf) -> tuple[mpf, mpf]:
        log_s = mpmath.log(number(1 - rate) + number(rate) * mpmath.exp((2 * x - 1) / (2 * number(sigma) ** 2)))
        return (log_s, log_s) if removing else (mpf(0), -log_s)

    return _integral(logs, (lambda t: t + 1) if removing else (lambda t: -number(rate) * t), sigma)


def _integral(
    logs: Callable[[mpf], tuple[mpf, mpf]], furthest: Callable[[mpf], mpf], exact_sigma: Fraction
) -> Transform:
    """E over x ~ N(0, sigma^2) of e^(a(x) + z l(x)), the mass being between 0 and `furthest`.

    By the trapezoidal rule over a fixed dense grid, whose step is halved until nothing changes.
    """

    def transform(z: mpc) -> mpc:
        sigma, end = number(exact_sigma), furthest(mpmath.re(z))
        low, high = min(mpf(0), end) - 17 * sigma, max(mpf(0), end) + 17 * sigma

        def term(x: mpf) -> mpc:
            weight, loss = logs(x)
            return mpmath.exp(weight + z * loss - (x / sigma) ** 2 / 2)

        step = min(sigma, sigma**2, sigma / (1 + abs(mpmath.im(z)) / sigma)) / 2
        around = mpmath.fsum(abs(term(low + j * sigma / 4)) for j in range(int(4 * (high - low) / sigma))) * sigma / 4
        count = int((high - low) / step) + 1
        total = mpmath.fsum(term(low + j * step) for j in range(count + 1))
        while True:
            between = mpmath.fsum(term(low + (j + mpf(1) / 2) * step) for j in range(count))
            finer = total + between
            if abs(finer / 2 - total) * step <= around * mpf(10) ** -28:
                return finer * step / 2 / sigma / mpmath.sqrt(2 * mpmath.pi)
            total, step, count = finer, step / 2, 2 * count

    return transform
