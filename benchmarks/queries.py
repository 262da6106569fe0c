"""Private queries, beside queries written by hand: `make bench`.

Ten million rows of a million users are made with Zipf's skew, and each task is measured in fresh processes, one after
the other, with one thread: the private answer, and the same bounded aggregate as somebody would write it in DuckDB,
without any noise. Seconds are the median of several runs inside a process that has opened the table; memory is the
peak of the whole process. Printed are the ratios, which mean something on any machine.

The table, `sales(user_id, region, product, amount, order_id)`, is made in a temporary directory, or kept in the
one that --data names. `--size 0.05` makes everything a twentieth as large, to try it out.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROWS, USERS, REGIONS, PRODUCTS = 10_000_000, 1_000_000, 50, 1_000
SECONDS_ALLOWED = 3600

# Zipf's law: the n-th commonest has a share in proportion to 1/n, by the inverse of its continuous form.
_MAKE = """
COPY (
    SELECT least({users}, floor(exp(ln({users} + 1) * random())))::BIGINT * 7919 % {prime} AS user_id,
           'region ' || (floor({regions} * pow(random(), 1.5)) + 1)::INTEGER AS region,
           least({products}, floor(exp(ln({products} + 1) * random())))::INTEGER AS product,
           round(100 * pow(random(), 2), 2) AS amount,
           range AS order_id
    FROM range({rows})
) TO '{path}' (FORMAT parquet)
"""


@dataclass(frozen=True, slots=True)
class Task:
    """One question, answered by several contestants."""

    name: str
    title: str
    contestants: tuple[str, ...]
    reach: str


BESIDE_HANDS = ("indistinct", "by hand")
ON_SPARK = ("indistinct on Spark", "by hand in Spark")
TASKS = (
    Task("regions", "COUNT and SUM by 50 regions, public keys, one row per user", BESIDE_HANDS, "at most 1.5"),
    Task("products", "COUNT and SUM by 1,000 products, private keys, 5 groups x 10 rows", BESIDE_HANDS, "at most 0.7"),
    Task("spark regions", "The first of these on Spark, with two cores", ON_SPARK, "at most 1.3"),
    Task("spark products", "The second of these on Spark, with two cores", ON_SPARK, "at most 1.3"),
    Task("overhead", "Planning, accounting, ledger and noise, beyond the engine", ("indistinct",), "at most 15 ms"),
    Task("orders", "COUNT by order, private keys, all of them distinct", ("indistinct",), "under 2 GB"),
    Task(
        "error",
        "Root mean square error at (1, 1e-6) over 200 draws: COUNT and SUM by 50 regions, AVG by region, MEDIAN",
        ("indistinct", "indistinct, in rho", "opendp", "pipelinedp", "diffprivlib"),
        "at most 1",
    ),
    Task(
        "agreement",
        "COUNT and SUM by 50 regions at epsilon 1000, where noise hardly matters",
        ("indistinct and opendp",),
        "counts within 1, sums within 5",
    ),
)


def make_table(path: Path, size: float) -> None:
    """The same rows for the same size: DuckDB's generator is seeded, and one thread uses it."""
    import duckdb

    users = int(USERS * size)
    prime = next(n for n in range(users + 1, 2 * users + 100) if all(n % d for d in range(2, int(n**0.5) + 1)))
    numbers = {"users": users, "prime": prime, "regions": REGIONS, "products": PRODUCTS, "rows": int(ROWS * size)}
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.execute("SELECT setseed(0.5)")
        engine.execute(_MAKE.format(path=str(path).replace("'", "''"), **numbers))


def measured(task: Task, contestant: str, table: Path, runs: int) -> dict[str, Any]:
    """What one process finds; its failure is an answer as well."""
    asked = json.dumps(
        {"task": task.name.removeprefix("spark "), "contestant": contestant, "table": str(table), "runs": runs}
    )
    try:
        ran = subprocess.run(
            [sys.executable, HERE / "query_contestants.py"],
            input=asked,
            capture_output=True,
            text=True,
            timeout=SECONDS_ALLOWED,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"more than {SECONDS_ALLOWED} s"}
    _, mark, result = ran.stdout.rpartition("\nRESULT ")
    if not mark:
        return {"failure": (ran.stderr.strip().splitlines() or ["no answer"])[-1][:200]}
    answer: dict[str, Any] = json.loads(result)
    return answer


def report(task: Task, found: dict[str, dict[str, Any]]) -> str:
    """A table of what was measured, and the ratio of the first contestant to the second."""
    lines = [f"\n## {task.title}\n", f"To reach: {task.reach}.\n"]
    numbers = list(dict.fromkeys(name for each in found.values() for name in each if name != "failure"))
    lines += ["| | " + " | ".join(numbers) + " |", "|---" * (len(numbers) + 1) + "|"]
    for contestant, each in found.items():
        cells = [each["failure"]] if "failure" in each else [_spelled(each.get(name)) for name in numbers]
        lines.append(f"| {contestant} | " + " | ".join(cells) + " |")
    names = list(found)
    for ours, theirs in ((one, other) for one in names for other in names[names.index(one) + 1 :]):
        pairs = [(name, found[ours].get(name), found[theirs].get(name)) for name in numbers if name != "draws"]
        ratios = [f"{name} {one / other:.2f}" for name, one, other in pairs if one and other]
        if ratios:
            lines += ["", f"{ours} / {theirs}: {', '.join(ratios)}"]
    return "\n".join(lines) + "\n"


def _spelled(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value if value is not None else "")


def main() -> None:
    parser = argparse.ArgumentParser(description="Private queries, beside queries written by hand.")
    parser.add_argument("--task", action="append", choices=[task.name for task in TASKS])
    parser.add_argument("--size", type=float, default=1.0, help="of the table; 1 is ten million rows")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, help="a directory to keep the table in")
    chosen = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        table = (chosen.data or Path(temporary)) / f"sales-{chosen.size:g}.parquet"
        if not table.exists():
            print(f"making {table}", file=sys.stderr, flush=True)
            make_table(table, chosen.size)
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for task in TASKS:
            if chosen.task and task.name not in chosen.task:
                continue
            found[task.name] = {}
            for contestant in task.contestants:
                print(f"{task.title}: {contestant}", file=sys.stderr, flush=True)
                found[task.name][contestant] = measured(task, contestant, table, chosen.runs)
    rows, on = f"{int(ROWS * chosen.size):,} rows", f"Python {platform.python_version()} on {platform.machine()}"
    text = f"# Queries\n\n{rows}, {on}, one thread.\n"
    text += "".join(report(task, found[task.name]) for task in TASKS if task.name in found)
    print(text)
    if not chosen.task and chosen.size == 1:
        results = HERE / "results"
        results.mkdir(exist_ok=True)
        (results / "queries.md").write_text(text, encoding="utf-8")
        (results / "queries.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
