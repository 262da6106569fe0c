r"""From one currency of privacy to another: what a guarantee says of (epsilon, delta), and what implies what.

The conversions from Renyi divergences all come from one function (Canonne, Kamath and Steinke 2020, Proposition
12). A pair whose divergence of order a = 1 + t is at most r has, for every t > 0,

    log delta(eps) <= t (r - eps) - log t + (1 + t) log(t / (1 + t)).

For rho-zCDP, r = (1 + t) rho and t is free. The right side is then convex in t, of derivative
(2 t + 1) rho - eps + log(t / (1 + t)), which rises: so the best t is enclosed by bisection, and the bound
evaluated on the enclosure is a bracket of its least value. Solved for eps or for rho instead, the bound has
convex level sets in t, hence again one turning point:

    least eps at delta:         t^2 rho + log(1 + t) = log(1 / delta);
    largest rho at eps, delta:  where the derivative above vanishes, with rho = rho(t).

Every bracket is of what its docstring names: for zero-concentrated and Renyi guarantees that is this bound, which
no mechanism need attain. The upper ends are claims; of the `largest_...` functions the lower ends are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise, PureDP, RenyiDP, ZeroConcentratedDP
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_delta, read_epsilon
from indistinct.numbers.balls import arb, ball, bracket_of, decided, exact, precision, sign_of
from indistinct.numbers.logarithm import ball_of, enclosure, exponential, sign_of_sum

__all__ = [
    "as_gaussian",
    "as_renyi",
    "as_zero_concentrated",
    "delta_at",
    "delta_of_gaussian",
    "epsilon_at",
    "largest_mu",
    "largest_renyi",
    "largest_rho",
]

_BITS = 256
_STEPS = 180
_REACH = 1100  # turning points are looked for between 2^-1100 and 2^1100
_START = Fraction(8242837, 1 << 23) + Fraction(3037000499, 1 << 52)
"""Times powers of two: where the search starts. No round number, as a turning point at 1 is never told from 1."""
_ENOUGH = 120  # relative bits of a conversion between currencies


def delta_at(guarantee: Promise, epsilon: object) -> Bracket:
    r"""The least delta that a guarantee gives at an epsilon.

    Exact for pure, approximate and Gaussian guarantees (for the last Dong, Roth and Su 2022, Corollary 2.13:
    Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2)); for the others the bound above.

    >>> print(delta_at(ZeroConcentratedDP("0.5"), 5))
    2.89612280939e-06
    >>> print(delta_at(GaussianDP(1), 1))
    0.126936737507
    """
    found = _delta_at(guarantee, read_epsilon("epsilon", epsilon))
    return Bracket(min(max(found.lower, 0.0), 1.0), max(min(found.upper, 1.0), 0.0))


def _delta_at(guarantee: Promise, epsilon: Epsilon) -> Bracket:
    match guarantee:
        case PureDP() | ApproximateDP():
            return _relative(lambda: _delta_of_approximate(guarantee, epsilon))
        case ZeroConcentratedDP(rho):
            return _enclosed(lambda: _delta_of_concentrated(rho, epsilon))
        case GaussianDP(mu):
            return _relative(lambda: delta_of_gaussian(ball(mu), epsilon)) if mu else Bracket(0.0, 0.0)
        case RenyiDP(order, epsilon=divergence):
            return _enclosed(lambda: _logarithm(ball(divergence), ball(order) - 1, epsilon).exp())


def epsilon_at(guarantee: Promise, delta: object) -> Bracket:
    """The least epsilon that a guarantee gives at a delta; infinite if none does.

    >>> print(epsilon_at(ZeroConcentratedDP("0.5"), "1e-6"))
    5.22153444454
    """
    target = read_delta("delta", delta)
    if delta_at(guarantee, 0).upper <= target:
        return Bracket(0.0, 0.0)
    found = _epsilon_at(guarantee, target)
    return Bracket(max(found.lower, 0.0), max(found.upper, 0.0))


def _epsilon_at(guarantee: Promise, delta: Fraction) -> Bracket:
    match guarantee:
        case PureDP() | ApproximateDP():
            return _epsilon_of_approximate(guarantee, delta)
        case _ if delta == 0:
            return Bracket(math.inf, math.inf)
        case ZeroConcentratedDP(rho):
            return _enclosed(lambda: _epsilon_of_concentrated(ball(rho), ball(delta)))
        case GaussianDP(mu):
            return _enclosed(lambda: _turning(lambda t: ball(delta) - _gaussian(ball(mu), t, t.exp()), highest=64))
        case RenyiDP(order, epsilon=divergence):
            return _enclosed(lambda: _epsilon_of_renyi(ball(divergence), ball(order) - 1, ball(delta)))


def largest_rho(epsilon: object, delta: object) -> Fraction:
    """The largest rho, rounded down, for which rho-zCDP is (epsilon, delta)-privacy by the bound above.

    >>> delta_at(ZeroConcentratedDP(largest_rho(1, "1e-6")), 1).upper <= 1.0000000000000002e-6
    True
    """
    level, target = read_epsilon("epsilon", epsilon), _inner(delta)
    with precision(_BITS):
        odds = -ball(target).log()

        def rho(t: arb) -> arb:
            return (ball_of(level) + (t.log1p() - odds) / t + (1 / t).log1p()) / (1 + t)

        found = rho(_turning(lambda t: (2 * t + 1) * rho(t) - ball_of(level) - (1 / t).log1p()))
    return _rounded_down(found)


def largest_renyi(order: object, epsilon: object, delta: object) -> Fraction:
    """The largest divergence of an order, rounded down, that is (epsilon, delta)-privacy by the bound above.

    0 where the order is too low for the delta: then no divergence is small enough.
    """
    a = RenyiDP(order, 0).order
    level, target = read_epsilon("epsilon", epsilon), _inner(delta)
    with precision(_BITS):
        t = ball(a) - 1
        found = ball_of(level) + (1 / t).log1p() + (ball(target).log() + t.log1p()) / t
    return _rounded_down(found)


def largest_mu(epsilon: object, delta: object) -> Fraction:
    """The largest mu, rounded down, for which mu-GDP is (epsilon, delta)-privacy; 1/mu is the least sigma.

    >>> float(1 / largest_mu(1, "1e-5"))
    3.7306316348...
    """
    level, target = read_epsilon("epsilon", epsilon), _inner(delta)
    with precision(_BITS):
        found = _turning(lambda t: delta_of_gaussian(t, level) - ball(target))
    return _rounded_down(found)


def as_zero_concentrated(guarantee: Promise) -> ZeroConcentratedDP:
    r"""What a guarantee says in zero-concentrated privacy; rho is exact, or rounded up by some 2^-120 of itself.

    A pure guarantee has rho = epsilon tanh(epsilon / 2), the divergence of order 1 of randomised response
    (Harrison and Manurangsi 2025): D_a / a falls with a. A Gaussian one has mu^2 / 2.

    >>> as_zero_concentrated(GaussianDP("0.5"))
    ZeroConcentratedDP(0.125)
    >>> float(as_zero_concentrated(PureDP("0.1")).rho)
    0.00499583...
    """
    match guarantee:
        case ZeroConcentratedDP():
            return guarantee
        case GaussianDP(mu):
            return ZeroConcentratedDP(mu**2 / 2)
        case PureDP(epsilon) | ApproximateDP(epsilon, delta=0):
            return ZeroConcentratedDP(_rounded_up(lambda: ball_of(epsilon) * _tanh_of_half(epsilon), epsilon))
        case ApproximateDP():
            raise _no_way(guarantee, "zero-concentrated", _SPLIT)
        case RenyiDP():
            raise _no_way(guarantee, "zero-concentrated", "It speaks of one order, zero-concentrated privacy of all.")


def as_gaussian(guarantee: Promise) -> GaussianDP:
    r"""What a guarantee says in Gaussian privacy; mu is exact, or rounded up.

    A pure guarantee is mu-GDP with mu = -2 Phi^-1(1 / (1 + e^epsilon)). Proof: the trade-off curve of
    N(0, 1) against N(mu, 1) then goes through (q, q), q = 1 / (1 + e^epsilon), the corner of randomised response.
    It is convex, so from (0, 1) to (q, q) and from there to (1, 0) it lies below the two straight lines that are
    the trade-off curve of randomised response; and no epsilon-private mechanism is below those.

    >>> float(as_gaussian(PureDP(1)).mu)
    1.232035...
    """
    match guarantee:
        case GaussianDP():
            return guarantee
        case PureDP(epsilon) | ApproximateDP(epsilon, delta=0):
            if epsilon == 0:
                return GaussianDP(0)
            with precision(_BITS):
                root = ball(8).sqrt()
                mu = _turning(lambda t: 2 / (1 + exponential(epsilon)) - _erfc(t / root))
            with precision(_ENOUGH):
                return GaussianDP(exact(mu.upper()))
        case ApproximateDP():
            raise _no_way(guarantee, "Gaussian", _SPLIT)
        case ZeroConcentratedDP() | RenyiDP():
            raise _no_way(guarantee, "Gaussian", "Bounds on Renyi divergences imply no trade-off curve of this shape.")


def as_renyi(guarantee: Promise, order: object) -> RenyiDP:
    r"""What a guarantee says in Renyi privacy of an order; exact, or rounded up.

    A pure guarantee has the divergence of randomised response, log(p^a q^(1-a) + q^a p^(1-a)) / (a - 1) with
    p = e^epsilon q = 1 - q. A Renyi guarantee of a higher order is one of this order, as the divergence does not
    fall with the order (van Erven and Harremoes 2014, Theorem 3).

    >>> as_renyi(ZeroConcentratedDP("0.5"), 8)
    RenyiDP(8, 4)
    """
    a = RenyiDP(order, 0).order
    match guarantee:
        case PureDP(epsilon) | ApproximateDP(epsilon, delta=0):
            return RenyiDP(a, _rounded_up(lambda: _renyi_of_response(a, epsilon), epsilon))
        case ZeroConcentratedDP(rho):
            return RenyiDP(a, rho * a)
        case GaussianDP(mu):
            return RenyiDP(a, a * mu**2 / 2)
        case RenyiDP(order=given, epsilon=divergence):
            if given < a:
                raise _no_way(guarantee, f"order-{a} Renyi", "A guarantee of a lower order says nothing of a higher.")
            return RenyiDP(a, divergence)
        case ApproximateDP():
            raise _no_way(guarantee, "Renyi", _SPLIT)


_SPLIT = "With probability delta anything may happen: account for delta apart, and convert PureDP(epsilon)."


def _no_way(guarantee: Promise, currency: str, reason: str) -> InvalidParameter:
    return InvalidParameter("a guarantee", guarantee, f"imply a {currency} one", instead=reason)


def _inner(delta: object) -> Fraction:
    target = read_delta("delta", delta)
    if not 0 < target < 1:
        raise InvalidParameter("delta", delta, "lie in (0, 1)")
    return target


# Values of the bounds, in balls.


def _logarithm(divergence: arb, t: arb, epsilon: Epsilon) -> arb:
    """The essay's bound on log delta."""
    return t * (divergence - ball_of(epsilon)) - t.log() - (1 + t) * (1 / t).log1p()


