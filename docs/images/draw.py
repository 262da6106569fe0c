"""Draws the picture of auditing.md: python docs/images/draw.py. The draws have a seed, so it is always the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from indistinct.audit import by_test


def main() -> None:
    """Floating-point Laplace noise, caught."""
    random = np.random.default_rng(1)

    def noisy(count: float, runs: int) -> Any:
        return count + random.laplace(0, 1, runs)

    by_test(noisy, 0.0, 1.0, (1, 0), batch=True).plot(Path(__file__).with_name("floating-point-laplace.svg"))


if __name__ == "__main__":
    main()
