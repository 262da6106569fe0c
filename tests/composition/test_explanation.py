"""The table of a composition's parts."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from indistinct import (
    ApproximateDP,
    DensityPair,
    Gaussian,
    Laplace,
    PoissonSubsampled,
    PureDP,
    ZeroConcentratedDP,
    compose,
)
from indistinct.composition.explanation import Explanation
from indistinct.errors import InvalidParameter

MIXED = compose(
    {
        PureDP("0.1"): 100,
        Laplace(scale=20): 100,
        Gaussian(sigma=30): 200,
        ApproximateDP("0.05", "1e-9"): 30,
        ApproximateDP("0.05", "1e-10"): 300,
        PoissonSubsampled(Gaussian(sigma=2), "0.01"): 1000,
    }
)


def test_shares_add_up_and_are_sorted() -> None:
    found = MIXED.explain("1e-6")
    shares = [row.loss_share for row in found.rows]
    assert math.fsum(shares) == pytest.approx(1, rel=1e-12)
    assert shares == sorted(shares, reverse=True)
    hidden = {row.thing: row.disclosure_share for row in found.rows}
    assert hidden["ApproximateDP('0.05', '1e-09')"] == pytest.approx(0.5, rel=1e-6)
    assert math.fsum(hidden.values()) == pytest.approx(1)


def test_equal_parts_have_equal_shares() -> None:
    both = compose({Laplace(1, 10): 100, Laplace(2, 20): 100}).explain("1e-6")
    assert [row.loss_share for row in both.rows] == pytest.approx([0.5, 0.5])


def test_a_part_used_twice_as_often_has_twice_the_share() -> None:
    found = compose({Gaussian(1, 10): 100, Gaussian(2, 20): 200}).explain("1e-6")
    assert [row.loss_share for row in found.rows] == pytest.approx([2 / 3, 1 / 3])


def test_by_epsilon_and_by_delta_agree() -> None:
    by_delta = MIXED.explain(delta="1e-6")
    by_epsilon = MIXED.explain(epsilon=by_delta.epsilon.upper)
    assert by_epsilon.rows == by_delta.rows
    assert by_epsilon.delta.upper == pytest.approx(1e-6, rel=1e-5)


def test_methods_and_width() -> None:
    pair = DensityPair(stats.norm(0, 1), stats.norm(0.1, 1))
    found = compose({pair: 50, Gaussian(sigma=20): 50}).explain("1e-6")
    assert {row.method for row in found.rows} == {"enclosed on a grid", "exact transform"}
    assert found.is_met
    assert found.width == found.epsilon.relative_width < found.aimed_at == 1e-4
    wide = compose({ZeroConcentratedDP("0.1"): 2}).explain("1e-6")
    assert not wide.is_met
    assert "wider than the 1e-06 asked for" in str(wide)
    assert wide.rows[0].method == "upper bound on its transform"


def test_it_prints_and_renders() -> None:
    found = compose({PureDP("0.1"): 3}).explain("1e-3")
    assert isinstance(found, Explanation)
    assert "PureDP('0.1')" in str(found)
    assert "<td>PureDP(&#x27;0.1&#x27;)</td><td>3</td><td>100.0%</td>" in found._repr_html_()


@pytest.mark.parametrize("arguments", [{}, {"delta": "1e-6", "epsilon": 1}])
def test_one_of_both_is_asked_for(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match="either delta or epsilon"):
        MIXED.explain(**arguments)


def test_everything_may_be_lost() -> None:
    found = compose({ApproximateDP(1, "0.1"): 3}).explain("1e-6")
    assert found.epsilon.upper == math.inf
    assert math.isfinite(found.rows[0].loss_share)
