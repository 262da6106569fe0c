"""What neighbouring graphs' sketches really reveal, from their own Gaussian laws, against what is claimed."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from indistinct import CovarianceSketch, CutSketch, compose
from indistinct.mechanisms.sketches.calibration import exact_delta
from tests.mechanisms.sketches.dense import Floats, laplacian, random_weights, reweighted

F = Fraction


def stretches(one: Floats, other: Floats) -> Floats:
    """By what a row's variance is stretched from one law to the other, in each of the directions that it is in."""
    n = len(one)
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T  # of the complement of the constant vectors
    root = np.linalg.cholesky(basis.T @ one @ basis)
    whitened = np.linalg.solve(root, np.linalg.solve(root, basis.T @ other @ basis).T)
    return np.sort(np.linalg.eigvalsh((whitened + whitened.T) / 2))


def neighbour(weights: Floats, random: np.random.Generator) -> Floats:
    """One pair's weight moved as far as it can be, or anywhere."""
    n = len(weights)
    i, j = random.choice(n, 2, replace=False)
    changed = weights.copy()
    changed[i, j] = changed[j, i] = random.choice([0.0, 1.0, random.random()])
    return changed


@pytest.mark.parametrize("nodes", [2, 3, 5, 9])
@pytest.mark.parametrize("w", ["0.3", "1.5"])
def test_one_edge_stretches_one_direction_by_no_more_than_claimed(nodes: int, w: str) -> None:
    """On random graphs; an edge less is the inverse of an edge more."""
    sketch, random = CutSketch(nodes, 5, w), np.random.default_rng(nodes)
    most = float(sketch.excess)
    for seed in range(40):
        before = random_weights(nodes, seed, share=random.random())
        after = neighbour(before, random)
        found = stretches(reweighted(before, float(w)), reweighted(after, float(w)))
        moved = found[np.abs(found - 1) > 1e-9]
        assert moved.size <= 1
        assert np.all((found <= (1 + most) * (1 + 1e-9)) & (found >= (1 - 1e-9) / (1 + most)))


@pytest.mark.parametrize("nodes", [2, 3, 9])
def test_the_empty_graph_and_one_edge_attain_it(nodes: int) -> None:
    sketch = CutSketch(nodes, 5, "1.5")
    empty, edge = np.zeros((nodes, nodes)), np.zeros((nodes, nodes))
    edge[0, 1] = edge[1, 0] = 1
    found = stretches(reweighted(empty, 1.5), reweighted(edge, 1.5))
    assert found[-1] == pytest.approx(1 + float(sketch.excess), rel=1e-12)


@pytest.mark.parametrize("nodes", [2, 4, 7])
def test_the_definition_has_the_laplacian_of_the_reweighted_graph(nodes: int) -> None:
    """E_G^T E_G = w (I - 1 1^T / n) + (1 - w/n) L, at least w on the complement of the constants."""
    weights, w = random_weights(nodes, 3), 1.25
    whole = reweighted(weights, w)
    average = np.identity(nodes) - np.ones((nodes, nodes)) / nodes
    np.testing.assert_allclose(whole, w * average + (1 - w / nodes) * laplacian(weights), atol=1e-12)
    assert np.sort(np.linalg.eigvalsh(whole))[1] >= w * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [0, F(1, 2), F(2)])
