r"""The composed delta of any losses, from their transforms, enclosed on both sides.

Let L be the summed finite loss, K(z) = log E e^(z L) the sum of the laws' and f(l) = (1 - e^(eps - l))_+. Three
steps lead to a bracket of delta = E f(L), at a cost that does not depend on how often a law is repeated.

*Smoothing.* Add an independent loss X of a Gaussian mechanism of a small mu = s. Composing with one more
mechanism can only increase delta, so V = E f(L + X) >= delta. By how much: the difference of the two at L = l
is the time value of an option, at most s / sqrt(2 pi) e^(-x^2 / (2 s^2) - x / 2) with x = l - eps (its derivative
in s is the Gaussian density at x / s + s / 2). The mean of that over L is s^2 e^(s^2 / 8) times

    J = 1/(2 pi) * integral over y of e^(K(z) - z eps + s^2 (z^2 + z) / 2),   z = t + i y,

while V is the same integral with a factor 1 / (z (z + 1)), the transform of f. So V - s^2 e^(s^2/8) J <= delta <= V:
the gap is of *second* order in s, some s^2 t (t + 1) of delta, and both integrals decay at least as
e^(-s^2 y^2 / 2), whatever the laws. (Where a Gaussian mechanism takes part the decay is there already: s = 0.)

*Sampling.* The sum over y = n h is the integral plus the sum over m != 0 of e^(t m T) V(eps + m T), T = 2 pi / h
(Poisson). All these are positive, and bounded by V(x) <= e^(K(t') - t' x) at any t' > 0: T is made so large that
they do not matter.

*Lattices.* Where all losses lie on one lattice of spacing H, as those of discrete noise do, no smoothing is needed:
the transform is periodic, one period is sampled, and the factor is the sum over the lattice points above eps,
H e^(-z (l0 - eps)) [1 / (1 - e^(-z H)) - e^(eps - l0) / (1 - e^(-(z + 1) H))], l0 the first of them.

*Leaving out.* Where |e^K| is negligible nothing is evaluated: intervals are excluded whole by bounds on each
law's modulus, down to single nodes.

The tilt t is the saddle of the integrand on the real axis; there the integrand is a bell of some tens of nodes
and the result is accurate relative to delta. Rounding is bounded from the doubt that each law states.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.lattices import common_lattice
from indistinct.composition.losses.law import UNIT, Cumulants, Floats, LossLaw, largest_of
from indistinct.composition.nodes import Integers, TooManyNodes, distinct, surviving
from indistinct.composition.sheet import Alias, Sheet
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.logarithm import ball_of

__all__ = ["LITTLE_WORK", "MOST_WORK", "ContourComposition"]

GAPS = (1e-8, 1e-6, 1e-4, 1e-2)
"""The relative widths aimed at, the next where one takes too much work, which grows as its inverse root."""

MOST_WORK = 20_000_000
LITTLE_WORK = 3_000_000
"""How many terms are evaluated in all, and how many before another method is worth asking."""

_FINEST_WORK = 64_000
"""How many at the first of the gaps: nobody waits for its digits."""

_ALL = 1_000_000
_LARGE = 200
"""Laws of so many terms together are worth the second of these at once."""
_FLOOR = 1e-11
"""What is left out is at most a thousandth of the gap, or of this."""
_FARTHEST = 55.0
_SPAN, _NEAR_SPAN = 2.25, 0.25
"""How many standard deviations from its saddle a sheet serves, where many epsilons are asked for at once, and one."""
_OUTRIGHT, _OUTRIGHT_WORK = 32, 2000
_BLOCK = 64
_LARGEST_TILT = 1e7
_KEPT, _KEPT_SHEETS = 64, 2
_NEAR, _NEARBY = 1e-3, 1e-2
"""How far, relatively, a tilt may be from the best one: the saddle, and those that bound what is folded in."""
_LARGEST_EXPONENT = 700.0


class ContourComposition:
    """delta(eps) of independent losses, in one direction; an evaluator (see `evaluators`).

    With `only_narrow` it raises TooManyNodes where a narrow bracket takes more work than that.
    """

    def __init__(
        self, laws: Iterable[tuple[LossLaw, int]], *, only_narrow: bool = False, work: int = MOST_WORK
    ) -> None:
        self._only_narrow = only_narrow
        self._work = work
        self.laws = [(law, times) for law, times in laws if times]
        # Rounded up: from here on delta is 0, and no nearer.
        largest = math.fsum(times * law.largest for law, times in self.laws)
        self.largest = largest + 8 * UNIT * math.fsum(times * abs(law.largest) for law, times in self.laws)
        exact = largest_of(self.laws)
        self._exact_largest: Fraction | float = self.largest if exact is None else exact
        self.steepest = min((law.steepest for law, _ in self.laws), default=1.0)
        self._smoothness = sum(times * law.smoothness for law, times in self.laws)
        self._size = sum(law.size for law, _ in self.laws)
        self._lattice = common_lattice(self.laws)
        self._gaps = GAPS[self._size >= _LARGE or only_narrow :]
        self._sheets: tuple[Sheet, ...] = ()
        self._known: dict[float, tuple[Cumulants, ...]] = {}

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of E (1 - e^(epsilon - L))_+ over the finite losses."""
        with precision(128):
            at = float(ball_of(epsilon))
            if self._is_beyond(epsilon):
                return ball(0)
            sheet = self._sheet_at(at, _NEAR_SPAN) or self._laid_out_best(at)
            if sheet is None:
                return ball(0).union(self.at_most(epsilon))
            return sheet.delta(epsilon)

    def _is_beyond(self, epsilon: Epsilon) -> bool:
        """Whether no finite loss is above epsilon."""
        if isinstance(epsilon, Fraction):
            return epsilon >= self._exact_largest
        return math.isfinite(self.largest) and bool(ball_of(epsilon) >= ball(Fraction(self._exact_largest)))

    def deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Lower and upper ends at many rising epsilons, from as few sheets as serve them; some ends may be 0 and 1."""
        lower, upper = np.zeros(epsilons.size), np.ones(epsilons.size)
        upper[epsilons >= self.largest] = 0.0
        start, end = 0, int(np.searchsorted(epsilons, self.largest))
        while start < end:
            first = float(epsilons[start])
            sheet = self._sheet_at(first, _SPAN)
            if sheet is None:
                # Laid out ahead of the first, so that the sheet serves as many as it can.
                spread = math.sqrt(self.cumulants(self._tilt_at(first, kernel=True)).variance)
                ahead = epsilons[start:end]
                self._laid_out_best(float(ahead[ahead <= first + _SPAN * spread * 0.9][-1]))
                sheet = self._sheet_at(first, _SPAN) or self._laid_out_best(first)
            if sheet is None:
                start += 1
                continue
            served = max(int(np.searchsorted(epsilons[:end], self._served(sheet, _SPAN)[1], side="right")), start + 1)
            lower[start:served], upper[start:served] = sheet.deltas(epsilons[start:served])
            start = served
        return lower, upper

    def at_most(self, epsilon: Epsilon) -> arb:
        """What always holds, at little cost: delta <= e^(K(t) - t eps) t^t / (1 + t)^(1 + t), at any t > 0."""
        with precision(128):
            tilt = self._tilt_at(float(ball_of(epsilon)), kernel=True)
            value = self.cumulants(tilt).value
            t = ball(tilt)
            exponent = ball(value) + ball(self.doubt(tilt)) - t * ball_of(epsilon)
            exponent += t * t.log() - (1 + t) * t.log1p()
            return exponent.exp().min(ball(1)).upper()

    @staticmethod
    def _served(sheet: Sheet, span: float) -> tuple[float, float]:
        """The epsilons that a sheet serves: so many deviations on either side of its saddle."""
        reach = span * max(math.sqrt(sheet.at_zero.variance), 1 / sheet.tilt)
        saddle = sheet.at_zero.mean - 1 / sheet.tilt - 1 / (1 + sheet.tilt)
        return saddle - reach, saddle + reach

    def _sheet_at(self, epsilon: float, span: float) -> Sheet | None:
        """One of the latest sheets that serves an epsilon, if there is one."""
        for sheet in self._sheets:
            lower, upper = self._served(sheet, span)
            if lower <= epsilon <= upper:
                return sheet
        return None

    def cumulants(self, tilt: float, smoothing: float = 0.0) -> Cumulants:
        """K, K' and K'' of the sum, the smoothing loss included."""
        square = smoothing**2
        value, mean, variance = square * (tilt * tilt + tilt) / 2, square * (tilt + 0.5), square
        for part, (_, times) in zip(self._cumulants_of_each(tilt), self.laws, strict=True):
            value, mean, variance = (
                value + times * part.value,
                mean + times * part.mean,
                variance + times * part.variance,
            )
        return Cumulants(value, mean, variance)

    def _cumulants_of_each(self, tilt: float) -> tuple[Cumulants, ...]:
        """Those of the laws; the latest are kept, as the same few tilts come again and again."""
        known = self._known.get(tilt)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[tilt] = known = tuple(law.cumulants(tilt) for law, _ in self.laws)
        return known

    def doubt(self, tilt: float) -> float:
        """How far the value of K may be from the truth, the smoothing loss included."""
        doubts = math.fsum(times * law.doubt(tilt).value for law, times in self.laws)
        parts = zip(self._cumulants_of_each(tilt), self.laws, strict=True)
        sizes = math.fsum(times * abs(part.value) for part, (_, times) in parts)
        return doubts * (1 + 1e-9) + (len(self.laws) + 8) * UNIT * (sizes + 1)

    def _tilt_at(self, loss: float, kernel: bool) -> float:
        """The tilt of mean `loss`; with `kernel`, the saddle K'(t) - 1/t - 1/(1 + t) = loss."""
        low, high = 1e-9, min(self.steepest, _LARGEST_TILT)

        def excess(tilt: float) -> float:
            pull = 1 / tilt + 1 / (1 + tilt) if kernel else 0.0
            return self.cumulants(tilt).mean - pull - loss

        if excess(high) <= 0:
            return high
        if not kernel and excess(low) >= 0:
            return 0.0
        point = 1.0 if low < 1.0 < high else math.sqrt(low * high)
        for _ in range(100):
            total = self.cumulants(point)
            pull = 1 / point + 1 / (1 + point) if kernel else 0.0
            slope = total.variance + (point**-2 + (1 + point) ** -2 if kernel else 0.0)
            value = total.mean - pull - loss
            low, high = (point, high) if value < 0 else (low, point)
            step = point - value / slope if slope > 0 else math.nan
            if not low < step < high:
                step = math.sqrt(low * high)
            if abs(step - point) <= (_NEAR if kernel else _NEARBY) * point:
                return step
            point = step
        return point

    def _laid_out_best(self, epsilon: float) -> Sheet | None:
        """The narrowest sheet for an epsilon that takes no unreasonable work.

        A gap that took too much once is not tried again: the law is the same at the next epsilon.
        """
        while self._gaps:
            try:
                sheet = self._laid_out(epsilon, self._gaps[0])
                self._sheets = (sheet, *self._sheets[: _KEPT_SHEETS - 1])
                return sheet
            except TooManyNodes:
                if self._only_narrow:
                    raise
                self._gaps = self._gaps[1:]
        return None

    def _laid_out(self, epsilon: float, gap: float) -> Sheet:
        """The sheet for an epsilon: tilt, smoothing, period, nodes."""
        tilt = self._tilt_at(epsilon, kernel=True)
        smoothing = math.sqrt(gap / (tilt * (tilt + 1)))
        if self._lattice is not None or self._smoothness >= smoothing**2:
            smoothing = 0.0
        at_zero = self.cumulants(tilt, smoothing)
        period, right, left = self._sampled(tilt, smoothing, at_zero, epsilon)
        step = 2 * math.pi / period
        scale = self._scale(tilt, at_zero)
        if self._lattice is None:
            last = math.sqrt(2 * _FARTHEST / (smoothing**2 + self._smoothness))
            count, whole = math.ceil(last / step) + 1, last / (tilt * (tilt + 1))
        else:
            last = math.pi / self._lattice.spacing
            count, whole = round(last / step) + 1, 2 * (1 + 1 / (tilt * self._lattice.spacing))
        left_out = 1e-3 * scale * (gap if smoothing else _FLOOR)
        negligible = math.log(2 * whole / left_out)
        if self._lattice is not None and count * self._size <= _ALL:
            nodes = np.arange(count)
        else:
            work = min(self._work, _FINEST_WORK) if smoothing and gap == GAPS[0] else self._work
            nodes = self._active(tilt, smoothing, step, count, negligible, work)
        y = np.asarray(nodes * step, dtype=np.float64)
        logarithms = np.asarray(smoothing**2 * (-y * y / 2 + 1j * y * (tilt + 0.5)), dtype=np.complex128)
        doubts = np.zeros(y.size)
        for law, times in self.laws:
            part, doubt = law.log_ratio(tilt, y), law.doubt(tilt)
            logarithms += times * part
            # With a factor p of the product right to d, p^n is right to (|p| + d)^n - |p|^n.
            rounded = doubt.constant + (doubt.relative + (len(self.laws) + 8) * UNIT) * np.abs(part)
            factors = np.exp(np.minimum(-part.real, _LARGEST_EXPONENT))
            doubts += times * (rounded + np.log1p((doubt.floor + doubt.slope * y) * factors))
        ends = (nodes == 0) | ((nodes == count - 1) & (self._lattice is not None))
        weights = np.where(ends, 0.5, 1.0) * step / math.pi
        own, aliases, lattice = self.doubt(tilt), (right, left), self._lattice
        return Sheet(tilt, smoothing, period, at_zero, y, weights, logarithms, doubts, left_out, own, aliases, lattice)

    def _sampled(self, tilt: float, smoothing: float, at_zero: Cumulants, epsilon: float) -> tuple[float, Alias, Alias]:
        """A period so long that what sampling folds in does not matter, and the bounds of that."""
        period = max(10 * math.sqrt(at_zero.variance), 4 / tilt, 12 * smoothing)
        scale, at = self._scale(tilt, at_zero), np.array([epsilon])
        for _ in range(60):
            if self._lattice is not None:
                period = 2 * math.ceil(period / (2 * self._lattice.spacing)) * self._lattice.spacing
            right, left = self._aliases(tilt, smoothing, at_zero, epsilon, period)
            if right.bound(at, period, 1)[0] + left.bound(at, period, -1)[0] < 1e-13 * scale:
                return period, right, left
            period *= 1.4
        raise TooManyNodes

    @staticmethod
    def _scale(tilt: float, at_zero: Cumulants) -> float:
        """What there is to compare with: the integral is about this, relative to e^(K - t eps)."""
        return 0.2 / (tilt * (tilt + 1) * math.sqrt(at_zero.variance + tilt**-2))

    def _aliases(
        self, tilt: float, smoothing: float, at_zero: Cumulants, epsilon: float, period: float
    ) -> tuple[Alias, Alias]:
        """Chernoff exponents for the law beyond a period to the right, and to the left."""
        cap = min(self.steepest, _LARGEST_TILT)
        reached = self._tilt_at(epsilon + period, kernel=False) if epsilon + period < self.largest else cap
        right = max(reached, tilt * (1 + 1e-3))
        left = min(self._tilt_at(epsilon - period, kernel=False), tilt * (1 - 1e-3))
        aliases = []
        for other in (right, left):
            rise = (self.cumulants(other, smoothing).value if other > 0 else 0.0) - at_zero.value
            aliases.append(Alias(other - tilt, rise + self.doubt(tilt) + (self.doubt(other) if other > 0 else 0.0)))
        return aliases[0], aliases[1]

    def _active(self, tilt: float, smoothing: float, step: float, count: int, negligible: float, work: int) -> Integers:
        """The n in [0, count) at which the integrand may be above e^-negligible of its height at 0.

        The first of them as they are: most are needed, and to bound them would take longer than to evaluate them.
        """
        first = min(count, _OUTRIGHT, max(_OUTRIGHT_WORK // self._size, 1))
        if first == count:
            return np.arange(count)
        edges = distinct(np.geomspace(first, count, min(count - first + 1, 64)).astype(np.int64))
        edges[0], edges[-1] = first, count

        def log_bound(starts: Integers, ends: Integers) -> Floats:
            # Intervals of a like size are treated together, with the reach of the longest.
            bound = np.empty(starts.size)
            sizes = np.ceil(np.log2(ends - starts) / 2)
            for size in distinct(sizes):
                alike = sizes == size
                reach = step * float(np.max(ends[alike] - starts[alike]) - 1) / 2
                centres = step * (starts[alike] + ends[alike] - 1) / 2
                bound[alike] = self._log_bound(tilt, smoothing, centres, reach, negligible)
            return bound

        most = max(work // self._size, 1000)
        others = surviving(edges, log_bound, negligible, most, work // min(self._size, _BLOCK))
        return np.concatenate([np.arange(first), others])

    def _log_bound(self, tilt: float, smoothing: float, centres: Floats, reach: float, negligible: float) -> Floats:
        """An upper bound of the log of the integrand's modulus, relative to its height at y = 0.

        With smoothing, the larger one of V's, and of J's times s^2.
        """
        square = np.maximum(centres - reach, 0) ** 2
        bound = -(smoothing**2) * square / 2
        if self._lattice is None:
            kernel = 1 / np.sqrt((1 + square / tilt**2) * (1 + square / (1 + tilt) ** 2))
            bound = bound + np.log(np.minimum(kernel + smoothing**2 * tilt * (1 + tilt), 1.0))
        for law, times in sorted(self.laws, key=lambda part: -part[1]):
            open_ = bound > -negligible
            if not np.any(open_):
                break
            bound[open_] += times * law.log_bound(tilt, centres[open_], reach) * (1 - 1e-9)
        return bound
