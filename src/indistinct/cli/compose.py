"""indistinct compose: every composition theorem about the same answers, in one table."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from indistinct.composition import Comparison, PrivacyProfile
    from indistinct.numbers import Bracket

__all__ = ["run"]

_EXACT = 1e-9


def run(arguments: argparse.Namespace) -> None:
    """Prints a table, or one JSON object, with a comparison for each delta or epsilon asked for."""
    from indistinct.composition import ApproximateDP, compare, compose
    from indistinct.numbers import read_count

    if not arguments.at_delta and not arguments.at_epsilon:
        raise InvalidParameter("--at-delta or --at-epsilon", "neither", "be given", instead="Try --at-delta 1e-6.")
    profile = compose(
        [
            compose({ApproximateDP(group.epsilon, group.delta): read_count("times", group.times)})
            for group in arguments.groups
        ]
    )
    comparisons = [
        *(compare([profile], delta=delta) for delta in arguments.at_delta),
        *(compare([profile], epsilon=epsilon) for epsilon in arguments.at_epsilon),
    ]
    if arguments.json:
        print(json.dumps(_as_object(profile, comparisons), indent=2))
    else:
        print("\n\n".join("\n".join(_as_text(comparison)) for comparison in comparisons))


def _as_text(comparison: Comparison) -> Iterator[str]:
    yield str(comparison)
    yield ""
    optimal = comparison.rows[-1].value
    if math.isinf(optimal.upper):
        disclosure = comparison.profile.disclosure
        yield (
            f"Epsilon is infinite: the mechanisms' own deltas already add up to {disclosure:.6g}, which is more "
            f"than the delta asked for. Ask for {disclosure:.3g} or more."
        )
    else:
        kind = "Exact" if optimal.relative_width < _EXACT else "Certified"
        yield (
            f"{kind}: {comparison.answer} lies between {optimal.lower!r} and {optimal.upper!r}. The upper end holds "
            "for all mechanisms that keep these guarantees, whatever an adaptive analyst asks; none below the lower "
            "end does."
        )


def _as_object(profile: PrivacyProfile, comparisons: list[Comparison]) -> dict[str, object]:
    from indistinct.composition.parts import plain_parts

    return {
        "parts": [
            {"epsilon": str(part.epsilon), "delta": str(part.delta), "times": times}
            for part, times in plain_parts(profile.parts)
        ],
        "comparisons": [
            {
                "asked": comparison.asked,
                "answer": comparison.answer,
                "theorems": [
                    {"theorem": row.theorem, "source": row.source, **_ends(row.value)} for row in comparison.rows
                ],
            }
            for comparison in comparisons
        ],
    }


def _ends(value: Bracket) -> dict[str, float | str]:
    """Both ends; JSON has no infinity, so it is spelled out."""
    return {
        "lower": value.lower if math.isfinite(value.lower) else "infinity",
        "upper": value.upper if math.isfinite(value.upper) else "infinity",
    }
