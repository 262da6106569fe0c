"""A budget: a rule that is proven for adaptive analysts, what it is for, and how much there is in whole units.

A rule and its limit are fixed when a budget is created. What it counts are *accounts*: that of the rule's currency and
that of delta, or, for a declared plan, one for each kind of slot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from indistinct.composition import ApproximateDP
from indistinct.composition.filters import (
    Adjacency,
    BasicRule,
    Claim,
    ConcentratedRule,
    DeclaredPlan,
    GaussianRule,
    RenyiRule,
)
from indistinct.composition.guarantees import GaussianDP, Promise
from indistinct.errors import InvalidParameter
from indistinct.ledger.canonical import canonical
from indistinct.ledger.costs import (
    DELTA_UNITS,
    UNITS,
    Amounts,
    Asked,
    Guarantees,
    decode_guarantee,
    encode_guarantee,
    read_amount,
    rounded_down,
    rounded_up,
    spelled,
)
from indistinct.numbers import read_count

__all__ = ["Budget", "LedgerRule", "Units", "decode_slot", "encode_slot"]

LedgerRule = BasicRule | ConcentratedRule | GaussianRule | RenyiRule
"""The rules that add numbers up; a declared plan is given as a mapping from guarantees to numbers of slots."""

Units = dict[str, int]
"""Whole units by account."""

_MOST = 2**63 - 1
_MOST_GRANTED = 10**9
_LONGEST_NAME = 200
_CACHED = 4096


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Budget:
    """What may be spent on a dataset: in all, by one analyst, or in each stretch of time.

    The default rule is zero-concentrated privacy for an (epsilon, delta). `analyst` restricts one analyst further,
    `window` (seconds) everybody in each stretch of so many seconds; the dataset's own cap holds for all of them
    together, so analysts who collude gain nothing. `parts` are disjoint parts of the data, each with this budget of
    its own: a record's part must depend on that record alone, and guarantees must hold for a record more or less in
    it, whatever the `adjacency` of the whole.

    >>> Budget("hr", epsilon=1, delta="1e-6").caps
    {'rho': 24355970, 'delta': 0}
    >>> Budget("hr", BasicRule(1, 0), analyst="ann").name
    'hr/ann'
    """

    name: str
    dataset: str
    rule: LedgerRule | DeclaredPlan
    analyst: str
    window: int
    parts: tuple[str, ...]
    adjacency: Adjacency
    slots: tuple[tuple[Promise, int], ...]
    caps: Units
    """The limit of each account, rounded down to whole units."""

    def __init__(
        self,
        dataset: str,
        rule: LedgerRule | Mapping[Any, object] | None = None,
        *,
        epsilon: object = None,
        delta: object = None,
        name: str | None = None,
        analyst: str = "",
        window: object = 0,
        parts: tuple[str, ...] = (),
        adjacency: Adjacency = "add-remove",
    ) -> None:
        if (rule is None) == (epsilon is None) or (epsilon is None) != (delta is None):
            raise InvalidParameter("a budget", rule, "have a rule, or an epsilon and a delta")
        if rule is None:
            rule = ConcentratedRule.of_claim(epsilon, delta)
        seconds = read_count("window", window)
        _check_scope(rule, analyst, seconds, parts, adjacency)
        slots = tuple(rule.items()) if isinstance(rule, Mapping) else ()
        suffix = f"/{analyst}" if analyst else f"/{seconds}s" if seconds else ""
        for field, value in {
            "dataset": _named("dataset", dataset),
            "rule": DeclaredPlan(rule) if isinstance(rule, Mapping) else _checked(rule),
            "analyst": _named("analyst", analyst) if analyst else "",
            "window": seconds,
            "parts": tuple(_named("a part", part) for part in parts),
            "adjacency": adjacency,
            "slots": tuple((slot, read_count("a number of slots", times)) for slot, times in slots),
            "name": _named("name", dataset + suffix if name is None else name),
        }.items():
            object.__setattr__(self, field, value)
        object.__setattr__(self, "caps", self._caps())
        for account, cap in self.caps.items():
            if cap > _MOST:
                raise InvalidParameter(f"a budget of {account}", cap, "be at most 9e9")
        if not any(self.caps.values()):
            raise InvalidParameter("a budget", rule, "be above 0 in a ledger's units")

    @property
    def currency(self) -> str:
        """What the rule adds up; empty for a plan."""
        return "" if isinstance(self.rule, DeclaredPlan) else self.rule.limit.currency

    @property
    def currencies(self) -> tuple[str, ...]:
        """In which of them a charge may be told, beside delta: slots of a plan have an epsilon, or a mu."""
        return ("epsilon", "mu^2") if isinstance(self.rule, DeclaredPlan) else (self.currency,)

    def _caps(self) -> Units:
        if isinstance(self.rule, DeclaredPlan):
            return {encode_slot(slot): times for slot, times in self.slots}
        limit = self.rule.limit
        return {
            limit.currency: rounded_down(limit.amount),
            "delta": rounded_down(limit.delta, DELTA_UNITS),
        }

    def units_of(self, account: str) -> int:
        """How many units make one: of delta, of a slot, of a currency."""
        if isinstance(self.rule, DeclaredPlan):
            return 1
        return DELTA_UNITS if account == "delta" else UNITS

    def prices(self, asked: Asked) -> tuple[Units, ...]:
        """What a charge may take from the accounts: the first of these that fits. Rounded up.

        InvalidParameter if the rule has no price for it.
        """
        if isinstance(asked, Amounts):
            return self._slots_of(asked) if isinstance(self.rule, DeclaredPlan) else (self._of_amounts(asked),)
        self._check_adjacency(asked)
        return _prices(self, asked)

    def credit(self, amount: object) -> Units:
        """A grant in units, rounded down: amounts by currency, a number of the currency, or slots by guarantee."""
        given = dict(amount) if isinstance(amount, Mapping) else {"": amount}
        units: Units = {}
        for key, value in given.items():
            if isinstance(self.rule, DeclaredPlan):
                if not isinstance(key, Promise) or encode_slot(key) not in self.caps:
                    raise InvalidParameter("a slot", key, f"be one of those in the plan {self.name!r}")
                units[encode_slot(key)] = read_count("a number of slots", value)
            else:
                account = key or self.currency
                if account not in self.caps:
                    raise InvalidParameter("a currency", key, f"be one of {', '.join(self.caps)} in {self.name!r}")
                units[account] = rounded_down(read_amount(account, value), self.units_of(account))
        if not units or not all(units.values()):
            raise InvalidParameter("a grant", amount, "be above 0 in a ledger's units, in each currency that it names")
        return units

    def most(self, account: str) -> int:
        """How many units an account may have after all grants: more would promise nothing."""
        if isinstance(self.rule, DeclaredPlan):
            return _MOST
        return DELTA_UNITS if account == "delta" else _MOST_GRANTED * UNITS

    def encode(self) -> dict[str, object]:
        """As it is spelled in a row."""
        return {
            "name": self.name,
            "dataset": self.dataset,
            "rule": _encode_rule(self),
            "analyst": self.analyst,
            "window": self.window,
            "parts": list(self.parts),
            "adjacency": self.adjacency,
        }

    @classmethod
    def decode(cls, encoded: Mapping[str, Any]) -> Budget:
        """The budget from a row."""
        return cls(
            encoded["dataset"],
            _decode_rule(encoded["rule"]),
            name=encoded["name"],
            analyst=encoded["analyst"],
            window=encoded["window"],
            parts=tuple(encoded["parts"]),
            adjacency=encoded["adjacency"],
        )

    def _of_amounts(self, asked: Amounts) -> Units:
        named = dict(asked.by_currency)
        if not self.currency or not (self.currency in named or "" in named):
            raise InvalidParameter(
                "a cost",
                ", ".join(name or "a number" for name in named),
                f"name its {self.currency or 'guarantee'} for the budget {self.name!r}",
            )
        amount = named.get(self.currency, named.get("", Fraction(0)))
        return {
            self.currency: rounded_up(amount),
            "delta": rounded_up(named.get("delta", Fraction(0)), DELTA_UNITS),
        }

    def _slots_of(self, asked: Amounts) -> tuple[Units, ...]:
        """The slots that allow an epsilon with its delta, or a mu^2."""
        match dict(asked.by_currency):
            case {"epsilon": epsilon, **others} if set(others) <= {"delta"}:
                return _prices(self, Guarantees((ApproximateDP(epsilon, others.get("delta", 0)),)))
            case {"mu^2": square, **others} if not others:
                fitting = [slot for slot, _ in self.slots if isinstance(slot, GaussianDP) and slot.mu**2 >= square]
                return tuple({encode_slot(slot): 1} for slot in sorted(fitting, key=lambda slot: slot.mu))
        named = ", ".join(name or "a number" for name, _ in asked.by_currency)
        raise InvalidParameter("a cost", named, f"name its guarantee for the budget {self.name!r}")

    def _check_adjacency(self, asked: Guarantees) -> None:
        wanted = "add-remove" if self.parts else self.adjacency  # within a part: see `Partition`
        holds = asked.adjacency.lower().replace("_", "-")
        if holds and holds != wanted:
            raise InvalidParameter("a charge", holds, f"hold for {wanted} neighbours in {self.name!r}")


@lru_cache(_CACHED)
def _prices(budget: Budget, asked: Guarantees) -> tuple[Units, ...]:
    if isinstance(budget.rule, DeclaredPlan):
        slots = [slot for promise in asked.promises for slot in budget.rule.slots_for(promise)]
        return tuple({encode_slot(slot): 1} for slot in dict.fromkeys(slots))
    return (min(_costs(budget.rule, asked), key=lambda units: units[budget.currency]),)


def _costs(rule: LedgerRule, asked: Guarantees) -> Iterator[Units]:
    refusals = []
    for promise in asked.promises:
        try:
            cost = rule.cost(promise)
        except InvalidParameter as refusal:
            refusals.append(refusal)
        else:
            yield {cost.currency: rounded_up(cost.amount), "delta": rounded_up(cost.delta, DELTA_UNITS)}
    if len(refusals) == len(asked.promises):
        raise refusals[0]


def encode_slot(slot: Promise) -> str:
    """The account of a plan's slots of one kind."""
    return canonical(encode_guarantee(slot))


