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

from indistinct.composition import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from indistinct.composition.guarantees import Promise
from indistinct.composition.kept import kept_by
from indistinct.composition.parts import Mechanism
from indistinct.errors import InvalidParameter
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

    >>> from indistinct import Laplace
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
    kept = kept_by(mechanism)
    if not kept.promises:
        raise InvalidParameter(
            "a cost", mechanism, "be a mechanism whose losses have a bound", instead="Charge a guarantee that it keeps."
        )
    return Guarantees(kept.promises, kept.adjacency.name if kept.adjacency else "")


@lru_cache(4096)
def encode_guarantee(promise: object) -> tuple[str, ...]:
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
        case _:
            raise InvalidParameter(
                "what a ledger keeps", promise, "be a guarantee", instead="A mechanism's slots live in one process."
            )


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
