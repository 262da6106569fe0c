"""How often: few times in `make test`, many in `make torture`, which also prints what it did."""

from __future__ import annotations

import os

TORTURE = bool(os.environ.get("INDISTINCT_TORTURE"))


def count(short: int, full: int) -> int:
    """How often something is tried."""
    return full if TORTURE else short


def tell(figure: str) -> None:
    """Prints a figure where figures are asked for."""
    if TORTURE:
        print(f"\n  {figure}")  # noqa: T201  # what torture is for
