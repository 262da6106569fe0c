r"""The composed delta of randomised responses whose losses share a lattice, to any precision.

With epsilons m_i h (m_i whole, counts n_i) the summed loss is l_j = (2 j - J) h, J = sum n_i m_i, where
j is a sum of independent m_i * Bernoulli. Tilted by a real t, j has the characteristic function
phi(theta) = prod (1 - a_i + a_i e^(i m_i theta))^n_i with a_i = 1 / (1 + e^(-(2t+1) m_i h)), and

    delta(eps) = e^(K(t) - t l_0) * sum over r >= 0 of  p_t(j0 + r) e^(-2 t h r) (1 - e^(eps - l_r)),

j0 the first lattice point above eps and l_r the loss at j0 + r. On N equally spaced nodes theta the sum
of phi(theta) e^(-i theta j) is N times the *aliased* law sum_m p_t(j + m N): there is no quadrature error
beyond it. So with the kernel's geometric sum cut after N/2 terms, all that separates the computed value
from the truth is

- the tilted law outside [j0 - N/2, j0 + N/2): Chernoff's bound, evaluated in balls;
- the nodes left out where |phi| is negligible (`decay`), times the kernel at theta = 0;
- rounding, which ball arithmetic counts itself.

Tilted to have its mean near eps, the law needs some tens of nodes however often the mechanisms repeat,
and the result is accurate relative to delta, at 1e-6 and at 1e-300 alike. Below the mean the complement
1 - delta = sum of P(j) min(1, e^(eps - l_j)) is computed the same way with t in (-1, 0).

(Kairouz, Oh and Viswanath, Theorem 3.3; the inversion after Abate and Whitt's lattice-Poisson method.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.decay import TooManyNodes, active_nodes
from indistinct.composition.lattice import Lattice
from indistinct.composition.responses import Responses
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import acb, arb, ball, precision, root_of_unity
from indistinct.numbers.logarithm import ball_of, exponential

__all__ = ["TransformedComposition"]

_MOST_NODES = 20_000
_TARGET_BITS = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Contour:
    """The transform on the nodes that matter, for one tilt and one window of the lattice."""

    tilt: float
    centre: int
    half: int
    negligible: float
    cumulant: arb
    nodes: tuple[tuple[int, acb, acb], ...]  # n, e^(-i theta), phi(theta) e^(-i theta centre)


class TransformedComposition:
    """delta(eps) of randomised responses on a lattice; an evaluator (see `evaluators`)."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.responses = lattice.responses
        self._contour: Contour | None = None

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        exceeding, value = self._evaluate(epsilon)
        return value if exceeding else 1 - value

    def kept(self, epsilon: Epsilon) -> arb:
        """The ball of 1 - delta(epsilon), accurate also where delta is all but one."""
        exceeding, value = self._evaluate(epsilon)
        return 1 - value if exceeding else value

    def _evaluate(self, epsilon: Epsilon) -> tuple[bool, arb]:
        """Whether the value is delta (otherwise 1 - delta), and its ball."""
        first = self.lattice.first_above(epsilon)
        if first > self.lattice.top:
            return True, ball(0)
        value = ball(1)
        for contour in self._contours(epsilon, first):
            self._contour = contour
            with precision(self._bits(contour)):
                value = self._on(contour, epsilon, first)
            if value.rel_accuracy_bits() >= _TARGET_BITS:
                break
        return contour.tilt > 0, value

    def _contours(self, epsilon: Epsilon, first: int) -> Iterator[Contour]:
        """The contour in hand, if any, then new ones with ever wider windows."""
        if self._contour is not None and abs(first - self._contour.centre) < self._contour.half // 4:
            yield self._contour
        tilt = self._tilt(float(ball_of(epsilon)))
        deviation = math.sqrt(self._lattice_variance(tilt))
        half = max(32, math.ceil(12 * deviation))
        for _ in range(40):
            whole = half > self.lattice.top
            yield self._contour_at(tilt, first, min(half, self.lattice.top + 1))
            if whole:
                return
            half *= 2

    def _tilt(self, epsilon: float) -> float:
        """Above 0 unless epsilon is far below the mean, where 1 - delta is the small number."""
        deviation = math.sqrt(self.responses.variance(0.0))
        if epsilon < self.responses.mean(0.0) - 5 * deviation:
            return min(self.responses.tilt_to(epsilon), -1e-6)
        return max(self.responses.tilt_to(epsilon), 0.3 / max(deviation, 1e-300))

    def _lattice_variance(self, tilt: float) -> float:
        return float(np.sum(self._strengths(tilt) * self._multiples**2) / 2)

    @cached_property
    def _multiples(self) -> Floats:
        return np.array(self.lattice.multiples, dtype=float)

    def _strengths(self, tilt: float) -> Floats:
        """n_i 2 a_i (1 - a_i), rounded a little down where it serves as a bound."""
        x = np.minimum(np.abs((tilt + 0.5) * self.responses.epsilons), 350.0)
        return np.asarray(self.responses.times / (2 * np.cosh(x) ** 2) * (1 - 1e-9))

    def _bits(self, contour: Contour) -> int:
        size = (abs(contour.tilt) + 1) * float(self.responses.largest_loss().mid()) + self.responses.count
        finest = min(1.0, float(self.responses.epsilons[0]))
        return 160 + math.ceil(math.log2(size + 2) - 2 * math.log2(finest))

    def _contour_at(self, tilt: float, centre: int, half: int) -> Contour:
        nodes = 2 * half
        negligible = 46 + math.log(half)
        active = active_nodes(self._multiples, self._strengths(tilt), nodes, negligible, _MOST_NODES)
        if active.size * len(self.responses.groups) > 4_000_000:
            raise TooManyNodes
        blank = Contour(tilt, centre, half, negligible, ball(0), ())
        with precision(self._bits(blank)):
            tilted = []
            for group, m in zip(self.responses.groups, self.lattice.multiples, strict=True):
                odds = ((2 * ball(tilt) + 1) * ball_of(group.epsilon)).exp()
                tilted.append((1 / (1 + odds), odds / (1 + odds), m, group.times))
            values = []
            for n in active.tolist():
                phi = _product(
                    [(stay + move * root_of_unity(n * m, nodes)) ** times for stay, move, m, times in tilted]
                )
                values.append((n, root_of_unity(-n, nodes), phi * root_of_unity(-n * centre, nodes)))
            return replace(blank, cumulant=self.responses.cumulant_ball(ball(tilt)), nodes=tuple(values))

    def _on(self, contour: Contour, epsilon: Epsilon, first: int) -> arb:
        """The ball of delta, or of 1 - delta for a negative tilt, at an epsilon on a contour."""
        h, t = ball_of(self.lattice.spacing), ball(contour.tilt)
        l0 = self.lattice.loss(first)
        c = exponential(epsilon) / l0.exp()
        x = (-2 * t * h).exp()
        kernel = _exceedance if contour.tilt > 0 else _complement
        offset = first - contour.centre
        total = ball(0)
        for n, back, phi in contour.nodes:
            term = (phi * back**offset * kernel(x, c, (-2 * h).exp(), back, n, contour.half)).real
            total += term if n in (0, contour.half) else 2 * term
        total /= 2 * contour.half
        greatest = kernel(x, c, (-2 * h).exp(), acb(1), 0, contour.half).real
        slack = greatest * ball(-contour.negligible).exp() + self._outside(contour, first)
        return (contour.cumulant - t * l0).exp() * (total + (slack.union(-slack)))

    def _outside(self, contour: Contour, first: int) -> arb:
        """A bound on the tilted law outside [first - half, first + half)."""
        total = ball(0)
        for j, side in ((first - contour.half, -1), (first + contour.half, 1)):
            if 0 < j <= self.lattice.top:
                total += self._tail(contour, j, side)
        return total.upper()

    def _tail(self, contour: Contour, j: int, side: int) -> arb:
        """Chernoff: P_t(X beyond j) <= e^(K(t+s) - K(t) - s l_j) for s of the sign of the side."""
        loss = self.lattice.loss(j)
        shift = _chernoff_shift(self.responses, contour.tilt, float(loss.mid()), side)
        bound = (self.responses.cumulant_ball(ball(contour.tilt) + shift) - contour.cumulant - shift * loss).exp()
        return bound.min(ball(1))


