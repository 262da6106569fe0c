"""One false-alarm budget for every statistical test of the suite, and a bound that holds for any number of samples.

A test of N samples against a distribution function rejects where they differ by more than `band(N)` somewhere
(Dvoretzky, Kiefer and Wolfowitz; the constant by Massart 1990). Each call spends one of `CALLS` equal shares of the
budget, and none may be spent beyond it.
"""

from __future__ import annotations

import math
from itertools import count

FALSE_ALARM = 1e-6
CALLS = 200
SHARE = FALSE_ALARM / CALLS

_spent = count(1)


def share() -> float:
    """One share of the budget, for a bound of another kind."""
    assert next(_spent) <= CALLS, "the false-alarm budget is spent: raise CALLS"
    return SHARE


def band(samples: int) -> float:
    """How far an empirical distribution function may be from the true one."""
    return math.sqrt(math.log(2 / share()) / (2 * samples))
