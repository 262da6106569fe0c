r"""The ledger of a data set: found, or created with the budgets that its owner wants and the rule that suits them.

Which rule a budget has is fixed when it is created. With N questions expected, of which each may concern G groups of a
unit, a count has the standard deviation sqrt(2) G N / epsilon, about, if epsilons add up, and sqrt(G N) / mu if squares
of Gaussian levels do: the first is less for few questions, the second for many.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

from indistinct.composition.filters import BasicRule, ConcentratedRule, DeclaredPlan, GaussianRule, RenyiRule
from indistinct.errors import InvalidParameter, LedgerUnavailable
from indistinct.ledger import Budget as LedgerBudget
from indistinct.ledger import Ledger, Protected
from indistinct.numbers import read_number
from indistinct.queries.engines.holding import is_address
from indistinct.queries.policy.terms import Budget, Policy, PrivateTable, RuleName
from indistinct.queries.protection import check_protected, protected_by

__all__ = ["ledger_for", "suited_rule"]


def ledger_for(
    ledger: Ledger | str | Path | None,
    sources: Mapping[str, object],
    dataset: str,
    wanted: Budget | None,
    policy: Policy,
    questions: int | None,
    closing: list[Callable[[], object]],
) -> Ledger:
    """The ledger at an address, beside the first file, or in a temporary folder; `closing` tells how to end its use."""
    protects = protected_by(policy, sources)
    budgets: list[LedgerBudget] = []
    if wanted is not None:
        budgets = _budgets(dataset, wanted, policy, wanted.rule or suited_rule(wanted, questions, _groups(policy)))
    if isinstance(ledger, Ledger):
        check_protected(ledger, dataset, protects)
        if wanted is not None:
            _check(ledger, dataset, wanted, policy, budgets, protects)
        return ledger
    private = [sources[each.table] for each in protects]
    own = ledger is None
    address = str(ledger) if ledger is not None else _beside([each for each in private if isinstance(each, str | Path)])
    if not address:
        folder = tempfile.TemporaryDirectory(prefix="indistinct-")
        closing.append(folder.cleanup)
        address = str(Path(folder.name) / "temporary.ledger")
    exists = is_address(address) or Path(address).exists()
    if wanted is None and not exists:
        raise InvalidParameter(
            "epsilon", None, "be given where there is no ledger yet", instead=f"None is at {address}."
        )
    book = _opened(address, budgets, protects) if exists else Ledger.create(address, *budgets, protects=protects)
    closing.append(book.close)
    check_protected(book, dataset, protects)
    if own and not is_address(address):
        _check_alone(book, dataset)
    if exists and wanted is not None:
        _check(book, dataset, wanted, policy, budgets, protects)
    return book


def _beside(sources: list[str | Path]) -> str:
    """Where the ledger of these files or tables is; empty if there are none.

    It is beside the first file, unless it is beside another one of them already: the order of a policy's tables does
    not matter.
    """
    places = [
        source.partition("#")[0]
        if isinstance(source, str) and is_address(source)
        else f"{Path(source).expanduser().resolve()}.ledger"
        for source in sources
    ]
    there = sorted({place for place in places if not is_address(place) and Path(place).exists()})
    if len(there) > 1:
        raise InvalidParameter("ledger", None, "be given", instead=f"There are several already: {', '.join(there)}.")
    return next(iter([*there, *places]), "")


def _opened(address: str, budgets: list[LedgerBudget], protects: tuple[Protected, ...]) -> Ledger:
    """A ledger that is there; in a database it is made if there is none."""
    try:
        return Ledger.open(address)
    except LedgerUnavailable:
        if not budgets or not is_address(address):
            raise
    try:
        return Ledger.create(address, *budgets, protects=protects)
    except LedgerUnavailable:  # somebody was quicker, or it cannot be reached
        return Ledger.open(address)


def _check_alone(book: Ledger, dataset: str) -> None:
    """Refuses a second budget beside a file, whoever made the first."""
    datasets = sorted({each.budget.dataset for each in book.standings()})
    if datasets and dataset not in datasets:
        raise InvalidParameter(
            "name",
            dataset,
            f"be {datasets[0]!r}, whose budget is beside the file",
            instead="Two budgets for the same rows would promise less than either says.",
        )


def suited_rule(wanted: Budget, questions: int | None, groups: int) -> RuleName:
    """The rule under which counts have the least noise, if it is known how many questions there will be.

    Without knowing, zero-concentrated privacy: it has good prices for every kind of question.

    >>> suited_rule(Budget(epsilon=1, delta=1e-6), 1, 1), suited_rule(Budget(epsilon=1, delta=1e-6), 50, 1)
    ('basic', 'gaussian')
    """
    if wanted.delta == 0:
        return "basic"
    if questions is None:
        return "zcdp"
    gaussian = _rule(wanted, "gaussian")
    assert isinstance(gaussian, GaussianRule)  # noqa: S101  # as it was asked for
    basic = 1 / (math.sqrt(2) * math.sinh(float(wanted.epsilon) / (2 * groups * questions)))
    return "basic" if basic < math.sqrt(groups * questions) / float(gaussian.mu) else "gaussian"


def _groups(policy: Policy) -> int:
    return max(table.contribution.groups for table in policy.tables if isinstance(table, PrivateTable))


def _rule(wanted: Budget, name: RuleName) -> BasicRule | ConcentratedRule | GaussianRule:
    """Half of delta is set aside for private keys; where deltas add up there is one account for all."""
    delta = read_number("delta", wanted.delta)
    match name:
        case "basic":
            return BasicRule(wanted.epsilon, delta)
        case "gaussian":
            return GaussianRule.of_claim(wanted.epsilon, delta, black_box=delta / 2)
        case "zcdp":
            return ConcentratedRule.of_claim(wanted.epsilon, delta, black_box=delta / 2)


def _budgets(dataset: str, wanted: Budget, policy: Policy, rule: RuleName) -> list[LedgerBudget]:
    """That of the data set, and one for every analyst, as a ledger wants it if there is one for any."""
    return [
        LedgerBudget(dataset, _rule(wanted, rule)),
        *(
            LedgerBudget(dataset, _rule(each.budget or policy.budget, rule), analyst=each.name)
            for each in policy.analysts
        ),
    ]


def _check(
    book: Ledger,
    dataset: str,
    wanted: Budget,
    policy: Policy,
    budgets: list[LedgerBudget],
    protects: tuple[Protected, ...],
) -> None:
    """What is wanted has to be what the ledger promises, by whichever rule; what is new in it gets its budgets."""
    known = {standing.budget.name: standing.budget for standing in book.standings()}
    own = known.get(dataset)
    if own is None:
        if dataset in {each.dataset for each in known.values()}:
            raise InvalidParameter("the ledger", dataset, "hold the budget of this data set")
        for budget in budgets:
            book.add(budget, protects=protects)
        return
    rule = _named(own)
    if rule is None or (wanted.rule is not None and wanted.rule != rule):
        if wanted.rule is not None or not _keeps(own, wanted):
            _differ(own)
        return
    for budget in _budgets(dataset, wanted, policy, rule):
        found = known.get(budget.name)
        if found is None:
            book.add(budget, protects=protects)
        elif found.encode() != budget.encode():
            _differ(found)


def _named(budget: LedgerBudget) -> RuleName | None:
    match budget.rule:
        case BasicRule():
            return "basic"
        case ConcentratedRule():
            return "zcdp"
        case GaussianRule():
            return "gaussian"
    return None


def _keeps(budget: LedgerBudget, wanted: Budget) -> bool:
    """Whether a plan, or a Renyi budget, promises what is wanted."""
    match budget.rule:
        case DeclaredPlan():
            return Fraction(budget.rule.delta(wanted.epsilon).upper) <= Fraction(wanted.delta)
        case RenyiRule(claim=claim):
            own = (getattr(claim, "epsilon", None), getattr(claim, "delta", None))
            return own == (read_number("epsilon", wanted.epsilon), read_number("delta", wanted.delta))
    return False


def _differ(budget: LedgerBudget) -> None:
    raise InvalidParameter(
        "epsilon and delta",
        budget.name,
        "be those of the budget that is in the ledger already",
        instead="Leave them out to go on with it.",
    )