def test_two_rows_on_three_nodes_by_integration_over_outputs(epsilon: Fraction) -> None:
    """The outputs of r = 1 on three nodes fill a plane: (p - e^eps q)_+ is integrated over all its directions.

    Along a direction the densities are Gaussian in the distance, and the integral is an elementary one; no chi-square,
    no whitening and no worst case is used.
    """
    sketch = CutSketch(3, 1, "0.5")
    before, after = random_weights(3, 5, share=1.0) * 0.3, random_weights(3, 5, share=1.0) * 0.3
    after[0, 2] = after[2, 0] = 1.0
    basis = np.linalg.svd(np.ones((1, 3)))[2][1:].T
    precisions, heights = [], []
    for weights in (before, after):
        covariance = basis.T @ reweighted(weights, 0.5) @ basis
        precisions.append(np.linalg.inv(covariance))
        heights.append(1 / (2 * math.pi * math.sqrt(np.linalg.det(covariance))))
    claimed = compose([sketch]).delta(epsilon)
    for p, q in ((0, 1), (1, 0)):

        def along(angle: float, p: int = p, q: int = q) -> float:
            """The integral of (h_p e^(-a rho^2 / 2) - e^eps h_q e^(-b rho^2 / 2))_+ rho over rho."""
            way = np.array([math.cos(angle), math.sin(angle)])
            a, b = (float(way @ precisions[k] @ way) for k in (p, q))
            one, other = heights[p], math.exp(epsilon) * heights[q]
            # They are equal at rho^2 / 2 = u.
            u = math.log(one / other) / (a - b) if a != b else math.inf
            if one > other:
                end = u if u > 0 else math.inf
                return one / a * -math.expm1(-a * end) - other / b * -math.expm1(-b * end)
            return one / a * math.exp(-a * u) - other / b * math.exp(-b * u) if 0 < u < math.inf else 0.0

        angles = np.linspace(0, 2 * math.pi, 4001)[:-1]
        true = float(np.mean([along(angle) for angle in angles.tolist()])) * 2 * math.pi
        assert true <= claimed.upper
        stretch = stretches(reweighted(before, 0.5), reweighted(after, 0.5))[-1]
        own = exact_delta(1, F(float(stretch) - 1), F(epsilon))
        assert true <= own.upper * (1 + 1e-6)
        assert own.upper <= claimed.upper


def test_the_worst_pair_on_two_nodes_is_claimed_exactly_and_less_weight_is_noticed() -> None:
    """One row on two nodes is one number: delta by the normal law's own distribution function."""
    n, w, epsilon = 2, 0.8, 0.3
    sketch = CutSketch(n, 1, "0.8")
    low, high = w, w + (1 - w / n) * 2  # variances of the difference, over 2 of the empty graph's and with an edge

    def delta(first: float, second: float) -> float:
        """P(|y| < t) or P(|y| > t) under both, t where the densities differ by e^eps."""
        squared = (math.log(second / first) / 2 - epsilon) * 2 / (1 / first - 1 / second)
        if first < second:
            return max(inside(squared, first) - math.exp(epsilon) * inside(squared, second), 0) if squared > 0 else 0
        return (1 - inside(squared, first)) - math.exp(epsilon) * (1 - inside(squared, second))

    def inside(squared: float, variance: float) -> float:
        return math.erf(math.sqrt(squared / (2 * variance)))

    true = max(delta(low, high), delta(high, low))
    claimed = compose([sketch]).delta(F(epsilon))
    assert claimed.upper == pytest.approx(true, rel=1e-12)
    assert compose([CutSketch(n, 1, "0.96")]).delta(F(epsilon)).upper < true  # as if 20% more were added


@pytest.mark.parametrize("columns", [1, 3])
def test_a_row_of_a_matrix_stretches_by_no_more_than_claimed(columns: int) -> None:
    sketch = CovarianceSketch(columns, 7, "1.5", bound=2)
    random = np.random.default_rng(columns)
    for rows in (0, 1, 10):
        matrix = random.standard_normal((rows, columns))
        more = random.standard_normal(columns)
        more *= 2 / np.linalg.norm(more)
        before = matrix.T @ matrix + 1.5**2 * np.identity(columns)
        values = np.linalg.eigvals(np.linalg.solve(before, before + np.outer(more, more))).real
        assert np.max(values) <= (1 + float(sketch.excess)) * (1 + 1e-12)
        assert (rows > 0) == (np.max(values) < 1 + float(sketch.excess) * (1 - 1e-9))


def test_a_smaller_excess_is_post_processing() -> None:
    """y sqrt(x'/x) + N(0, 1 - x'/x) makes the pair of x' from that of x."""
    big, small = mpmath.mpf("0.7"), mpmath.mpf("0.2")
    share = small / big
    assert share * 1 + (1 - share) == 1
    assert abs(share * (1 + big) + (1 - share) - (1 + small)) < 1e-14
