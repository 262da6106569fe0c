"""Bounded work: so many questions at a time, so many waiting, so many from one person, and answers on a clock.

When an answer leaves tells nothing of how long it took beyond whole ticks: it leaves a whole number of ticks after its
question arrived. What could still be told is that some work needed more ticks than other work; a tick that is
longer than most questions take leaves little of that.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from indistinct.errors import InvalidParameter
from indistinct.server.refusals import Refusal

__all__ = ["Limits", "Rates", "Workers"]

_T = TypeVar("_T")
_MOST_PEOPLE = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much the server takes on; times in seconds, sizes in bytes."""

    workers: int = 8
    """A question mostly waits for the disk, and those that wait together are charged in one commit."""
    waiting: int = 64
    rate: float = 50.0
    """Requests of one person in a second, on average; twice as many at once."""
    body: int = 65_536
    batch: int = 50
    seconds: float = 60.0
    """Until an answer is given up; it may still be charged, and is then free to ask for again."""
    tick: float = 0.05

    def __post_init__(self) -> None:
        for name in ("workers", "waiting", "rate", "body", "batch", "seconds", "tick"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise InvalidParameter(name, value, "be above 0")


class Workers:
    """Threads that answer, and a bound on what waits for them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.workers, thread_name_prefix="indistinct")
        self._open = 0

    async def run(self, work: Callable[[], _T]) -> _T:
        """What the work returns or raises, or a refusal: `busy` at once, `too_slow` after the time."""
        if self._open >= self._limits.workers + self._limits.waiting:
            raise Refusal("busy", "Too much is waiting: ask again in a moment.", headers={"Retry-After": "1"})
        self._open += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._limits.seconds)
        except TimeoutError:
            if future.done():
                return future.result()
            raise Refusal("too_slow", "There is no answer yet: ask the same again, it is not charged twice.") from None

    async def at_tick(self, arrived: float) -> None:
        """Waits until a whole number of ticks have passed since a question arrived."""
        passed = time.monotonic() - arrived
        ticks = max(1, math.ceil(passed / self._limits.tick))
        await asyncio.sleep(ticks * self._limits.tick - passed)

    def close(self) -> None:
        """Lets what has begun come to its end, and starts nothing more."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _done(self, future: asyncio.Future[_T]) -> None:
        self._open -= 1
        if not future.cancelled():
            future.exception()  # looked at, so that an answer nobody waited for is no complaint


class Rates:
    """A bucket for each person that fills at a steady rate."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._most = 2 * rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, person: str, amount: float = 1.0) -> None:
        """One request, or a refusal that says when to come again."""
        now = self._clock()
        level, then = self._buckets.pop(person, (self._most, now))
        level = min(self._most, level + (now - then) * self._rate)
        enough = level >= min(amount, self._most)
        self._buckets[person] = (level - amount if enough else level, now)
        if len(self._buckets) > _MOST_PEOPLE:
            self._buckets.popitem(last=False)
        if not enough:
            wait = math.ceil((amount - level) / self._rate)
            sentence = f"These are more requests than one person may send: wait {wait} s."
            raise Refusal("too_fast", sentence, headers={"Retry-After": str(wait)})
