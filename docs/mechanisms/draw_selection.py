"""Draws the pictures of the pages on selection: `python docs/mechanisms/draw_selection.py`; needs the extra plot."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from indistinct import MWEM, ExponentialMechanism, NoisyMax, PermuteAndFlip, Sparse
from indistinct.noise.bits import Words

HERE = Path(__file__).parent
SIZE = (6.4, 3.6)
BLUE, ORANGE, GREY = "#2563a8", "#c8641e", "#888888"


class Repeatable:
    """Bits for a picture that is the same each time it is drawn; never for a release."""

    def __init__(self) -> None:
        self._calls = 0

    def words(self, count: int) -> Words:
        self._calls += 1
        return np.frombuffer(hashlib.shake_256(str(self._calls).encode()).digest(8 * count), dtype=np.uint64)


def saved(name: str, axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    axes.figure.tight_layout()
    axes.figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(axes.figure)


def failures() -> None:
    """How likely a choice of 100 is so far below the best: the exact worst cases and the bound."""
    _, axes = plt.subplots(figsize=SIZE)
    distances = [d / 4 for d in range(105)]
    for mechanism, label, colour in (
        (ExponentialMechanism(1), "exponential mechanism", BLUE),
        (PermuteAndFlip(1), "permute-and-flip", ORANGE),
    ):
        exact = [mechanism.failure(d, candidates=100).exact for d in distances]
        axes.semilogy(distances, [bracket.upper for bracket in exact if bracket], color=colour, label=label)
    bound = [ExponentialMechanism(1).failure(d, candidates=100).beta for d in distances]
    axes.semilogy(distances, bound, color=GREY, linestyle="--", label="Corollary 3.12")
    axes.set_xlabel("alpha, for epsilon 1")
    axes.set_ylabel("probability of being alpha below")
    saved("exponential-mechanism", axes)


def noises() -> None:
    """The same for the three noises of noisy max, monotone scores."""
    _, axes = plt.subplots(figsize=SIZE)
    distances = [d / 4 for d in range(61)]
    for noise, colour in (("laplace", GREY), ("gumbel", BLUE), ("exponential", ORANGE)):
        mechanism = NoisyMax(1, noise=noise, monotone=True)
        exact = [mechanism.failure(d, candidates=100).exact for d in distances]
        axes.semilogy(distances, [bracket.upper for bracket in exact if bracket], color=colour, label=noise)
    axes.set_xlabel("alpha, for epsilon 1 and counts")
    axes.set_ylabel("probability of being alpha below")
    saved("noisy-max", axes)


def scales() -> None:
    """The noise on the threshold by the number of answers above."""
    _, axes = plt.subplots(figsize=SIZE)
    cutoffs = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1000]
    for label, colour, style, extra in (
        ("delta = 0", GREY, "-", {}),
        ("delta = 1e-6, the paper's", BLUE, "--", {"delta": "1e-6"}),
        ("delta = 1e-6, optimal", ORANGE, "-", {"delta": "1e-6", "accounting": "optimal"}),
    ):
        found = [float(Sparse(1, cutoff, **extra).threshold_scale) for cutoff in cutoffs]
        axes.loglog(cutoffs, found, color=colour, linestyle=style, label=label)
    axes.set_xlabel("cutoff: answers above")
    axes.set_ylabel("scale of the threshold's noise, epsilon 1")
    saved("sparse-vector", axes)


def histograms() -> None:
    """A histogram of 100,000 people and what MWEM makes of it."""
    cells = np.arange(64)
    truth = 1200 * np.exp(-((cells - 20) ** 2) / 60) + 700 * np.exp(-((cells - 45) ** 2) / 90) + 60
    counts = np.rint(truth * 10).astype(np.int64)
    queries = np.array([[low <= x < high for x in cells] for high in range(1, 65) for low in range(high)]).astype(int)
    released = MWEM(1, rounds=100).release(counts, queries, total=int(counts.sum()), source=Repeatable())
    _, axes = plt.subplots(figsize=SIZE)
    axes.step(cells, counts, where="mid", color=GREY, label="private histogram")
    axes.step(cells, released.cells, where="mid", color=ORANGE, label="MWEM, epsilon 1, 100 rounds")
    axes.set_xlabel("cell")
    axes.set_ylabel("people")
    saved("mwem", axes)


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "indistinct"
    failures()
    noises()
    scales()
    histograms()
