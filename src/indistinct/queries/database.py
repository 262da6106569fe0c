"""A private database: questions in SQL, answers with noise, every one charged before it exists."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from types import TracebackType
from typing import Self, Unpack

from sqlglot import exp

from indistinct.errors import DataUnavailable, InvalidParameter
from indistinct.ledger import Charge, Ledger, Standing
from indistinct.ledger.budgets import decode_slot
from indistinct.queries.answers.allotment import Allotment, allot
from indistinct.queries.answers.answer import Answer, Receipt, answer_of
from indistinct.queries.answers.explanation import Explanation, bounds_told, explain, mechanisms_told
from indistinct.queries.answers.peeling import allot_top
from indistinct.queries.answers.release import decode, encode, exact_of, release
from indistinct.queries.answers.wanted import allot_for_error
from indistinct.queries.engines.engine import Engine
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.fluent import Question
from indistinct.queries.options import Asking, Options
from indistinct.queries.plans.plan import Plan
from indistinct.queries.policy.terms import Policy
from indistinct.queries.pricing import Wish, price_for
from indistinct.queries.questions.planner import plan_question
from indistinct.queries.questions.reading import Spoken, read_statement, read_tree
from indistinct.queries.refusals import QueryRefused
from indistinct.queries.watching import Watching, start_watching

__all__ = ["PrivateDatabase"]


@dataclass(frozen=True, slots=True)
class _Prepared:
    spoken: Spoken
    plan: Plan
    allotment: Allotment
    statement: str


@dataclass(slots=True)
class PrivateDatabase:
    """Tables that are only asked through noise; made by `indistinct.open`.

    Guaranteed: all answers together keep the ledger's promise for the unit of privacy, where two databases are
    neighbours if one has all rows of one more unit. An answer is charged, durably, before the data are read; a question
    that was answered before is answered the same, for free. Refusals depend on the question and the policy alone.
    """

    name: str
    policy: Policy
    engine: Engine
    ledger: Ledger
    analyst: str | None = None
    questions: int = 10
    """Without a cost of its own, a question takes the budget's share of one among so many."""
    seconds: float = 600.0
    """After which an engine is stopped; what was charged stays charged."""
    _closing: list[Callable[[], object]] = field(default_factory=list, repr=False)
    _history: list[Receipt] = field(default_factory=list, repr=False)

    def sql(self, text: str | exp.Expression, *, fresh: bool = False, **options: Unpack[Options]) -> Answer:
        """The answer to a question in SQL.

        What it costs: `epsilon`, for noise that is private without any delta; or both `epsilon` and `delta`, for as
        much noise as keeps these two; or an amount of the currency in which the budget counts, `rho` or `mu`. `delta`
        alone is for the keys of private groups. `groups` and `rows` bound how much of a unit is used, within the
        owner's bounds; `keys` declares the groups of a column. The same question again is free; `fresh` asks, and
        charges, anew.
        """
        prepared = self._prepare(text, Asking(**options))
        plan, allotment = prepared.plan, prepared.allotment
        key = self._key(prepared, fresh=fresh)
        charge = self.ledger.charge(
            allotment.cost, key=key, request=plan.fingerprint(), dataset=self.name, analyst=self.analyst
        )
        again = charge.answered
        sealed = charge.sealed if again else self._answered(charge, prepared)
        receipt = Receipt(
            key,
            allotment.cost,
            mechanisms_told(plan, allotment),
            bounds_told(plan),
            self.remaining,
            again,
            self.ledger.receipt(key),
        )
        self._history.append(receipt)
        return answer_of(plan, allotment, decode(sealed), receipt)

    def explain(self, text: str | exp.Expression, **options: Unpack[Options]) -> Explanation:
        """What `sql` would do, with the same arguments: nothing is charged and no data are touched."""
        prepared = self._prepare(text, Asking(**options))
        return explain(prepared.plan, prepared.allotment, prepared.statement)

    def rehearse(self, text: str | exp.Expression, **options: Unpack[Options]) -> Answer:
        """An answer from rows that are made up from the policy alone: free, of the form of a real one, and untrue."""
        from indistinct.queries.rehearsal import made_up

        prepared = self._prepare(text, Asking(**options))
        plan, allotment = prepared.plan, prepared.allotment
        stage = made_up(self.policy)
        try:
            exact = exact_of(plan, stage.run(statement_of(plan, "duckdb", 1), seconds=self.seconds))
        finally:
            stage.close()
        told = mechanisms_told(plan, allotment)
        receipt = Receipt("", allotment.cost, told, bounds_told(plan), self.remaining, True)
        return answer_of(plan, allotment, release(plan, allotment, exact, all_groups=True), receipt)

    def watch(
        self, text: str, threshold: object, *, epsilon: object, groups: int | None = None, rows: int | None = None
    ) -> Watching:
        """Tells, whenever it is asked, whether a count or sum is above a threshold by now: paid for once.

        The whole stream is epsilon-private, for each unit of privacy, however often it is asked and however the data
        have changed meanwhile.
        """
        if epsilon is None:
            raise InvalidParameter("epsilon", epsilon, "be said of a watch, which is paid for once")
        prepared = self._prepare(text, Asking(epsilon=epsilon, groups=groups, rows=rows))
        price = price_for(Wish(epsilon=epsilon), self._standings(), self.questions, public=True)
        return start_watching(self, prepared.spoken.text, prepared.plan, prepared.statement, threshold, price)

    def table(self, name: str) -> Question:
        """A question about a table, put together step by step: `database.table("sales").group_by("region").count()`."""
        return Question(self, name)

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left of the budget, exactly, in its currencies; for an analyst, the least of what concerns them.

        Of a plan, the number of slots of each kind.
        """
        left: dict[str, Fraction] = {}
        for standing in self._standings():
            account = standing.account if standing.budget.currency else repr(decode_slot(standing.account))
            left[account] = min(standing.left, left.get(account, standing.left))
        return left

    @property
    def history(self) -> tuple[Receipt, ...]:
        """The receipts of all answers that this object gave; the ledger holds those of all others."""
        return tuple(self._history)

    def close(self) -> None:
        """Ends all use."""
        self.engine.close()
        while self._closing:
            self._closing.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(self, text: str | exp.Expression, asking: Asking) -> _Prepared:
        spoken = read_tree(text) if isinstance(text, exp.Expression) else read_statement(text)
        plan = plan_question(spoken, self.policy, asking.wishes(spoken))
        _check_unit(spoken, plan)
        wish = asking.wish(spoken)
        _check_options(spoken, plan, wish)
        price = price_for(wish, self._standings(), self.questions, public=plan.public)
        if spoken.target is not None:
            allotment = allot_for_error(plan, spoken.target, price)
        else:
            allotment = allot(plan, price) if plan.top is None else allot_top(plan, price)
        least = allotment.selection.first if allotment.selection is not None else 1
        return _Prepared(spoken, plan, allotment, statement_of(plan, self.engine.dialect, least))

    def _answered(self, charge: Charge, prepared: _Prepared) -> bytes:
        """Runs the engine, adds the noise, and seals: whatever goes wrong is charged, and said the same way."""
        with charge:
            rows = self.engine.run(prepared.statement, seconds=self.seconds)
            exact = exact_of(prepared.plan, rows)
            charge.seal(encode(release(prepared.plan, prepared.allotment, exact)))
        return charge.sealed

    def _standings(self) -> list[Standing]:
        return [
            each
            for each in self.ledger.standings()
            if each.budget.dataset == self.name and each.budget.analyst in {"", self.analyst or ""}
        ]

    def _key(self, prepared: _Prepared, *, fresh: bool) -> str:
        told = (
            prepared.plan.fingerprint(),
            prepared.allotment.cost,
            prepared.allotment.noises,
            prepared.allotment.quantile_epsilon,
            prepared.allotment.selection,
            prepared.allotment.trees,
            prepared.allotment.peel,
            self.name,
            self.analyst,
            self.engine.dialect,
            self._snapshot(),
            secrets.token_hex(16) if fresh else "",
        )
        return "query " + hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()

    def _snapshot(self) -> str:
        try:
            return self.engine.snapshot()
        except Exception:
            raise DataUnavailable(
                f"The data of {self.name!r} cannot be read now, so nothing was charged. Ask again when they are back."
            ) from None


def _check_options(spoken: Spoken, plan: Plan, wish: Wish) -> None:
    """Refuses what would otherwise be passed over."""
    costs = [name for name in ("epsilon", "rho", "mu") if getattr(wish, name) is not None]
    if spoken.target is not None and costs and plan.public:
        raise QueryRefused(
            spoken.text, None, f"WITH ERROR decides the cost, and so does {costs[0]}.", "Leave one of them out."
        )
    strategy = spoken.options.get("group_selection_strategy", "").upper()
    if strategy not in {"", "LAPLACE_THRESHOLD", "PUBLIC_GROUPS"} or (strategy == "PUBLIC_GROUPS" and not plan.public):
        raise QueryRefused(
            spoken.text, None, f"The groups are not chosen by {strategy}.", "Declare public groups with keys=."
        )


def _check_unit(spoken: Spoken, plan: Plan) -> None:
    named = spoken.options.get("privacy_unit_column")
    own = getattr(plan.unit, "called", "")
    if named is not None and named.casefold() != str(own).casefold():
        raise QueryRefused(
            spoken.text, None, f"The unit of privacy is not {named!r}.", "The owner of the data names it."
        )
