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

Between two neighbouring losses either sum is linear in e^eps, so all epsilons there take one pass over the nodes.

(Kairouz, Oh and Viswanath, Theorem 3.3; the inversion after Abate and Whitt's lattice-Poisson method.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
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
class Kernel:
    """The kernel's geometric sum at one node, plain + c * falling, where c = e^(eps - l_0)."""

    plain: acb
    falling: acb


@dataclass(frozen=True, slots=True)
class Tail:
    """Chernoff on one side: P_t(X beyond j) <= e^(rise - shift l_j), for a shift of the sign of the side."""

    shift: float
    rise: arb


@dataclass(frozen=True, slots=True)
class Contour:
    """The transform on the nodes that matter, for one tilt and one window of the lattice."""

    tilt: float
    centre: int
    half: int
    negligible: float
    bits: int
    cumulant: arb
    tails: tuple[Tail, Tail]
    greatest: Kernel
    """The kernel at theta = 0, where it is greatest."""
    nodes: tuple[tuple[int, acb, Kernel], ...]  # n, e^(-i theta), phi(theta) e^(-i theta centre) times the kernel


@dataclass(frozen=True, slots=True)
class Piece:
    """What a contour says between two neighbouring losses: scale * (plain + c * falling), give or take slack."""

    contour: Contour
    first: int
    scale: arb
    fall: arb  # e^-l_0
    plain: arb
    falling: arb
    outside: arb


class TransformedComposition:
    """delta(eps) of randomised responses on a lattice; an evaluator (see `evaluators`)."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.responses = lattice.responses
        self._contour: Contour | None = None
        self._piece: Piece | None = None

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
            with precision(contour.bits):
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

    def _bits(self, tilt: float) -> int:
        size = (abs(tilt) + 1) * float(self.responses.largest_loss().mid()) + self.responses.count
        finest = min(1.0, float(self.responses.epsilons[0]))
        return 160 + math.ceil(math.log2(size + 2) - 2 * math.log2(finest))

    def _contour_at(self, tilt: float, centre: int, half: int) -> Contour:
        nodes = 2 * half
        negligible = 46 + math.log(half)
        active = active_nodes(self._multiples, self._strengths(tilt), nodes, negligible, _MOST_NODES)
        if active.size * len(self.responses.levels) > 4_000_000:
            raise TooManyNodes
        bits = self._bits(tilt)
        with precision(bits):
            tilted = []
            for group, m in zip(self.responses.groups, self.lattice.multiples, strict=True):
                odds = ((2 * ball(tilt) + 1) * ball_of(group.epsilon)).exp()
                tilted.append((1 / (1 + odds), odds / (1 + odds), m, group.times))
            h = ball_of(self.lattice.spacing)
            kernel = (_Exceedance if tilt > 0 else _Complement)((-2 * ball(tilt) * h).exp(), (-2 * h).exp(), half)
            values = []
            for n in active.tolist():
                phi = _product(
                    [(stay + move * root_of_unity(n * m, nodes)) ** times for stay, move, m, times in tilted]
                )
                phi *= root_of_unity(-n * centre, nodes)
                at = kernel(back := root_of_unity(-n, nodes), n)
                values.append((n, back, Kernel(phi * at.plain, phi * at.falling)))
            cumulant = self.responses.cumulant_ball(ball(tilt))
            tails = self._tail(tilt, centre, half, cumulant, -1), self._tail(tilt, centre, half, cumulant, 1)
            greatest = kernel(acb(1), 0)
            return Contour(tilt, centre, half, negligible, bits, cumulant, tails, greatest, tuple(values))

    def _on(self, contour: Contour, epsilon: Epsilon, first: int) -> arb:
        """The ball of delta, or of 1 - delta for a negative tilt, at an epsilon on a contour."""
        piece = self._piece
        if piece is None or piece.contour is not contour or piece.first != first:
            piece = self._piece = self._piece_of(contour, first)
        c = exponential(epsilon) * piece.fall
        greatest = (contour.greatest.plain + c * contour.greatest.falling).real
        slack = greatest * ball(-contour.negligible).exp() + piece.outside
        return piece.scale * (piece.plain + c * piece.falling + slack.union(-slack))

    def _piece_of(self, contour: Contour, first: int) -> Piece:
        """The sum over the nodes for the epsilons whose first loss above is this one."""
        offset = first - contour.centre
        plain, falling = ball(0), ball(0)
        for n, back, kernel in contour.nodes:
            turn = back**offset * (1 if n in (0, contour.half) else 2)
            plain += (kernel.plain * turn).real
            falling += (kernel.falling * turn).real
        loss = self.lattice.loss(first)
        scale = (contour.cumulant - contour.tilt * loss).exp()
        outside, nodes = self._outside(contour, first), 2 * contour.half
        return Piece(contour, first, scale, (-loss).exp(), plain / nodes, falling / nodes, outside)

    def _outside(self, contour: Contour, first: int) -> arb:
        """A bound on the tilted law outside [first - half, first + half)."""
        total = ball(0)
        for j, tail in zip((first - contour.half, first + contour.half), contour.tails, strict=True):
            if 0 < j <= self.lattice.top:
                total += (tail.rise - tail.shift * self.lattice.loss(j)).exp().min(ball(1))
        return total.upper()

    def _tail(self, tilt: float, centre: int, half: int, cumulant: arb, side: int) -> Tail:
        """P_t(X beyond j) <= e^(K(t+s) - K(t) - s l_j), with an s that is about best anywhere the contour serves."""
        near = centre + side * (half - half // 4)
        loss = self.lattice.loss(min(max(near, 1), self.lattice.top))
        shift = _chernoff_shift(self.responses, tilt, float(loss.mid()), side)
        return Tail(shift, self.responses.cumulant_ball(ball(tilt) + shift) - cumulant)


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


class _Geometric:
    """sum over 0 <= r < half of (ratio * back)^r, where back^half = (-1)^n."""

    def __init__(self, ratio: arb, half: int) -> None:
        self._ratio = ratio
        self._last = ratio**half

    def __call__(self, back: acb, n: int) -> acb:
        return (1 - (self._last if n % 2 == 0 else -self._last)) / (1 - self._ratio * back)


class _Exceedance:
    """sum over 0 <= r < half of (x back)^r (1 - c decay^r)."""

    def __init__(self, x: arb, decay: arb, half: int) -> None:
        self._plain, self._falling = _Geometric(x, half), _Geometric(x * decay, half)

    def __call__(self, back: acb, n: int) -> Kernel:
        return Kernel(self._plain(back, n), -self._falling(back, n))


class _Complement:
    """c * sum over 0 <= r < half of (x decay back)^r + sum over -half <= r < 0 of (x back)^r."""

    def __init__(self, x: arb, decay: arb, half: int) -> None:
        self._x = x
        self._forwards, self._backwards = _Geometric(x * decay, half), _Geometric(1 / x, half)

    def __call__(self, back: acb, n: int) -> Kernel:
        return Kernel(self._backwards(back.conjugate(), n) / self._x * back.conjugate(), self._forwards(back, n))
