"""Filters: exact at the boundary, whole under threads, quick, and clear about what they refuse."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from indistinct import ApproximateDP, PureDP
from indistinct.composition.conversions import as_gaussian, as_renyi, as_zero_concentrated, delta_at
from indistinct.composition.filters import (
    Approximately,
    BasicFilter,
    BasicRule,
    ConcentratedFilter,
    ConcentratedRule,
    DeclaredPlan,
    Filter,
    GaussianFilter,
    GaussianRule,
    PrivacyFilter,
    RenyiFilter,
    RenyiRule,
    Rule,
    Spending,
    charge_together,
)
from indistinct.composition.filters.tally import Tally
from indistinct.composition.guarantees import GaussianDP, Promise, RenyiDP, ZeroConcentratedDP
from indistinct.errors import BudgetExceeded, InvalidParameter

LEAST = Fraction(1, 10**40)

WHOLE: list[tuple[Callable[[], Filter], Promise, int, Promise]] = [
    (lambda: BasicFilter(1, 0), PureDP("0.1"), 10, PureDP(LEAST)),
    (lambda: BasicFilter(1, "1e-6"), ApproximateDP("0.1", "1e-7"), 10, ApproximateDP(0, LEAST)),
    (lambda: BasicFilter(0.1 * 3, 0), PureDP(0.1), 3, PureDP("1e-15")),
    (lambda: Filter(ConcentratedRule.of_rho("0.3")), ZeroConcentratedDP("0.1"), 3, ZeroConcentratedDP(LEAST)),
    (lambda: Filter(ConcentratedRule.of_rho("0.5")), GaussianDP("0.1"), 100, PureDP("1e-18")),
    (lambda: Filter(RenyiRule.of_divergence(8, 4)), ZeroConcentratedDP("0.05"), 10, RenyiDP(9, LEAST)),
    (lambda: GaussianFilter("0.3"), GaussianDP("0.1"), 9, GaussianDP("1e-19")),
    (lambda: GaussianFilter(1, black_box="0.3"), ApproximateDP(0, "0.1"), 3, ApproximateDP(0, LEAST)),
]


@pytest.mark.parametrize(("new", "guarantee", "times", "more"), WHOLE)
def test_all_of_it_can_be_spent_and_not_the_least_bit_more(
    new: Callable[[], Filter], guarantee: Promise, times: int, more: Promise
) -> None:
    budget = new()
    for _ in range(times):
        assert budget.fits(guarantee)
        budget.charge(guarantee)
    left = budget.remaining
    assert left.amount == 0 or left.delta == 0
    assert not budget.fits(more)
    with pytest.raises(BudgetExceeded):
        budget.charge(more)
    assert budget.remaining == left
    budget.charge(PureDP(0))


@pytest.mark.parametrize(
    ("whole", "part", "times"), [("ln(3)", "ln(3)", 1), ("ln(9)", "ln(3)", 2), ("ln(27)", "ln(9)", 1)]
)
def test_a_logarithm_is_spent_whole(whole: str, part: str, times: int) -> None:
    budget = BasicFilter(whole, 0)
    for _ in range(times):
        budget.charge(PureDP(part))
    assert not budget.fits(PureDP(part))
    assert budget.fits(PureDP("ln(3)")) == (whole == "ln(27)")
    assert not BasicFilter("ln(3)", 0).fits(PureDP("ln(3.0000000001)"))
    assert not BasicFilter("ln(3)", 0).fits(PureDP("1.0986122886681098"))
    assert BasicFilter("ln(3)", 0).fits(PureDP("1.0986122886681096"))


def test_a_float_means_itself() -> None:
    """0.1 + 0.1 + 0.1 is more than 0.3, and 3 * 0.1 as floats is more than both."""
    budget = BasicFilter("0.3", 0)
    budget.charge(PureDP(0.1))
    budget.charge(PureDP(0.1))
    assert not budget.fits(PureDP(0.1))
    assert budget.fits(PureDP(0.09999999999999998))


@pytest.mark.parametrize("epsilon", ["0.001", "0.7", "3", "ln(3)"])
def test_irrational_costs_are_rounded_up_by_next_to_nothing(epsilon: str) -> None:
    cases: list[tuple[Rule, Fraction]] = [
        (ConcentratedRule.of_rho(10), as_zero_concentrated(PureDP(epsilon)).rho),
        (RenyiRule.of_divergence(8, 10), as_renyi(PureDP(epsilon), 8).epsilon),
        (GaussianRule.of_mu(10), as_gaussian(PureDP(epsilon)).mu ** 2),
    ]
    for rule, true in cases:
        assert rule.cost(PureDP(epsilon)).amount == true
        assert true.denominator.bit_length() < 300
    assert BasicRule(10, 0).cost(PureDP("ln(3)")).amount > Fraction("1.098612288668109691395245236922")


def test_the_error_says_what_was_asked_and_what_is_left() -> None:
    budget = BasicFilter("1/4", "1e-6", scope="hr")
    with pytest.raises(BudgetExceeded) as raised:
        budget.charge(PureDP("0.3"))
    error = raised.value
    assert (error.asked, error.left, error.scope, error.currency) == (Fraction(3, 10), Fraction(1, 4), "hr", "epsilon")
    assert repr(error) == "BudgetExceeded(asked=3/10, left=1/4, scope='hr')"
    assert str(error).startswith("3/10 of epsilon is asked, but 1/4 is left in 'hr'.")
    crossed = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    assert (repr(crossed), str(crossed)) == (repr(error), str(error))
    with pytest.raises(BudgetExceeded, match="of delta is asked, but 1/1000000 is left"):
        budget.charge(ApproximateDP("0.1", "1e-5"))
    with pytest.raises(BudgetExceeded, match=r"about 0\.05825"):
        Filter(ConcentratedRule.of_rho("0.001")).charge(PureDP("0.343"))


def test_a_black_box_is_refused_where_no_delta_is_set_aside() -> None:
    budget = ConcentratedFilter(1, "1e-6")
    with pytest.raises(BudgetExceeded):
        budget.charge(ApproximateDP("0.01", "1e-9"))
    assert budget.spent == Spending("rho", Fraction(0))


EVERY: list[Callable[[], Any]] = [
    lambda: BasicFilter(1, "1e-6"),
    lambda: ConcentratedFilter(1, "1e-6", black_box="1e-7"),
    lambda: RenyiFilter(32, 1, "1e-6", black_box="1e-7"),
    lambda: GaussianFilter(1, black_box="1e-7"),
    lambda: DeclaredPlan({PureDP("0.1"): 50, ApproximateDP("0.01", "1e-8"): 10}),
]


@pytest.mark.parametrize("new", EVERY)
def test_every_filter_keeps_the_protocol(new: Callable[[], PrivacyFilter]) -> None:
    budget = new()
    claim, promised = budget.claim, (str(budget.delta(1)), str(budget.epsilon("1e-6")))
    assert budget.fits(PureDP("0.01"))
    budget.charge(PureDP("0.01"))
    budget.charge(ApproximateDP("0.01", "1e-8"))
    assert budget.claim == claim
    assert (str(budget.delta(1)), str(budget.epsilon("1e-6"))) == promised
    assert budget.theorem in budget.explain()
    assert "Promises" in budget.explain()
    assert type(budget).__name__ in repr(budget)


@pytest.mark.parametrize("new", EVERY)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_budget_is_not_copied(new: Callable[[], PrivacyFilter], duplicate: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="not copied"):
        duplicate(new())


@pytest.mark.parametrize("new", EVERY)
@pytest.mark.parametrize("thing", [None, "0.1", 0.1, [], Spending("rho", Fraction(1))])
def test_only_guarantees_are_charged(new: Callable[[], PrivacyFilter], thing: Any) -> None:
    with pytest.raises(InvalidParameter):
        new().charge(thing)
    with pytest.raises(InvalidParameter):
        new().fits(thing)


@pytest.mark.parametrize(
    ("budget", "guarantee", "reason"),
    [
        (BasicFilter(1, 0), ZeroConcentratedDP(1), "Choose a delta"),
        (BasicFilter(1, 0), GaussianDP(1), "Choose a delta"),
        (ConcentratedFilter(1, "1e-6"), RenyiDP(2, 1), "one order"),
        (RenyiFilter(32, 1, "1e-6"), RenyiDP(31, "0.1"), "lower order"),
        (GaussianFilter(1), ZeroConcentratedDP("0.1"), "no trade-off curve"),
        (GaussianFilter(1), RenyiDP(2, 1), "no trade-off curve"),
        (DeclaredPlan({PureDP(1): 1}), ZeroConcentratedDP(1), "most telling"),
    ],
)
def test_what_has_no_price_is_refused_with_the_reason(budget: PrivacyFilter, guarantee: Promise, reason: str) -> None:
    before = budget.remaining
    with pytest.raises(InvalidParameter, match=reason):
        budget.charge(guarantee)
    assert budget.remaining == before


@pytest.mark.parametrize(
    "bad",
    [
        lambda: BasicFilter(-1, 0),
        lambda: BasicFilter(1, 2),
        lambda: BasicFilter(float("nan"), 0),
        lambda: ConcentratedFilter(1, 0),
        lambda: ConcentratedFilter(1, 1),
        lambda: ConcentratedFilter(1, "1e-6", black_box="1e-6"),
        lambda: ConcentratedFilter(1, "1e-6", black_box=-1),
        lambda: ConcentratedRule.of_rho(-1),
        lambda: RenyiFilter(1, 1, "1e-6"),
        lambda: RenyiFilter(2, 1, "1e-6"),
        lambda: GaussianFilter("x"),
        lambda: GaussianRule.of_claim(1, 0),
        lambda: DeclaredPlan({}),
        lambda: DeclaredPlan({PureDP(1): -1}),
        lambda: DeclaredPlan([PureDP(1)]),  # type: ignore[arg-type]  # refused
        lambda: DeclaredPlan({ZeroConcentratedDP(1): 1}),
    ],
)
def test_bad_budgets_are_refused(bad: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter):
        bad()


def test_the_budget_is_what_the_claim_allows() -> None:
    rules: list[Rule] = [
        ConcentratedRule.of_claim(1, "1e-6", black_box="1e-7"),
        RenyiRule.of_claim(32, 1, "1e-6", black_box="1e-7"),
        GaussianRule.of_claim(1, "1e-6", black_box="1e-7"),
    ]
    for rule in rules:
        used = delta_at(rule.core, 1)
        assert used.lower <= 9e-7
        assert used.upper == pytest.approx(9e-7, rel=1e-14)
        assert rule.limit.delta == Fraction(1, 10**7)
        assert Filter(rule).delta(1).upper == pytest.approx(1e-6, rel=1e-14)
        assert Filter(rule).epsilon("1e-6").upper == pytest.approx(1, rel=1e-14)
        assert Filter(rule).epsilon("1e-8").upper == float("inf")


def test_claims_in_the_currency_itself() -> None:
    assert Filter(ConcentratedRule.of_rho("0.5")).claim == ZeroConcentratedDP("0.5")
    claim = Filter(ConcentratedRule.of_rho("0.5", black_box="1e-7")).claim
    assert claim == Approximately(ZeroConcentratedDP("0.5"), Fraction(1, 10**7))
    assert repr(claim) == "Approximately(ZeroConcentratedDP(0.5), '1e-07')"
    assert GaussianFilter(2).claim == GaussianDP(2)
    assert Filter(RenyiRule.of_divergence(8, 2)).claim == RenyiDP(8, 2)


def test_concurrent_use_is_allowed_where_it_is_proven() -> None:
    budgets: list[PrivacyFilter] = [
        BasicFilter(1, "1e-6", concurrent=True),
        ConcentratedFilter(1, "1e-6", concurrent=True),
        RenyiFilter(32, 1, "1e-6", concurrent=True),
        GaussianFilter(1, black_box="1e-7", concurrent=True),
        DeclaredPlan({PureDP(1): 1}, concurrent=True),
    ]
    for budget in budgets:
        assert "may be used concurrently" in budget.explain()
    with pytest.raises(InvalidParameter, match="not for the two together"):
        ConcentratedFilter(1, "1e-6", black_box="1e-7", concurrent=True)
    with pytest.raises(InvalidParameter, match="not proven"):
        RenyiFilter(32, 1, "1e-6", black_box="1e-7", concurrent=True)
    assert "One mechanism ends before the next begins" in ConcentratedFilter(1, "1e-6").explain()


def racing(threads: int, work: Callable[[], int]) -> int:
    """The sum of what the threads return, all let go at once."""
    gate, results = threading.Barrier(threads), []

    def run() -> None:
        gate.wait()
        results.append(work())

    runners = [threading.Thread(target=run) for _ in range(threads)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads change places in the middle of a charge
    try:
        for runner in runners:
            runner.start()
        for runner in runners:
            runner.join()
    finally:
        sys.setswitchinterval(before)
    return sum(results)


@pytest.mark.parametrize(
    ("new", "guarantee", "times"),
    [
        (lambda: BasicFilter(1, "1e-3"), ApproximateDP("0.001", "1e-6"), 1000),
        (lambda: Filter(ConcentratedRule.of_rho("0.7")), ZeroConcentratedDP("0.001"), 700),
        (lambda: DeclaredPlan({PureDP("0.1"): 300, PureDP("0.2"): 200}), PureDP("0.1"), 500),
    ],
)
def test_eight_threads_spend_what_there_is_and_no_more(
    new: Callable[[], PrivacyFilter], guarantee: Promise, times: int
) -> None:
    budget = new()

    def work() -> int:
        accepted = 0
        while True:
            try:
                budget.charge(guarantee)
            except BudgetExceeded:
                return accepted
            accepted += 1

    assert racing(8, work) == times
    assert not budget.fits(guarantee)


def test_no_thread_comes_between_the_question_and_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Tally.take

    def slowly(tally: Tally, units: int) -> None:
        time.sleep(0.001)  # after the comparison, before the subtraction: without a lock others pass here
        take(tally, units)

    monkeypatch.setattr(Tally, "take", slowly)
    budget = BasicFilter(1, 0)

    def work() -> int:
        accepted = 0
        while budget.fits(PureDP("0.1")):
            with suppress(BudgetExceeded):
                budget.charge(PureDP("0.1"))
                accepted += 1
        return accepted

    assert racing(8, work) == 10
    assert budget.remaining.amount == 0


def test_threads_charge_several_filters_whole_or_not_at_all() -> None:
    shared = BasicFilter(1, 0)
    pairs = [BasicFilter("0.3", 0) for _ in range(8)]
    turn = iter(range(8))

    def work() -> int:
        own, accepted = pairs[next(turn)], 0
        for flip in range(100):
            both = [(own, PureDP("0.01")), (shared, PureDP("0.01"))]
            try:
                charge_together(both if flip % 2 else both[::-1])
            except BudgetExceeded:
                continue
            accepted += 1
        return accepted

    assert racing(8, work) == 100
    assert shared.remaining.amount == 0
    assert sum(own.spent.amount for own in pairs) == 1


def test_a_charge_to_several_is_undone_when_one_refuses() -> None:
    rich, poor = BasicFilter(1, "1e-6"), BasicFilter("0.1", "1e-6")
    for charges in ([rich, poor], [rich, rich, poor], [poor, rich]):
        with pytest.raises(BudgetExceeded) as raised:
            charge_together([(budget, ApproximateDP("0.2", "1e-9")) for budget in charges])
        assert raised.value.left == Fraction(1, 10)
        assert rich.spent == poor.spent == Spending("epsilon", Fraction(0))
    with pytest.raises(BudgetExceeded):
        charge_together([(rich, PureDP("0.6")), (rich, PureDP("0.6"))])
    assert rich.spent.amount == 0


@pytest.mark.parametrize(
    ("budget", "stream"),
    [
        (BasicFilter(10**6, 1), [ApproximateDP("0.1", "1e-9")]),
        (
            Filter(ConcentratedRule.of_rho(10**6, black_box=1)),
            [PureDP("0.1"), PureDP("ln(1.1)"), GaussianDP("0.3"), ApproximateDP(0.01, 1e-9)],
        ),
    ],
)
def test_a_million_charges_take_seconds(budget: Filter, stream: list[Promise]) -> None:
    start = time.process_time()
    for _ in range(10**6 // len(stream)):
        for guarantee in stream:
            budget.charge(guarantee)
    assert time.process_time() - start < 10  # 1 to 2 s on an idle machine
    costs = [budget.rule.cost(guarantee) for guarantee in stream]
    times = 10**6 // len(stream)
    assert budget.spent.amount == times * sum(cost.amount for cost in costs)
    assert budget.spent.delta == times * sum(cost.delta for cost in costs)
