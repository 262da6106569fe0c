"""What a charge asks for: guarantees, or amounts of a currency; and how these are spelled in a row.

Amounts become whole numbers of small units before they reach a ledger: a billionth of the currency (nano), and of
delta, which is small by nature, a trillionth of a millionth (10^-18). Costs are rounded up and budgets down, so
rounding never gives anything away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from indistinct.composition import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP, compose
from indistinct.composition.guarantees import Promise
from indistinct.composition.losses.curves import BoundedRangeCurve
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.law import PrivacyLoss
from indistinct.composition.parts import Mechanism, loss_of
from indistinct.errors import InvalidParameter
from indistinct.mechanisms import DiscreteGaussian, Geometric, Laplace, RandomizedResponse, Staircase
from indistinct.numbers import Epsilon, NaturalLog, read_number

__all__ = [
    "DELTA_UNITS",
    "UNITS",
    "Amounts",
    "Asked",
    "Guarantees",
    "decode_guarantee",
    "encode_guarantee",
    "read_amount",
    "read_cost",
    "rounded_down",
    "rounded_up",
    "spelled",
]

UNITS = 10**9
"""How many units of a ledger make one of a currency."""
DELTA_UNITS = 10**18
"""How many units of a ledger make a delta of 1."""

_MOST_BITS = 2990
_CURRENCIES = ("delta", "divergence", "epsilon", "mu^2", "rho")


@dataclass(frozen=True, slots=True)
class Guarantees:
    """An answer keeps each of these guarantees; a rule takes the one that it has the lowest price for."""

    promises: tuple[Promise, ...]
    adjacency: str = ""
    """The only kind of neighbouring databases for which they hold, if there is but one."""

    @property
    def encoded(self) -> object:
        """As it is spelled in a row."""
        return [encode_guarantee(promise) for promise in self.promises]


@dataclass(frozen=True, slots=True)
class Amounts:
    """So much of each currency that is named; the name "" stands for whichever currency the budgets have."""

    by_currency: tuple[tuple[str, Fraction], ...]

    @property
    def is_of_any_currency(self) -> bool:
        """Whether it is a mere number."""
        return self.by_currency[0][0] == ""

    @property
    def encoded(self) -> object:
        """As it is spelled in a row."""
        return {currency: spelled(amount) for currency, amount in self.by_currency}


Asked = Guarantees | Amounts


def read_cost(cost: object) -> Asked:
    """What a charge asks for, from a guarantee, a mechanism, a mapping from currencies to amounts, or a number.

    >>> read_cost(Laplace(scale=10))
    Guarantees(promises=(PureDP('0.1'),), adjacency='')
    >>> read_cost({"rho": "0.005"})
    Amounts(by_currency=(('rho', Fraction(1, 200)),))
    >>> read_cost(float("nan"))
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: a cost must be finite, but is nan.
    """
    match cost:
        case PureDP() | ApproximateDP() | ZeroConcentratedDP() | GaussianDP() | RenyiDP():
            return _checked(Guarantees((cost,)))
        case Mapping():
            return _amounts(cost)
        case Mechanism():
            return _checked(_guarantees_of(cost))
        case _:
            return Amounts((("", read_amount("a cost", cost)),))


def _amounts(cost: Mapping[object, object]) -> Amounts:
    named: dict[str, Fraction] = {}
    for currency, amount in cost.items():
        if not isinstance(currency, str) or currency not in _CURRENCIES:
            raise InvalidParameter("a currency", currency, f"be one of {', '.join(_CURRENCIES)}")
        named[currency] = read_amount(f"a cost in {currency}", amount)
    if not named:
        raise InvalidParameter("a cost", cost, "name a currency and an amount")
    return Amounts(tuple(sorted(named.items())))


def read_amount(name: str, value: object) -> Fraction:
    """An exact amount that is at least 0 and can be spelled in a row."""
    amount = read_number(name, value)
    if amount < 0:
        raise InvalidParameter(name, value, "be at least 0")
    spelled(amount)
    return amount


def _checked(asked: Guarantees) -> Guarantees:
    """The same, if it can be spelled."""
    for promise in asked.promises:
        encode_guarantee(promise)
    return asked


def _guarantees_of(mechanism: Mechanism) -> Guarantees:
    loss = loss_of(mechanism)
    match loss:
        case PureDP() | ApproximateDP() | ZeroConcentratedDP() | GaussianDP() | RenyiDP():
            return Guarantees((loss,))
        case BoundedRangeCurve(epsilon=Fraction() as epsilon):
            return Guarantees((PureDP(epsilon), ZeroConcentratedDP(epsilon**2 / 8)))
    adjacency = loss.adjacency.name if isinstance(loss, PrivacyLoss | EnclosedLoss) and loss.adjacency else ""
    match mechanism:
        case Laplace() | Geometric() | Staircase() | RandomizedResponse():
            return Guarantees((PureDP(mechanism.epsilon),), adjacency)
        case DiscreteGaussian(sensitivity=width, sigma=sigma):  # Canonne, Kamath and Steinke 2020, Theorem 4
            return Guarantees((ZeroConcentratedDP(width**2 / (2 * sigma**2)),), adjacency)
    largest = compose([mechanism]).largest_epsilon.upper
    try:
        return Guarantees((PureDP(largest),), adjacency)
    except InvalidParameter:
        raise InvalidParameter(
            "a cost", mechanism, "be a mechanism whose losses have a bound", instead="Charge a guarantee that it keeps."
        ) from None


@lru_cache(4096)
def encode_guarantee(promise: Promise) -> tuple[str, ...]:
    """A guarantee as it is spelled in a row; the first word is its tag.

    >>> encode_guarantee(ApproximateDP("ln(3)", "1e-6"))
    ('approximate', 'ln(3)', '1/1000000')
    """
    match promise:
        case PureDP(epsilon):
            return "pure", spelled(epsilon)
        case ApproximateDP(epsilon, delta):
            return "approximate", spelled(epsilon), spelled(delta)
        case ZeroConcentratedDP(rho):
            return "zcdp", spelled(rho)
        case GaussianDP(mu):
            return "gaussian", spelled(mu)
        case RenyiDP(order, epsilon=divergence):
            return "renyi", spelled(order), spelled(divergence)


def decode_guarantee(encoded: Sequence[str]) -> Promise:
    """The guarantee; an unknown tag is refused."""
    tag, *numbers = encoded
    match tag:
        case "pure":
            return PureDP(*numbers)
        case "approximate":
            return ApproximateDP(*numbers)
        case "zcdp":
            return ZeroConcentratedDP(*numbers)
        case "gaussian":
            return GaussianDP(*numbers)
        case "renyi":
            return RenyiDP(*numbers)
    raise InvalidParameter("a guarantee's tag", tag, "be one that this version knows")


def spelled(number: Epsilon) -> str:
    """An exact number as text that is read back exactly."""
    exact = number.argument if isinstance(number, NaturalLog) else number
    if exact.numerator.bit_length() + exact.denominator.bit_length() > _MOST_BITS:
        raise InvalidParameter("a number in a ledger", number, "have at most 900 digits")
    return f"ln({exact})" if isinstance(number, NaturalLog) else str(exact)


def rounded_up(amount: Fraction, units: int = UNITS) -> int:
    """A cost in a ledger's units.

    >>> rounded_up(Fraction(5e-324)), rounded_up(Fraction(1, 10))
    (1, 100000000)
    """
    return -(-amount.numerator * units // amount.denominator)


def rounded_down(amount: Fraction, units: int = UNITS) -> int:
    """A budget in a ledger's units."""
    return amount.numerator * units // amount.denominator
