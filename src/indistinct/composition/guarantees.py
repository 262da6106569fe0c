"""What a mechanism promises, in the currencies in use: pure, approximate, concentrated, Gaussian, Renyi."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon, read_delta, read_epsilon, read_number
from indistinct.numbers.logarithm import enclosure
from indistinct.numbers.reading import LARGEST_EPSILON

__all__ = ["ApproximateDP", "GaussianDP", "Guarantee", "Promise", "PureDP", "RenyiDP", "ZeroConcentratedDP"]

_ZERO = Fraction(0)
_LEAST_EPSILON = Fraction(1, 10**300)
_VISIBLY = 1e-299
_TINY_BITS = 990  # 2^-991 is above 1e-299


@dataclass(frozen=True, slots=True, init=False)
class PureDP:
    """The promise of (epsilon, 0)-differential privacy (KOV, Definition 1.1).

    Epsilon is read exactly: the text "0.1" is one tenth, a float is the binary number it is, and
    `ln(3)` has e^epsilon = 3.

    >>> PureDP("0.1").epsilon
    Fraction(1, 10)
    """

    epsilon: Epsilon

    def __init__(self, epsilon: object) -> None:
        object.__setattr__(self, "epsilon", _epsilon(epsilon))

    @property
    def delta(self) -> Fraction:
        """0, by definition."""
        return _ZERO

    def __hash__(self) -> int:
        return hash(key(self.epsilon))

    def __repr__(self) -> str:
        return f"PureDP({spelled(self.epsilon)})"


@dataclass(frozen=True, slots=True, init=False)
class ApproximateDP:
    """The promise of (epsilon, delta)-differential privacy (KOV, Definition 1.1).

    >>> ApproximateDP("0.1", "0.001")
    ApproximateDP('0.1', '0.001')
    """

    epsilon: Epsilon
    delta: Fraction

    def __init__(self, epsilon: object, delta: object) -> None:
        object.__setattr__(self, "epsilon", _epsilon(epsilon))
        object.__setattr__(self, "delta", read_delta("delta", delta))

    def __hash__(self) -> int:
        return hash((key(self.epsilon), self.delta.as_integer_ratio()))

    def __repr__(self) -> str:
        return f"ApproximateDP({spelled(self.epsilon)}, {spelled(self.delta)})"


@dataclass(frozen=True, slots=True, init=False)
class ZeroConcentratedDP:
    """The promise of rho-zCDP: Renyi divergence at most rho * order, at every order above 1.

    Source: Bun and Steinke (2016). In terms of the loss L under the null hypothesis,
    log E e^(t L) <= rho t (t + 1) for every t > 0.

    >>> ZeroConcentratedDP("0.5")
    ZeroConcentratedDP(0.5)
    """

    rho: Fraction

    def __init__(self, rho: object) -> None:
        object.__setattr__(self, "rho", _level("rho", rho))

    def __repr__(self) -> str:
        return f"ZeroConcentratedDP({spelled(self.rho)})"


@dataclass(frozen=True, slots=True, init=False)
class GaussianDP:
    """The promise of mu-GDP: no easier to tell apart than N(0, 1) and N(mu, 1).

    Source: Dong, Roth and Su (2022).

    >>> GaussianDP(1)
    GaussianDP(1)
    """

    mu: Fraction

    def __init__(self, mu: object) -> None:
        object.__setattr__(self, "mu", _level("mu", mu))

    def __repr__(self) -> str:
        return f"GaussianDP({spelled(self.mu)})"


@dataclass(frozen=True, slots=True, init=False)
class RenyiDP:
    """The promise of (order, epsilon)-Renyi differential privacy, at one order above 1.

    Source: Mironov (2017).

    >>> RenyiDP(8, "0.25")
    RenyiDP(8, 0.25)
    """

    order: Fraction
    epsilon: Fraction

    def __init__(self, order: object, epsilon: object) -> None:
        alpha = read_number("order", order)
        if not 1 < alpha <= LARGEST_EPSILON:
            raise InvalidParameter("order", order, f"lie in (1, {LARGEST_EPSILON}]")
        object.__setattr__(self, "order", alpha)
        object.__setattr__(self, "epsilon", _level("epsilon", epsilon))

    def __repr__(self) -> str:
        return f"RenyiDP({spelled(self.order)}, {spelled(self.epsilon)})"


def _epsilon(value: object) -> Epsilon:
    """A guarantee's epsilon: 0, or large enough to be told from 0 in floats."""
    epsilon = read_epsilon("epsilon", value)
    if type(epsilon) is Fraction and epsilon.denominator.bit_length() <= _TINY_BITS:
        return epsilon  # at once for the usual ones
    if epsilon and _is_tiny(epsilon) and enclosure(epsilon)[0] < _LEAST_EPSILON:
        raise InvalidParameter("epsilon", value, "be 0 or at least 1e-300")
    return epsilon


def _is_tiny(epsilon: Epsilon) -> bool:
    """Whether an epsilon is so small that it must be looked at closely."""
    if type(epsilon) is Fraction:
        return epsilon.denominator.bit_length() - epsilon.numerator.bit_length() > _TINY_BITS
    return float(epsilon) < _VISIBLY


def key(number: Epsilon) -> object:
    """What equal numbers share, and is hashed in a tenth of the time that a Fraction takes."""
    return number.as_integer_ratio() if type(number) is Fraction else number


def _level(name: str, value: object) -> Fraction:
    level = read_number(name, value)
    if not 0 <= level <= LARGEST_EPSILON:
        raise InvalidParameter(name, value, f"lie in [0, {LARGEST_EPSILON}]")
    return level


Guarantee = PureDP | ApproximateDP

Promise = PureDP | ApproximateDP | ZeroConcentratedDP | GaussianDP | RenyiDP
"""A guarantee in any of the currencies."""


def spelled(number: Epsilon) -> str:
    """The number as its user would write it, and exactly: '0.1' for one tenth, a float as itself.

    >>> spelled(Fraction(1, 10)), spelled(Fraction(0.1)), spelled(Fraction(1, 3)), spelled(Fraction(2))
    ("'0.1'", '0.1', "'1/3'", '2')
    """
    if not isinstance(number, Fraction):
        return repr(number)
    if number.denominator == 1:
        return str(number.numerator)
    nearest = number.numerator / number.denominator
    if number == nearest:
        return repr(nearest)
    text = repr(nearest)
    return repr(text) if Fraction(text) == number else repr(str(number))
