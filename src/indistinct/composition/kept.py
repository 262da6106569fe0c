r"""What a mechanism keeps, in the currencies that filters add up.

Whatever holds for every single use, on all neighbouring databases, may be charged to a filter, however uses are chosen
from the answers. Of a dominating pair these are proven:

- a largest loss is a pure guarantee, and with a probability of infinite loss an approximate one: delta at the largest
  loss is that probability;
- its Renyi divergences bound those of the mechanism, as divergences do not rise in post-processing (van Erven and
  Harremoes 2014, Theorem 1), and a filter that adds up one order takes them as they are;
- a bounded range is a pure guarantee and, by Hoeffding's lemma, epsilon^2/8-zCDP (Cesar and Rogers 2021).

What does not follow from the pair alone the mechanism says itself (`PrivacyLoss.keeps`): an epsilon that is exact,
and the zCDP of the discrete Gaussian (Canonne, Kamath and Steinke 2020, Theorem 4). That a loss has the variance of a
Gaussian one, or that a sampled mechanism is a little of a whole one, is no conversion, and there is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise, PureDP, RenyiDP, ZeroConcentratedDP
from indistinct.composition.losses.curves import BoundedRangeCurve
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.law import Adjacency, Curve, ExactlyBounded, LossLaw, PrivacyLoss
from indistinct.composition.parts import Thing, loss_of
from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.numbers.bracket import float_above
from indistinct.numbers.logarithm import enclosure

__all__ = ["Kept", "kept_by"]

_BITS = 128
_LEAST = Fraction(1, 10**300)


@dataclass(frozen=True, slots=True)
class Kept:
    """Each use keeps every one of the promises: a filter charges the one that it has the lowest price for."""

    promises: tuple[Promise, ...]
    adjacency: Adjacency | None = None
    """The only kind of neighbouring databases for which they hold, if there is but one."""
    _loss: PrivacyLoss | EnclosedLoss | Curve | None = None

    def at_order(self, order: Fraction) -> RenyiDP | None:
        """The Renyi divergence of an order, rounded up; None where it follows from the promises alone, or is infinite.

        >>> from indistinct import Laplace
        >>> float(kept_by(Laplace(scale=1)).at_order(Fraction(2)).epsilon)
        0.61912...
        """
        tilt = float_above(order - 1)
        if isinstance(self._loss, PrivacyLoss):
            values = [_divergence(law, tilt) for law in (self._loss.forward, self._loss.backward)]
        elif self._loss is None or isinstance(self._loss, EnclosedLoss):
            return None
        else:
            with precision(_BITS):
                values = [bracket_of(self._loss.bound(ball(Fraction(tilt))) / ball(Fraction(tilt))).upper]
        worst = max(values)
        return RenyiDP(order, Fraction(max(worst, 0.0))) if math.isfinite(worst) else None


def kept_by(thing: Thing) -> Kept:
    """What is proven of every use of a mechanism; a guarantee keeps itself.

    >>> from indistinct import ExponentialMechanism, Laplace
    >>> kept_by(Laplace(scale=10)).promises
    (PureDP('0.1'),)
    >>> kept_by(ExponentialMechanism("0.1")).promises
    (PureDP('0.1'), ZeroConcentratedDP('0.00125'))
    """
    loss = loss_of(thing)
    match loss:
        case PureDP() | ApproximateDP() | ZeroConcentratedDP() | GaussianDP() | RenyiDP():
            return Kept((loss,))
        case BoundedRangeCurve(epsilon):
            return Kept((PureDP(epsilon), ZeroConcentratedDP(enclosure(epsilon)[1] ** 2 / 8)), None, loss)
        case PrivacyLoss():
            return Kept(loss.keeps or tuple(_bounded(loss.forward, loss.backward)), loss.adjacency, loss)
        case EnclosedLoss():
            return Kept(tuple(_of_enclosed(loss)), loss.adjacency, loss)
        case _:
            return Kept((), None, loss)


def _bounded(*laws: LossLaw) -> Iterator[Promise]:
    """The guarantee of a largest loss, if there is one."""
    if all(math.isfinite(law.largest) for law in laws):
        largest = max(
            max(law.exact_largest if isinstance(law, ExactlyBounded) else _up(law.largest) for law in laws), _ZERO
        )
        yield from _guarantee(largest, max(law.disclosed for law in laws))


def _of_enclosed(loss: EnclosedLoss) -> Iterator[Promise]:
    if loss.lines is not None:
        largest = max(line.largest.upper for line in loss.lines)
        if math.isfinite(largest):
            yield from _guarantee(_up(largest), _ZERO)
        return
    above, _ = loss.laws(0)
    yield from _bounded(above.forward, above.backward)


def _guarantee(largest: Epsilon, disclosed: Fraction) -> Iterator[Promise]:
    try:
        yield ApproximateDP(largest, disclosed) if disclosed else PureDP(largest)
    except InvalidParameter:  # so large that it says nothing
        return


_ZERO = Fraction(0)


def _up(value: float) -> Fraction:
    return max(Fraction(value), _LEAST) if value > 0 else _ZERO


def _divergence(law: LossLaw, tilt: float) -> float:
    """K(t) / t, rounded up; infinite outside the strip that floats know of."""
    if law.disclosed or tilt > law.steepest:
        return math.inf
    value = law.cumulants(tilt).value
    return (value + law.doubt(tilt).value + abs(value) * 1e-15) / tilt * (1 + 1e-15)
