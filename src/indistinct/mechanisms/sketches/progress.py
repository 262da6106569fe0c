"""A line on standard error that says how far long work is, where somebody is watching or it was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["teller"]


def teller(what: str, asked: bool | None) -> Callable[[float], None]:
    """What to tell the share that is done to; says nothing unless asked, or unless a terminal is there.

    >>> teller("drawing", asked=False)(0.5)
    """
    if not (sys.stderr.isatty() if asked is None else asked):
        return lambda _: None

    def tell(share: float) -> None:
        sys.stderr.write(f"\r{what}: {share:.0%}" + ("\n" if share >= 1 else ""))
        sys.stderr.flush()

    return tell