def _chernoff_shift(responses: Responses, tilt: float, loss: float, side: int) -> float:
    """A good s for the bound above; any s of the right sign is valid."""
    if side > 0:
        return max(responses.tilt_to(loss) - tilt, 0.0)
    # Mirrored about -1/2, K'(-1 - t) = -K'(t): the lower tail of the tilt t is an upper one.
    lower = -1 - responses.tilt_to(-loss) if loss < 0 else responses.tilt_to(loss)
    return min(lower - tilt, 0.0)


def _product(factors: list[acb]) -> acb:
    """The product as a balanced tree: each level of complex balls may widen them by sqrt(2)."""
    while len(factors) > 1:
        odd = factors[-1:] if len(factors) % 2 else []
        factors = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)] + odd
    return factors[0]


def _exceedance(x: arb, c: arb, decay: arb, back: acb, n: int, half: int) -> acb:
    """sum over 0 <= r < half of (x back)^r (1 - c decay^r), where back^half = (-1)^n."""
    return _geometric(x, back, n, half) - c * _geometric(x * decay, back, n, half)


def _complement(x: arb, c: arb, decay: arb, back: acb, n: int, half: int) -> acb:
    """c * sum over 0 <= r < half of (x decay back)^r + sum over -half <= r < 0 of (x back)^r."""
    forwards = _geometric(x * decay, back, n, half)
    backwards = _geometric(1 / x, back.conjugate(), n, half)
    return c * forwards + backwards / x * back.conjugate()


def _geometric(ratio: arb, back: acb, n: int, half: int) -> acb:
    """sum over 0 <= r < half of (ratio * back)^r."""
    last = ratio**half * (1 if n % 2 == 0 else -1)
    return (1 - last) / (1 - ratio * back)
