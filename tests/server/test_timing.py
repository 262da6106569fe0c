"""When an answer arrives tells nothing of the data: neighbouring databases, and different noise, take as long.

Times of one kind against times of another, by the test of Kolmogorov and Smirnov at a stated level. The machine's
own noise drowns small effects, so the same test is shown to find a delay that depends on the data where no
tick hides it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from indistinct.queries import PrivateDatabase
from indistinct.server.work import Limits
from tests.server.serving import COUNT, database, serving

LEVEL = 1e-6
"""How often the test of equal times may fail though they are."""
QUESTIONS = 30
TICK = 0.05
DELAY = 0.08


class _Delayed:
    """An engine whose time depends on what it finds: the fault that is to be seen, and hidden."""

    def __init__(self, engine: Any, seconds: float) -> None:
        self._engine, self._seconds = engine, seconds

    def run(self, statement: str, *, seconds: float) -> Any:
        time.sleep(self._seconds)
        return self._engine.run(statement, seconds=seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def times(
    folders: list[Path], delays: tuple[float, float], tick: float, rhos: tuple[str, str] = ("0.0001", "0.0001")
) -> list[np.ndarray[Any, Any]]:
    """How long each question took in two services, asked in turn so that the machine treats both alike."""
    found: list[list[float]] = [[], []]
    with database(folders[0], number=300) as one, database(folders[1], number=299) as other:
        databases: list[PrivateDatabase] = [one, other]
        for each, delay in zip(databases, delays, strict=True):
            each.engine = _Delayed(each.engine, delay)
        limits = Limits(tick=tick, rate=10_000)
        with serving(one, folders[0], limits) as first, serving(other, folders[1], limits) as second:
            for number in range(QUESTIONS):
                for which, served in enumerate((first, second)):
                    start = time.perf_counter()
                    question = {"sql": f"{COUNT} WHERE age <> {number}", "rho": rhos[which]}
                    assert served.send("POST", "/v1/ask", question)[0] == 200
                    found[which].append(time.perf_counter() - start)
    return [np.array(each) for each in found]


def test_neighbouring_databases_take_as_long(tmp_path_factory: Any) -> None:
    one, other = times([tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")], (0.0, 0.0), TICK)
    assert ks_2samp(one, other).pvalue > LEVEL
    assert min(one.min(), other.min()) >= TICK - 1e-3


def test_little_noise_and_much_noise_take_as_long(tmp_path_factory: Any) -> None:
    folders = [tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")]
    assert ks_2samp(*times(folders, (0.0, 0.0), TICK, ("0.0005", "1e-9"))).pvalue > LEVEL


def test_a_delay_within_a_tick_is_hidden_and_would_be_found_without_one(tmp_path_factory: Any) -> None:
    def folders() -> list[Path]:
        return [tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")]

    seen = times(folders(), (0.0, DELAY), 0.001)
    hidden = times(folders(), (0.0, DELAY), 3 * DELAY)
    assert ks_2samp(*seen).pvalue < LEVEL
    assert ks_2samp(*hidden).pvalue > LEVEL
