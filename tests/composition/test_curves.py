"""delta at many epsilons at once, against delta at one after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from indistinct import (
    ApproximateDP,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PrivacyProfile,
    PureDP,
    ZeroConcentratedDP,
    compose,
    ln,
)
from indistinct.composition.sheet import Sheet

KINDS: dict[str, dict[Any, object]] = {
    "equal": {PureDP("0.1"): 10**6},
    "few": {PureDP(ln(2)): 2, PureDP("0.3"): 1},
    "Gaussian alone": {Gaussian(sigma=30): 100},
    "Laplace": {Laplace(scale=10): 1000},
    "mixed": {
        Laplace(scale=20): 500,
        Gaussian(sigma=40): 500,
        Geometric(epsilon="0.05"): 1000,
        ApproximateDP("0.01", "1e-9"): 200,
    },
    "sampled": {PoissonSubsampled(Gaussian(sigma="0.8"), rate="0.004"): 10**4},
    "many": {PureDP(0.005 + 0.0001234567 * i): 1 for i in range(500)},
    "a bound": {ZeroConcentratedDP("0.1"): 1, PureDP("0.1"): 10},
    "nothing": {PureDP(0): 5},
}


def disagreements(profile: PrivacyProfile, epsilons: list[float]) -> list[str]:
    """Where the curve and a single answer exclude each other."""
    curve = profile.deltas(epsilons)
    single = [compose([profile]).delta(epsilon) for epsilon in epsilons]
    return [
        f"at {epsilon}: {a} and {b}"
        for epsilon, a, b in zip(epsilons, curve, single, strict=True)
        if not (a.lower <= b.upper and b.lower <= a.upper)
    ]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_curve_agrees_with_its_points(kind: str) -> None:
    profile = compose(KINDS[kind])
    end = profile.epsilon("1e-30").upper
    end = min(end, profile.epsilon("1e-7").upper * 4) if not math.isfinite(end) else end
    epsilons = np.linspace(0, end if math.isfinite(end) else 20.0, 40).tolist()
    assert disagreements(profile, epsilons) == []
    widths = [delta.relative_width for delta in profile.deltas(epsilons) if delta.upper > 1e-280]
    assert kind == "a bound" or max(widths, default=0.0) < 1e-3


def test_epsilons_come_in_any_order_and_form() -> None:
    profile = compose(KINDS["mixed"])
    asked = ["12", 4, ln(3), "0.1", 4, 1e18, 0]
    found = profile.deltas(asked)
    assert [delta.lower <= profile.delta(at).upper for delta, at in zip(found, asked, strict=True)] == [True] * 7
    assert [profile.delta(at).lower <= delta.upper for delta, at in zip(found, asked, strict=True)] == [True] * 7
    assert found[1] == found[4]
    assert profile.deltas([]) == []


def test_a_curve_far_down_underflows_upwards() -> None:
    (delta,) = compose({Gaussian(sigma=10): 4}).deltas([50])
    assert 0 == delta.lower < delta.upper < 1e-280


def test_a_wrong_sheet_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value at one epsilon taken for all that a sheet serves."""
    profile = compose(KINDS["Laplace"])
    honest = Sheet.deltas
    monkeypatch.setattr(Sheet, "deltas", lambda sheet, at: honest(sheet, np.full_like(at, at[0])))
    assert disagreements(profile, np.linspace(5, 20, 20).tolist()) != []