def decode_slot(account: str) -> Promise:
    """The guarantee of a plan's account."""
    return decode_guarantee(json.loads(account))


def _encode_rule(budget: Budget) -> dict[str, object]:
    match budget.rule:
        case BasicRule(claim=claim):
            return {"tag": "basic", "claim": encode_guarantee(claim)}
        case ConcentratedRule(rho, black_box, claim):
            return {"tag": "zcdp", "rho": spelled(rho), **_beside(black_box, claim)}
        case GaussianRule(mu, black_box, claim):
            return {"tag": "gaussian", "mu": spelled(mu), **_beside(black_box, claim)}
        case RenyiRule(order, divergence, black_box, claim):
            levels = {"order": spelled(order), "divergence": spelled(divergence)}
            return {"tag": "renyi", **levels, **_beside(black_box, claim)}
        case DeclaredPlan():
            return {"tag": "plan", "slots": [[encode_guarantee(slot), times] for slot, times in budget.slots]}


def _beside(black_box: Fraction, claim: Claim) -> dict[str, object]:
    wanted = encode_guarantee(claim) if isinstance(claim, ApproximateDP) else None
    return {"black_box": spelled(black_box), "claim": wanted}


def _decode_rule(encoded: Mapping[str, Any]) -> LedgerRule | dict[Any, object]:
    match encoded:
        case {"tag": "basic", "claim": [_, epsilon, delta]}:
            return BasicRule(epsilon, delta)
        case {"tag": "zcdp", "rho": rho, "black_box": black_box, "claim": claim}:
            plain = ConcentratedRule.of_rho(rho, black_box=black_box)
            return ConcentratedRule(plain.rho, plain.black_box, _claim(claim, plain.claim))
        case {"tag": "gaussian", "mu": mu, "black_box": black_box, "claim": claim}:
            simple = GaussianRule.of_mu(mu, black_box=black_box)
            return GaussianRule(simple.mu, simple.black_box, _claim(claim, simple.claim))
        case {"tag": "renyi", "order": order, "divergence": divergence, "black_box": black_box, "claim": claim}:
            bare = RenyiRule.of_divergence(order, divergence, black_box=black_box)
            return RenyiRule(bare.order, bare.divergence, bare.black_box, _claim(claim, bare.claim))
        case {"tag": "plan", "slots": slots}:
            return {decode_guarantee(slot): times for slot, times in slots}
    raise InvalidParameter("a budget's rule", encoded.get("tag"), "be one that this version knows")


def _claim(encoded: list[str] | None, own: Claim) -> Claim:
    return decode_guarantee(encoded) if encoded else own


def _checked(rule: object) -> LedgerRule:
    if not isinstance(rule, BasicRule | ConcentratedRule | GaussianRule | RenyiRule):
        raise InvalidParameter("a rule", rule, "be a rule of indistinct.composition.filters, or a mapping of slots")
    return rule


def _check_scope(rule: object, analyst: str, seconds: int, parts: tuple[str, ...], adjacency: str) -> None:
    if adjacency not in ("add-remove", "replace-one"):
        raise InvalidParameter("adjacency", adjacency, "be 'add-remove' or 'replace-one'")
    if analyst and seconds:
        raise InvalidParameter("a budget", analyst, "be for an analyst or for a window of time, not for both")
    if len(set(parts)) != len(parts):
        raise InvalidParameter("parts", parts, "be different names")
    if parts and isinstance(rule, Mapping) and adjacency == "replace-one":
        raise InvalidParameter("adjacency", adjacency, "be 'add-remove' for a declared plan in parts")


def _named(what: str, name: object) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise InvalidParameter(what, name, f"be printable text of at most {_LONGEST_NAME} characters")
    return name
