r"""What an answer may cost, and what its mechanisms cost in each of the currencies that a budget may count in.

| currency     | rule              | a pure epsilon            | Gaussian noise, l2 change D | bounded range epsilon |
|--------------|-------------------|---------------------------|-----------------------------|-----------------------|
| `epsilon`    | basic             | epsilon                   | its exact (epsilon, delta)  | epsilon               |
| `rho`        | zero-concentrated | epsilon tanh(epsilon / 2) | D^2 / (2 sigma^2)           | epsilon^2 / 8         |
| `mu^2`       | Gaussian          | mu(epsilon)^2             | D^2 / sigma^2               | mu(epsilon / 2)^2     |
| `divergence` | Renyi of order a  | of randomised response    | a D^2 / (2 sigma^2)         | a epsilon^2 / 8       |

with mu(epsilon) = -2 Phi^-1(1 / (1 + e^epsilon)), as in `as_gaussian`. In rho Gaussian noise is discrete; in mu^2 it is
real noise rounded to whole numbers, as discrete Gaussian noise on a vector keeps no Gaussian promise. A mechanism of
rho has the divergence a rho at most, and one of a pure epsilon, or of that range, also epsilon at most.

The last entry of the third row: the log-ratio of a mechanism of bounded range epsilon (the exponential mechanism) lies
in an interval of that length, so its trade-off curve is above two straight lines of slopes -e^t and -e^(t - epsilon),
those of a pair of coins whose log-odds differ by epsilon. As Phi^-1 of the odds grows steepest at 1/2, the curve of
mu(epsilon / 2) is below these lines for every t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from indistinct.composition import PureDP
from indistinct.composition.conversions import as_gaussian, as_renyi, as_zero_concentrated

__all__ = ["Price", "pure_cost", "pure_level", "range_level", "rooted_down", "rooted_up"]


@dataclass(frozen=True, slots=True)
class Price:
    """What an answer may cost: an amount of a currency, and of delta.

    Delta is for private keys, and in `epsilon` for Gaussian noise as well. `pure`: the answer is to be private without
    any delta (but that of its keys), whatever the budget counts in; the amount is then an epsilon. `order` is that of a
    Renyi budget.
    """

    currency: str
    amount: Fraction
    delta: Fraction = Fraction(0)
    pure: bool = False
    order: Fraction = Fraction(1)

    @property
    def is_epsilon(self) -> bool:
        """Whether the amount is one of epsilon."""
        return self.pure or self.currency == "epsilon"


def pure_cost(price: Price, epsilon: Fraction) -> Fraction:
    """What a pure guarantee costs in the currency, rounded up."""
    match price.currency:
        case "epsilon":
            return epsilon
        case "mu^2":
            return _gaussian(epsilon)
        case "divergence":
            return as_renyi(PureDP(epsilon), price.order).epsilon
    return _concentrated(epsilon)


def pure_level(price: Price, amount: Fraction) -> Fraction:
    """An epsilon whose pure guarantee costs at most so much, and nearly that."""
    if price.is_epsilon:
        return amount
    if price.currency == "mu^2":
        return _gaussian_level(amount)
    if price.currency == "divergence":
        return max(_concentrated_level(amount / price.order), amount)
    return _concentrated_level(amount)


def range_level(price: Price, amount: Fraction) -> Fraction:
    """An epsilon whose bounded range costs at most so much, and nearly that."""
    if price.is_epsilon:
        return amount
    if price.currency == "mu^2":
        return 2 * _gaussian_level(amount)
    if price.currency == "divergence":
        return max(rooted_down(8 * amount / price.order), amount)
    return rooted_down(8 * amount)


def _concentrated(epsilon: Fraction) -> Fraction:
    return Fraction(as_zero_concentrated(PureDP(epsilon)).rho)


def _gaussian(epsilon: Fraction) -> Fraction:
    return as_gaussian(PureDP(epsilon)).mu ** 2


@lru_cache(1024)
def _concentrated_level(rho: Fraction) -> Fraction:
    high = max(2 * math.sqrt(float(rho)), 2 * float(rho))
    return _highest(_concentrated, rho, lambda epsilon: epsilon * math.tanh(epsilon / 2), high)


@lru_cache(1024)
def _gaussian_level(square: Fraction) -> Fraction:
    """From 2 artanh(erf(mu / sqrt 8)): e^epsilon is Phi(mu / 2) / Phi(-mu / 2)."""
    mu = math.sqrt(float(square))
    start = math.log(math.erfc(-mu / math.sqrt(8)) / math.erfc(mu / math.sqrt(8))) if mu < 50 else mu**2 / 8
    return _lowered(_gaussian, square, Fraction(start))


def _highest(
    exact: Callable[[Fraction], Fraction], most: Fraction, near: Callable[[float], float], high: float
) -> Fraction:
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if near(middle) <= float(most) else (low, middle)
    return _lowered(exact, most, Fraction(low))


def _lowered(exact: Callable[[Fraction], Fraction], most: Fraction, start: Fraction) -> Fraction:
    """A guess, a little lower: so much that the exact cost is within what there is."""
    epsilon = start * (1 - Fraction(1, 2**40))
    while exact(epsilon) > most:
        epsilon *= 1 - Fraction(1, 2**30)
    return epsilon


def rooted_down(square: Fraction) -> Fraction:
    """A root, rounded down."""
    root = Fraction(math.sqrt(float(square))) * (1 - Fraction(1, 2**50))
    while root * root > square:
        root *= 1 - Fraction(1, 2**40)
    return root


def rooted_up(square: Fraction) -> Fraction:
    """A root, rounded up."""
    root = Fraction(math.sqrt(float(square))) * (1 + Fraction(1, 2**50))
    while root * root < square:
        root *= 1 + Fraction(1, 2**40)
    return root
