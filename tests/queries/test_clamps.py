"""Bounds within bounds: sums, averages and medians are those of arithmetic, however CLAMP, LEAST and GREATEST nest."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from indistinct.queries.answers.evaluation import Released, value_of
from indistinct.queries.answers.release import exact_of
from indistinct.queries.engines.statement import statement_of
from indistinct.queries.plans import expressions
from indistinct.queries.plans.expressions import Operation
from indistinct.queries.plans.plan import Plan
from indistinct.queries.plans.ranges import Range
from indistinct.queries.policy import Policy
from indistinct.queries.questions import aggregates
from indistinct.queries.refusals import QueryRefused
from tests.queries.engines import Rows, duckdb_of, policy
from tests.queries.test_sensitivity import planned

NUMBERS = [-11, -10, -9, -3, 0, 1, 4, 5, 6, 10, 19, 20, 25, 30, 49, 50, 51, 1000]


def made(chance: random.Random, depth: int) -> str:
    """Bounds around a column: `cost` has its own in the policy, -10 and 50, and `days` has none."""
    inner = made(chance, depth - 1) if depth else chance.choice(["cost", "days"])
    low, high = sorted(chance.sample([-20, -5, 0, 5, 7, 10, 20, 30, 60], 2))
    return chance.choice(
        [
            f"CLAMP({inner}, {low}, {high})",
            f"GREATEST(LEAST({inner}, {high}), {low})",
            f"GREATEST(LEAST({inner}, {low}), {high})",
            f"LEAST(GREATEST({inner}, {high}), {low})",
            f"LEAST(GREATEST({inner}, {low}), {high})",
            f"COALESCE({inner}, {low})",
        ]
    )


def meant(text: str, number: int) -> Fraction:
    """What Python makes of it."""

    def clamp(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
        return max(low, min(value, high))

    names = {"CLAMP": clamp, "GREATEST": max, "LEAST": min, "COALESCE": lambda value, _: value}
    values = {"cost": clamp(Fraction(number), Fraction(-10), Fraction(50)), "days": Fraction(number)}
    return Fraction(eval(text, {"__builtins__": {}}, {**names, **values}))  # noqa: S307  # made above


ASKED = [
    "CLAMP(CLAMP(cost, 20, 30), 0, 10)",
    "CLAMP(CLAMP(cost, 0, 10), 20, 30)",
    "GREATEST(LEAST(days, 5), 10)",
    "LEAST(GREATEST(cost, 10), 5)",
    "GREATEST(LEAST(LEAST(GREATEST(days, 0), 7), 20), 5)",
    "GREATEST(LEAST(days, cost), 0)",
    *(made(random.Random(seed), 1 + seed % 3) for seed in range(14)),  # noqa: S311  # a test's own
]


def known(text: str, rules: Policy) -> Plan | None:
    try:
        return planned(f"SELECT SUM({text}) AS s, AVG({text}) AS a, COUNT({text}) AS n FROM visits", rules)
    except QueryRefused:  # of what has no bounds
        return None


def wrong(texts: list[str]) -> list[str]:
    """The expressions whose exact sum, average or number is not that of Python."""
    rules = policy(rows=100)
    rows: Rows = [(1, "a", float(number), number, None, True) for number in NUMBERS]
    engine, found = duckdb_of({"visits": rows}), []
    for text in texts:
        plan = known(text, rules)
        if plan is None:
            continue
        exact = exact_of(plan, engine.run(statement_of(plan, "duckdb", 1), seconds=60))
        told = [value_of(each.outcome, Released((), exact.numbers[()], ()), plan) for each in plan.outputs]
        values = [meant(text, number) for number in NUMBERS]
        right = [float(sum(values)), float(sum(values) / len(values)), len(values)]
        if any(abs(float(one) - other) > 0.01 for one, other in zip(told, right, strict=True)):  # type: ignore[arg-type]
            found.append(text)
    engine.close()
    return found


def test_nested_bounds_are_those_of_arithmetic() -> None:
    rules = policy(rows=100)
    assert sum(known(text, rules) is not None for text in ASKED) > 9
    assert wrong(ASKED) == []


def test_bounds_that_leave_one_number_are_not_widened_around_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def bare(value: expressions.Expression) -> expressions.Expression:
        match value:
            case expressions.Apply(operation=Operation.LEAST | Operation.GREATEST, arguments=(inner, _)):
                return bare(inner)
        return value

    monkeypatch.setattr(aggregates, "bare", bare)
    assert wrong(ASKED[:4]) != []


def test_the_lower_bound_alone_is_not_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = expressions._range_of_extreme  # noqa: SLF001  # to be broken

    def broken(operation: Operation, arguments: tuple[expressions.Expression, ...]) -> Range | None:
        found = sound(operation, arguments)
        if found is not None and found[0] == found[1] and operation is Operation.GREATEST:
            return expressions.range_of(arguments[1])
        return found

    monkeypatch.setattr(expressions, "_range_of_extreme", broken)
    assert "CLAMP(CLAMP(cost, 20, 30), 0, 10)" in wrong(ASKED[:4])


def test_quantiles_of_a_single_number_are_refused() -> None:
    with pytest.raises(QueryRefused, match=r"bounds .*that differ"):
        planned("SELECT MEDIAN(CLAMP(CLAMP(cost, 20, 30), 0, 10)) FROM visits", policy())
