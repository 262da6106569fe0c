"""What the contestants of composition.py are asked, and the exact answers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

REFERENCE = Path(__file__).parent.parent / "reference"
Part = tuple[tuple[str, ...], int]
Truths = dict[tuple[str, str], str]

EVERYBODY = ("indistinct", "dp-accounting", "prv-accountant", "opendp", "autodp")


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    title: str
    parts: tuple[Part, ...]
    deltas: tuple[str, ...]
    contestants: tuple[str, ...] = EVERYBODY
    question: str = "epsilon"
    each_alone: bool = False
    """Whether every delta is a measurement of its own."""


def uses(times: int, *kind: str) -> tuple[Part, ...]:
    return ((kind, times),)


def primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def progression(count: int) -> tuple[Part, ...]:
    """(0.005 + 0.095 i / count, 1e-10), i = 1 .. count, written out in full."""
    return tuple(
        (("approximate", str(Decimal(5 * count + 95 * i) / (1000 * count)), "1e-10"), 1) for i in range(1, count + 1)
    )


ARBITRARY = tuple((("pure", repr(math.sqrt(prime) / 100)), 1) for prime in primes(40))
THOUSANDTHS = tuple((("pure", f"{i / 1000:.3f}"), 1) for i in range(1, 1001))
MIXED = (
    (("laplace", "20"), 500),
    (("gaussian", "40"), 500),
    (("geometric", "0.05"), 1000),
    (("approximate", "0.01", "1e-9"), 200),
)
SMALL = ("1e-6", "1e-8", "1e-10", "1e-12", "1e-14", "1e-18", "1e-50", "1e-100")
HARDY = ("indistinct", "dp-accounting", "opendp", "autodp")

TASKS = (
    Task(
        "deltas",
        "10^6 uses of 0.1, at seven deltas",
        uses(10**6, "pure", "0.1"),
        ("1e-1", "1e-6", "1e-12", "1e-50", "1e-100", "1e-200", "1e-300"),
        ("indistinct", "autodp"),
        each_alone=True,
    ),
    Task("thousand", "10^3 uses of 0.1", uses(10**3, "pure", "0.1"), ("1e-6",)),
    Task("hundred-thousand", "10^5 uses of 0.1", uses(10**5, "pure", "0.1"), ("1e-6", "1e-15"), HARDY),
    Task("ten-million", "10^7 uses of 0.1", uses(10**7, "pure", "0.1"), ("1e-300",), ("indistinct", "autodp")),
    Task("arbitrary", "40 different epsilons, the roots of primes", ARBITRARY, ("1e-6",)),
    Task("thousandths", "0.001, 0.002, ..., 1.000 once each", THOUSANDTHS, ("1e-6", "1e-100")),
    *(
        Task(
            f"progression-{count}",
            f"(0.005 + 0.095 i/k, 1e-10), k = {count:,}, at 1e-6 + k 1e-10",
            progression(count),
            (delta,),
            ("indistinct", "dp-accounting"),
        )
        for count, delta in ((10**3, "1.1e-6"), (10**5, "1.1e-5"))
    ),
    Task(
        "laplace",
        "10^3 Laplace answers of scale 10",
        uses(1000, "laplace", "10"),
        ("1e-6", "1e-12", "1e-50", "1e-200"),
        each_alone=True,
    ),
    *(
        Task(
            f"sampled-{name}",
            f"{name} steps of sampled Gaussian noise, sigma 0.8, rate 0.004",
            uses(count, "sampled", "0.8", "0.004"),
            ("1e-6",),
            contestants,
        )
        for name, count, contestants in (
            ("10^3", 10**3, ("indistinct", "dp-accounting", "prv-accountant", "autodp")),
            ("10^5", 10**5, ("indistinct", "dp-accounting", "prv-accountant", "autodp")),
            ("10^7", 10**7, ("indistinct", "dp-accounting")),
        )
    ),
    Task("mixed", "500 Laplace, 500 Gaussian, 1000 geometric, 200 black boxes", MIXED, ("1e-6",)),
    Task(
        "calibrate",
        "the least scale of 1000 Laplace answers under (1, 1e-6)",
        uses(1000, "laplace", "1"),
        ("1e-6",),
        ("indistinct", "dp-accounting"),
        question="calibrate",
    ),
    Task(
        "curve",
        "200 points of a curve: 10^3 Laplace answers of scale 10",
        uses(1000, "laplace", "10"),
        ("1e-6",),
        ("indistinct", "dp-accounting"),
        question="curve",
    ),
    Task(
        "curve-mixed",
        "200 points of a curve: the mixed case",
        MIXED,
        ("1e-6",),
        ("indistinct", "dp-accounting"),
        question="curve",
    ),
    Task("small-1000", "Small deltas: 10^3 uses of 0.1", uses(10**3, "pure", "0.1"), SMALL),
    Task("small-100000", "Small deltas: 10^5 uses of 0.01", uses(10**5, "pure", "0.01"), SMALL, HARDY),
)


def truths() -> Truths:
    """What is known exactly, by task and delta; as many digits as hold."""
    known: Truths = {}
    for name in ("composition.json", "mechanisms.json"):
        for entry in json.loads((REFERENCE / name).read_text(encoding="utf-8"))["epsilon"]:
            known[entry["task"], entry["delta"]] = entry["value"]
    for task in TASKS:
        if task.name.startswith("sampled"):
            known[task.name, "1e-6"] = known[f"sampled {task.parts[0][1]}", "1e-6"]
    return known
