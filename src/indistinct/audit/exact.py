r"""Exact audit: the hockey-stick divergence of the output laws themselves, against what is claimed.

For an event S and a pair of neighbouring inputs, a claim (epsilon, delta) says P(S) <= e^epsilon Q(S) + delta (KOV,
Definition 1.1). The worst event is S = {x : P(x) > e^epsilon Q(x)}, so one sum over the outcomes decides about all
events. Sums are of whole numbers; where laws are only enclosed, the sum of lower ends proves a violation and the sum of
upper ends refutes one.

The divergence is a convex function of e^epsilon. What one pair (epsilon, delta) claims is decided at that epsilon. A
profile is compared where the divergence has its knots, that is at the likelihood ratios of the outcomes, and at the
largest epsilon it speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from indistinct.audit.attained import attained
from indistinct.audit.claims import Claim, read_claim
from indistinct.audit.laws import EnclosedLaw, law_of, read_law
from indistinct.audit.verdicts import ExactAudit, Place
from indistinct.composition import ApproximateDP, PrivacyProfile, PureDP, compose
from indistinct.composition.parts import Thing, loss_of
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_count
from indistinct.regions import DiscretePair
from indistinct.regions.laws import Outcome
from indistinct.regions.ratios import epsilon_of, ratio_above, ratio_below

__all__ = ["divergence", "exact"]

_MOST_KNOTS = 48
_LARGEST_SENSITIVITY = 10_000
_FARTHEST = 24.0  # up to this epsilon profiles are compared with profiles, where they do not end before


def exact(
    mechanism: object,
    claim: object = None,
    *,
    sensitivity: object = 1,
    neighbours: Callable[[Outcome, Outcome], bool] | None = None,
    bits: object = 192,
) -> ExactAudit:
    """Checks a claim against the output laws themselves: no sampling, no doubt beyond a stated 2^-bits.

    `mechanism` is one of

    - noise to be added to a whole number: a sampler of `indistinct.noise`, such as a mechanism has as `.noise`, or any
      law with `survival(i, bits)`. Neighbouring answers differ by up to `sensitivity`, in steps of the noise;
    - a mapping from inputs to laws, each a mapping from outcomes to exact probabilities or to pairs (lower, upper)
      around them. Any two inputs are neighbours, or those of which `neighbours` says so;
    - a `DiscretePair`, the laws on two neighbouring inputs;
    - what the accountant knows, such as `Gaussian(sigma=...)` or a profile: the certified ends of its own delta are
      compared with the claim. What is known by its law can hold or violate. What is known by a promise or a bound
      alone (`PureDP(1)`, a sparse vector, the exponential mechanism) can hold or remain undecided, for it may lose less
      than it promises; of a profile, the parts that are known by their laws decide about a violation.

    Without a claim, a mechanism that knows its loss is audited against that.

    >>> from indistinct import PureDP
    >>> from indistinct.noise import DiscreteLaplace
    >>> print(exact(DiscreteLaplace(2), PureDP("0.5")))
    Holds: on 2 pairs of inputs, no event breaks (0.5, 0)-differential privacy by more than 6e-56.
    >>> print(exact(DiscreteLaplace(1), PureDP("0.5")))
    Violates (0.5, 0)-differential privacy: on inputs 0 and 1, the outcomes 0, -1, -2, ...
    """
    precision = read_count("bits", bits, least=8)
    stated = read_claim(mechanism if claim is None else claim)
    match mechanism:
        case Mapping():
            laws = {each: read_law(f"the law of {each!r}", law) for each, law in mechanism.items()}
            pairs = [
                (first, second)
                for first, second in permutations(laws, 2)
                if neighbours is None or neighbours(first, second)
            ]
            return _audited(stated, ((*pair, laws[pair[0]], laws[pair[1]]) for pair in pairs))
        case DiscretePair():
            first, second = (
                dict(zip(mechanism.outcomes, law, strict=True)) for law in (mechanism.null, mechanism.alternative)
            )
            return exact({"null": first, "alternative": second}, stated)
        case PrivacyProfile():
            return _compared(mechanism, stated)
    if isinstance(mechanism, Thing):
        return _compared(compose([mechanism]), stated)
    law = law_of(mechanism, precision)
    width = read_count("sensitivity", sensitivity, least=1)
    if width > _LARGEST_SENSITIVITY:
        raise InvalidParameter("sensitivity", sensitivity, f"be at most {_LARGEST_SENSITIVITY:,} to be enumerated")
    shifts = ((first, second) for step in range(1, width + 1) for first, second in ((0, step), (step, 0)))
    return _audited(stated, ((*pair, law.shifted(pair[0]), law.shifted(pair[1])) for pair in shifts))


def divergence(first: EnclosedLaw, second: EnclosedLaw, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """Numbers around max over events S of P(S) - ratio Q(S): the hockey-stick divergence."""
    return _Worst.of(first, second).between(ratio, ratio)


@dataclass(frozen=True)
class _Worst:
    """The outcomes of two laws over one denominator: (outcome, P lower, P upper, Q lower, Q upper)."""

    rows: list[tuple[Outcome, int, int, int, int]]
    unlisted: list[tuple[Outcome, int, int]]
    whole: int
    rest: int
    other_rest: int

    @classmethod
    def of(cls, first: EnclosedLaw, second: EnclosedLaw) -> _Worst:
        p, q = second.whole, first.whole
        if p == q:
            p = q = 1
        rows, unlisted = [], []
        for outcome, (lower, upper) in first.around.items():
            other = second.around.get(outcome)
            if other is None:
                unlisted.append((outcome, lower * p, upper * p))
            else:
                rows.append((outcome, lower * p, upper * p, other[0] * q, other[1] * q))
        return cls(rows, unlisted, first.whole * p, first.rest * p, second.rest * q)

    def between(self, least: Fraction, most: Fraction) -> tuple[Fraction, Fraction]:
        """Around the divergence at a ratio that lies between two numbers."""
        up, down = most.numerator, most.denominator
        sure = sum(gap for _, lower, _, _, other in self.rows if (gap := lower * down - up * other) > 0)
        sure += max(sum(lower for _, lower, _ in self.unlisted) * down - up * self.other_rest, 0)
        above, below = least.numerator, least.denominator
        possible = sum(gap for _, _, upper, other, _ in self.rows if (gap := upper * below - above * other) > 0)
        possible += (sum(upper for _, _, upper in self.unlisted) + self.rest) * below
        return Fraction(sure, self.whole * down), Fraction(possible, self.whole * below)

    def event(self, ratio: Fraction) -> tuple[list[Outcome], Fraction, Fraction]:
        """The outcomes that are surely more than so many times as likely, the likeliest first, and P and Q of them."""
        up, down = ratio.numerator, ratio.denominator
        likely = sorted(
            [(-lower, outcome, other) for outcome, lower, _, _, other in self.rows if lower * down > up * other]
            + [(-lower, outcome, 0) for outcome, lower, _ in self.unlisted if lower > 0],
            key=lambda entry: entry[0],
        )
        p, q = -sum(entry[0] for entry in likely), sum(entry[2] for entry in likely)
        return [outcome for _, outcome, _ in likely], Fraction(p, self.whole), Fraction(q, self.whole)

    def knots(self) -> list[Fraction]:
        """Likelihood ratios above 1, as floats that are exact numbers; some of them, spread out, if there are many."""
        ratios = sorted({p / q for _, p, _, _, q in self.rows if p > q > 0 and p.bit_length() - q.bit_length() < 1000})
        step = max(len(ratios) / _MOST_KNOTS, 1.0)
        return [Fraction(ratios[int(i * step)]) for i in range(min(len(ratios), _MOST_KNOTS))] + [
            Fraction(each) for each in ratios[-1:]
        ]


def _audited(claim: Claim, pairs: Iterable[tuple[Outcome, Outcome, EnclosedLaw, EnclosedLaw]]) -> ExactAudit:
    count, doubt = 0, Fraction(0)
    worst: tuple[Fraction, Place] | None = None
    for first, second, law, other in pairs:
        count += 1
        both = _Worst.of(law, other)
        for epsilon, least, most, allowed in _places(claim, both):
            sure, possible = both.between(least, most)
            doubt = max(doubt, possible - allowed)
            if sure > allowed and (worst is None or sure - allowed > worst[0]):
                event, likely, unlikely = both.event(most)
                worst = sure - allowed, Place(epsilon, allowed, sure, first, second, tuple(event), likely, unlikely)
    if not count:
        raise InvalidParameter("the inputs", "none of them neighbours", "have at least one pair of neighbours")
    return ExactAudit(str(claim), count, None if worst is None else worst[1], doubt)


def _places(claim: Claim, both: _Worst) -> Iterator[tuple[Epsilon, Fraction, Fraction, Fraction]]:
    """Where to compare: epsilon, rational numbers around e^epsilon, and the delta that is claimed there."""
    for epsilon, delta in claim.pairs:
        yield epsilon, ratio_below(epsilon, 256), ratio_above(epsilon, 256), delta
    if claim.profile is None:
        return
    knots = [Fraction(1), *both.knots()]
    for ratio, bracket in zip(knots, claim.deltas(knots), strict=True):
        yield epsilon_of(ratio), ratio, ratio, Fraction(min(bracket.upper, 1.0))
    largest = claim.profile.largest_epsilon.upper
    if largest < _LARGEST_SENSITIVITY:
        last = Fraction(largest)
        yield last, ratio_below(last, 256), ratio_above(last, 256), Fraction(claim.profile.disclosure.upper)


def _compared(truth: PrivacyProfile, claim: Claim) -> ExactAudit:
    """What the accountant knows against the claim: upper ends of all parts, lower ends of those that are laws."""
    places: list[tuple[Epsilon, Fraction]] = list(claim.pairs)
    if claim.profile is not None:
        end = min(truth.largest_epsilon.upper, claim.profile.largest_epsilon.upper, _FARTHEST)
        levels = [Fraction(end * i / _MOST_KNOTS) for i in range(_MOST_KNOTS)]
        places = [(e, Fraction(min(d.upper, 1.0))) for e, d in zip(levels, claim.profile.deltas(levels), strict=True)]
    law = attained(truth)
    doubt = Fraction(0)
    worst: tuple[Fraction, Place] | None = None
    epsilons = [epsilon for epsilon, _ in places]
    possible = [Fraction(found.upper) for found in _deltas(truth, epsilons)]
    certain = [Fraction(0)] * len(places)
    if law is not None:
        certain = [Fraction(found.lower) for found in _deltas(law, epsilons)]
    for (epsilon, allowed), sure, most in zip(places, certain, possible, strict=True):
        doubt = max(doubt, most - allowed)
        if sure > allowed and (worst is None or sure - allowed > worst[0]):
            worst = sure - allowed, Place(epsilon, allowed, sure)
    if _follows(truth, claim):
        doubt = Fraction(0)
    return ExactAudit(str(claim), 0, None if worst is None else worst[1], doubt, promised=law is not truth)


def _deltas(profile: PrivacyProfile, epsilons: list[Epsilon]) -> list[Bracket]:
    return profile.deltas(epsilons) if len(epsilons) > 1 else [profile.delta(epsilons[0])]


def _follows(truth: PrivacyProfile, claim: Claim) -> bool:
    """Whether the claim follows without arithmetic that rounds: from the same parts, or from one promise."""
    if claim.profile is not None:
        return dict(truth.parts) == dict(claim.profile.parts)
    (thing, times), *others = truth.parts
    promise = loss_of(thing)
    if others or times != 1 or not isinstance(promise, PureDP | ApproximateDP):
        return False
    return all(
        promise.delta <= delta
        and (promise.epsilon == epsilon or ratio_above(promise.epsilon, 256) <= ratio_below(epsilon, 256))
        for epsilon, delta in claim.pairs
    )
