"""Selection and sparse vectors, beside other libraries: `.venv-bench/bin/python benchmarks/selection.py`.

Each measurement is a fresh process, one after the other. The table is printed, and kept as
benchmarks/results/selection.md. Seconds are the median of so many runs as fit a second (three at
least), without the import; the first run, which may build tables, has its own column. "Not private"
is NumPy's floating-point argmax with Gumbel noise, a bound on what arrays of floats can do. A library
that is not there, or does not import, is listed with the reason.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SECONDS_ALLOWED = 180
SECONDS, FEWEST = 1.0, 3
SIZES = (10**3, 10**5, 10**6)
ASKED, BLOCK, RARE = 100_000, 10**7, 20_000

Task = Callable[[int], Callable[[], object]]
"""From a size, the work to be timed."""


def scores(size: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).integers(0, 1000, size)


def ours(name: str) -> Task:
    def prepare(size: int) -> Callable[[], object]:
        import indistinct

        mechanism, numbers = getattr(indistinct, name)(1), scores(size)
        return lambda: mechanism.release(numbers)

    return prepare


def opendp_max(size: int) -> Callable[[], object]:
    """One-sided exponential noise: permute-and-flip."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    choose = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
    numbers = scores(size).tolist()
    return lambda: choose(numbers)


def diffprivlib_permute_and_flip(size: int) -> Callable[[], object]:
    from diffprivlib.mechanisms import PermuteAndFlip

    numbers = scores(size).tolist()
    return lambda: PermuteAndFlip(epsilon=1, sensitivity=1, utility=numbers).randomise()


def diffprivlib_exponential(size: int) -> Callable[[], object]:
    from diffprivlib.mechanisms import Exponential

    numbers = scores(size).tolist()
    return lambda: Exponential(epsilon=1, sensitivity=1, utility=numbers).randomise()


def numpy_gumbel(size: int) -> Callable[[], object]:
    import numpy as np

    numbers, generator = scores(size) / 2, np.random.default_rng()
    return lambda: int(np.argmax(numbers + generator.gumbel(size=size)))


def one_at_a_time(size: int) -> Callable[[], object]:
    from indistinct import AboveThreshold

    def work() -> None:
        ask = AboveThreshold(1).start(10**6).ask
        for value in range(size):
            ask(value)

    return work


def in_blocks(size: int) -> Callable[[], object]:
    import numpy as np

    from indistinct import Sparse

    values = np.zeros(size, dtype=np.int64)
    values[::RARE] = 10**9
    return lambda: Sparse(1, 10**5).start(10**8).ask_many(values)


def opendp_by_hand(size: int) -> Callable[[], object]:
    """No peer has a sparse vector: its noise, value by value, and a comparison in Python."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "floating-point")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    noise = dp.m.make_laplace(*space, scale=4.0)

    def work() -> None:
        threshold = noise(1e6)
        for value in range(size):
            if noise(float(value)) >= threshold:
                break

    return work


def numpy_by_hand(size: int) -> Callable[[], object]:
    import numpy as np

    draw = np.random.default_rng().laplace

    def work() -> None:
        threshold = 1e6 + draw(scale=2)
        for value in range(size):
            if value + draw(scale=4) >= threshold:
                break

    return work


TASKS: dict[str, tuple[str, tuple[int, ...], dict[str, Task]]] = {
    "noisy-max": (
        "Noisy max",
        SIZES,
        {"indistinct": ours("NoisyMax"), "opendp": opendp_max, "numpy, not private": numpy_gumbel},
    ),
    "exponential": (
        "The exponential mechanism",
        SIZES,
        {
            "indistinct": ours("ExponentialMechanism"),
            "diffprivlib": diffprivlib_exponential,
            "numpy, not private": numpy_gumbel,
        },
    ),
    "permute-and-flip": (
        "Permute-and-flip",
        SIZES,
        {"indistinct": ours("PermuteAndFlip"), "opendp": opendp_max, "diffprivlib": diffprivlib_permute_and_flip},
    ),
    "asked": (
        "A sparse vector, one adaptive query at a time",
        (ASKED,),
        {"indistinct": one_at_a_time, "opendp, by hand": opendp_by_hand, "numpy, not private": numpy_by_hand},
    ),
    "blocks": ("A sparse vector in blocks", (BLOCK,), {"indistinct": in_blocks}),
}


def measure(prepare: Task, size: int) -> dict[str, Any]:
    work = prepare(size)
    seconds: list[float] = []
    while len(seconds) <= FEWEST or sum(seconds) < SECONDS:
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return {"first": seconds[0], "seconds": statistics.median(seconds[1:])}


def measured(task: str, contestant: str, size: int) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", task, contestant, str(size)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_ALLOWED, check=False)
    except subprocess.TimeoutExpired:
        return {"failure": f"more than {SECONDS_ALLOWED} s"}
    _, mark, result = ran.stdout.rpartition("RESULT ")
    if not mark:
        return {"failure": (ran.stderr.strip().splitlines() or ["it ended without a result"])[-1][:100]}
    answer: dict[str, Any] = json.loads(result)
    return answer


def report(chosen: list[str]) -> str:
    lines = ["# Selection", "", versions()]
    for task in chosen:
        title, sizes, contestants = TASKS[task]
        lines += ["", f"## {title}", "", "| library | size | seconds | the first time | million per second |"]
        lines += ["|---|---|---|---|---|"]
        for size in sizes:
            for contestant in contestants:
                print(f"{title}: {contestant}, {size:,}", file=sys.stderr, flush=True)
                found = measured(task, contestant, size)
                if "failure" in found:
                    lines.append(f"| {contestant} | {size:,} | {found['failure']} | | |")
                    continue
                rate = size / found["seconds"] / 1e6
                lines.append(
                    f"| {contestant} | {size:,} | {found['seconds']:.3g} | {found['first']:.3g} | {rate:.3g} |"
                )
    return "\n".join(lines) + "\n"


def versions() -> str:
    names = []
    for name in ("indistinct", "numpy", "opendp", "diffprivlib"):
        try:
            names.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            names.append(f"no {name}")
    return f"Python {platform.python_version()} on {platform.machine()}: {', '.join(names)}."


def main() -> None:
    parser = argparse.ArgumentParser(description="Selection and sparse vectors, beside other libraries.")
    parser.add_argument("--task", action="append", choices=list(TASKS))
    parser.add_argument("--one", nargs=3, metavar=("TASK", "LIBRARY", "SIZE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        task, contestant, size = chosen.one
        print("RESULT", json.dumps(measure(TASKS[task][2][contestant], int(size))))
        return
    text = report(chosen.task or list(TASKS))
    print(text)
    if not chosen.task:
        results = HERE / "results"
        results.mkdir(exist_ok=True)
        (results / "selection.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
