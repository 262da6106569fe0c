"""What a ledger promises to one caller: charges, keys, answers, scopes, grants; on either store."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from indistinct import (
    ApproximateDP,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    GaussianDP,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from indistinct.composition.filters import BasicRule, ConcentratedRule, GaussianRule, RenyiRule
from indistinct.errors import AnswerFailed, BudgetExceeded, InvalidParameter, KeyReused, LedgerError, LedgerUnavailable
from indistinct.ledger import Budget, Ledger
from tests.ledger.conftest import NewAddress

TENTH = PureDP("0.1")


def basic(address: str, epsilon: object = 1, delta: object = 0, **scope: Any) -> Ledger:
    return Ledger.create(address, Budget("hr", BasicRule(epsilon, delta), **scope))


def spent(ledger: Ledger) -> dict[tuple[str, str, str], Fraction]:
    return {(each.budget.name, each.part, each.account): each.spent for each in ledger.standings() if each.spent}


def test_a_charge_is_deducted_before_its_answer_and_the_answer_is_kept(address: str) -> None:
    with basic(address) as ledger, ledger.charge(TENTH, key="q") as charge:
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}
        assert charge.seal({"count": -3}) == {"count": -3}
    with Ledger.open(address) as again:
        assert again.charge(TENTH, key="q").answer == {"count": -3}
        assert spent(again) == {("hr", "", "epsilon"): Fraction(1, 10)}
        assert again.verify().charges == 1


@pytest.mark.parametrize("answer", [0, None, -1, False, "", [], 0.1, -0.0, b"", b"\0\xff", "é\0", 10**40])
def test_any_answer_is_kept_as_it_is(new_address: NewAddress, answer: object) -> None:
    with basic(new_address()) as ledger:
        with ledger.charge(TENTH, key="q") as charge:
            first = charge.seal(answer)
        replayed = ledger.charge(TENTH, key="q")
        assert replayed.answered
        assert replayed.answer == first == answer
        assert repr(replayed.answer) == repr(answer)
        assert replayed.sealed == charge.sealed
        assert replayed.seal("another") == answer


def test_the_budget_is_spent_to_the_last_unit_and_no_further(address: str) -> None:
    with basic(address) as ledger:
        for number in range(10):
            ledger.charge(TENTH, key=str(number))
        rows = list(ledger.rows())
        with pytest.raises(BudgetExceeded, match=r"1/1000000000 of epsilon is asked, but 0 is left in 'hr'"):
            ledger.charge("1e-9", key="more")
        assert list(ledger.rows()) == rows


@pytest.mark.parametrize(
    ("cost", "request_", "analyst"),
    [(PureDP("0.2"), "a", "ann"), (TENTH, "b", "ann"), (TENTH, "a", "bob"), (TENTH, b"a", "ann"), ("0.1", "a", "ann")],
)
def test_a_key_is_for_one_request(address: str, cost: object, request_: object, analyst: str) -> None:
    with basic(address) as ledger:
        ledger.charge(TENTH, key="q", request="a", analyst="ann")
        rows = list(ledger.rows())
        with pytest.raises(KeyReused, match="'q' belongs to another request"):
            ledger.charge(cost, key="q", request=request_, analyst=analyst)
        assert list(ledger.rows()) == rows


def test_an_unfinished_charge_is_resumed_for_free_and_the_first_answer_stays(address: str) -> None:
    with basic(address) as ledger:
        one = ledger.charge(TENTH, key="q")
        other = ledger.charge(TENTH, key="q")
        assert [record.state for record in ledger.unfinished()] == ["start"]
        assert other.seal(2) == 2
        assert one.seal(1) == 2
        assert ledger.unfinished() == []
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}


def test_a_failure_is_charged_and_says_nothing(address: str) -> None:
    with basic(address) as ledger:
        messages = set()
        for number, secret in enumerate((ZeroDivisionError("alice"), KeyError("bob"), RecursionError())):
            with pytest.raises(AnswerFailed) as failure, ledger.charge(TENTH, key=str(number)):
                raise secret
            assert failure.value.__cause__ is None
            assert failure.value.__context__ is None
            messages.add(str(failure.value))
        assert len(messages) == 1
        with pytest.raises(AnswerFailed):
            ledger.charge(TENTH, key="0")
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(3, 10)}
        assert {row.text.count("alice") for row in ledger.rows()} == {0}


def test_neighbouring_databases_leave_rows_that_differ_in_the_answer_alone(new_address: NewAddress) -> None:
    """Two runs whose data fail differently: what is stored has the same kinds and the same lengths."""
    shapes = []
    for data in ([1, 2], [1, 2, 0]):
        with basic(new_address()) as ledger:
            try:
                with ledger.charge(TENTH, key="q") as charge:
                    charge.seal(float("nan") if len(data) == 2 else sum(1 // each for each in data))
            except LedgerError as error:
                shapes.append((repr(error), str(error), [(row.kind, len(row.text)) for row in ledger.rows()]))
    assert shapes[0] == shapes[1]
    assert shapes[0][2][-1][0] == "fail"


def test_a_block_without_an_answer_is_told_and_may_be_repeated(address: str) -> None:
    with basic(address) as ledger:
        with pytest.raises(LedgerError, match="left without an answer"), ledger.charge(TENTH, key="q"):
            pass
        with pytest.raises(KeyboardInterrupt), ledger.charge(TENTH, key="q"):
            raise KeyboardInterrupt
        with ledger.charge(TENTH, key="q") as charge:
            charge.seal(1)
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}


def test_only_what_has_not_started_is_given_back(address: str) -> None:
    with basic(address) as ledger:
        reserved = ledger.reserve(TENTH, key="q")
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}
        reserved.void("the queue was too long")
        assert spent(ledger) == {}
        with pytest.raises(KeyReused, match="given back"):
            reserved.start()
        with pytest.raises(KeyReused, match="given back"):
            ledger.charge(TENTH, key="q")
        with pytest.raises(KeyReused):
            ledger.void("q", reason="twice")
        started = ledger.reserve(TENTH, key="r")
        with started.start() as charge:
            with pytest.raises(KeyReused, match="stays charged"):
                started.void("too late")
            charge.seal(1)
        with pytest.raises(KeyReused, match="stays charged"):
            ledger.void("r", reason="too late")
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}
        ledger.verify()


def test_every_scope_is_charged_or_none(address: str) -> None:
    with basic(address) as ledger:
        ledger.add(Budget("hr", BasicRule("0.5", 0), analyst="ann"))
        ledger.add(Budget("hr", BasicRule("0.8", 0), analyst="bob"))
        ledger.add(Budget("hr", BasicRule("0.9", 0), window=86400))
        for number in range(5):
            ledger.charge(TENTH, key=f"a{number}", analyst="ann")
        before = spent(ledger)
        with pytest.raises(BudgetExceeded, match="'hr/ann'"):
            ledger.charge(TENTH, key="a5", analyst="ann")
        assert spent(ledger) == before
        for number in range(4):
            ledger.charge(TENTH, key=f"b{number}", analyst="bob")
        with pytest.raises(BudgetExceeded, match="'hr/86400s'"):
            ledger.charge(TENTH, key="b4", analyst="bob")
        assert spent(ledger)["hr", "", "epsilon"] == Fraction(9, 10)
        with pytest.raises(InvalidParameter, match="an analyst must have a budget of their own"):
            ledger.charge(TENTH, key="c", analyst="eve")
        with pytest.raises(InvalidParameter, match="an analyst must have a budget of their own"):
            ledger.charge(TENTH, key="c")


def test_a_mere_number_is_of_one_currency(address: str) -> None:
    with basic(address) as ledger:
        ledger.add(Budget("hr", ConcentratedRule.of_rho(1), analyst="ann"))
        with pytest.raises(InvalidParameter, match="be told in each of epsilon, rho"):
            ledger.charge("0.1", key="q", analyst="ann")
        ledger.charge({"epsilon": "0.1", "rho": "0.005"}, key="q", analyst="ann")
        assert spent(ledger) == {
            ("hr", "", "epsilon"): Fraction(1, 10),
            ("hr/ann", "", "rho"): Fraction(1, 200),
        }


def test_colluding_analysts_share_the_cap_of_the_dataset(address: str) -> None:
    with basic(address) as ledger:
        for analyst in ("ann", "bob"):
            ledger.add(Budget("hr", BasicRule("0.8", 0), analyst=analyst))
        for number in range(8):
            ledger.charge(TENTH, key=f"a{number}", analyst="ann")
        for number in range(2):
            ledger.charge(TENTH, key=f"b{number}", analyst="bob")
        with pytest.raises(BudgetExceeded, match="'hr'"):
            ledger.charge(TENTH, key="b2", analyst="bob")


def test_a_window_opens_again_and_a_clock_that_goes_back_opens_none(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000
    monkeypatch.setattr("indistinct.ledger.group.time.time_ns", lambda: now * 10**9)
    with basic(address, 10) as ledger:
        ledger.add(Budget("hr", BasicRule("0.2", 0), window=100))
        asked = 0

        def fits() -> bool:
            nonlocal asked
            asked += 1
            try:
                ledger.charge(TENTH, key=str(asked))
            except BudgetExceeded:
                return False
            return True

        assert [fits(), fits(), fits()] == [True, True, False]
        now += 100
        assert [fits(), fits(), fits()] == [True, True, False]
        now -= 1000
        assert not fits()
        now += 950  # still before the latest row
        assert not fits()
        now += 150
        assert fits()
        times = [row.time for row in ledger.rows()]
        assert times == sorted(times)
        ledger.verify()


def test_disjoint_parts_have_budgets_of_their_own(address: str) -> None:
    with basic(address, parts=("north", "south")) as ledger:
        for number in range(10):
            ledger.charge(TENTH, key=f"n{number}", parts=["north"])
        for number in range(9):
            ledger.charge(TENTH, key=f"s{number}", parts=["south"])
        assert spent(ledger) == {
            ("hr", "north", "epsilon"): Fraction(1),
            ("hr", "south", "epsilon"): Fraction(9, 10),
        }
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge(TENTH, key="all")
        ledger.charge(TENTH, key="s9", parts=["south"])
        with pytest.raises(InvalidParameter, match="a part must be one of 'north', 'south'"):
            ledger.charge(TENTH, key="w", parts=["west"])
        ledger.grant("hr", "0.1", reason="one more", parts=["north"])
        ledger.charge(TENTH, key="n10", parts=["north"])
        ledger.verify()


def test_a_grant_adds_and_has_a_reason(address: str) -> None:
    with basic(address, 1, "1e-9") as ledger:
        ledger.charge(1, key="all")
        ledger.grant("hr", {"epsilon": "0.5", "delta": "1e-9"}, reason="the board agreed on 3 May")
        ledger.charge({"epsilon": "0.5", "delta": "2e-9"}, key="more")
        with pytest.raises(BudgetExceeded):
            ledger.charge("1e-9", key="even more")
        assert [row.body["reason"] for row in ledger.rows() if row.kind == "grant"] == ["the board agreed on 3 May"]
        for amount in (0, -1, "1e-10", float("nan"), {"rho": 1}, {}, "1e10"):
            with pytest.raises(InvalidParameter):
                ledger.grant("hr", amount, reason="why not")
        with pytest.raises(InvalidParameter, match="a reason"):
            ledger.grant("hr", 1, reason=" ")
        ledger.verify()


RULES = {
    "basic": BasicRule(1, "1e-6"),
    "zcdp": ConcentratedRule.of_claim(1, "1e-6", black_box="1e-7"),
    "rho": ConcentratedRule.of_rho("0.5"),
    "gaussian": GaussianRule.of_mu(1, black_box="1e-9"),
    "mu": GaussianRule.of_claim(1, "1e-6"),
    "renyi": RenyiRule.of_divergence(32, "0.5", black_box="1e-9"),
    "order": RenyiRule.of_claim(32, 1, "1e-6"),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_budget_comes_back_from_its_row(rule: Any) -> None:
    budget = Budget("hr", rule, analyst="ann", adjacency="replace-one", name="mine")
    again = Budget.decode(budget.encode())
    assert again.encode() == budget.encode()
    assert again.rule == rule


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_charge_costs_what_the_proven_rule_says_rounded_up(rule: Any) -> None:
    budget = Budget("hr", rule)
    for guarantee in (PureDP("0.0123"), PureDP("ln(1.1)"), ApproximateDP("0.1", "1e-10"), GaussianDP("0.2")):
        try:
            exact = rule.cost(guarantee)
        except InvalidParameter:
            continue
        (units,) = budget.prices(_asked(guarantee))
        assert 0 <= Fraction(units[exact.currency], 10**9) - exact.amount < Fraction(1, 10**9)
        assert 0 <= Fraction(units["delta"], 10**18) - exact.delta < Fraction(1, 10**18)
    assert 0 <= rule.limit.amount - Fraction(budget.caps[rule.limit.currency], 10**9) < Fraction(1, 10**9)
    assert 0 <= rule.limit.delta - Fraction(budget.caps["delta"], 10**18) < Fraction(1, 10**18)


def _asked(cost: object) -> Any:
    from indistinct.ledger.costs import read_cost

    return read_cost(cost)


def test_mechanisms_are_charged_the_least_that_is_proven() -> None:
    zcdp, plain = Budget("hr", ConcentratedRule.of_rho(1)), Budget("hr", BasicRule(10, 0))
    assert zcdp.prices(_asked(ExponentialMechanism("0.1")))[0]["rho"] == 1_250_000  # 0.1^2 / 8
    assert zcdp.prices(_asked(Gaussian(sigma=10)))[0]["rho"] == 5_000_000
    assert zcdp.prices(_asked(DiscreteGaussian(sigma=10, vector=True)))[0]["rho"] == 5_000_000
    assert zcdp.prices(_asked(DiscreteGaussian(3, sigma=10)))[0]["rho"] == 45_000_000
    assert plain.prices(_asked(Laplace(scale=10)))[0]["epsilon"] == 100_000_000
    assert plain.prices(_asked(Geometric(epsilon="0.1")))[0]["epsilon"] == 100_000_000
    sampled = plain.prices(_asked(PoissonSubsampled(Laplace(scale=1), "0.01")))[0]["epsilon"]
    assert sampled == pytest.approx(1e9 * 0.0170369, rel=1e-4)  # log(1 + q (e - 1))
    with pytest.raises(InvalidParameter, match="neighbours"):
        Budget("hr", BasicRule(1, 0), adjacency="replace-one").prices(
            _asked(PoissonSubsampled(Laplace(scale=1), "0.01"))
        )
    with pytest.raises(InvalidParameter, match="Choose a delta"):
        plain.prices(_asked(Gaussian(sigma=10)))


def test_a_declared_plan_is_spent_slot_by_slot(address: str) -> None:
    slots = {PureDP("0.1"): 2, PureDP("0.5"): 1}
    with Ledger.create(address, Budget("hr", slots)) as ledger:
        assert ledger.try_out(TENTH).times == 3
        for number in range(3):  # the third takes the larger slot
            ledger.charge(TENTH, key=str(number))
        with pytest.raises(BudgetExceeded, match="no slot that allows it"):
            ledger.charge(TENTH, key="3")
        ledger.grant("hr", {PureDP("0.5"): 1}, reason="one more")
        with pytest.raises(BudgetExceeded):
            ledger.charge(PureDP("0.6"), key="4")
        ledger.charge(PureDP("0.5"), key="5")
        with pytest.raises(InvalidParameter, match="name its guarantee"):
            ledger.charge(1, key="6")
        with pytest.raises(InvalidParameter, match="pure, approximate or Gaussian"):
            ledger.charge(RenyiDP(2, 1), key="7")
        ledger.verify()


def test_a_dry_run_counts_exactly(address: str) -> None:
    with Ledger.create(address, Budget("hr", epsilon=1, delta="1e-6")) as ledger:
        trial = ledger.try_out(PureDP("0.05"))
        assert trial.times is not None
        for number in range(trial.times):
            ledger.charge(PureDP("0.05"), key=str(number))
        with pytest.raises(BudgetExceeded):
            ledger.try_out(PureDP("0.05"))
        with pytest.raises(BudgetExceeded):
            ledger.charge(PureDP("0.05"), key="more")
        assert ledger.try_out(PureDP(0)).times is None


def test_budgets_of_other_processes_are_seen(address: str) -> None:
    with basic(address) as one, Ledger.open(address) as other:
        one.add(Budget("hr", BasicRule("0.2", 0), name="less"))
        other.charge("0.2", key="q")
        with pytest.raises(BudgetExceeded, match="'less'"):
            other.charge("1e-9", key="r")


@pytest.mark.parametrize(
    "cost",
    [-1, "-1e-9", float("nan"), float("inf"), "1" * 1001, "1e-4000", "0." + "3" * 950, {"gold": 1}, {}, True, "one"],
)
def test_hostile_costs_are_refused_in_a_sentence(address: str, cost: object) -> None:
    with basic(address) as ledger:
        rows = list(ledger.rows())
        with pytest.raises(InvalidParameter) as refusal:
            ledger.charge(cost, key="q")
        assert len(str(refusal.value)) < 250
        assert list(ledger.rows()) == rows


def test_the_smallest_costs_are_never_free_and_the_largest_never_fit(address: str) -> None:
    with basic(address) as ledger:
        for number, least in enumerate((5e-324, "1e-300", PureDP(1e-300), {"epsilon": Fraction(1, 10**200)})):
            ledger.charge(least, key=str(number))
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(4, 10**9)}
        for most in (1e308, 10**18, PureDP(10**9), {"epsilon": 0, "delta": 1e-300}):
            with pytest.raises(BudgetExceeded):
                ledger.charge(most, key="q")


@pytest.mark.parametrize("key", ["", "x" * 201, "line\nbreak", "nul\0", "\ud800", None, 7])
def test_keys_are_plain_text(address: str, key: Any) -> None:
    with basic(address) as ledger, pytest.raises(InvalidParameter, match="a key must be printable text"):
        ledger.charge(TENTH, key=key)


def test_unknown_names_are_refused(address: str) -> None:
    with Ledger.create(address) as ledger:
        with pytest.raises(InvalidParameter, match="the ledger has no budget"):
            ledger.charge(TENTH, key="q")
        ledger.add(Budget("hr", BasicRule(1, 0), analyst="ann"))
        with pytest.raises(InvalidParameter, match="for all answers together"):
            ledger.charge(TENTH, key="q", analyst="ann")
        ledger.add(Budget("hr", BasicRule(1, 0)))
        ledger.add(Budget("it", BasicRule(1, 0)))
        with pytest.raises(InvalidParameter, match="a dataset must be named: one of 'hr', 'it'"):
            ledger.charge(TENTH, key="q", analyst="ann")
        with pytest.raises(InvalidParameter, match="a dataset must be one of 'hr', 'it'"):
            ledger.charge(TENTH, key="q", dataset="pay")
        with pytest.raises(InvalidParameter, match="a budget must be one of"):
            ledger.grant("pay", 1, reason="no")
        with pytest.raises(InvalidParameter, match="must be new"):
            ledger.add(Budget("it", BasicRule(5, 0)))
        with pytest.raises(InvalidParameter, match="a key must be that of a charge"):
            ledger.void("never", reason="no")
        with pytest.raises(InvalidParameter, match="with an answer"):
            ledger.receipt("never")
        ledger.verify()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1},
        {"rule": 7},
        {"rule": {}},
        {"rule": BasicRule(1, 0), "window": -1},
        {"rule": BasicRule(1, 0), "window": 1, "analyst": "ann"},
        {"rule": BasicRule(1, 0), "parts": ("a", "a")},
        {"rule": BasicRule(1, 0), "adjacency": "near"},
        {"rule": BasicRule("1e-10", 0)},
        {"rule": GaussianRule.of_mu(10**6)},
        {"rule": BasicRule(1, 0), "name": "a\nb"},
    ],
)
def test_budgets_not_well_put_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Budget("hr", **arguments)


def test_a_ledger_with_two_budgets_of_one_name_is_not_begun(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="names must differ"):
        Ledger.create(tmp_path / "hr", Budget("hr", BasicRule(1, 0)), Budget("hr", BasicRule(2, 0)))
    assert not (tmp_path / "hr").exists()


def test_a_ledger_is_created_once_and_only_when_told_to(address: str) -> None:
    with pytest.raises(LedgerUnavailable, match="There is no ledger"):
        Ledger.open(address)
    basic(address).close()
    with pytest.raises(LedgerUnavailable, match="already"):
        Ledger.create(address)
    with Ledger.open(address) as ledger:
        ledger.charge(TENTH, key="q")
    with pytest.raises(LedgerUnavailable, match="is closed"):
        ledger.charge(TENTH, key="r")


def test_a_forked_process_opens_its_own(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with basic(address) as ledger, monkeypatch.context() as other:
        other.setattr("indistinct.ledger.store.os.getpid", lambda: -1)
        with pytest.raises(LedgerUnavailable, match="another process"):
            ledger.charge(TENTH, key="q")


def test_zero_concentrated_is_the_default(address: str) -> None:
    with Ledger.create(address, Budget("hr", epsilon=1, delta="1e-6")) as ledger:
        ledger.charge(ZeroConcentratedDP("0.01"), key="q")
        assert spent(ledger) == {("hr", "", "rho"): Fraction(1, 100)}
        assert ledger.standings()[0].budget.rule == ConcentratedRule.of_claim(1, "1e-6")


def test_a_part_of_another_partition_may_be_any_part(address: str) -> None:
    """The fault that this was written for: a charge to "young" was deducted nowhere among north and south."""
    with basic(address, parts=("north", "south")) as ledger:
        ledger.add(Budget("hr", BasicRule(1, 0), name="age", parts=("young", "old")))
        ledger.charge("0.6", key="a", parts=["young"])
        expected = {("hr", "north"): 0.6, ("hr", "south"): 0.6, ("age", "young"): 0.6}
        assert {(name, part): float(amount) for (name, part, _), amount in spent(ledger).items()} == expected
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge("0.6", key="b", parts=["old"])
        ledger.charge("0.4", key="c", parts=["north", "young"])
        expected = {("hr", "north"): 1, ("hr", "south"): 1, ("age", "young"): 1, ("age", "old"): 0.4}
        assert {(name, part): float(amount) for (name, part, _), amount in spent(ledger).items()} == expected
        ledger.verify()


def test_a_part_that_an_analysts_budget_does_not_know_costs_all_of_it(address: str) -> None:
    with basic(address, parts=("north", "south")) as ledger:
        ledger.add(Budget("hr", BasicRule(9, 0), analyst="ann", parts=("North", "south")))
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge(5, key="k", analyst="ann", parts=["North"])
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge(5, key="l", analyst="ann", parts=["North", "south"])


def test_a_grant_of_nothing_is_refused(new_address: NewAddress) -> None:
    """The fault that this was written for: it made a ledger that no longer verified."""
    with basic(new_address(), 1, "1e-9") as ledger:
        for amount in ({"epsilon": "0.1", "delta": 0}, {"epsilon": 0, "delta": "1e-9"}):
            with pytest.raises(InvalidParameter, match="in each currency that it names"):
                ledger.grant("hr", amount, reason="x")
        ledger.verify()
    with Ledger.create(new_address(), Budget("hr", {TENTH: 5, PureDP(1): 2})) as ledger:
        with pytest.raises(InvalidParameter, match="in each currency that it names"):
            ledger.grant("hr", {TENTH: 1, PureDP(1): 0}, reason="x")
        ledger.verify()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_no_grant_is_too_large_for_a_promise(address: str, rule: Any) -> None:
    budget = Budget("hr", rule)
    with Ledger.create(address, budget) as ledger:
        for account, most in {budget.currency: 10**9, "delta": 1}.items():
            left = most - Fraction(budget.caps[account], budget.units_of(account))
            with pytest.raises(InvalidParameter, match=f"keep the {account}".replace("^", r"\^")):
                ledger.grant("hr", {account: left + Fraction(1, budget.units_of(account))}, reason="x")
            ledger.grant("hr", {account: left}, reason="x")
            assert "neighbours" in ledger.promise("hr")
        ledger.verify()


class Told(LedgerError):
    """A block's own error that passes for one of the ledger."""


