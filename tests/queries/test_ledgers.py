"""Ledgers of every rule behind a database: what they charge, what they refuse, and which rule suits."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest

import indistinct
from indistinct import ApproximateDP, GaussianDP, PureDP
from indistinct.composition.filters import BasicRule, ConcentratedRule, GaussianRule, RenyiRule
from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.ledger import Budget, Ledger
from indistinct.queries import PrivateDatabase
from indistinct.queries.budgets import suited_rule
from tests.queries.engines import sales

QUESTION = (
    "SELECT region, COUNT(*) AS n, AVG(CLAMP(amount, 0, 100)) AS a, MEDIAN(CLAMP(age, 0, 90)) FROM sales GROUP BY 1"
)
KEYS = {"region": [f"r{i}" for i in range(7)]}

RULES: dict[str, Any] = {
    "basic": BasicRule(1, "1e-6"),
    "zcdp": ConcentratedRule.of_claim(1, "1e-6", black_box="5e-7"),
    "gaussian": GaussianRule.of_claim(1, "1e-6", black_box="5e-7"),
    "renyi": RenyiRule.of_claim(24, 1, "1e-6", black_box="5e-7"),
    "pure slots": {PureDP("0.1"): 10},
    "slots": {ApproximateDP("0.1", "1e-7"): 10},
    "Gaussian slots": {GaussianDP("0.07"): 10},
}
CURRENCIES = {"basic": "epsilon", "zcdp": "rho", "gaussian": "mu^2", "renyi": "divergence", "pure slots": "epsilon"}
NO_DELTA = ("pure slots", "Gaussian slots")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sales(tmp_path_factory.mktemp("sales"), rows=4000)


@pytest.fixture(params=RULES)
def shop(request: pytest.FixtureRequest, file: Path, tmp_path: Path) -> Iterator[tuple[str, PrivateDatabase]]:
    with (
        Ledger.create(tmp_path / "s.ledger", Budget("sales", RULES[request.param])) as book,
        indistinct.open(file, unit="user_id", ledger=book) as opened,
    ):
        yield request.param, opened


def test_every_rule_answers_and_charges_what_it_tells(shop: tuple[str, PrivateDatabase]) -> None:
    name, database = shop
    before = database.remaining
    answer = database.sql(QUESTION, keys=KEYS)
    assert len(answer) == 7
    told = database.explain(QUESTION, keys=KEYS)
    assert told.cost == answer.receipt.cost
    assert CURRENCIES.get(name, next(iter(told.cost))) in told.cost
    left = database.remaining
    spent = {account: before[account] - left[account] for account in before}
    if "slots" in name:
        assert list(spent.values()) == [1]
    else:
        assert all(0 <= spent[account] - cost < Fraction(1, 10**8) for account, cost in told.cost.items())
    assert database.sql(QUESTION, keys=KEYS).receipt.free
    assert database.remaining == left


def test_every_rule_has_a_price_for_private_groups_or_says_why(shop: tuple[str, PrivateDatabase]) -> None:
    name, database = shop
    question = "SELECT region, COUNT(*) FROM sales GROUP BY region"
    if name in NO_DELTA:
        with pytest.raises(InvalidParameter, match="Declare the keys"):
            database.explain(question)
        return
    assert database.explain(question).cost["delta"] > 0
    assert database.sql(question).receipt.cost["delta"] > 0


def test_every_rule_pays_for_pure_noise_and_watches(shop: tuple[str, PrivateDatabase]) -> None:
    name, database = shop
    if name == "Gaussian slots":
        assert database.sql("SELECT COUNT(*) FROM sales", mu="0.05").receipt.cost == {"mu^2": Fraction(1, 400)}
        return
    told = database.explain("SELECT COUNT(*) FROM sales", epsilon="0.05")
    assert "geometric" in told.mechanisms[0]
    assert database.sql("SELECT COUNT(*) FROM sales", epsilon="0.05").rows
    assert not database.watch("SELECT COUNT(*) FROM sales", 10**9, epsilon="0.05").ask()
    if name == "renyi":
        with pytest.raises(InvalidParameter, match="order"):
            database.explain("SELECT COUNT(*) FROM sales", epsilon="0.05", delta="1e-8")
    else:
        assert database.explain("SELECT COUNT(*) FROM sales", epsilon="0.05", delta="1e-8").errors["count(*)"] > 0


def test_nobody_overspends_under_any_rule(shop: tuple[str, PrivateDatabase]) -> None:
    _, database = shop
    for age in range(10):
        database.sql(f"SELECT COUNT(*) FROM sales WHERE age > {age}")
    with pytest.raises(BudgetExceeded):
        database.sql("SELECT COUNT(*) FROM sales WHERE age > 10")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "basic": ({"rho": 1}, "counts in epsilon"),
    "zcdp": ({"mu": 1}, "counts in rho"),
    "gaussian": ({"rho": 1}, r"counts in mu\^2"),
    "renyi": ({"rho": 1}, "one order"),
    "pure slots": ({"rho": 1}, "plan of slots"),
    "slots": ({"rho": 1}, "plan of slots"),
    "Gaussian slots": ({"rho": 1}, "plan of slots"),
}


def test_another_currency_is_refused_in_a_sentence(shop: tuple[str, PrivateDatabase]) -> None:
    name, database = shop
    before = database.remaining
    options, said = WRONG[name]
    with pytest.raises(InvalidParameter, match=said):
        database.sql("SELECT COUNT(*) FROM sales", **options)
    with pytest.raises(InvalidParameter, match="one of epsilon, rho and mu"):
        database.sql("SELECT COUNT(*) FROM sales", epsilon=1, mu=1)
    assert database.remaining == before


def test_budgets_of_two_rules_are_refused(file: Path, tmp_path: Path) -> None:
    budgets = [Budget("sales", BasicRule(1, 0)), Budget("sales", ConcentratedRule.of_rho(1), analyst="ann")]
    with (
        Ledger.create(tmp_path / "two.ledger", *budgets) as book,
        indistinct.open(file, unit="user_id", ledger=book, analyst="ann") as opened,
        pytest.raises(InvalidParameter, match="one rule"),
    ):
        opened.sql("SELECT COUNT(*) FROM sales")


def test_the_rule_with_less_noise_is_chosen(file: Path, tmp_path: Path) -> None:
    """By the errors of a count in its share: from the noise itself, under each rule."""
    for questions in (1, 5, 20, 100):
        errors = {}
        for rule in ("basic", "zcdp", "gaussian"):
            place = tmp_path / f"{rule}{questions}.ledger"
            with indistinct.open(
                file, unit="user_id", epsilon=1, delta=1e-6, ledger=place, questions=questions, rule=rule
            ) as opened:
                errors[rule] = opened.explain("SELECT COUNT(*) FROM sales").errors["count(*)"]
        suited = suited_rule(indistinct.queries.Budget(epsilon=1, delta=1e-6), questions, 1)
        assert errors[suited] <= min(errors.values()) * 1.15 + 1
        assert errors["gaussian"] <= errors["zcdp"] + 2  # of whole numbers
    assert suited_rule(indistinct.queries.Budget(epsilon=1, delta=1e-6), None, 1) == "zcdp"
    assert suited_rule(indistinct.queries.Budget(epsilon=1), 10**6, 1) == "basic"


def test_a_ledger_goes_on_with_its_rule(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "g.ledger"
    wanted: dict[str, Any] = {"unit": "user_id", "epsilon": 1, "delta": 1e-6, "ledger": place}
    with indistinct.open(file, questions=50, **wanted) as opened:
        assert set(opened.remaining) == {"mu^2", "delta"}
    with indistinct.open(file, questions=1, **wanted) as opened:
        assert opened.explain("SELECT COUNT(*) FROM sales").cost["mu^2"] == opened.remaining["mu^2"]
    with pytest.raises(InvalidParameter, match="in the ledger already"):
        indistinct.open(file, rule="basic", **wanted)
    for wrong in ({"rule": "renyi"}, {"rule": "zcdp", "delta": 0}, {"questions": 0}, {"questions": 1.5}):
        with pytest.raises(InvalidParameter):
            indistinct.open(file, **{**wanted, "ledger": tmp_path / "n.ledger", **wrong})


def test_a_ledger_takes_the_budgets_of_another_table(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "two.ledger"
    other = sales(tmp_path, rows=1000)
    for name, source, questions in (("sales", file, None), ("others", other, 1)):
        with indistinct.open(
            source, unit="user_id", epsilon=1, delta=1e-6, ledger=place, name=name, questions=questions
        ) as opened:
            assert opened.sql(f"SELECT COUNT(*) FROM {name}").rows
    with Ledger.open(place) as book:
        assert {each.budget.name: each.budget.currency for each in book.standings()} == {
            "sales": "rho",
            "others": "epsilon",
        }


def test_a_single_question_has_the_whole_budget(file: Path, tmp_path: Path) -> None:
    """(1, 1e-6) for one question: all of epsilon for a few numbers, and the exact delta of Gaussian noise for many."""
    with indistinct.open(
        file, unit="user_id", epsilon=1, delta=1e-6, ledger=tmp_path / "one.ledger", questions=1
    ) as opened:
        question = "SELECT region, COUNT(*) AS n, SUM(CLAMP(amount, 0, 100)) AS s FROM sales GROUP BY region"
        answer = opened.sql(question, keys=KEYS)
        assert answer.receipt.cost == {"epsilon": 1}
        assert "box of 2 measures" in answer.receipt.mechanisms[0]
        wide = opened.explain("SELECT " + ", ".join(f"COUNT_IF(age = {age})" for age in range(60)) + " FROM sales")
        assert wide.cost["epsilon"] == 1
        assert abs(wide.cost["delta"] - Fraction(1, 10**6)) <= Fraction(1, 10**17)
        sigma = mpmath.mpf(wide.mechanisms[0].split("sigma ")[1].split(";")[0])
        mu = mpmath.sqrt(60) / sigma
        delta = mpmath.ncdf(mu / 2 - 1 / mu) - mpmath.e * mpmath.ncdf(-mu / 2 - 1 / mu)
        assert mpmath.mpf("0.999e-6") <= delta <= mpmath.mpf("1.001e-6")
