"""indistinct sgd: private gradient descent, its epsilon or what it may be for one."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from indistinct.numbers import Bracket

__all__ = ["run"]

_UNKNOWNS = ("epsilon", "sigma", "rate", "steps")
_NAMED = "--epsilon, --sigma, --rate and --steps"


def run(arguments: argparse.Namespace) -> None:
    """Answers for the one of epsilon, sigma, rate and steps that is not given."""
    given = {name: getattr(arguments, name) for name in _UNKNOWNS if name in arguments}
    missing = [name for name in _UNKNOWNS if name not in given]
    if len(missing) != 1:
        told = ", ".join(f"--{name}" for name in given) or "none"
        raise InvalidParameter(_NAMED, told, "be given but for one, which is then found")
    answer = {
        "epsilon": _epsilon,
        "sigma": _sigma,
        "rate": _rate,
        "steps": _steps,
    }[missing[0]](given, arguments.delta)
    if arguments.json:
        print(json.dumps({**given, "delta": arguments.delta, **answer[1]}, indent=2))
    else:
        print(answer[0])


Answer = tuple[str, dict[str, object]]


def _epsilon(given: dict[str, str], delta: str) -> Answer:
    from indistinct import Gaussian, PoissonSubsampled, compose
    from indistinct.numbers import read_count

    step = PoissonSubsampled(Gaussian(sigma=given["sigma"]), given["rate"])
    steps = read_count("steps", given["steps"])
    epsilon = compose({step: steps}).epsilon(delta)
    sentence = (
        f"epsilon = {epsilon:.9g} at delta = {delta}, for {steps:,} steps at sampling rate {given['rate']} with noise "
        f"multiplier {given['sigma']}.\nCertified: epsilon lies between {epsilon.lower!r} and {epsilon.upper!r}. {_FOR}"
    )
    return sentence, {"answer": "epsilon", **_ends(epsilon)}


def _sigma(given: dict[str, str], delta: str) -> Answer:
    from indistinct import PoissonSubsampled
    from indistinct.composition.planning import least_noise

    plan = least_noise(
        PoissonSubsampled,
        rate=given["rate"],
        times=given["steps"],
        epsilon=given["epsilon"],
        delta=delta,
        unknown="sigma",
    )
    return f"{plan}\n{_FOR}", {"answer": "sigma", "value": plan.spelled, **_ends(plan.bracket)}


def _rate(given: dict[str, str], delta: str) -> Answer:
    from indistinct import Gaussian, PoissonSubsampled
    from indistinct.composition.planning import least_noise

    plan = least_noise(
        PoissonSubsampled,
        mechanism=Gaussian(sigma=given["sigma"]),
        times=given["steps"],
        epsilon=given["epsilon"],
        delta=delta,
        unknown="rate",
    )
    return f"{plan}\n{_FOR}", {"answer": "rate", "value": plan.spelled, **_ends(plan.bracket)}


def _steps(given: dict[str, str], delta: str) -> Answer:
    from indistinct import Gaussian, PoissonSubsampled
    from indistinct.composition.planning import how_many

    step = PoissonSubsampled(Gaussian(sigma=given["sigma"]), given["rate"])
    most = how_many(step, epsilon=given["epsilon"], delta=delta)
    return f"{most}\n{_FOR}", {"answer": "steps", "value": most.times, "proven too many": most.too_many}


_FOR = "It holds for Poisson sampling and databases that differ by adding or removing a record."


def _ends(value: Bracket) -> dict[str, object]:
    """Both ends; JSON has no infinity, so it is spelled out."""
    ends = {"lower": value.lower, "upper": value.upper}
    return {name: end if math.isfinite(end) else "infinity" for name, end in ends.items()}
