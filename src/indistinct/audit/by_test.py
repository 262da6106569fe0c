r"""Audit by test: what an adversary who only sees answers can prove against a claim (KOV, section 2).

Differential privacy says that no test can tell two neighbouring inputs apart better than its region allows (KOV,
Theorem 2.1). So a mechanism is asked many times on either input; a quarter of the answers teaches statistics, another
finds the most telling events, and the other half judges them (more than half, where there are millions). A violation
found is a proof, up to the stated rate of false alarms. That none was found is no proof of privacy: the result says
which epsilon would have been seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from indistinct.audit.claims import read_claim
from indistinct.audit.judging import Event, judged, least_epsilon, visible_epsilon
from indistinct.audit.outputs import gather
from indistinct.audit.search import most_telling
from indistinct.audit.statistics import statistics_of
from indistinct.audit.verdicts import Verdict
from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_number
from indistinct.regions import Region, Tangent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TestedAudit", "by_test"]

_FEWEST = 40
_MOST = 10**8
_LEAST_RATE, _LARGEST_RATE = Fraction(1, 10**12), Fraction(1, 2)
_MOST_EVENTS = 4
_MOST_FITTED = 200_000
_MOST_SEARCHED = 1_000_000


@dataclass(frozen=True, slots=True)
class TestedAudit:
    """What an audit by test proved.

    `epsilon` is a lower bound on the mechanism's epsilon at `delta`, where `claimed` is allowed, except with
    probability `false_alarm`; `visible` is the epsilon from which on the best event would have convicted with
    probability 19/20. `events` are all that were judged, the most telling first; `region` is what the claim leaves to
    an adversary.
    """

    __test__ = False  # for pytest: a result, not a test

    claim: str
    violates: bool
    epsilon: float
    delta: float
    claimed: float
    visible: float
    events: tuple[Event, ...]
    region: Region
    samples: int
    false_alarm: Fraction

    @property
    def verdict(self) -> Verdict:
        """ "violates" or "consistent"."""
        return "violates" if self.violates else "consistent"

    @property
    def event(self) -> Event:
        """The most telling event."""
        return self.events[0]

    def plot(self, path: str | Path | None = None, axes: Axes | None = None) -> Axes:
        """The claim's region with the events' boxes in it or below it; needs the extra `plot`."""
        from indistinct.audit.display import draw_audit

        return draw_audit(self, path, axes)

    def __str__(self) -> str:
        event = self.event
        counts = (
            f"The most telling event is {event.name}: it came {event.first:,} times from the first input and "
            f"{event.second:,} times from the second, of {event.trials:,} each."
        )
        if self.violates:
            return (
                f"Violates {self.claim}: epsilon is at least {self.epsilon:.4g} at delta = {self.delta:.4g}, where "
                f"{self.claimed:.4g} is claimed, except with probability {float(self.false_alarm):.2g}. {counts}"
            )
        power = (
            "So few answers could not have shown any violation by it."
            if math.isinf(self.visible)
            else f"An epsilon of {self.visible:.4g} or more on it would have been seen with probability 0.95."
        )
        return (
            f"Consistent with {self.claim}: epsilon is at least {self.epsilon:.4g} at delta = {self.delta:.4g}, "
            f"except with probability {float(self.false_alarm):.2g}. {counts} {power}"
        )

    def _repr_html_(self) -> str:
        from indistinct.audit.display import as_html

        return as_html(self)


def by_test(
    mechanism: Callable[..., Any],
    first: object,
    second: object,
    claim: object,
    *,
    samples: object = 100_000,
    false_alarm: object = "1e-6",
    batch: bool = False,
) -> TestedAudit:
    """Looks for an event that breaks a claim, by asking the mechanism so many times on each of two neighbouring inputs.

    Guaranteed: a mechanism that keeps its claim is said to violate it with probability at most `false_alarm`, for
    independent answers. `mechanism(input)` returns one answer: a number, a string, or a tuple, list or array of them;
    with `batch=True`, `mechanism(input, count)` returns so many. Not-a-number is an answer like any other, and so is an
    exception, by its type. The claim is a guarantee, a profile, (epsilon, delta) or several of these; both directions
    are tested.

    >>> from indistinct import PureDP
    >>> from indistinct.noise import DiscreteLaplace
    >>> noise = DiscreteLaplace(2)
    >>> found = by_test(lambda count: count + noise.draw(), 10, 11, PureDP("0.2"), samples=20_000)
    >>> found.verdict, 0.2 < found.epsilon <= 0.5
    ('violates', True)
    """
    if not callable(mechanism):
        raise InvalidParameter("the mechanism", mechanism, "be a function of an input")
    stated = read_claim(claim)
    number = read_number("samples", samples)
    if number.denominator != 1 or not _FEWEST <= number <= _MOST:
        raise InvalidParameter("samples", samples, f"be a whole number from {_FEWEST} to {_MOST:,}")
    count = int(number)
    rate = read_number("false_alarm", false_alarm)
    if not _LEAST_RATE <= rate <= _LARGEST_RATE:
        raise InvalidParameter("false_alarm", false_alarm, "lie in [1e-12, 0.5]")
    region = stated.region()
    answers = gather(mechanism, first, second, count, batch=batch)
    taught = min(count // 4, _MOST_FITTED)
    searched = taught + min(count // 4, _MOST_SEARCHED)
    trials = count - searched
    fitting, finding, judging = (
        [each.part(rows) for each in answers]
        for rows in (slice(0, taught), slice(taught, searched), slice(searched, None))
    )
    statistics = statistics_of(fitting[0], fitting[1])
    deviations = -NormalDist().inv_cdf(max(float(rate) / (2 * _MOST_EVENTS), 1e-300))
    found = most_telling(statistics, finding[0], finding[1], region, trials, max(deviations, 0.5))
    tail = rate / (2 * len(found))
    events = [
        judged(
            str(candidate),
            candidate.count(judging[0]),
            candidate.count(judging[1]),
            trials,
            speaks_for_first=candidate.speaks_for_first,
            tail=tail,
        )
        for candidate in found
    ]
    return _verdict(str(stated), region, events, count, rate, tail)


def _verdict(
    claim: str, region: Region, events: list[Event], samples: int, rate: Fraction, tail: Fraction
) -> TestedAudit:
    """The events in order of what they prove at the line of the claim that they break most, or come nearest to."""
    lines = [line for line in region.tangents() if line.ratio >= 1] or [Tangent(Fraction(1), Fraction(1))]
    line = max(lines, key=lambda each: max(_beyond(event, each) for event in events))
    ranked = sorted(events, key=lambda event: -_beyond(event, line))
    return TestedAudit(
        claim,
        any(event.breaks(region) for event in events),
        max(least_epsilon(event, line.delta) for event in events),
        float(line.delta),
        math.log(line.ratio),
        visible_epsilon(ranked[0], line, tail),
        tuple(ranked),
        region,
        samples,
        rate,
    )


def _beyond(event: Event, line: Tangent) -> float:
    """About how far the epsilon that an event proves at a delta is beyond the one that is claimed."""
    gap = event.likely - float(line.delta)
    return math.log(gap / event.unlikely) - math.log(line.ratio) if gap > 0 else -math.inf
