r"""Staircase noise (Geng and Viswanath 2012; KOV, section 4.3).

On a lattice of granularity h, with the sensitivity rounded up to D steps, discrete staircase noise falls by e^-epsilon
where `|x|` goes from r - 1 to r, from D + r - 1 to D + r, and so on. That is real staircase noise of sensitivity D h
and gamma = (r - 1/2) / D, rounded to the lattice: its steps are where the rounding turns from one point to the next.
So gamma is first moved to such a place, to the side on which less is told: away from 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from indistinct.composition.losses import PrivacyLoss
from indistinct.composition.losses.three_way import three_way_pair
from indistinct.composition.planning.formulas import pure_levels
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.answering import MOST_REVEALING, on_lattice, on_whole_numbers, refuse_many, size_of
from indistinct.mechanisms.display import card
from indistinct.mechanisms.lattice import Lattice, exponent_of, read_granularity
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.quantiles import log_share
from indistinct.mechanisms.sizes import Bound, Ends, RealSizes, WholeSizes, around
from indistinct.mechanisms.stairs import best_share, best_step, stair_quantile, stair_tail
from indistinct.noise import DiscreteStaircase
from indistinct.noise.staircase import StairLaw
from indistinct.numbers import Bracket, read_count, read_number
from indistinct.numbers.balls import arb, ball, precision

__all__ = ["Staircase"]

_BITS = 256
_FINE = 10  # the default is finer than the stairs by this many powers of two
_LARGEST_WHOLE = 1_000_000


@dataclass(frozen=True, slots=True, init=False)
class Staircase:
    """Noise whose density falls by e^-epsilon at gamma, 1 + gamma, 2 + gamma, ... times the sensitivity.

    The least noisy of all epsilon-private additions to one number. `gamma`, unless given, is that of the least
    expected size, 1 / (1 + e^(epsilon / 2)). The losses are -epsilon, 0 and epsilon, and a shift by the whole
    sensitivity is the worst: the probability of the loss epsilon rises with the shift.

    >>> from indistinct import PureDP, Staircase, compose
    >>> uses = compose({Staircase(epsilon="0.1"): 1000}).epsilon("1e-6")
    >>> uses.upper < compose({PureDP("0.1"): 1000}).epsilon("1e-6").lower
    True
    >>> type(Staircase(epsilon="0.1").release(47.11))
    <class 'float'>
    """

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob(
            "epsilon",
            quiets=False,
            because="the largest loss and its probability both rise with epsilon, and with them all of the profile",
            most=Fraction(500),
            formulas=pure_levels,
        ),
    )

    sensitivity: Fraction
    epsilon: Fraction
    gamma: Fraction
    chosen_granularity: Fraction | None = field(repr=False)
    """What was asked for; None leaves it to `lattice`."""

    def __init__(
        self, sensitivity: object = 1, *, epsilon: object, gamma: object = None, granularity: object = None
    ) -> None:
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        level = read_positive("epsilon", epsilon)
        if level > _LARGEST:
            raise InvalidParameter("epsilon", epsilon, f"be at most {_LARGEST} for staircase noise")
        object.__setattr__(self, "epsilon", level)
        share = best_share(level) if gamma is None else read_number("gamma", gamma)
        if not 0 <= share <= 1:
            raise InvalidParameter("gamma", gamma, "lie in [0, 1]")
        object.__setattr__(self, "gamma", share)
        object.__setattr__(self, "chosen_granularity", read_granularity(granularity))

    @classmethod
    def least_variance(cls, sensitivity: object = 1, *, epsilon: object, granularity: object = None) -> Staircase:
        """With the gamma of the least variance (Geng and Viswanath 2012, section IV).

        >>> float(Staircase.least_variance(epsilon=1).gamma)
        0.4167...
        """
        level = read_positive("epsilon", epsilon)
        return cls(sensitivity, epsilon=level, gamma=best_share(level, squared=True), granularity=granularity)

    @classmethod
    def on_integers(cls, sensitivity: object = 1, *, epsilon: object, squared: bool = False) -> Staircase:
        """On the whole numbers, with the stairs of the least expected size there, or of the least variance.

        For a count (sensitivity 1) it is the geometric mechanism.

        >>> type(Staircase.on_integers(10, epsilon=1).release(4711))
        <class 'int'>
        >>> Staircase.on_integers(1, epsilon=1).gamma
        Fraction(1, 2)
        """
        width, level = read_count("sensitivity", sensitivity, least=1), read_positive("epsilon", epsilon)
        if width > _LARGEST_WHOLE:
            raise InvalidParameter("sensitivity", sensitivity, f"be at most {_LARGEST_WHOLE} for stairs on integers")
        step = best_step(width, float(level), squared=squared)
        return cls(width, epsilon=level, gamma=Fraction(2 * step - 1, 2 * width), granularity=1)

    @property
    def loss(self) -> PrivacyLoss:
        """Three losses, the same in both directions and for every kind of neighbouring databases."""
        with precision(_BITS):
            fall, gamma = (-ball(self.epsilon)).exp(), ball(self.gamma)
            # The density next to 0 times the sensitivity; both from Geng and Viswanath's normalisation.
            height = (1 - fall) / (2 * (gamma + fall * (1 - gamma)))
            certain = ball(Fraction(1, 2)) + height * ball(min(self.gamma, 1 - self.gamma))
            return three_way_pair(self.epsilon, certain)

    @property
    def granularity(self) -> Fraction:
        """The distance of neighbouring answers."""
        return self.lattice().granularity

    @property
    def noise(self) -> DiscreteStaircase:
        """The sampler, in steps of the lattice."""
        return _plan(self)[1]

    @property
    def variance(self) -> float:
        """The variance of the real noise."""
        fall, share = math.exp(-float(self.epsilon)), float(self.gamma)
        thirds = share**3 + fall * (1 - share**3), share**2 + fall * (1 - share**2), share + fall * (1 - share)
        # Over the periods k: the sum of b^k times the integral of (k + z)^2 over the stairs of one.
        sums = 1 / (1 - fall), fall / (1 - fall) ** 2, fall * (1 + fall) / (1 - fall) ** 3
        total = sums[0] * thirds[0] / 3 + sums[1] * thirds[1] + sums[2] * thirds[2]
        return float(self.sensitivity) ** 2 * total / (sums[0] * thirds[2])

    def lattice(self) -> Lattice:
        """Where the answers lie; its `scale` is the sensitivity there, a whole number of steps."""
        return _plan(self)[0]

    def release(self, value: Any, *, disjoint: bool = False) -> Any:
        """The value with noise: a float for a number, an array of the same shape for an array.

        With a whole sensitivity and granularity 1, whole numbers become whole numbers, of any size, and other values
        are refused. The claim is about one number: several may be
        released at once only if any two neighbouring databases differ in one of them, as the counts of a histogram do.
        Then say `disjoint=True`.
        """
        refuse_many(value, disjoint=disjoint, instead=_INSTEAD)
        if self._is_whole:
            return on_whole_numbers(_plan(self)[1], value)
        return on_lattice(lambda _count, _whole: _plan(self), value)

    def accuracy(self, beta: object, count: object = 1) -> Accuracy:
        """How far the worst of so many answers is off at most, except with probability beta.

        Noise of at least k times the sensitivity has probability e^(-k epsilon): the least such k that is enough.
        """
        return self._sizes().accuracy(beta, count)

    def failure(self, alpha: object, count: object = 1) -> Accuracy:
        """How probable it is that the worst of so many answers is off by more than alpha: the inverse of `accuracy`."""
        return self._sizes().failure(alpha, count)

    def interval(self, answer: Any, level: object = "0.95", *, together: bool = False) -> Ends:
        """Ends around the true value with probability `level` at least: for each answer, or for all together."""
        return around(answer, self._sizes().margin(level, size_of(answer) if together else 1))

    @property
    def _is_whole(self) -> bool:
        return self.chosen_granularity == 1 and self.sensitivity.denominator == 1

    def _sizes(self) -> RealSizes | WholeSizes:
        lattice, noise = _plan(self)
        width, level = lattice.scale, self.epsilon
        share = Fraction(2 * noise.step - 1, 2 * noise.sensitivity)

        def size(beta: Fraction, times: int) -> arb:
            return ball(width) * (log_share(beta, times) / ball(level)).ceil()

        def chance(alpha: Fraction, times: int) -> arb:
            return times * (-ball(level) * (alpha // width)).exp()

        bound = Bound("Geng and Viswanath, a period falls by e^-epsilon", size, chance)
        if self._is_whole:
            return WholeSizes(bound, StairLaw(noise.sensitivity, level, noise.step))

        def tail(distance: Fraction) -> arb:
            return stair_tail(width, level, share, distance)

        def quantile(beta: Fraction, times: int) -> Bracket:
            return stair_quantile(width, level, share, beta, times)

        return RealSizes(bound, lattice.granularity, quantile, (tail, tail))

    def _repr_html_(self) -> str:
        return card(self, {"one answer": f"{float(self.epsilon):.6g}-private", "accuracy": self.accuracy("0.05")})


@lru_cache(maxsize=256)
def _plan(mechanism: Staircase) -> tuple[Lattice, DiscreteStaircase]:
    if mechanism.epsilon > MOST_REVEALING:
        raise InvalidParameter("epsilon", mechanism.epsilon, f"be at most {MOST_REVEALING} for an answer to have noise")
    share = min(mechanism.gamma, 1 - mechanism.gamma)
    exponent = exponent_of(mechanism.chosen_granularity or mechanism.sensitivity * (share or 1) / 2**_FINE)
    width = -(-mechanism.sensitivity // Fraction(2) ** exponent)
    if 2 * width * share < 1:
        raise InvalidParameter(
            "gamma",
            mechanism.gamma,
            f"lie in [1/{2 * width}, 1 - 1/{2 * width}] for an answer",
            instead="At its ends there is no stair on the lattice; a finer granularity comes nearer to them.",
        )
    place = mechanism.gamma * width + Fraction(1, 2)
    step = math.floor(place) if 2 * mechanism.gamma <= 1 else math.ceil(place)
    lattice = Lattice(exponent, width * Fraction(2) ** exponent)
    return lattice, DiscreteStaircase(width, mechanism.epsilon, step)


_LARGEST = 500
_INSTEAD = "Say disjoint=True if neighbouring databases differ in one of them."