def _delta_of_concentrated(rho: Fraction, epsilon: Epsilon) -> arb:
    if rho == 0:
        return ball(0)
    t = _turning(lambda t: (2 * t + 1) * ball(rho) - ball_of(epsilon) - (1 / t).log1p())
    return _logarithm((1 + t) * ball(rho), t, epsilon).exp()


def _epsilon_of_concentrated(rho: arb, delta: arb) -> arb:
    t = _turning(lambda t: t**2 * rho + t.log1p() + delta.log())
    return _epsilon_of_renyi((1 + t) * rho, t, delta)


def _epsilon_of_renyi(divergence: arb, t: arb, delta: arb) -> arb:
    return divergence - (1 / t).log1p() - (delta.log() + t.log1p()) / t


def delta_of_gaussian(mu: arb, epsilon: Epsilon) -> arb:
    """The ball of Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) at the working precision."""
    return _gaussian(mu, ball_of(epsilon), exponential(epsilon))


def _gaussian(mu: arb, epsilon: arb, odds: arb) -> arb:
    root = ball(2).sqrt()
    return (_erfc((epsilon / mu - mu / 2) / root) - odds * _erfc((epsilon / mu + mu / 2) / root)) / 2


def _erfc(x: arb) -> arb:
    """The complementary error function from the ends: Arb's own ball is wide where x is large and not exact."""
    return x.lower().erfc().union(x.upper().erfc())


