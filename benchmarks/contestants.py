"""One measurement, in a process of its own: `python contestants.py` reads a question and prints the answer.

A question names parts, (kind, numbers..., times) each, and what is asked of them together:

- "epsilon": the epsilon at each delta, as a pair of ends; a library that only claims an upper bound leaves the
  lower end open;
- "calibrate": the least scale of so many Laplace answers under (1, delta), as the pair of what is proven not to
  be enough and what is claimed to be;
- "curve": delta at 200 epsilons up to the one at each delta; its end is the last point.

A library's imports happen when its solver is made, which is timed apart from the work.
"""

from __future__ import annotations

import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

Parts = list[tuple[list[str], int]]
Ends = list[tuple[float | None, float]]
Solve = Callable[[str, Parts, list[str]], Ends]


class CannotSay(Exception):
    """The library's interface has no words for the question."""


def indistinct() -> Solve:
    from indistinct import ApproximateDP, Gaussian, Geometric, Laplace, PoissonSubsampled, PureDP, compose, least_noise

    def made(kind: str, *numbers: str) -> Any:
        match kind:
            case "pure":
                return PureDP(numbers[0])
            case "approximate":
                return ApproximateDP(*numbers)
            case "laplace":
                return Laplace(scale=numbers[0])
            case "gaussian":
                return Gaussian(sigma=numbers[0])
            case "geometric":
                return Geometric(epsilon=numbers[0])
        return PoissonSubsampled(Gaussian(sigma=numbers[0]), rate=numbers[1])

    def solve(question: str, parts: Parts, deltas: list[str]) -> Ends:
        if question == "calibrate":
            times = parts[0][1]
            plans = [least_noise(Laplace, times=times, epsilon=1, delta=delta).bracket for delta in deltas]
            return [(plan.lower, plan.upper) for plan in plans]
        composition = compose({made(*kind): times for kind, times in parts})
        brackets = [composition.epsilon(delta) for delta in deltas]
        if question == "curve":
            points = [[end.upper * i / 199 for i in range(200)] for end in brackets]
            brackets = [composition.deltas(epsilons)[-1] for epsilons in points]
        return [(bracket.lower, bracket.upper) for bracket in brackets]

    return solve


def dp_accounting() -> Solve:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant, common
    from dp_accounting.pld import privacy_loss_distribution as pld

    def promised(epsilon: float, delta: float = 0.0) -> Any:
        return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta))

    made: dict[str, Callable[..., Any]] = {
        "pure": promised,
        "approximate": promised,
        "laplace": pld.from_laplace_mechanism,
        "gaussian": pld.from_gaussian_mechanism,
        "geometric": pld.from_discrete_laplace_mechanism,
        "sampled": lambda sigma, rate: pld.from_gaussian_mechanism(sigma, sampling_prob=rate),
    }

    def calibrated(times: int, delta: float) -> float:
        def event(scale: float) -> Any:
            return dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(scale), times)

        between = dp_accounting.ExplicitBracketInterval(1.0, 1000.0)
        return float(dp_accounting.calibrate_dp_mechanism(PLDAccountant, event, 1.0, delta, between))

    def solve(question: str, parts: Parts, deltas: list[str]) -> Ends:
        if question == "calibrate":
            return [(None, calibrated(parts[0][1], float(delta))) for delta in deltas]
        total = None
        for (kind, *numbers), times in parts:
            loss = made[kind](*map(float, numbers))
            loss = loss if times == 1 else loss.self_compose(times)
            total = loss if total is None else total.compose(loss)
        epsilons = [float(total.get_epsilon_for_delta(float(delta))) for delta in deltas]
        if question == "curve":
            return [(None, total.get_delta_for_epsilon([e * i / 199 for i in range(200)])[-1]) for e in epsilons]
        return [(None, epsilon) for epsilon in epsilons]

    return solve


