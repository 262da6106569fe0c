"""No node that matters may be missing: the list is compared with all nodes, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from indistinct.composition import decay
from indistinct.composition.decay import TooManyNodes, active_nodes

Floats = NDArray[np.float64]
Active = Callable[[Floats, Floats, int, float, int], NDArray[np.int64]]


def bounds(multiples: list[int], chances: list[float], times: list[int], nodes: int) -> Floats:
    """-log |phi(2 pi n / nodes)| for every n in [0, nodes / 2], from the transform itself."""
    theta = 2 * np.pi * np.arange(nodes // 2 + 1) / nodes
    total = np.zeros(theta.size)
    for m, a, count in zip(multiples, chances, times, strict=True):
        with np.errstate(divide="ignore"):
            total -= count * np.log(np.abs(1 - a + a * np.exp(1j * m * theta)))
    return total


def missed(
    active: Active, multiples: list[int], chances: list[float], times: list[int], nodes: int, negligible: float
) -> list[int]:
    """The nodes with |phi| above e^-negligible that are not in the list."""
    strengths = np.array([n * 2 * a * (1 - a) for a, n in zip(chances, times, strict=True)])
    found = active(np.array(multiples, dtype=float), strengths, nodes, negligible, 10**7)
    assert np.all(np.diff(found) > 0)
    assert found.size == 0 or (found[0] >= 0 and found[-1] <= nodes // 2)
    matters = np.flatnonzero(bounds(multiples, chances, times, nodes) < negligible * (1 - 1e-9))
    return sorted(set(matters.tolist()) - set(found.tolist()))


laws = st.integers(1, 6).flatmap(
    lambda size: st.tuples(
        st.lists(st.integers(1, 300), min_size=size, max_size=size),
        st.lists(st.floats(1e-6, 1 - 1e-6), min_size=size, max_size=size),
        st.lists(st.integers(1, 10**6), min_size=size, max_size=size),
    )
)


@given(laws, st.integers(2, 5000), st.floats(1, 80))
@settings(max_examples=150, deadline=None)
def test_every_node_that_matters_is_listed(
    law: tuple[list[int], list[float], list[int]], nodes: int, negligible: float
) -> None:
    assert missed(active_nodes, *law, nodes, negligible) == []


def test_many_different_ones() -> None:
    multiples = list(range(100, 400))
    chances = [0.5 + m / 1000 for m in multiples]
    assert missed(active_nodes, multiples, chances, [3] * 300, 60_000, 50.0) == []


def test_the_list_is_short() -> None:
    found = active_nodes(np.array([1.0]), np.array([10**6 / 2]), 200_000, 50.0, 10**6)
    assert found.size < 2 * 200_000 / (2 * np.pi) * math.sqrt(2 * 50 / (10**6 / 2)) + 10


def test_a_law_that_hardly_decays_is_given_up() -> None:
    with pytest.raises(TooManyNodes):
        active_nodes(np.array([1.0]), np.array([1e-3]), 10**6, 50.0, 20_000)


def test_nothing_at_all_matters_less_than_everything() -> None:
    """Node 0, where phi is 1, is always there."""
    assert 0 in active_nodes(np.array([7.0]), np.array([1e9]), 1000, 46.0, 1000)


def test_a_margin_of_the_wrong_sign_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(
        multiples: Floats,
        strengths: Floats,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        nodes: int,
        _: float,
    ) -> Floats:
        centre = math.pi / nodes * (starts + ends - 1)
        reach = math.pi / nodes * (ends - starts - 1)
        sines = np.abs(np.sin(np.outer(centre, multiples / 2)))
        margin = np.outer(reach, multiples / 2)
        return np.asarray(np.minimum(sines + margin, 1) ** 2 @ strengths)

    monkeypatch.setattr(decay, "_bounds", careless)
    assert missed(active_nodes, [7, 10], [0.7, 0.6], [500, 300], 4000, 40.0) != []


def test_a_forgotten_margin_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(
        multiples: Floats,
        strengths: Floats,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        nodes: int,
        _: float,
    ) -> Floats:
        centre = math.pi / nodes * (starts + ends - 1)
        return np.asarray(np.sin(np.outer(centre, multiples / 2)) ** 2 @ strengths)

    monkeypatch.setattr(decay, "_bounds", careless)
    assert missed(active_nodes, [7, 10], [0.7, 0.6], [50_000, 30_000], 400_000, 40.0) != []


def test_a_list_without_its_last_node_is_noticed() -> None:
    def shortened(multiples: Floats, strengths: Floats, nodes: int, negligible: float, most: int) -> NDArray[np.int64]:
        return active_nodes(multiples, strengths, nodes, negligible * 0.9, most)

    assert missed(shortened, [1], [0.5], [10**5], 10**5, 40.0) != []
