"""Repeatable randomness for tests of random things."""

from __future__ import annotations

from random import Random


def seeded(seed: int) -> Random:
    """A generator that draws the same every time."""
    return Random(seed)  # noqa: S311  # nothing here is secret
