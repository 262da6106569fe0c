"""Draws what each mechanism answers for two neighbouring databases: `python docs/images/mechanisms.py`.

The laws are computed from their formulas, on the lattice that a picture can show. Nothing else in the project needs
this file; the pictures are committed beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

HERE = Path(__file__).parent
FIRST, SECOND = "#1b6ca8", "#d1495b"
Law = Callable[[np.ndarray], np.ndarray]


def laplace(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.abs(x)) / 2


def gaussian(x: np.ndarray) -> np.ndarray:
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def staircase(x: np.ndarray) -> np.ndarray:
    gamma, fall = 1 / (1 + math.exp(1.5 / 2)), math.exp(-1.5)
    whole = np.floor(np.abs(x))
    height = (1 - fall) / (2 * (gamma + fall * (1 - gamma)))
    return height * fall ** (whole + (np.abs(x) - whole >= gamma))


def geometric(x: np.ndarray) -> np.ndarray:
    fall = math.exp(-0.5)
    return (1 - fall) / (1 + fall) * fall ** np.abs(x)


def discrete_gaussian(x: np.ndarray) -> np.ndarray:
    weights = np.exp(-(np.arange(-60.0, 61) ** 2) / 18)
    return np.exp(-(x**2) / 18) / weights.sum()


def axes_of(figure: Figure, label: str) -> mpl.axes.Axes:
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(label)
    axes.set_ylabel("probability")
    return axes


def curves(law: Law, label: str, name: str) -> None:
    """Densities around 0 and 1."""
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = axes_of(figure, label)
    x = np.linspace(-4, 5, 1801)
    for centre, colour, style in ((0, FIRST, "-"), (1, SECOND, "--")):
        axes.plot(x, law(x - centre), style, color=colour, label=f"true value {centre}", linewidth=1.6)
    axes.set_ylim(0)
    axes.set_ylabel("density")
    axes.legend(frameon=False)
    save(figure, name)


def bars(law: Law, name: str) -> None:
    """Probabilities of whole numbers around 0 and 1."""
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = axes_of(figure, "answer")
    x = np.arange(-10, 12)
    for centre, colour, side in ((0, FIRST, -0.2), (1, SECOND, 0.2)):
        axes.bar(x + side, law((x - centre).astype(float)), 0.4, color=colour, label=f"true value {centre}")
    axes.legend(frameon=False)
    save(figure, name)


def survey(name: str) -> None:
    """Four categories at odds 3."""
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = axes_of(figure, "response")
    for own, colour, side in ((0, FIRST, -0.2), (1, SECOND, 0.2)):
        heights = [1 / 2 if response == own else 1 / 6 for response in range(4)]
        axes.bar(np.arange(4) + side, heights, 0.4, color=colour, label=f"own category {own}")
    axes.set_xticks(range(4))
    axes.legend(frameon=False)
    save(figure, name)


def save(figure: Figure, name: str) -> None:
    figure.savefig(HERE / f"mechanism-{name}.svg", metadata={"Date": None, "Creator": None})


def main() -> None:
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "indistinct", "font.size": 9})
    curves(laplace, "answer, scale 1", "laplace")
    curves(gaussian, "answer, sigma 1", "gaussian")
    curves(staircase, "answer, epsilon 1.5", "staircase")
    bars(geometric, "geometric")
    bars(discrete_gaussian, "discrete-gaussian")
    survey("randomized-response")


if __name__ == "__main__":
    main()
