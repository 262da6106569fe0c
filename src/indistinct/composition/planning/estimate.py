r"""About the delta of a composition, in floats and quickly: where to look, never what to claim.

The inversion integral of the composed transform (see `contour`),

    delta(eps) = 1 / (2 pi i) * integral over Re z = t of e^(K(z) - z eps) / (z (z + 1)) dz,

by the trapezoidal rule about the saddle t, without smoothing and without a proof: nodes are added outwards until
they change nothing, or are too many. What lies very far out, echoes of nearly lattice-like losses, is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from indistinct.composition.losses.gaussian import GaussianLoss
from indistinct.composition.losses.law import Floats, LossLaw
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.composition.parts import Contributions, Thing, contributions_of
from indistinct.composition.profile import PrivacyProfile
from indistinct.numbers import Epsilon

__all__ = ["estimated_log_delta", "has_quick_answer"]

_FINE = 0.2
_FIRST = 64
_FAR = 200_000
_MOST_WORK = 1_000_000
_MOST_NODES = 8_192
_SETTLED = 1e-10
_LARGEST_TILT = 1e7

Laws = Sequence[tuple[LossLaw, int]]


def has_quick_answer(parts: Sequence[tuple[Thing, int]]) -> bool:
    """Whether the certified evaluation is itself as quick and sharp as an estimate."""
    return _is_quick(contributions_of(parts))


def estimated_log_delta(parts: Sequence[tuple[Thing, int]], epsilon: Epsilon, *, rough: bool = False) -> float:
    """About log delta(epsilon): to some 1e-8 as a rule, to 1e-3 if rough will do.

    >>> from fractions import Fraction
    >>> from indistinct import Laplace
    >>> round(math.exp(estimated_log_delta([(Laplace(scale="133.24"), 1000)], Fraction(1))) * 1e6, 2)
    1.0
    """
    contributions = contributions_of(parts)
    if _is_quick(contributions):
        upper = PrivacyProfile(parts).delta(epsilon).upper
        return math.log(upper) if upper > 0 else -math.inf
    shared: list[tuple[LossLaw, int]] = []
    if contributions.responses.levels:
        shared.append((ResponsesLoss(contributions.responses), 1))
    if contributions.gaussian:
        shared.append((GaussianLoss(math.sqrt(contributions.gaussian)), 1))
    kept = sum(times * _log_kept(float(delta)) for delta, times in contributions.disclosures)
    worst = -math.inf
    with np.errstate(all="ignore"):
        for laws in contributions.directions:
            own = kept + sum(times * _log_kept(float(law.disclosed)) for law, times in laws)
            worst = max(worst, _joined(own, _log_integral([*shared, *laws], float(epsilon), 0 if rough else _FAR)))
    return worst


def _is_quick(contributions: Contributions) -> bool:
    return bool(contributions.curves) or (
        not contributions.losses and (not contributions.responses.levels or contributions.are_equal_responses)
    )


def _log_kept(delta: float) -> float:
    return math.log1p(-delta) if delta < 1 else -math.inf


def _joined(log_kept: float, log_delta: float) -> float:
    """log(D + (1 - D) delta) from log(1 - D) and log delta."""
    if log_kept == 0 or math.isnan(log_delta):
        return log_delta
    total = -math.expm1(log_kept) + math.exp(log_kept + log_delta)
    return math.log(total) if total > 0 else -math.inf


def _log_integral(laws: Laws, epsilon: float, far: int) -> float:
    largest = sum(times * law.largest for law, times in laws)
    if epsilon >= largest:
        return -math.inf
    tilt = _saddle(laws, epsilon)
    value, _, variance = _cumulants(laws, tilt)
    spread = math.sqrt(variance + tilt**-2 + (1 + tilt) ** -2)
    step = _FINE / spread
    size = sum(law.size for law, _ in laws)
    total, first, count = 0.5 / (tilt * (1 + tilt)), 1, _FIRST
    enough = min(far // size, 4096)
    most = min(_MOST_WORK // size, _MOST_NODES) if far else 3 * _FIRST
    while first + count <= most:
        y = step * np.arange(first, first + count, dtype=np.float64)
        block = float(np.sum(_integrand(laws, tilt, y, epsilon)))
        total += block
        if abs(block) <= _SETTLED * abs(total) and first + count >= enough:
            break
        first, count = first + count, 2 * count
    if not total * step > 0:  # the echoes left out are as large as all the rest: the saddle alone
        total, step = 1 / (tilt * (1 + tilt)), math.sqrt(math.pi / 2) / spread
    return value - tilt * epsilon + math.log(total * step / math.pi)


def _integrand(laws: Laws, tilt: float, y: Floats, epsilon: float) -> Floats:
    z = tilt + 1j * y
    logarithms = -1j * y * epsilon
    for law, times in laws:
        logarithms = logarithms + times * law.log_ratio(tilt, y)
    return np.asarray((np.exp(logarithms) / (z * (z + 1))).real)


def _cumulants(laws: Laws, tilt: float) -> tuple[float, float, float]:
    found = [(times, law.cumulants(tilt)) for law, times in laws]
    value = sum(times * part.value for times, part in found)
    mean = sum(times * part.mean for times, part in found)
    return value, mean, sum(times * part.variance for times, part in found)


def _saddle(laws: Laws, epsilon: float) -> float:
    """Where K'(t) - 1/t - 1/(1 + t) = epsilon, by a Newton step in t kept inside a shrinking interval."""
    low, high = 1e-9, min([_LARGEST_TILT, *(law.steepest for law, _ in laws)])
    point = min(10.0, math.sqrt(low * high) if high < 10 else 10.0)
    for _ in range(60):
        _, mean, variance = _cumulants(laws, point)
        excess = mean - 1 / point - 1 / (1 + point) - epsilon
        low, high = (point, high) if excess < 0 else (low, point)
        slope = variance + point**-2 + (1 + point) ** -2
        step = point - excess / slope
        if not low < step < high:
            step = math.sqrt(low * high)
        if abs(step - point) <= 1e-3 * point:
            return step
        point = step
    return point
