"""Noise, beside other libraries: `make bench`, or `python benchmarks/noise.py --contestant opendp`.

Each measurement is a fresh process, one after the other, with a limit on time. The table is printed, and kept as
benchmarks/results/noise.md and .json. Draws are counted per second of the processor, without the import and after a
first draw: a million at once where the library has arrays and is quick enough, else as many as take about two seconds.
A library that cannot be imported, or has no such noise, is listed with the reason. numpy is fast and not private:
floats that can be predicted. os.urandom is what the random bits alone cost, one word of 64 for a draw.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
SECONDS_ALLOWED = 180
MANY = 10**6
ENOUGH = 2.0  # seconds of drawing
SCALES = (1, 10, 1000, 10**6, 2**40)
KINDS = ("Laplace", "Gaussian", "staircase")
EVERYBODY = ("indistinct", "opendp", "diffprivlib", "numpy", "os.urandom")
TASKS = (
    *((f"{kind} {scale}", f"{kind} noise, scale {scale:,}") for kind in KINDS for scale in SCALES),
    ("one", "one number released, with Laplace noise of scale 10"),
    ("one whole", "one whole number released, with discrete Laplace noise of scale 10"),
    ("table Laplace", "the first draw of discrete Laplace noise of a scale near 1,000"),
    ("table Gaussian", "the first draw of discrete Gaussian noise of a scale near 1,000"),
    ("table mechanism", "the first release of a Gaussian mechanism"),
)

Draw = Callable[[int], object]
"""So many draws."""


class CannotSay(Exception):
    """The library has no such noise."""


def indistinct(task: str) -> Draw:
    from indistinct import Gaussian, Geometric, Laplace
    from indistinct.noise import DiscreteGaussian, DiscreteLaplace, DiscreteStaircase

    kind, _, rest = task.partition(" ")
    match kind:
        case "one":
            release = (Geometric if rest else Laplace)(epsilon="0.1").release
            return lambda count: [release(7) for _ in range(count)]
        case "table":
            fresh = iter(range(10**6))
            if rest == "mechanism":
                return lambda count: [
                    Gaussian(sigma=f"{10 + next(fresh) / 1000:.3f}").release(7.0) for _ in range(count)
                ]
            law = DiscreteLaplace if rest == "Laplace" else DiscreteGaussian
            return lambda count: [law(f"{1000 + next(fresh) / 1000:.3f}").draw() for _ in range(count)]
        case "Laplace":
            return DiscreteLaplace(int(rest)).draws
        case "Gaussian":
            return DiscreteGaussian(int(rest)).draws
    return DiscreteStaircase(int(rest), 1, max(int(rest) * 2 // 5, 1)).draws


def opendp(task: str) -> Draw:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    kind, _, rest = task.partition(" ")
    if kind in ("staircase", "table"):
        raise CannotSay("has no such noise")
    if kind == "one":
        domain = dp.atom_domain(T=int) if rest else dp.atom_domain(T=float, nan=False)
        one = dp.m.make_laplace(domain, dp.absolute_distance(T=int if rest else float), 10.0)
        value = 7 if rest else 7.0
        return lambda count: [one(value) for _ in range(count)]
    make, distance = {
        "Laplace": (dp.m.make_laplace, dp.l1_distance(T=int)),
        "Gaussian": (dp.m.make_gaussian, dp.l2_distance(T=float)),
    }[kind]
    measurement = make(dp.vector_domain(dp.atom_domain(T=int)), distance, float(rest))
    return lambda count: measurement([0] * count)


def diffprivlib(task: str) -> Draw:
    from diffprivlib import mechanisms

    kind, _, rest = task.partition(" ")
    match kind:
        case "one":
            made = (mechanisms.Geometric if rest else mechanisms.Laplace)(epsilon=0.1, sensitivity=1)
            value = 7 if rest else 7.0
            return lambda count: [made.randomise(value) for _ in range(count)]
        case "table":
            raise CannotSay("builds no tables")
        case "Laplace":
            noise = mechanisms.Geometric(epsilon=1 / int(rest), sensitivity=1)
        case "Gaussian":
            noise = mechanisms.GaussianDiscrete(epsilon=0.5, delta=1e-5, sensitivity=1)
            noise._scale = float(rest)  # noqa: SLF001  # it takes no scale
        case _:
            noise = mechanisms.Staircase(epsilon=1, sensitivity=int(rest))
    value = 0.0 if kind == "staircase" else 0
    return lambda count: [noise.randomise(value) for _ in range(count)]


def numpy(task: str) -> Draw:
    import numpy as np

    kind, _, rest = task.partition(" ")
    random = np.random.default_rng()
    if kind == "one" and not rest:
        return lambda count: [7 + random.laplace(scale=10) for _ in range(count)]
    if kind not in ("Laplace", "Gaussian"):
        raise CannotSay("has no such noise")
    draw = random.laplace if kind == "Laplace" else random.normal
    return lambda count: draw(scale=float(rest), size=count)


def urandom(task: str) -> Draw:
    if task.split()[0] not in KINDS:
        raise CannotSay("only random bits")
    return lambda count: os.urandom(8 * count)


CONTESTANTS: dict[str, Callable[[str], Draw]] = {
    "indistinct": indistinct,
    "opendp": opendp,
    "diffprivlib": diffprivlib,
    "numpy": numpy,
    "os.urandom": urandom,
}


@dataclass(frozen=True, slots=True)
class Row:
    task: str
    contestant: str
    draws: int = 0
    seconds: float | None = None
    failure: str = ""


def measure(contestant: str, task: str) -> Row:
    """In this process: the best of three runs of as many draws as are bearable."""
    try:
        draw = CONTESTANTS[contestant](task)
        count = 1
        draw(count)
        taken = 0.0
        most = 100_000 if task.startswith("one") else 50 if task.startswith("table") else MANY
        while count < most and taken < ENOUGH / 10:
            count = min(count * 10, most)
            started = time.process_time()
            draw(count)
            taken = time.process_time() - started
        runs = []
        for _ in range(3 if taken < ENOUGH else 1):
            started = time.process_time()
            draw(count)
            runs.append(time.process_time() - started)
        return Row(task, contestant, count, min(runs))
    except Exception as failure:  # whatever it is, it is the result of this measurement
        if isinstance(failure, CannotSay):
            return Row(task, contestant, failure=str(failure))
        return Row(task, contestant, failure=f"{type(failure).__name__}: {failure}".splitlines()[0][:90])


def process(contestant: str, task: str) -> Row:
    """In a process of its own."""
    try:
        ran = subprocess.run(
            [sys.executable, __file__, "--measure", contestant, task],
            capture_output=True,
            text=True,
            timeout=SECONDS_ALLOWED,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Row(task, contestant, failure=f"more than {SECONDS_ALLOWED} s")
    _, mark, result = ran.stdout.rpartition("RESULT ")
    return Row(**json.loads(result)) if mark else Row(task, contestant, failure=f"ended with code {ran.returncode}")


def table(rows: list[Row]) -> str:
    """Draws per second, or the time of one where one is what is asked for."""
    lines = []
    for name, title in TASKS:
        mine = [row for row in rows if row.task == name]
        if not mine:
            continue
        lines += [f"\n## {title}\n", "| library | per second | each | beside indistinct |", "|---|---|---|---|"]
        ours = next((row.seconds / row.draws for row in mine if row.contestant == "indistinct" and row.seconds), None)
        for row in mine:
            if not row.seconds:
                lines.append(f"| {row.contestant} | {row.failure or 'too quick to tell'} | | |")
                continue
            each = row.seconds / row.draws
            ratio = f"{each / ours:.3g} times as long" if ours and row.contestant != "indistinct" else ""
            lines.append(f"| {row.contestant} | {1 / each:,.0f} | {each * 1e6:.3g} µs | {ratio} |")
    return "\n".join(lines) + "\n"


def versions() -> str:
    """What was measured, and what could not be found."""
    found = []
    for name in EVERYBODY[:-1]:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} not installed")
    return f"Python {platform.python_version()} on {platform.machine()}: {', '.join(found)}."


def main() -> None:
    parser = argparse.ArgumentParser(description="Noise, beside other libraries.")
    parser.add_argument("--task", action="append", choices=[name for name, _ in TASKS])
    parser.add_argument("--contestant", action="append", choices=EVERYBODY)
    parser.add_argument("--measure", nargs=2, metavar=("CONTESTANT", "TASK"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        print("RESULT " + json.dumps(asdict(measure(*chosen.measure))))
        return
    rows = []
    for name, title in TASKS:
        for contestant in EVERYBODY:
            if (chosen.task and name not in chosen.task) or (chosen.contestant and contestant not in chosen.contestant):
                continue
            print(f"{title}: {contestant}", file=sys.stderr, flush=True)
            rows.append(process(contestant, name))
    report = f"# Noise\n\n{versions()}\n{table(rows)}"
    print(report)
    if not (chosen.task or chosen.contestant):
        results = HERE / "results"
        results.mkdir(exist_ok=True)
        (results / "noise.md").write_text(report, encoding="utf-8")
        document = {"versions": versions(), "rows": [asdict(row) for row in rows]}
        (results / "noise.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
