"""One measurement, in a process of its own: `python contestants.py` reads a task and prints a result.

Every contestant answers the same question: the epsilon at each delta after all the groups
(epsilon_0, times) of pure epsilon_0-private mechanisms together. It returns a pair of ends for each
delta; a library that claims an upper bound only leaves the lower end open. Its imports happen in the
function's first call, which is timed apart from the work.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable

Groups = list[tuple[str, int]]
Ends = list[tuple[float | None, float]]
Solve = Callable[[Groups, list[str]], Ends]


def indistinct() -> Solve:
    from indistinct import PureDP, compose

    def solve(groups: Groups, deltas: list[str]) -> Ends:
        composition = compose({PureDP(epsilon): times for epsilon, times in groups})
        brackets = [composition.epsilon(delta) for delta in deltas]
        return [(bracket.lower, bracket.upper) for bracket in brackets]

    return solve


def dp_accounting() -> Solve:
    from dp_accounting.pld import common, privacy_loss_distribution

    def solve(groups: Groups, deltas: list[str]) -> Ends:
        total = None
        for epsilon, times in groups:
            parameters = common.DifferentialPrivacyParameters(float(epsilon), 0)
            loss = privacy_loss_distribution.from_privacy_parameters(parameters)
            loss = loss if times == 1 else loss.self_compose(times)
            total = loss if total is None else total.compose(loss)
        return [(None, total.get_epsilon_for_delta(float(delta))) for delta in deltas]

    return solve


def prv_accountant() -> Solve:
    from prv_accountant import PRVAccountant, PureDPMechanism

    def solve(groups: Groups, deltas: list[str]) -> Ends:
        mechanisms = [PureDPMechanism(float(epsilon)) for epsilon, _ in groups]
        counts = [times for _, times in groups]
        ends: Ends = []
        for delta in map(float, deltas):
            accountant = PRVAccountant(
                prvs=mechanisms, max_self_compositions=counts, eps_error=0.1, delta_error=delta / 1000
            )
            low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=counts)
            ends.append((float(low), float(high)))
        return ends

    return solve


def opendp() -> Solve:
    import math

    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")

    def solve(groups: Groups, deltas: list[str]) -> Ends:
        parts = []
        for epsilon, times in groups:
            keep = 1 / (1 + math.exp(-float(epsilon)))
            response = dp.c.make_pureDP_to_zCDP(dp.m.make_randomized_response_bool(keep))
            parts.extend([response] * times)
        profile = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(parts)).map(1)
        return [(None, profile.epsilon(float(delta))) for delta in deltas]

    return solve


def autodp() -> Solve:
    from autodp.mechanism_zoo import PureDP_Mechanism
    from autodp.transformer_zoo import Composition

    def solve(groups: Groups, deltas: list[str]) -> Ends:
        mechanisms = [PureDP_Mechanism(float(epsilon)) for epsilon, _ in groups]
        composed = Composition()(mechanisms, [times for _, times in groups])
        return [(None, float(composed.get_approxDP(float(delta)))) for delta in deltas]

    return solve


CONTESTANTS: dict[str, Callable[[], Solve]] = {
    "indistinct": indistinct,
    "dp-accounting": dp_accounting,
    "prv-accountant": prv_accountant,
    "opendp": opendp,
    "autodp": autodp,
}


def measure(contestant: str, groups: Groups, deltas: list[str], runs: int) -> dict[str, object]:
    started = time.perf_counter()
    solve = CONTESTANTS[contestant]()
    imported = time.perf_counter() - started
    seconds: list[float] = []
    ends: Ends = []
    for _ in range(runs):
        started = time.perf_counter()
        ends = solve(groups, deltas)
        seconds.append(time.perf_counter() - started)
    return {
        "import_seconds": imported,
        "seconds": statistics.median(seconds),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ends": ends,
    }


if __name__ == "__main__":
    question = json.load(sys.stdin)
    try:
        answer = measure(**question)
    except Exception as failure:  # whatever it is, it is the result of this measurement
        answer = {"failure": f"{type(failure).__name__}: {failure}"}
    # after a mark of its own, because some libraries print
    print("\nRESULT " + json.dumps(answer))
