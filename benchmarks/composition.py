"""Composition, beside other libraries: `make bench`.

Each measurement is a fresh process with a limit on time and memory, one after the other. The table is
printed, and kept as benchmarks/results/composition.md and .json. Seconds are the median of three runs
inside the process (one run where it took longer than ten seconds) without the import, which has its own
column; memory is the peak of the whole process. What a library claims is compared with the exact
value in reference/composition.json: "below" is a claim of more privacy than there is.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import platform
import resource
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REFERENCE = HERE.parent / "reference" / "composition.json"
SECONDS_ALLOWED = 180
BYTES_ALLOWED = 6 << 30
RUNS, SLOW = 3, 10.0


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    title: str
    groups: tuple[tuple[str, int], ...]
    deltas: tuple[str, ...]
    contestants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    task: str
    contestant: str
    delta: str
    seconds: float | None = None
    import_seconds: float | None = None
    peak_mib: float | None = None
    lower: float | None = None
    upper: float | None = None
    truth: str | None = None
    verdict: str = ""


def primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


ARBITRARY = tuple((repr(math.sqrt(prime) / 100), 1) for prime in primes(40))
THOUSANDTHS = tuple((f"{i / 1000:.3f}", 1) for i in range(1, 1001))
EVERYBODY = ("indistinct", "dp-accounting", "prv-accountant", "opendp", "autodp")

TASKS = (
    Task(
        "deltas",
        "10^6 uses of 0.1, at seven deltas",
        (("0.1", 10**6),),
        ("1e-1", "1e-6", "1e-12", "1e-50", "1e-100", "1e-200", "1e-300"),
        ("indistinct", "autodp"),
    ),
    Task("thousand", "10^3 uses of 0.1", (("0.1", 10**3),), ("1e-6",), EVERYBODY),
    Task(
        "hundred-thousand",
        "10^5 uses of 0.1",
        (("0.1", 10**5),),
        ("1e-6", "1e-15"),
        ("indistinct", "dp-accounting", "opendp", "autodp"),
    ),
    Task("ten-million", "10^7 uses of 0.1", (("0.1", 10**7),), ("1e-300",), ("indistinct", "autodp")),
    Task("arbitrary", "40 different epsilons, the roots of primes", ARBITRARY, ("1e-6",), EVERYBODY),
    Task("thousandths", "0.001, 0.002, ..., 1.000 once each", THOUSANDTHS, ("1e-6", "1e-100"), EVERYBODY),
)


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_ALLOWED, BYTES_ALLOWED))


def process(contestant: str, task: Task, runs: int) -> dict[str, Any]:
    question = {"contestant": contestant, "groups": task.groups, "deltas": task.deltas, "runs": runs}
    try:
        ran = subprocess.run(
            [sys.executable, HERE / "contestants.py"],
            input=json.dumps(question),
            capture_output=True,
            text=True,
            timeout=SECONDS_ALLOWED,
            preexec_fn=limit_memory,  # this program has one thread
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"more than {SECONDS_ALLOWED} s"}
    _, mark, result = ran.stdout.rpartition("\nRESULT ")
    if not mark:
        return {"failure": f"process ended with code {ran.returncode}"}
    answer: dict[str, Any] = json.loads(result)
    return answer


def measured(contestant: str, task: Task) -> dict[str, Any]:
    """One run to see how long it takes and, where that is bearable, the median of three."""
    first = process(contestant, task, 1)
    if "failure" in first or first["seconds"] > SLOW:
        return first
    return process(contestant, task, RUNS)


def verdict(lower: float | None, upper: float, truth: str | None) -> str:
    if truth is None:
        return ""
    if not upper >= Fraction(truth):  # not-a-number fails as well
        return "below"
    if lower is None:
        return "above"
    return "contained" if lower <= Fraction(truth) else "above, lower end too"


def rows(contestant: str, task: Task, truths: dict[tuple[str, str], str]) -> list[Row]:
    answer = measured(contestant, task)
    if "failure" in answer:
        return [Row(task.name, contestant, delta, verdict=answer["failure"]) for delta in task.deltas]
    cost = answer["seconds"], answer["import_seconds"], answer["peak_mib"]
    found = []
    for delta, (lower, upper) in zip(task.deltas, answer["ends"], strict=True):
        truth = truths.get((task.name, delta))
        judged = verdict(lower, upper, truth)
        found.append(Row(task.name, contestant, delta, *cost, lower, upper, truth, judged))
    return found


def table(found: list[Row]) -> str:
    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    lines = []
    for task in TASKS:
        mine = [row for row in found if row.task == task.name]
        if not mine:
            continue
        lines += [f"\n## {task.title}\n"]
        lines += ["| library | delta | epsilon | relative width | truth | verdict | s | import s | MiB |"]
        lines += ["|---|---|---|---|---|---|---|---|---|"]
        for row in mine:
            width = None
            if row.lower is not None and row.upper:
                width = (row.upper - row.lower) / row.upper
            cells = [
                row.contestant,
                row.delta,
                number(row.upper, ".15g"),
                number(width, ".1e"),
                (row.truth or "")[:18],
                row.verdict,
                number(row.seconds, ".3g"),
                number(row.import_seconds, ".2f"),
                number(row.peak_mib, ".0f"),
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def versions() -> str:
    names = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in EVERYBODY)
    return f"Python {platform.python_version()} on {platform.machine()}: {names}."


def main() -> None:
    parser = argparse.ArgumentParser(description="Composition, beside other libraries.")
    parser.add_argument("--task", action="append", choices=[task.name for task in TASKS])
    parser.add_argument("--contestant", action="append", choices=EVERYBODY)
    chosen = parser.parse_args()

    truths = {
        (entry["task"], entry["delta"]): entry["value"]
        for entry in json.loads(REFERENCE.read_text(encoding="utf-8"))["epsilon"]
        if "task" in entry
    }
    found: list[Row] = []
    for task in TASKS:
        for contestant in task.contestants:
            if chosen.task and task.name not in chosen.task:
                continue
            if chosen.contestant and contestant not in chosen.contestant:
                continue
            print(f"{task.title}: {contestant}", file=sys.stderr, flush=True)
            found += rows(contestant, task, truths)
    report = f"# Composition\n\n{versions()}\n{table(found)}"
    print(report)
    if not (chosen.task or chosen.contestant):
        results = HERE / "results"
        results.mkdir(exist_ok=True)
        (results / "composition.md").write_text(report, encoding="utf-8")
        everything = [{name: getattr(row, name) for name in Row.__slots__} for row in found]
        document = {"versions": versions(), "rows": everything}
        (results / "composition.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
