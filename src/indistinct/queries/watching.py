"""Tell me when: a question asked again and again, answered only by whether it is above a threshold yet."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from indistinct.errors import AnswerFailed, InvalidParameter
from indistinct.mechanisms import AboveThreshold
from indistinct.numbers import read_number
from indistinct.queries.answers.prices import Price
from indistinct.queries.answers.release import exact_of
from indistinct.queries.plans.measures import change
from indistinct.queries.plans.plan import Plan
from indistinct.queries.plans.results import Count, Total
from indistinct.queries.refusals import QueryRefused

if TYPE_CHECKING:
    from indistinct.queries.database import PrivateDatabase

__all__ = ["Watching", "start_watching"]


class _Stream(Protocol):
    def ask(self, value: float | Fraction) -> bool: ...


@dataclass(slots=True)
class Watching:
    """A stream of the same question; made by `PrivateDatabase.watch`, and paid for once.

    Each `ask` reads the data as they are now, and tells whether the count or sum is above the threshold, both with
    noise (AboveThreshold; Dwork and Roth, Theorem 3.23). However often it is asked, the cost is the same; the first
    time that it is above is the last. If the engine fails, the stream is over.
    """

    charge: str
    epsilon: Fraction
    _database: PrivateDatabase = field(repr=False)
    _plan: Plan = field(repr=False)
    _statement: str = field(repr=False)
    _stream: _Stream = field(repr=False)
    _step: Fraction = field(repr=False)
    over: bool = False

    def ask(self) -> bool:
        """Whether it is above the threshold now."""
        if self.over:
            raise InvalidParameter("the watch", self.charge, "not be over", instead="Start another one.")
        try:
            rows = self._database.engine.run(self._statement, seconds=self._database.seconds)
            number = exact_of(self._plan, rows).numbers.get((), (0,))[0]
            above = bool(self._stream.ask(number * self._step))
        except Exception:
            self.over = True
            raise AnswerFailed from None
        self.over = above
        return above


def start_watching(
    database: PrivateDatabase, text: str, plan: Plan, statement: str, threshold: object, price: Price
) -> Watching:
    """Charges for the whole stream, and starts it."""
    outcome = plan.outputs[0].outcome if len(plan.outputs) == 1 else None
    if plan.keys or len(plan.measures) != 1 or not isinstance(outcome, Count | Total):
        raise QueryRefused(text, None, "One count or sum is watched.", "Write SELECT COUNT(*) FROM ... WHERE ...")
    step = outcome.step if isinstance(outcome, Total) else Fraction(1)
    level = price.amount
    mechanism = AboveThreshold(level, change(plan.measures[0], plan.contribution) * step)
    stream = mechanism.start(read_number("threshold", threshold))
    key = f"watch {secrets.token_hex(16)}"
    charge = database.ledger.charge(
        mechanism.loss, key=key, request=plan.fingerprint(), dataset=database.name, analyst=database.analyst
    )
    with charge:
        charge.seal({"watch": 1})
    return Watching(key, level, database, plan, statement, stream, step)
