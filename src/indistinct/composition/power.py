r"""The power of an adversary, estimated from runs of the composition experiment, with proven intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random

from indistinct.composition.allowance import Family
from indistinct.composition.experiment import Adversary, rejects, runs_of
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, read_count
from indistinct.numbers.balls import ball, precision
from indistinct.numbers.bracket import float_above, float_below
from indistinct.numbers.reading import read_probability
from indistinct.regions import Region

__all__ = ["Power", "clopper_pearson", "estimate_power"]

_BITS = 96
_NARROW = 2.0**-40
_NEAR = 1e-6


@dataclass(frozen=True, slots=True)
class Power:
    """What was counted in `runs` runs under each hypothesis, and the box of errors it leaves possible.

    Guaranteed: the box contains the true missed detection and false alarm except with probability at most
    1 - confidence, over the randomness of the runs.
    """

    missed_detection: Bracket
    false_alarm: Bracket
    missed_detections: int
    false_alarms: int
    runs: int
    confidence: Fraction

    @classmethod
    def of_counts(cls, missed_detections: int, false_alarms: int, runs: int, confidence: object = "0.999999") -> Power:
        """The box for what was counted: Clopper and Pearson's intervals, so that both hold together.

        Each has half of the failure probability 1 - confidence.

        >>> print(Power.of_counts(20, 12, 1000).false_alarm)
        0.03920353643...
        """
        certainty = _strictly_between("confidence", confidence)
        share = (1 - certainty) / 2
        return cls(
            missed_detection=clopper_pearson(missed_detections, runs, share),
            false_alarm=clopper_pearson(false_alarms, runs, share),
            missed_detections=missed_detections,
            false_alarms=false_alarms,
            runs=runs,
            confidence=certainty,
        )

    def is_within(self, region: Region) -> bool:
        """Whether some point of the box lies in the region; decided exactly.

        A region contains the diagonal from (0, 1) to (1, 0), and everything between the diagonal and a
        point of it that lies right above or right below. So a box across the diagonal touches it, and of
        any other only the corner nearest to the diagonal matters.
        """
        missed, alarm = self.missed_detection, self.false_alarm
        if Fraction(missed.upper) + Fraction(alarm.upper) <= 1:
            return region.contains(missed.upper, alarm.upper)
        if Fraction(missed.lower) + Fraction(alarm.lower) >= 1:
            return region.contains(missed.lower, alarm.lower)
        return True

    def contradicts(self, region: Region) -> bool:
        """Whether the whole box lies outside: evidence, at `confidence`, that a guarantee is violated.

        With the region of `compose(family)`, true with probability at most 1 - confidence if every
        mechanism keeps its guarantee.
        """
        return not self.is_within(region)


def estimate_power(
    adversary: Adversary,
    times: int,
    runs: int,
    *,
    family: Family,
    confidence: object = "0.999999",
    random: Random | None = None,
) -> Power:
    """The power of an adversary in `runs` runs of the composition experiment under each hypothesis.

    `times`, `family` and `random` are as in `run`; the intervals are those of `Power.of_counts`.

    >>> from indistinct import ApproximateDP, compose
    >>> from indistinct.composition.adversaries import LikelihoodAdversary
    >>> family = ApproximateDP("0.1", "0.001")
    >>> optimal = LikelihoodAdversary(family.epsilon, family.delta, threshold=4)
    >>> power = estimate_power(optimal, 30, 1000, family=family, random=Random(1))
    >>> power.is_within(compose({family: 30}).region()), power.is_within(compose({family: 1}).region())
    (True, False)
    """
    count = read_count("runs", runs, least=1)
    certainty = _strictly_between("confidence", confidence)  # before all the work
    rejections = [
        sum(
            rejects(adversary, view)
            for view in islice(runs_of(adversary, times, hypothesis, family=family, random=random), count)
        )
        for hypothesis in (0, 1)
    ]
    return Power.of_counts(count - rejections[1], rejections[0], count, certainty)


def clopper_pearson(successes: int, trials: int, failure: object) -> Bracket:
    """An interval for the probability of what happened so often in independent trials.

    Guaranteed: whatever the probability is, the interval misses it with probability at most `failure`, half
    of it on either side (Clopper, Pearson 1934). Both ends are rounded outwards; for up to
    10^9 trials by a share of 2^-40, of the lower end and of 1 minus the upper end.

    >>> clopper_pearson(0, 20, "0.05")
    Bracket(lower=0.0, upper=0.168433...)
    """
    count = read_count("trials", trials, least=1)
    seen = read_count("successes", successes)
    if seen > count:
        raise InvalidParameter("successes", successes, f"be at most the number of trials, {count}")
    risk = _strictly_between("failure", failure)
    upper = 1 - Fraction(_lower_end(count - seen, count, risk / 2))
    return Bracket(_lower_end(seen, count, risk / 2), min(1.0, float_above(upper)))


def _lower_end(successes: int, trials: int, tail: Fraction) -> float:
    """A number below which so many successes or more have a probability of at most `tail`, certainly.

    That probability is I_p(successes, trials - successes + 1), the regularised incomplete beta function,
    and rises with p.
    """
    if successes == 0:
        return 0.0
    low, high = 0.0, float_below(Fraction(successes, trials))
    with precision(_BITS):
        limit, first, second = ball(tail), ball(successes), ball(trials - successes + 1)
        below, above = -1.0, 1.0  # about the logarithm of tail / limit at both ends
        chance, was_low = _guess(high, trials, -float(limit.log().mid())), False
        while high - low > _NARROW * high:
            if not low < chance < high:
                chance = (low + high) / 2
            if chance in (low, high):  # no float is between them: the bound is too small for floats
                break
            found = ball(chance).beta_lower(first, second, regularized=True)
            is_low, height = bool(found <= limit), float((found / limit).log().mid())
            if is_low:
                low, below, above = chance, height, above / 2 if was_low else above
            else:
                high, above, below = chance, height, below if was_low else below / 2
            was_low = is_low
            # The secant of the logarithms (with the Illinois rule); once it is there, a step to the other side.
            chance = low * (high / low) ** (below / (below - above)) if low else high / 2
            if abs(height) < _NEAR:
                chance *= 1 + _NARROW / 4 if is_low else 1 - _NARROW / 4
    return low


def _guess(share: float, trials: int, rarity: float) -> float:
    """Near the bound for a tail of e^-rarity: Wilson's, with a deviation that is rather too large."""
    square = 2 * rarity / trials
    width = math.sqrt(square * share * (1 - share) + square**2 / 4)
    return (share + square / 2 - width) / (1 + square) * 0.9


def _strictly_between(name: str, value: object) -> Fraction:
    probability = read_probability(name, value)
    if not 0 < probability < 1:
        raise InvalidParameter(name, value, "lie strictly between 0 and 1")
    return probability
