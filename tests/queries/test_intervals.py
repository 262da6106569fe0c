"""Noise intervals and the noise itself, from the SQL to the rows: as often and of the law that is stated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb

import indistinct
from indistinct.queries.answers.evaluation import Released, value_of
from indistinct.queries.answers.release import exact_of
from indistinct.queries.engines.statement import statement_of
from tests.noise.budget import SHARE, band


def noisy_and_exact(path: Path, question: str, *, groups: int) -> tuple[Any, list[Released], Any]:
    file = path / "many.parquet"
    duckdb.execute(
        f"COPY (SELECT i AS u, i % {groups} AS g, (i * 31) % 97 AS x, (i * 7) % 50 AS y"
        f" FROM range({40 * groups}) t(i)) TO '{file}'"
    )
    with indistinct.open(file, unit="u", epsilon=20, delta=1e-6, name="many") as opened:
        keys = {"g": list(range(groups))}
        answer = opened.sql(question, keys=keys)
        plan = answer._plan  # noqa: SLF001  # to compare with the exact numbers
        rows = exact_of(plan, opened.engine.run(statement_of(plan, "duckdb", 1), seconds=60))
        return answer, [Released(key, rows.numbers[key], ()) for key in plan.public_groups()], plan


def coverage(answer: Any, truth: list[Released], plan: Any, *, narrowed: float = 1) -> dict[str, float]:
    """How often the interval holds what the exact numbers give."""
    found = {}
    for output, ends in zip(plan.outputs[1:], list(answer.intervals(0.9).values())[1:], strict=True):
        hits = 0
        for group, (low, high) in zip(truth, ends, strict=True):
            value: Any = value_of(output.outcome, group, plan)
            middle, reach = (low + high) / 2, (high - low) / 2 * narrowed
            hits += middle - reach <= value <= middle + reach
        found[output.name] = hits / len(truth)
    return found


def test_intervals_hold_the_exact_value_as_often_as_they_say(tmp_path: Path) -> None:
    question = (
        "SELECT g, COUNT(*) AS n, SUM(CLAMP(x, 0, 96)) AS s, AVG(CLAMP(y, 0, 49)) AS a, STDDEV(CLAMP(y, 0, 49)) AS d,"
        " SUM(CLAMP(x, 0, 96)) / COUNT(*) AS r, ROUND(ABS(COUNT(*) - 100), 0) AS p FROM many GROUP BY g"
    )
    answer, truth, plan = noisy_and_exact(tmp_path, question, groups=2000)
    slack = math.sqrt(math.log(1 / SHARE) / (2 * len(truth)))
    found = coverage(answer, truth, plan)
    assert all(share >= 0.9 - slack for share in found.values()), found
    too_narrow = coverage(answer, truth, plan, narrowed=0.4)
    assert too_narrow["n"] < 0.9 - slack
    assert too_narrow["s"] < 0.9 - slack


def test_the_noise_of_answers_has_the_stated_law(tmp_path: Path) -> None:
    """From the SQL to the rows: the distance from the exact counts is Gaussian of the sigma that is charged for."""
    answer, truth, plan = noisy_and_exact(tmp_path, "SELECT g, COUNT(*) AS n FROM many GROUP BY g", groups=20_000)
    noise = [row[1] - group.numbers[0] for row, group in zip(answer.rows, truth, strict=True)]
    sigma = float(answer._allotment.noises[0].sigma)  # noqa: SLF001  # of the receipt
    assert float(answer.receipt.cost["rho"]) >= plan.groups / (2 * sigma**2) * (1 - 1e-12)

    def distance(deviation: float) -> float:
        steps = range(-int(8 * sigma), int(8 * sigma) + 1)
        weights = [math.exp(-(i**2) / (2 * deviation**2)) for i in steps]
        total, below, worst = sum(weights), 0.0, 0.0
        for i, weight in zip(steps, weights, strict=True):
            below += weight / total
            worst = max(worst, abs(sum(1 for each in noise if each <= i) / len(noise) - below))
        return worst

    allowed = band(len(noise))
    assert distance(sigma) <= allowed
    assert distance(0.8 * sigma) > allowed
    assert distance(1.25 * sigma) > allowed
