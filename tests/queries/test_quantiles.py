"""Quantiles from a tree: the best estimates, what a unit changes, intervals that cover, and less error for many."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import indistinct
from indistinct.mechanisms import DiscreteGaussian, Gaussian, Geometric
from indistinct.queries.answers.noises import Noise
from indistinct.queries.answers.quantiles import select_quantile
from indistinct.queries.answers.tree import Tree, _squares, levels_of
from tests.noise.budget import share

NOISES: dict[str, Noise] = {
    "discrete": DiscreteGaussian(1, 20_000, vector=True),
    "rounded": Gaussian(1, 20_000, granularity=1),
    "geometric": Geometric(1, epsilon=Fraction(1, 20_000)),
}
SHARES = [Fraction(i, 10) for i in range(1, 10)]


def design(cells: int) -> np.ndarray[Any, Any]:
    """One row for each node of the tree, with 1 for each cell below it: from the definition."""
    rows = []
    for level, size in enumerate(levels_of(cells)):
        for node in range(size):
            below = range(node * 4**level, min((node + 1) * 4**level, cells))
            rows.append([1.0 if cell in below else 0.0 for cell in range(cells)])
    return np.array(rows)


class Given:
    """Noise of a tree that a test knows."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values
        self.at = 0

    def __call__(self, noises: Sequence[Noise], count: int) -> list[np.ndarray[Any, Any]]:
        assert len(noises) == 1
        self.at += count
        return [self.values[self.at - count : self.at]]


