"""indistinct calibrate: the least noise that is certified, with what the theorems ask for beside it."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from indistinct.composition.planning import Calibration

__all__ = ["KINDS", "run"]

KINDS = ("laplace", "gaussian", "geometric", "pure")


def run(arguments: argparse.Namespace) -> None:
    """Prints the table, or one JSON object."""
    from indistinct import Gaussian, Geometric, Laplace, PureDP
    from indistinct.composition.planning import least_noise

    kinds = dict(zip(KINDS, (Laplace, Gaussian, Geometric, PureDP), strict=True))
    fixed = {"sensitivity": arguments.sensitivity} if "sensitivity" in arguments else {}
    if fixed and arguments.mechanism == "pure":
        raise InvalidParameter("--sensitivity", arguments.sensitivity, "be left out: a guarantee has none")
    plan = least_noise(
        kinds[arguments.mechanism],
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        times=arguments.times,
        **fixed,
    )
    print(json.dumps(as_object(plan), indent=2) if arguments.json else plan)


def as_object(plan: Calibration) -> dict[str, object]:
    """The plan for JSON, numbers exact as text where they are claims."""
    return {
        "unknown": plan.unknown,
        "value": plan.spelled,
        "proven insufficient": _other_end(plan),
        "times": plan.times,
        "epsilon": str(plan.budget.epsilon),
        "delta": str(plan.budget.delta),
        "spent delta": {"lower": plan.spent.lower, "upper": plan.spent.upper},
        "theorems": [
            {
                "theorem": formula.theorem,
                "source": formula.source,
                "lower": formula.value.lower,
                "upper": formula.value.upper,
            }
            for formula in plan.formulas
        ],
    }


def _other_end(plan: Calibration) -> float | None:
    other = plan.bracket.lower if plan.quiets else plan.bracket.upper
    return other if 0 < other < math.inf else None
