"""Pictures of results/composition.json for the documentation: `python benchmarks/drawing.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt  # after the choice of what it draws with
from tasks import EVERYBODY, TASKS

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
COLOURS = dict(zip(EVERYBODY, ("#1b4965", "#e07a5f", "#81b29a", "#f2cc8f", "#8d99ae"), strict=True))
SHOWN = ("thousand", "hundred-thousand", "laplace", "sampled-10^5", "progression-1000", "progression-100000", "mixed")


def seconds(rows: list[dict[str, Any]]) -> None:
    """How long the answer at the task's first delta takes."""
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    titles = {task.name: task.title for task in TASKS}
    for place, name in enumerate(SHOWN):
        mine = [row for row in rows if row["task"] == name]
        first = [row for row in mine if row["delta"] == mine[0]["delta"] and row["seconds"]]
        for row in first:
            colour = COLOURS[row["contestant"]]
            axes.plot(row["seconds"], place, "o", color=colour, mfc="none" if row["verdict"] == "below" else colour)
    for library, colour in COLOURS.items():
        axes.plot([], [], "o", color=colour, label=library)
    axes.set_xscale("log")
    axes.set_xlabel("seconds, without the import; hollow: claims less than the truth")
    axes.set_yticks(range(len(SHOWN)), [titles[name] for name in SHOWN], fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8, loc="upper right")
    figure.savefig(IMAGES / "benchmark-seconds.svg", metadata={"Date": None})


def small_deltas(rows: list[dict[str, Any]]) -> None:
    """Claimed minus true epsilon, relative, as delta falls."""
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for library, colour in COLOURS.items():
        mine = [r for r in rows if r["task"] == "small-1000" and r["contestant"] == library and r["upper"]]
        points = [(float(r["delta"]), r["upper"] / float(r["truth"]) - 1) for r in mine if r["upper"] != float("inf")]
        if points:
            axes.plot(*zip(*points, strict=True), "o-", color=colour, label=library)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1e-10)
    axes.invert_xaxis()
    axes.set_xlabel("delta")
    axes.set_ylabel("claimed / true epsilon - 1\n(below 0 is a false claim)")
    axes.legend(fontsize=8)
    figure.savefig(IMAGES / "benchmark-small-deltas.svg", metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "indistinct"
    results = json.loads((HERE / "results" / "composition.json").read_text(encoding="utf-8"))["rows"]
    seconds(results)
    small_deltas(results)
