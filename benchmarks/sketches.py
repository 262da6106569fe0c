"""Sketches of graphs and matrices at size: `.venv/bin/python benchmarks/sketches.py`.

Each task is a fresh process with a limit on memory, one after the other. The table says how long it took, without
making the data, and the peak memory of the whole process, the data included, beside what is aimed at.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

MEBI = 1 << 20


def large_graph() -> float:
    """473 rows of a graph of 10^5 nodes and 10^6 edges."""
    return released(100_000, 1_000_000, "0.25")


def largest_graph() -> float:
    """119 rows of a graph of 10^6 nodes and 10^7 edges."""
    return released(1_000_000, 10_000_000, "0.5")


def one_cut() -> float:
    """One cut of 1,000 nodes, from 473 rows of 10^5; the median of 101."""
    import numpy as np

    from indistinct import CutSketch

    plan = CutSketch.plan(nodes=100_000, epsilon=1, delta="1e-6", eta="0.25", nu="0.05")
    synopsis = plan.release(random_edges(100_000, 100_000))
    random = np.random.default_rng(1)
    took = []
    for _ in range(101):
        nodes = random.choice(100_000, 1000, replace=False)
        started = time.perf_counter()
        synopsis.cut(nodes)
        took.append(time.perf_counter() - started)
    return sorted(took)[50]


def covariance() -> float:
    """473 rows for a matrix of 10^6 rows and 100 columns, in blocks."""
    import numpy as np

    from indistinct import CovarianceSketch

    random = np.random.default_rng(1)
    blocks = [random.standard_normal((100_000, 100)) / 10 for _ in range(10)]
    sketch = CovarianceSketch.plan(columns=100, epsilon=1, delta="1e-6", eta="0.25", nu="0.05")
    started = time.perf_counter()
    sketch.release(blocks)
    return time.perf_counter() - started


def released(nodes: int, edges: int, eta: str) -> float:
    from indistinct import CutSketch

    graph = random_edges(nodes, edges)
    started = time.perf_counter()
    CutSketch.plan(nodes=nodes, epsilon=1, delta="1e-6", eta=eta, nu="0.05").release(graph, progress=True)
    return time.perf_counter() - started


def random_edges(nodes: int, edges: int) -> tuple[object, object]:
    import numpy as np

    u, v = np.random.default_rng(1).integers(0, nodes, (2, edges))
    return u, v


TASKS: dict[str, tuple[Callable[[], float], float, int]] = {
    "large": (large_graph, 60.0, 2048),
    "largest": (largest_graph, 600.0, 6144),
    "cut": (one_cut, 0.01, 2048),
    "covariance": (covariance, 10.0, 4096),
}
"""What to run, and the seconds and MiB aimed at."""


def run(name: str) -> dict[str, float] | None:
    """One task in a process of its own."""
    ran = subprocess.run(
        [sys.executable, Path(__file__), "--inside", name], stdout=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode:
        return None
    answer: dict[str, float] = json.loads(ran.stdout)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=TASKS, action="append")
    parser.add_argument("--inside", choices=TASKS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        task, _, mebis = TASKS[arguments.inside]
        resource.setrlimit(resource.RLIMIT_AS, (2 * mebis * MEBI, 2 * mebis * MEBI))
        seconds = task()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "mebis": peak}))
        return
    print("| task | seconds | aim | MiB | aim |\n|---|---|---|---|---|")
    for name in arguments.task or TASKS:
        task, seconds, mebis = TASKS[name]
        found = run(name)
        took, peak = (f"{found['seconds']:.3g}", f"{found['mebis']:.0f}") if found else ("failed", "")
        print(f"| {(task.__doc__ or '').strip()} | {took} | {seconds:g} | {peak} | {mebis} |", flush=True)


if __name__ == "__main__":
    main()
