r"""The search for the most telling events, on answers that are not used to judge them.

Statistics are fitted on one part of the answers, and on another part every threshold of every statistic is tried. What
is wanted is not the event that differs most, but the one that will break the claim after the bounds that judge it:
with so many answers to be judged, an event that has shares p and q here will have about Wilson's bounds of them there.
An event speaks for one input. For a line of the claim's region, (ratio, delta), what it proves is that epsilon is at
least ln((p - delta) / q), to be compared with the line's own ln(ratio); the event for which this is most is kept for
each input, and beside it, if there is one that breaks the claim, the one with the largest (p - delta) / ratio - q: the
first favours events that are rare on the other input, the second common ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from indistinct.audit.outputs import Floats, Outputs
from indistinct.audit.statistics import Statistic
from indistinct.regions import Region, Tangent

__all__ = ["Candidate", "most_telling"]

_MOST_LINES = 12
_LEAST = {"epsilon": -math.inf, "gap": 0.0}


@dataclass(frozen=True, slots=True)
class Candidate:
    """An event: the scores of a statistic from a threshold on, or below it; and the input that it speaks for."""

    statistic: Statistic
    threshold: float
    above: bool
    speaks_for_first: bool

    def count(self, outputs: Outputs) -> int:
        """How many of the answers are in the event."""
        return int(((self.statistic.scores(outputs) >= self.threshold) == self.above).sum())

    def __str__(self) -> str:
        return f"answers {self.statistic.event(self.threshold, above=self.above)}"


def most_telling(
    statistics: Iterable[Statistic], first: Outputs, second: Outputs, region: Region, judged: int, deviations: float
) -> list[Candidate]:
    """The events that promise most when so many other answers judge them with bounds of so many deviations."""
    lines = _lines(region)
    best: dict[tuple[bool, str], tuple[float, Candidate]] = {}
    for statistic in statistics:
        thresholds, above_first, above_second = _tails(statistic.scores(first), statistic.scores(second))
        for above in (True, False):
            mine = above_first if above else len(first) - above_first
            other = above_second if above else len(second) - above_second
            for for_first, (p, q) in ((True, (mine, other)), (False, (other, mine))):
                low = _bounds(p / len(first), judged, deviations)[0]
                high = _bounds(q / len(second), judged, deviations)[1]
                for aim, values in _aims(low, high, lines):
                    at = int(values.argmax())
                    least = best[for_first, aim][0] if (for_first, aim) in best else _LEAST[aim]
                    if values[at] > least:
                        candidate = Candidate(statistic, float(thresholds[at]), above, for_first)
                        best[for_first, aim] = float(values[at]), candidate
    return list(dict.fromkeys(candidate for _, candidate in best.values()))


def _aims(low: Floats, high: Floats, lines: list[tuple[float, float]]) -> Iterator[tuple[str, Floats]]:
    """Of each event, by how much it breaks the best line: as an epsilon, and as a probability."""
    epsilon, gap = np.full(len(low), -np.inf), np.full(len(low), -np.inf)
    with np.errstate(divide="ignore"):
        for ratio, delta in lines:
            over = np.maximum(low - delta, 1e-300)
            epsilon = np.maximum(epsilon, np.log(over / high) - np.log(ratio))
            gap = np.maximum(gap, over / ratio - high)
    yield "epsilon", epsilon
    yield "gap", gap


def _tails(first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """All thresholds, and how many scores are at least each."""
    first, second = np.sort(first), np.sort(second)
    thresholds = np.unique(np.concatenate([first, second]))
    counts = (len(scores) - np.searchsorted(scores, thresholds, side="left") for scores in (first, second))
    above_first, above_second = (count.astype(np.float64) for count in counts)
    return thresholds, above_first, above_second


def _bounds(share: Floats, count: int, deviations: float) -> tuple[Floats, Floats]:
    """Wilson's interval: close to that of Clopper and Pearson, and quick."""
    square = deviations**2 / count
    centre = (share + square / 2) / (1 + square)
    width = np.sqrt(square * share * (1 - share) + square**2 / 4) / (1 + square)
    return np.maximum(centre - width, 0.0), np.minimum(centre + width, 1.0)


def _lines(region: Region) -> list[tuple[float, float]]:
    """The lines of the claim, or some of them, spread out."""
    lines = [line for line in region.tangents() if line.ratio >= 1] or [Tangent(Fraction(1), Fraction(1))]
    step = max(len(lines) / _MOST_LINES, 1.0)
    some = {lines[int(at * step)] for at in range(min(len(lines), _MOST_LINES))} | {lines[-1]}
    return [(float(line.ratio), float(line.delta)) for line in some]
