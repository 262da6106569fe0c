"""Bounds: of work, of waiting, of one person, and the clock that answers leave by."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from indistinct.errors import InvalidParameter
from indistinct.server.refusals import Refusal
from indistinct.server.work import Limits, Rates, Workers

T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in a thread of its own: other tests may have a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def test_what_is_too_much_is_turned_away_and_later_work_is_done() -> None:
    async def main() -> list[object]:
        workers = Workers(Limits(workers=1, waiting=2))
        stop = threading.Event()

        def hold() -> bool:
            return stop.wait(10)

        held = [asyncio.create_task(workers.run(hold)) for _ in range(3)]
        await asyncio.sleep(0.01)
        with pytest.raises(Refusal) as refused:
            await workers.run(hold)
        assert (refused.value.code, refused.value.headers["Retry-After"]) == ("busy", "1")
        stop.set()
        found = [*await asyncio.gather(*held), await workers.run(lambda: "later")]
        workers.close()
        return found

    assert finished(main()) == [True, True, True, "later"]


def test_what_is_too_slow_is_given_up_and_its_place_is_free_afterwards() -> None:
    async def main() -> None:
        workers = Workers(Limits(workers=1, waiting=1, seconds=0.05))
        with pytest.raises(Refusal) as refused:
            await workers.run(lambda: time.sleep(0.2))
        assert refused.value.code == "too_slow"
        await asyncio.sleep(0.25)
        assert await workers.run(lambda: 1) == 1
        workers.close()

    finished(main())


def test_what_fails_after_it_was_given_up_is_no_complaint() -> None:
    def fail() -> None:
        time.sleep(0.1)
        raise KeyError

    async def main() -> None:
        workers = Workers(Limits(workers=1, seconds=0.02))
        with pytest.raises(Refusal):
            await workers.run(fail)
        await asyncio.sleep(0.15)
        with pytest.raises(KeyError):
            await Workers(Limits()).run(fail)
        workers.close()

    finished(main())


def test_answers_leave_whole_ticks_after_their_question() -> None:
    async def main() -> None:
        workers = Workers(Limits(tick=0.05))
        for worked in (0.0, 0.01, 0.04, 0.06):
            arrived = time.monotonic()
            await asyncio.sleep(worked)
            await workers.at_tick(arrived)
            ticks = (time.monotonic() - arrived) / 0.05
            assert ticks >= (1 if worked < 0.05 else 2) - 1e-3
        workers.close()

    finished(main())


def clock(times: list[float]) -> Callable[[], float]:
    return lambda: times[0]


def test_a_person_has_a_rate_and_others_have_theirs() -> None:
    now = [0.0]
    rates = Rates(2.0, clock(now))
    for _ in range(4):
        rates.take("ada")
    with pytest.raises(Refusal) as refused:
        rates.take("ada")
    assert (refused.value.code, refused.value.headers["Retry-After"]) == ("too_fast", "1")
    rates.take("bob")
    now[0] = 0.5
    rates.take("ada")
    with pytest.raises(Refusal):
        rates.take("ada")
    now[0] = 1e6
    for _ in range(4):
        rates.take("ada")
    with pytest.raises(Refusal):
        rates.take("ada")


def test_many_people_take_no_room_for_ever() -> None:
    rates = Rates(1.0, lambda: 0.0)
    for person in range(10_050):
        rates.take(str(person))
    assert len(rates._buckets) == 10_000  # noqa: SLF001  # what is bounded is not seen from outside


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_limits_are_positive(wrong: float) -> None:
    with pytest.raises(InvalidParameter, match="tick must be above 0"):
        Limits(tick=wrong)
