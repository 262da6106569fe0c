"""An assertion for test suites: a mechanism keeps its promise, as far as a test can see."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from indistinct.audit.by_test import TestedAudit, by_test

__all__ = ["NotPrivate", "assert_private"]


class NotPrivate(AssertionError):
    """A mechanism was convicted; `audit` is the proof."""

    def __init__(self, audit: TestedAudit) -> None:
        self.audit = audit
        super().__init__(str(audit))

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return partial(type(self), self.audit), ()


def assert_private(
    mechanism: Callable[..., Any],
    first: object,
    second: object,
    *,
    epsilon: object,
    delta: object = 0,
    samples: object = 100_000,
    false_alarm: object = "1e-6",
    batch: bool = False,
) -> TestedAudit:
    """Raises `NotPrivate` if the mechanism is found to violate (epsilon, delta) on these neighbouring inputs.

    A correct mechanism is accused with probability at most `false_alarm`, and what is returned tells what would have
    been seen. The arguments are those of `by_test`.

    >>> from random import SystemRandom
    >>> toss = SystemRandom().random
    >>> def respond(answer: bool) -> bool:
    ...     return answer if toss() < 0.75 else not answer
    >>> assert_private(respond, True, False, epsilon="ln(3)", samples=4000).verdict
    'consistent'
    >>> assert_private(respond, True, False, epsilon="0.1", samples=4000)
    Traceback (most recent call last):
    ...
    indistinct.audit.assertion.NotPrivate: Violates (0.1, 0)-differential privacy: epsilon is at least ...
    """
    audit = by_test(mechanism, first, second, [(epsilon, delta)], samples=samples, false_alarm=false_alarm, batch=batch)
    if audit.violates:
        raise NotPrivate(audit)
    return audit