@pytest.mark.parametrize(
    "secret",
    [
        ValueError("alice"),
        SystemExit("alice"),
        KeyboardInterrupt("alice"),
        BaseExceptionGroup("alice", [KeyboardInterrupt()]),
        LedgerError("alice"),
        Told("alice"),
    ],
    ids=repr,
)
def test_a_failure_keeps_no_trace_of_its_reason(address: str, secret: BaseException) -> None:
    """The fault that this was written for: the traceback of AnswerFailed led back to the error."""
    with basic(address) as ledger:
        with pytest.raises(AnswerFailed) as failure, ledger.charge(TENTH, key="q"):
            raise secret
        assert failure.value.__cause__ is None
        assert failure.value.__context__ is None
        own = [
            each.frame for each in failure.traceback if "indistinct" in str(each.path) and "tests" not in str(each.path)
        ]
        assert own
        assert not [name for frame in own for name, value in frame.f_locals.items() if value is secret]
        with pytest.raises(AnswerFailed):
            ledger.charge(TENTH, key="q")


def interrupted_after_an_error() -> None:
    try:
        raise ValueError("alice")
    except ValueError:
        raise KeyboardInterrupt from None


def test_an_interruption_without_words_leaves_the_charge_to_be_asked_again(address: str) -> None:
    with basic(address) as ledger:
        with pytest.raises(KeyboardInterrupt) as told, ledger.charge(TENTH, key="q"):
            interrupted_after_an_error()
        assert told.value.__context__ is None
        assert ledger.charge(TENTH, key="q").seal(1) == 1


def test_a_cost_in_an_unknown_currency_is_not_free(address: str) -> None:
    with Ledger.create(address, Budget("hr", epsilon=1, delta="1e-6")) as ledger:
        with pytest.raises(InvalidParameter, match="a cost's currency must be that of a budget"):
            ledger.charge({"rho": 0, "epsilon": 9}, key="q")
        ledger.charge({"rho": "0.001", "delta": 0}, key="q")


def test_a_window_promises_the_largest_cap_it_ever_had(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10**18]
    monkeypatch.setattr("indistinct.ledger.group.time.time_ns", lambda: now[0])
    with basic(address, 100) as ledger:
        ledger.add(Budget("hr", BasicRule(1, 0), window=60))
        ledger.grant("hr/60s", 2, reason="once")
        ledger.charge(3, key="a")
        before = ledger.promise("hr/60s")
        now[0] += 60 * 10**9
        ledger.charge("0.1", key="b")
        assert ledger.promise("hr/60s") == before
        assert "ApproximateDP(3, 0)" in before
        assert "is reserved in each stretch of 60 seconds" in before
