"""What a question may cost: from the wishes of whoever asks, in the currency of the budgets that pay for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from indistinct.composition import ApproximateDP, GaussianDP, PureDP
from indistinct.composition.filters import ConcentratedRule, DeclaredPlan, GaussianRule, RenyiRule
from indistinct.errors import InternalError, InvalidParameter
from indistinct.ledger import Budget, Standing
from indistinct.ledger.costs import DELTA_UNITS, UNITS
from indistinct.numbers import read_number
from indistinct.queries.answers.prices import Price

__all__ = ["Wish", "price_for"]

_LEAST, _MOST = Fraction(1, 10**30), Fraction(10**18)
"""Between these every amount has a noise that can be drawn, or is refused for its noise."""

_WHY = {
    "epsilon": "The budget counts in epsilon: say epsilon, with delta for Gaussian noise.",
    "rho": "The budget counts in rho: say rho, or epsilon.",
    "mu^2": "The budget counts in mu^2: say mu, or epsilon.",
    "divergence": "The budget counts Renyi divergences of one order: say epsilon.",
    "": "The budget is a plan of slots: say epsilon, with delta for slots that have one, or mu.",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody says about the cost of a question; None where they do not."""

    epsilon: object = None
    rho: object = None
    mu: object = None
    delta: object = None


def price_for(wish: Wish, standings: Sequence[Standing], questions: int, *, public: bool) -> Price:
    """The price in the currency that all budgets share; InvalidParameter where a wish has no price in it.

    `public`: the groups are declared, so that no delta is needed for them.
    """
    budget = _one(standings)
    if public and wish.delta is not None and not read_number("delta", wish.delta):
        wish = replace(wish, delta=None)  # which is how noise that needs no delta is asked for
    given = [name for name in ("epsilon", "rho", "mu") if getattr(wish, name) is not None]
    if len(given) > 1:
        values = tuple(getattr(wish, name) for name in given)
        raise InvalidParameter("the cost", values, "be one of epsilon, rho and mu")
    caps: dict[str, Fraction] = {}
    for each in standings:
        caps[each.account] = min(each.cap, caps.get(each.account, each.cap))
    spare = _down(caps.get("delta", Fraction(0)) / questions, DELTA_UNITS)
    delta = spare if wish.delta is None else _number("delta", wish.delta)
    share = _down(caps.get(budget.currency, Fraction(0)) / questions, UNITS)
    match budget.rule:
        case DeclaredPlan():
            return _of_slot(wish, budget)
        case RenyiRule(order=order):
            return _of_renyi(wish, share, delta, order, public=public)
        case GaussianRule():
            return _of_gaussian(wish, share, delta, public=public)
        case ConcentratedRule():
            return _of_concentrated(wish, share, delta, public=public)
    _refuse(wish, budget.currency, "rho", "mu")
    if wish.epsilon is None:
        return Price("epsilon", share, delta)
    return Price("epsilon", _number("epsilon", wish.epsilon), delta, pure=wish.delta is None)


def _one(standings: Sequence[Standing]) -> Budget:
    """A budget of those that pay, which have to count in the same way."""
    if not standings:
        raise InvalidParameter("the ledger", "no budget", "have a budget for this data set, and for whoever asks")
    first = standings[0].budget
    for each in standings:
        if type(each.budget.rule) is not type(first.rule) or _order(each.budget) != _order(first):
            raise InvalidParameter(
                "the ledger",
                (first.name, each.budget.name),
                "have budgets of one rule for all who pay for a question",
                instead="An answer has one price, in one currency.",
            )
    return first


def _order(budget: Budget) -> Fraction | None:
    return budget.rule.order if isinstance(budget.rule, RenyiRule) else None


def _of_concentrated(wish: Wish, share: Fraction, delta: Fraction, *, public: bool) -> Price:
    _refuse(wish, "rho", "mu")
    if wish.rho is not None:
        return Price("rho", _number("rho", wish.rho), delta)
    if wish.epsilon is None:
        return Price("rho", share, delta)
    epsilon = _number("epsilon", wish.epsilon)
    if wish.delta is not None and public:
        return Price("rho", ConcentratedRule.of_claim(epsilon, delta).rho)
    return Price("rho", epsilon, delta, pure=True)


def _of_gaussian(wish: Wish, share: Fraction, delta: Fraction, *, public: bool) -> Price:
    _refuse(wish, "mu^2", "rho")
    if wish.mu is not None:
        return Price("mu^2", _number("mu", wish.mu) ** 2, delta)
    if wish.epsilon is None:
        return Price("mu^2", share, delta)
    epsilon = _number("epsilon", wish.epsilon)
    if wish.delta is not None and public:
        return Price("mu^2", GaussianRule.of_claim(epsilon, delta).mu ** 2)
    return Price("mu^2", epsilon, delta, pure=True)


def _of_renyi(wish: Wish, share: Fraction, delta: Fraction, order: Fraction, *, public: bool) -> Price:
    _refuse(wish, "divergence", "rho", "mu")
    if wish.epsilon is None:
        return Price("divergence", share, delta, order=order)
    epsilon = _number("epsilon", wish.epsilon)
    if wish.delta is not None and public:
        return Price("divergence", RenyiRule.of_claim(order, epsilon, delta).divergence, order=order)
    return Price("divergence", epsilon, delta, pure=True, order=order)


def _of_slot(wish: Wish, budget: Budget) -> Price:
    """A slot of the kind that was declared first, or of whichever allows what is wished: the ledger takes the least."""
    _refuse(wish, "", "rho")
    if wish.mu is not None:
        return Price("mu^2", _number("mu", wish.mu) ** 2)
    if wish.epsilon is not None:
        delta = Fraction(0) if wish.delta is None else _number("delta", wish.delta)
        return Price("epsilon", _number("epsilon", wish.epsilon), delta, pure=not delta)
    match budget.slots[0][0]:
        case PureDP(epsilon) | ApproximateDP(epsilon, delta=0):
            return Price("epsilon", _rational(epsilon), pure=True)
        case ApproximateDP(epsilon, delta):
            return Price("epsilon", _rational(epsilon), delta)
        case GaussianDP(mu):
            return Price("mu^2", mu**2)
    raise InternalError("There is no price for such a slot.")


def _rational(epsilon: object) -> Fraction:
    if not isinstance(epsilon, Fraction):
        raise InvalidParameter("a slot", epsilon, "have a rational epsilon for questions", instead="Say epsilon.")
    return epsilon


def _refuse(wish: Wish, currency: str, *names: str) -> None:
    for name in names:
        if getattr(wish, name) is not None:
            _misplaced(name, getattr(wish, name), currency)


def _misplaced(name: str, value: object, currency: str) -> NoReturn:
    raise InvalidParameter(name, value, "be left out", instead=_WHY[currency])


def _down(amount: Fraction, units: int) -> Fraction:
    """Rounded down to a ledger's units, so that as many shares as there are fit."""
    return Fraction((amount * units).__floor__(), units)


def _number(name: str, value: object) -> Fraction:
    number = Fraction(read_number(name, value))
    if not number > 0:
        raise InvalidParameter(name, value, "be above 0")
    if not _LEAST <= number <= _MOST:
        raise InvalidParameter(name, value, "be from 1e-30 to 1e18")
    return number
