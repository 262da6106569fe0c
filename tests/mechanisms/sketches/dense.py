"""The definition of a sketch by matrices, as the paper writes it, for small graphs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def laplacian(weights: Floats) -> Floats:
    """D - W."""
    return np.diag(np.sum(weights, axis=1)) - weights


def reweighted(weights: Floats, w: float) -> Floats:
    """E_G^T E_G of KOV, appendix D, with every row of the C(n, 2) x n matrix written out."""
    n = len(weights)
    rows = []
    for i, j in combinations(range(n), 2):
        row = np.zeros(n)
        root = math.sqrt(w / n + (1 - w / n) * weights[i, j])
        row[i], row[j] = root, -root
        rows.append(row)
    incidence = np.array(rows)
    return np.asarray(incidence.T @ incidence)


def random_weights(nodes: int, seed: int, share: float = 0.5) -> Floats:
    """A symmetric matrix of weights in [0, 1], some of them 0."""
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((nodes, nodes)) * (random.random((nodes, nodes)) < share), 1)
    upper = upper.astype(np.float32).astype(np.float64)
    return np.asarray(upper + upper.T)


def edge_arrays(weights: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """(u, v, weight) of a matrix."""
    u, v = np.nonzero(np.triu(weights, 1))
    return u, v, weights[u, v]