def _delta_of_approximate(guarantee: PureDP | ApproximateDP, epsilon: Epsilon) -> arb:
    """KOV, Theorem 3.3 for one mechanism: delta + (1 - delta) (e^epsilon_0 - e^epsilon) / (1 + e^epsilon_0)."""
    lost = ball(guarantee.delta)
    if sign_of_sum((1, guarantee.epsilon), (-1, epsilon)) <= 0:
        return lost
    top, wanted = exponential(guarantee.epsilon), exponential(epsilon)
    return lost + (1 - lost) * (top - wanted) / (1 + top)


def _epsilon_of_approximate(guarantee: PureDP | ApproximateDP, delta: Fraction) -> Bracket:
    if delta < guarantee.delta:
        return Bracket(math.inf, math.inf)
    share = (delta - guarantee.delta) / (1 - guarantee.delta)
    return _enclosed(
        lambda: (
            (exponential(guarantee.epsilon) - ball(share) * (1 + exponential(guarantee.epsilon))).log()
            if share
            else ball_of(guarantee.epsilon)
        )
    )


def _tanh_of_half(epsilon: Epsilon) -> arb:
    return (exponential(epsilon) - 1) / (exponential(epsilon) + 1) if epsilon != 0 else ball(0)


def _renyi_of_response(order: Fraction, epsilon: Epsilon) -> arb:
    level = ball_of(epsilon)
    return level + ((level * (1 - 2 * ball(order))).exp().log1p() - (-level).exp().log1p()) / ball(order - 1)


