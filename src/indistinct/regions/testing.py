r"""Tests between two databases and their two errors.

Source: Kairouz, Oh, Viswanath, section 2, Theorem 2.1 and Remark 2.2. The adversary sees an outcome and
rejects the null hypothesis or not. False alarm is the probability to reject when it is true; missed
detection is the probability to retain it when the alternative is true.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_probability
from indistinct.regions.laws import DiscretePair, Outcome, by_likelihood, integers
from indistinct.regions.region import Region

__all__ = ["Errors", "errors_of", "most_powerful_test", "satisfies"]


@dataclass(frozen=True, slots=True)
class Errors:
    """The two errors of a test, in the order of a region's axes."""

    missed_detection: Fraction
    false_alarm: Fraction


def errors_of(pair: DiscretePair, rejection: Mapping[Outcome, object] | Iterable[Outcome]) -> Errors:
    """The exact errors of a test, given as the outcomes on which it rejects.

    A mapping outcome -> probability of rejecting is a randomised test (Remark 2.2); outcomes that it does
    not name are retained.

    >>> survey = DiscretePair({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> errors_of(survey, {"no"})
    Errors(missed_detection=Fraction(1, 4), false_alarm=Fraction(1, 4))
    >>> errors_of(survey, {"no": "1/2"})
    Errors(missed_detection=Fraction(5, 8), false_alarm=Fraction(1, 8))
    """
    rejecting: dict[Outcome, Fraction]
    match rejection:
        case Mapping():
            rejecting = {
                outcome: read_probability(f"the probability of rejecting on {outcome!r}", probability)
                for outcome, probability in rejection.items()
            }
        case _:
            rejecting = dict.fromkeys(rejection, Fraction(1))
    if unknown := rejecting.keys() - set(pair.outcomes):
        raise InvalidParameter("the rejection region", sorted(unknown, key=repr), "hold outcomes of the pair only")
    weights, scale = integers([rejecting.get(outcome, Fraction(0)) for outcome in pair.outcomes])
    null, null_total = integers(pair.null)
    alternative, alternative_total = integers(pair.alternative)
    false_alarm = sum(p * w for p, w in zip(null, weights, strict=True))
    detection = sum(q * w for q, w in zip(alternative, weights, strict=True))
    return Errors(1 - Fraction(detection, alternative_total * scale), Fraction(false_alarm, null_total * scale))


def satisfies(pair: DiscretePair, epsilon: object, delta: object = 0) -> bool:
    """Whether both conditions (1) of Theorem 2.1 hold for every test; decided exactly.

    That is (epsilon, delta)-differential privacy for these two databases.

    >>> survey = DiscretePair(["3/4", "1/4"], ["1/4", "3/4"])
    >>> satisfies(survey, "ln(3)"), satisfies(survey, 1), satisfies(survey, 1, 0.1)
    (True, False, True)
    """
    return Region.of(pair).is_within(epsilon, delta)


def most_powerful_test(pair: DiscretePair, false_alarm: object) -> dict[Outcome, Fraction]:
    """The randomised test that spends exactly this false alarm and misses least (Neyman, Pearson).

    Its errors lie on the lower boundary of the pair's region, or, once nothing is missed any more, on the
    axis beyond. Rejects by falling likelihood of the alternative; at most one outcome is randomised.

    >>> survey = DiscretePair({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> most_powerful_test(survey, "1/2")
    {'no': Fraction(1, 1), 'yes': Fraction(1, 3)}
    """
    left = read_probability("false_alarm", false_alarm)
    rejecting: dict[Outcome, Fraction] = {}
    for group in by_likelihood(pair):
        for index in group:
            mass = pair.null[index]
            share = min(Fraction(1), left / mass) if mass else Fraction(1)
            if share == 0:
                return rejecting
            rejecting[pair.outcomes[index]] = share
            left -= share * mass
    return rejecting
