"""Composition, beside other libraries: `make bench`.

Each measurement is a fresh process with a limit on time and memory, one after the other. The tables are
printed, and kept as benchmarks/results/composition.md and .json. Seconds are the median of three runs
inside the process (one run where it took longer than ten seconds) without the import, which has its own
column; memory is the peak of the whole process. What a library claims is compared with the exact
value in reference/: "below" is a claim of more privacy than there is.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import resource
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tasks import EVERYBODY, TASKS, Task, Truths, truths

HERE = Path(__file__).parent
SECONDS_ALLOWED = 40
BYTES_ALLOWED = 6 << 30
RUNS, SLOW = 3, 10.0


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


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_ALLOWED, BYTES_ALLOWED))


def process(contestant: str, task: Task, runs: int) -> dict[str, Any]:
    asked = {"question": task.question, "parts": task.parts, "deltas": task.deltas}
    try:
        ran = subprocess.run(
            [sys.executable, HERE / "contestants.py"],
            input=json.dumps({"contestant": contestant, "runs": runs, **asked}),
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
    """A truth of so many digits is known to half a unit of the last."""
    if truth is None:
        return ""
    digits = len(truth.partition("e")[0].partition(".")[2])
    exact, doubt = Fraction(truth), Fraction(1, 2 * 10**digits)
    if not upper >= exact - doubt:  # not-a-number fails as well
        return "below"
    if lower is None:
        return "above"
    return "contained" if lower <= exact + doubt else "above, lower end too"


def rows(contestant: str, task: Task, known: Truths) -> list[Row]:
    if len(task.deltas) > 1 and (task.each_alone or contestant == "prv-accountant"):  # which fails at some deltas
        singles = [replace(task, deltas=(delta,), each_alone=False) for delta in task.deltas]
        return [row for single in singles for row in rows(contestant, single, known)]
    answer = measured(contestant, task)
    if "failure" in answer:
        return [Row(task.name, contestant, delta, verdict=answer["failure"]) for delta in task.deltas]
    cost = answer["seconds"], answer["import_seconds"], answer["peak_mib"]
    found = []
    for delta, (lower, upper) in zip(task.deltas, answer["ends"], strict=True):
        truth = known.get((task.name, delta))
        found.append(Row(task.name, contestant, delta, *cost, lower, upper, truth, verdict(lower, upper, truth)))
    return found


def table(found: list[Row]) -> str:
    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    lines = []
    for task in TASKS:
        mine = [row for row in found if row.task == task.name]
        if not mine:
            continue
        claim = {"epsilon": "epsilon", "calibrate": "scale", "curve": "last delta"}[task.question]
        lines += [f"\n## {task.title}\n"]
        lines += [f"| library | delta | {claim} | relative width | truth | verdict | s | import s | MiB |"]
        lines += ["|---|---|---|---|---|---|---|---|---|"]
        for row in mine:
            width = None
            if row.lower is not None and row.upper:
                width = (row.upper - row.lower) / row.upper
            cells = [
                row.contestant,
                f"{float(row.delta):.6g}",
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


def below(found: list[Row]) -> str:
    """Who returns less than the truth, and by how much, where deltas are small."""
    lines = ["\n# Who claims less than the truth\n", "Claimed minus true epsilon, where that is negative.\n"]
    for task in TASKS:
        mine = [row for row in found if row.task == task.name and task.name.startswith("small")]
        deltas = list(dict.fromkeys(row.delta for row in mine))
        if not mine:
            continue
        lines += [f"\n## {task.title}\n", "| library | " + " | ".join(deltas) + " |", "|---" * (len(deltas) + 1) + "|"]
        for contestant in dict.fromkeys(row.contestant for row in mine):
            cells = {row.delta: _short_by(row) for row in mine if row.contestant == contestant}
            lines.append(f"| {contestant} | " + " | ".join(cells[delta] for delta in deltas) + " |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def _short_by(row: Row) -> str:
    if row.upper is None or row.truth is None:
        return "no answer"
    if row.verdict != "below":
        return "no claim" if row.upper == float("inf") else "holds"
    return f"{row.upper - float(row.truth):.2g}"


def versions() -> str:
    names = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in EVERYBODY)
    return f"Python {platform.python_version()} on {platform.machine()}: {names}."


def main() -> None:
    parser = argparse.ArgumentParser(description="Composition, beside other libraries.")
    parser.add_argument("--task", action="append", choices=[task.name for task in TASKS])
    parser.add_argument("--contestant", action="append", choices=EVERYBODY)
    chosen = parser.parse_args()

    known = truths()
    found: list[Row] = []
    for task in TASKS:
        for contestant in task.contestants:
            if chosen.task and task.name not in chosen.task:
                continue
            if chosen.contestant and contestant not in chosen.contestant:
                continue
            print(f"{task.title}: {contestant}", file=sys.stderr, flush=True)
            found += rows(contestant, task, known)
    report = f"# Composition\n\n{versions()}\n{table(found)}{below(found)}"
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