# Enclosures.


def _turning(rising: Callable[[arb], arb], highest: int = _REACH) -> arb:
    """A ball around the t > 0 where a function passes from below zero to above it."""
    start, low, high = ball(_START), -_REACH, highest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_above(rising, start * ball(2) ** middle) else (middle, high)
    below, above = start * ball(2) ** low, start * ball(2) ** high
    if low == -_REACH:
        return ball(0).union(above)
    if high == highest:
        return below.union(arb("inf"))
    for _ in range(_STEPS):
        centre = ((below + above) / 2).mid()
        below, above = (below, centre) if _is_above(rising, centre) else (centre, above)
    return below.union(above)


def _is_above(function: Callable[[arb], arb], point: arb) -> bool:
    return sign_of(lambda: function(point)) > 0


def _enclosed(value: Callable[[], arb]) -> Bracket:
    with precision(_BITS):
        return bracket_of(value())


def _relative(value: Callable[[], arb]) -> Bracket:
    return bracket_of(decided(value, lambda around: around.is_zero() or around.rel_accuracy_bits() >= _ENOUGH))


def _rounded_up(value: Callable[[], arb], epsilon: Epsilon) -> Fraction:
    """A value of at most epsilon, rounded up."""
    if epsilon == 0:
        return Fraction(0)
    around = decided(value, lambda around: around.rel_accuracy_bits() >= _ENOUGH)
    with precision(_ENOUGH):
        return min(exact(around.upper()), enclosure(epsilon)[1])


def _rounded_down(found: arb) -> Fraction:
    with precision(_ENOUGH):
        return max(exact(found.lower()), Fraction(0))
