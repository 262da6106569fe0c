r"""A few Laplace answers, with or without randomised responses: delta in closed form.

The transform of the summed loss is a sum of exponentials with rational factors: each of n Laplace losses of level e is

    M(z) = [(z + 1) e^(z e) + e^-e z e^(-z e)] / (2 z + 1),

so with k of them taken by their second term, and exponents that add up to a,

    delta(eps) = sum of c * 1/(2 pi i) * integral of e^(z (a - eps)) (z + 1)^(n - k - 1) z^(k - 1) / (2 z + 1)^n dz.

Where a is at most eps the path is closed on the right, and there is nothing. Where it is above, the integral is the sum
of the residues: at z = -1/2, of order n, by a finite sum; at z = 0 if k = 0, which is 1; at z = -1 if k = n, which is
-e^-(a - eps). Terms are of both signs, and the precision is raised until that does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product

from indistinct.composition.losses.laplace import LaplaceLoss
from indistinct.composition.losses.law import LossLaw
from indistinct.composition.responses import Responses
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, decided
from indistinct.numbers.logarithm import ball_of, exponential, sign_of_sum

__all__ = ["ResidueComposition"]

_BITS = 60
_MOST_USES = 16
_MOST_TERMS = 256

Choice = tuple[int, ...]
"""How often each of the levels is taken by its second term."""


class ResidueComposition:
    """delta(eps) of so many losses of each level; an evaluator (see `evaluators`)."""

    def __init__(self, laplace: Sequence[tuple[Fraction, int]], responses: Sequence[tuple[Epsilon, int]]) -> None:
        self._levels: list[Epsilon] = [*(level for level, _ in laplace), *(level for level, _ in responses)]
        self._times = [*(times for _, times in laplace), *(times for _, times in responses)]
        self._kinds = len(laplace)
        self._order = sum(times for _, times in laplace)
        self._choices = list(product(*(range(times + 1) for times in self._times)))

    @classmethod
    def of(cls, laws: Sequence[tuple[LossLaw, int]], responses: Responses) -> ResidueComposition | None:
        """Where there is nothing else, and not much of it; otherwise None."""
        laplace = [(law.exact_largest, times) for law, times in laws if isinstance(law, LaplaceLoss)]
        boxes = [(group.epsilon, group.times) for group in responses.groups]
        times = [times for _, times in (*laplace, *boxes)]
        if not laplace or len(laplace) < len(laws) or sum(times) > _MOST_USES:
            return None
        return cls(laplace, boxes) if math.prod(n + 1 for n in times) <= _MOST_TERMS else None

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        above = [choice for choice in self._choices if self._is_above(choice, epsilon)]
        if not above:
            return ball(0)
        return decided(
            lambda: self._sum(above, epsilon),
            lambda found: found.rel_accuracy_bits() >= _BITS or bool(abs(found) < 1e-320),
        )

    def _is_above(self, choice: Choice, epsilon: Epsilon) -> bool:
        """Whether an exponent is above epsilon; decided exactly."""
        signs = (
            (times - 2 * taken, level) for times, taken, level in zip(self._times, choice, self._levels, strict=True)
        )
        return sign_of_sum((-1, epsilon), *signs) > 0

    def _sum(self, choices: Sequence[Choice], epsilon: Epsilon) -> arb:
        levels, falls = [ball_of(level) for level in self._levels], [1 / exponential(level) for level in self._levels]
        total, at = ball(0), ball_of(epsilon)
        for choice in choices:
            away, factor = -at, ball(1)
            for taken, times, level, fall in zip(choice, self._times, levels, falls, strict=True):
                away += (times - 2 * taken) * level
                factor *= math.comb(times, taken) * fall**taken
            total += factor * self._residues(sum(choice[: self._kinds]), away)
        for times, fall in zip(self._times[self._kinds :], falls[self._kinds :], strict=True):
            total /= (1 + fall) ** times
        return total

    def _residues(self, second: int, away: arb) -> arb:
        order = self._order
        power, found = ball(1), ball(0)
        for j, coefficient in enumerate(reversed(_coefficients(order, second))):
            found = found + ball(coefficient) * power
            power = power * away / (j + 1)
        found = found * (-away / 2).exp() / (1 << order)
        if second == 0:
            found = found + 1
        if second == order:
            found = found - (-away).exp()
        return found


@lru_cache(1024)
def _coefficients(order: int, second: int) -> tuple[Fraction, ...]:
    """Of (1/2 + u)^(order - second - 1) (u - 1/2)^(second - 1), up to u^(order - 1)."""
    found = _powers(Fraction(1, 2), order - second - 1, order)
    other = _powers(Fraction(-1, 2), second - 1, order)
    return tuple(sum((found[i] * other[j - i] for i in range(j + 1)), Fraction(0)) for j in range(order))


def _powers(shift: Fraction, power: int, count: int) -> list[Fraction]:
    """The first coefficients of (u + shift)^power, the power at least -1.

    >>> _powers(Fraction(1, 2), -1, 3), _powers(Fraction(1, 2), 2, 3)
    ([Fraction(2, 1), Fraction(-4, 1), Fraction(8, 1)], [Fraction(1, 4), Fraction(1, 1), Fraction(1, 1)])
    """
    if power < 0:
        return [(-1) ** j / shift ** (j + 1) for j in range(count)]
    return [math.comb(power, j) * shift ** (power - j) if j <= power else Fraction(0) for j in range(count)]