def prv_accountant() -> Solve:
    import prv_accountant as prv

    def made(kind: str, *numbers: str) -> Any:
        values = [float(number) for number in numbers]
        match kind:
            case "pure":
                return prv.PureDPMechanism(values[0])
            case "approximate":
                return prv.ApproximateDPMechanism(*values)
            case "laplace":
                return prv.LaplaceMechanism(mu=1 / values[0])
            case "gaussian":
                return prv.GaussianMechanism(noise_multiplier=values[0])
            case "sampled":
                return prv.PoissonSubsampledGaussianMechanism(values[1], values[0])
        return prv.PureDPMechanism(values[0])  # a count's geometric noise loses as randomised response does

    def solve(question: str, parts: Parts, deltas: list[str]) -> Ends:
        if question != "epsilon":
            raise CannotSay(question)
        mechanisms, counts = [made(*kind) for kind, _ in parts], [times for _, times in parts]
        ends: Ends = []
        for delta in map(float, deltas):
            accountant = prv.PRVAccountant(
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
    floats = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def made(kind: str, *numbers: str) -> Any:
        value = float(numbers[0])
        match kind:
            case "pure" | "geometric":
                keep = 1 / (1 + math.exp(-value))
                return dp.c.make_pureDP_to_zCDP(dp.m.make_randomized_response_bool(keep))
            case "laplace":
                return dp.c.make_pureDP_to_zCDP(dp.m.make_laplace(*floats, scale=value))
            case "gaussian":
                return dp.m.make_gaussian(*floats, scale=value)
        return _refuse(kind)

    def solve(question: str, parts: Parts, deltas: list[str]) -> Ends:
        if question != "epsilon" or len({kind[0] == "pure" for kind, _ in parts}) > 1:
            raise CannotSay(question)
        everything = [measurement for kind, times in parts for measurement in [made(*kind)] * times]
        profile = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(everything))
        distance = 1 if parts[0][0][0] == "pure" else 1.0
        return [(None, profile.map(distance).epsilon(float(delta))) for delta in deltas]

    return solve


def autodp() -> Solve:
    from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism, PureDP_Mechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    def made(kind: str, *numbers: str) -> Any:
        values = [float(number) for number in numbers]
        match kind:
            case "pure" | "geometric":
                return PureDP_Mechanism(values[0])
            case "laplace":
                return LaplaceMechanism(values[0])
            case "gaussian":
                return GaussianMechanism(values[0])
            case "sampled":
                whole = GaussianMechanism(values[0])
                whole.neighboring = "add_remove"
                return AmplificationBySampling(PoissonSampling=True)(whole, values[1])
        return _refuse(kind)

    def solve(question: str, parts: Parts, deltas: list[str]) -> Ends:
        if question != "epsilon":
            raise CannotSay(question)
        composed = Composition()([made(*kind) for kind, _ in parts], [times for _, times in parts])
        return [(None, float(composed.get_approxDP(float(delta)))) for delta in deltas]

    return solve


def _refuse(kind: str) -> Any:
    raise CannotSay(kind)


CONTESTANTS: dict[str, Callable[[], Solve]] = {
    "indistinct": indistinct,
    "dp-accounting": dp_accounting,
    "prv-accountant": prv_accountant,
    "opendp": opendp,
    "autodp": autodp,
}


def measure(contestant: str, question: str, parts: Parts, deltas: list[str], runs: int) -> dict[str, object]:
    started = time.perf_counter()
    solve = CONTESTANTS[contestant]()
    imported = time.perf_counter() - started
    gc.freeze()  # the question, some lists for every part, is not swept over while it is answered
    seconds: list[float] = []
    ends: Ends = []
    for _ in range(runs):
        started = time.perf_counter()
        ends = solve(question, parts, deltas)
        seconds.append(time.perf_counter() - started)
    return {
        "import_seconds": imported,
        "seconds": statistics.median(seconds),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ends": ends,
    }


if __name__ == "__main__":
    try:
        answer = measure(**json.load(sys.stdin))
    except Exception as failure:  # whatever it is, it is the result of this measurement
        answer = {"failure": f"{type(failure).__name__}: {failure}"[:200]}
    # after a mark of its own, because some libraries print
    print("\nRESULT " + json.dumps(answer))