@pytest.mark.parametrize("cells", [2, 4, 5, 16, 37])
def test_estimates_are_those_of_least_squares(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random_numbers = np.random.default_rng(cells)
    matrix = design(cells)
    grid = random_numbers.integers(0, 10**6, cells)
    noise = random_numbers.integers(-(10**5), 10**5, len(matrix))
    monkeypatch.setattr("indistinct.queries.answers.tree.draws", Given(noise))
    (prefix,) = Tree(cells, NOISES["discrete"]).prefixes([grid.tolist()])
    best = np.linalg.lstsq(matrix, matrix @ grid + noise, rcond=None)[0]
    assert np.allclose(prefix, np.concatenate([[0], np.cumsum(best)]), atol=0.51)


def test_a_unit_changes_each_level_by_its_weight_alone() -> None:
    """By brute force over what a unit of weight 3 may put where: each level moves by 3 in l1, and no more in l2."""
    cells, weight = 11, 3
    matrix = design(cells)
    sizes = np.cumsum([0, *levels_of(cells)])
    rng = random.Random(3)  # noqa: S311  # a test's own rows
    for _ in range(500):
        grid = np.zeros(cells)
        for _ in range(weight):
            grid[rng.randrange(cells)] += 1
        moved = matrix @ grid
        for start, end in pairwise(sizes):
            assert abs(moved[start:end]).sum() == weight
            assert (moved[start:end] ** 2).sum() <= weight**2


@pytest.mark.parametrize("noise", NOISES)
def test_bounds_on_the_noise_hold_as_often_as_they_say(noise: str) -> None:
    """At every place of the tree, and a bound of 0.3 of the size is caught."""
    tree, draws, cells = Tree(91, NOISES[noise]), 4000, 91
    told = np.array(tree.prefixes([[0] * cells] * draws), dtype=np.float64)
    slack = math.sqrt(math.log(1 / share()) / (2 * draws))
    for q in (Fraction(1, 10), Fraction(1, 2)):
        above = told - float(q) * told[:, -1:]
        reach = tree._reaches(q, 0.05)  # noqa: SLF001  # the bound itself
        beyond = (above[:, 1:-1] > reach[1:-1] + 1).mean(axis=0)
        assert beyond.max() <= 0.05 + slack
        assert (above[:, 1:-1] > reach[1:-1] * 0.3).mean(axis=0).max() > 0.05 + slack


@pytest.mark.parametrize("cells", [5, 16, 91, 1024])
def test_large_trees_are_bounded_from_above(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said without the weights is never below what they say, and not many times above."""
    for q in (0.1, 0.5, 0.93):
        exact, most = _squares(cells, q)
        with monkeypatch.context() as patched:
            patched.setattr("indistinct.queries.answers.tree._MOST_WEIGHED", 0)
            bound, widest = _squares(cells, q)
        assert (exact <= bound + 1e-9).all()
        assert (exact <= most**2 * len(design(cells))).all()
        assert bound.max() <= 4 * exact.max()
        assert (widest >= np.sqrt(exact) - 1e-9).all()


@pytest.mark.parametrize(("delta", "rule"), [(0, "basic"), (1e-6, "zcdp"), (1e-6, "gaussian")])
def test_intervals_of_quantiles_cover(delta: float, rule: Any, tmp_path: Path) -> None:
    """From the SQL to the interval: in as many of 400 groups as the level says, and narrower than the bounds."""
    groups, rows = 400, 60
    file = tmp_path / "many.parquet"
    duckdb.execute(
        f"COPY (SELECT i AS u, i % {groups} AS g, (i // {groups} * 37) % 83 AS x FROM range({groups * rows}) t(i))"
        f" TO '{file}'"
    )
    told = ", ".join(f"QUANTILE(x, {float(each)}) AS q{i}" for i, each in enumerate(SHARES))
    columns = {name: indistinct.queries.Column(type="integer") for name in ("u", "g")}
    policy = indistinct.queries.Policy(
        tables=(
            indistinct.queries.PrivateTable(
                name="many",
                unit="u",
                columns={**columns, "x": indistinct.queries.Column(type="integer", low=0, high=90)},
            ),
        ),
        budget=indistinct.queries.Budget(epsilon=40, delta=delta, rule=rule),
    )
    with indistinct.open({"many": file}, policy=policy, questions=1) as opened:
        answer = opened.sql(f"SELECT g, {told} FROM many GROUP BY g", keys={"g": list(range(groups))}, intervals=True)
    assert "a tree" in answer.receipt.mechanisms[0]
    ends, exact = answer.intervals(0.9), sorted((i * 37) % 83 for i in range(rows))
    slack = math.sqrt(math.log(1 / share()) / (2 * groups))
    for i, each in enumerate(SHARES):
        truth = exact[max(math.ceil(each * rows) - 1, 0)]
        covered = np.mean([low <= truth <= high for low, high in ends[f"q{i}"]])
        assert covered >= 0.9 - slack
        assert np.mean([high - low for low, high in ends[f"q{i}"]]) < 60


def test_a_quantile_by_itself_is_within_its_bounds(tmp_path: Path) -> None:
    file = tmp_path / "one.parquet"
    duckdb.execute(f"COPY (SELECT i AS u, i % 50 AS x FROM range(500) t(i)) TO '{file}'")
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6, name="one") as opened:
        alone = opened.sql("SELECT MEDIAN(CLAMP(x, 0, 49)) AS m FROM one")
        assert alone.intervals()["m"] == [(0, 49)]
        assert "exponential mechanism" in alone.receipt.mechanisms[0]
        ranged = opened.sql("SELECT MEDIAN(CLAMP(x, 0, 49)) AS m FROM one", intervals=True, rho="0.015")
        assert "a tree" in ranged.receipt.mechanisms[0]
        again = opened.sql("SELECT MEDIAN(CLAMP(x, 0, 49)) AS m FROM one", intervals=True, rho="0.015")
        assert again.receipt.free
        assert again.rows == ranged.rows
        assert again.intervals() == ranged.intervals()


def test_many_quantiles_have_less_error_from_a_tree(tmp_path: Path) -> None:
    """Measured in ranks, at the same cost, beside the choices that each would make by itself."""
    file = tmp_path / "spread.parquet"
    duckdb.execute(f"COPY (SELECT i AS u, (i * 7919) % 1000 / 10.0 AS x FROM range(20000) t(i)) TO '{file}'")
    shares = [i / 50 for i in range(1, 50)]
    question = f"SELECT QUANTILE(CLAMP(x, 0, 100), {shares}) AS q FROM spread"
    with indistinct.open(file, unit="u", epsilon=1, delta=1e-6, name="spread") as opened:
        told = opened.explain(question, cells=1000)
        assert "a tree" in told.mechanisms[0]
        found = opened.sql(question, cells=1000).rows[0][0]
    ours = np.mean([(value / 100 - each) ** 2 for value, each in zip(found, shares, strict=True)])
    grid, epsilon = [20 * 1024] * 1000, Fraction(math.sqrt(8 * float(told.cost["rho"]) / len(shares)))
    apart = [select_quantile(grid, Fraction(round(50 * each), 50), epsilon, 1, pure=False) for each in shares]
    theirs = np.mean([((cell + 0.5) / 1000 - each) ** 2 for cell, each in zip(apart, shares, strict=True)])
    assert ours < theirs
