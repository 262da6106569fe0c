r"""The composed delta of a few arbitrary randomised responses, by meeting in the middle.

The responses are dealt into two halves whose outcomes are enumerated; n equal responses have n + 1
outcomes between them. With the outcomes v of one half sorted, each outcome u of the other needs

    G(x) = sum over v > x of  p_t(v) e^(-t (v - x)) (1 - e^(-(v - x))),   x = eps - u,

and delta = e^(K(t) - t eps) * sum over u of p_t(u) G(eps - u). Both factors are tilted by e^(t loss), so
that nothing that matters underflows, down to delta = 1e-300 and below. With v_i the first v above x,
s = v_i - x, A_i = sum over j >= i of p_t(v_j) e^(-t (v_j - v_i)) and G_i = G(v_i),

    G(x) = e^(-t s) [(1 - e^(-s)) A_i + e^(-s) G_i]:

every term is positive and nothing cancels. Losses are floats; their rounding moves none by more than
eta, so delta(eps) lies between the computed values at eps + eta and eps - eta, each of which carries the
relative rounding error that is bounded below. The idea is that of Murtagh and Vadhan (2016) for exact
heterogeneous composition, which is #P-complete in general.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.responses import Responses
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.logarithm import ball_of

__all__ = ["PairedComposition", "outcomes_of_halves"]

LARGEST_HALF = 1 << 22
_UNIT = 2.0**-53
_SPAN = 200.0
_UNDERFLOW = 1e-290

Floats = NDArray[np.float64]


def _deal(responses: Responses) -> tuple[list[int], list[int]]:
    """How many of each group either half holds: the larger groups first, each to the smaller half."""
    sizes = [1, 1]
    counts = responses.counts
    dealt = [0] * len(counts), [0] * len(counts)
    for i in sorted(range(len(counts)), key=lambda i: -counts[i]):
        half = 0 if sizes[0] <= sizes[1] else 1
        dealt[half][i] = counts[i]
        sizes[half] *= counts[i] + 1
    return dealt


def outcomes_of_halves(responses: Responses) -> tuple[int, int] | None:
    """How many outcomes either half has, or None where one would have too many to enumerate."""
    if len(responses.levels) > 64:
        return None
    first, second = (math.prod(times + 1 for times in half) for half in _deal(responses))
    return (first, second) if max(first, second) <= LARGEST_HALF else None


@dataclass(frozen=True)
class _Tilted:
    """Both halves under one tilt: outcomes u with weights, and sorted v with A and G as above."""

    tilt: float
    cumulant: arb
    u: Floats
    weights: Floats
    v: Floats
    reach: Floats
    excess: Floats


class PairedComposition:
    """delta(eps) of a few randomised responses of arbitrary epsilons; an evaluator (see `evaluators`)."""

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self._halves = _deal(responses)
        self._tilted: _Tilted | None = None
        total = float(np.sum(responses.epsilons * responses.times))
        self._eta = 8 * (len(responses.levels) + 8) * _UNIT * total

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        if not self.responses.exceeds(epsilon):
            return ball(0)
        with precision(128):
            near = float(ball_of(epsilon))
            tilted = self._at(max(self.responses.tilt_to(near), 0.0))
            eta = self._eta + 4 * _UNIT * near
            above = self._sum(tilted, near - eta)
            below = self._sum(tilted, near + eta)
            # e^(-t (eps -+ eta)) belongs to each end: the sums are taken relative to their own epsilon.
            upper = (tilted.cumulant - ball(tilted.tilt) * (ball(near) - ball(eta))).exp() * above
            lower = (tilted.cumulant - ball(tilted.tilt) * (ball(near) + ball(eta))).exp() * below
            slack = 1 + ball(self._relative_error(tilted))
            return (lower / slack).union(upper * slack)

    def kept(self, epsilon: Epsilon) -> arb:
        """The ball of 1 - delta(epsilon)."""
        return 1 - self.delta(epsilon)

    def _at(self, tilt: float) -> _Tilted:
        if self._tilted is not None and self.responses.are_near(self._tilted.tilt, tilt):
            return self._tilted
        u, weights = self._outcomes(self._halves[0], tilt)
        v, p = self._outcomes(self._halves[1], tilt)
        u_order, v_order = np.argsort(u), np.argsort(v)
        v, p = v[v_order], p[v_order]
        reach, excess = _suffixes(v, p, tilt)
        cumulant = self.responses.cumulant_ball(ball(tilt))
        self._tilted = _Tilted(tilt, cumulant, u[u_order], weights[u_order], v, reach, excess)
        return self._tilted

    def _outcomes(self, half: list[int], tilt: float) -> tuple[Floats, Floats]:
        """The summed losses of one half and their tilted probabilities."""
        losses, weights = np.zeros(1), np.ones(1)
        for e, times in zip(self.responses.epsilons, half, strict=True):
            if times:
                ups = np.arange(times + 1.0)
                pmf = _binomial(times, (2 * tilt + 1) * float(e))
                losses = np.add.outer((2 * ups - times) * e, losses).ravel()
                weights = np.multiply.outer(pmf, weights).ravel()
        return losses, weights

    def _sum(self, tilted: _Tilted, epsilon: float) -> arb:
        """sum over u of p_t(u) G(epsilon - u), in floats."""
        x = epsilon - tilted.u
        index = np.searchsorted(tilted.v, x, side="right")
        found = index < tilted.v.size
        index, x, weights = index[found], x[found], tilted.weights[found]
        s = tilted.v[index] - x
        t = tilted.tilt
        terms = weights * np.exp(-t * s) * (-np.expm1(-s) * tilted.reach[index] + np.exp(-s) * tilted.excess[index])
        return ball(float(np.sum(terms))).union(ball(float(np.sum(terms)) + tilted.u.size * _UNDERFLOW))

    def _relative_error(self, tilted: _Tilted) -> float:
        """A bound on the relative rounding error of a sum, every operation counted generously.

        Exponentials see arguments up to (t + 1) times the range of losses, each rounded to a unit;
        cumulative sums go in blocks; binomial weights are products of at most `times` ratios.
        """
        arguments = (tilted.tilt + 1) * 2 * float(np.sum(self.responses.epsilons * self.responses.times))
        odds = (2 * tilted.tilt + 1) * self.responses.epsilons
        weights = float(np.sum(self.responses.times * (6 + 2 * odds) + 16))
        sums = 8 * (_BLOCK + max(tilted.u.size, tilted.v.size) / _BLOCK) + 64
        return (8 * arguments + 2 * weights + sums + 8 * _SPAN) * _UNIT


def _binomial(times: int, log_odds: float) -> Floats:
    """The law of the number of ups among so many, by ratios outwards from the likeliest number."""
    a = 1 / (1 + math.exp(-log_odds))
    mode = min(times, math.floor((times + 1) * a))
    up = np.arange(mode, times)
    down = np.arange(mode, 0, -1.0)
    odds = math.exp(min(log_odds, 700.0))
    rising = np.cumprod((times - up) / (up + 1) * odds)
    falling = np.cumprod(down / (times - down + 1) / odds)
    pmf = np.concatenate([falling[::-1], np.ones(1), rising])
    return np.asarray(pmf / np.sum(pmf))


_BLOCK = 1024


def _suffix_sums(values: Floats) -> Floats:
    """Sums from each place to the end, in two levels so that rounding grows with the block alone."""
    padded = np.zeros(-(-values.size // _BLOCK) * _BLOCK)
    padded[: values.size] = values
    blocks = np.cumsum(padded.reshape(-1, _BLOCK)[:, ::-1], axis=1)[:, ::-1]
    after = np.append(np.cumsum(blocks[::-1, 0])[::-1][1:], 0.0)
    return np.asarray((blocks + after[:, None]).ravel()[: values.size])


def _suffixes(v: Floats, p: Floats, tilt: float) -> tuple[Floats, Floats]:
    """A_i and G_i of the head of this file, from the top down in stretches that cannot overflow."""
    reach, excess = np.empty_like(v), np.empty_like(v)
    end, above_reach, above_excess, top = v.size, 0.0, 0.0, v[-1]
    while end:
        start = int(np.searchsorted(v[:end], top - _SPAN / (tilt + 1), side="left"))
        start = min(start, end - 1)
        down = top - v[start:end]
        carried = math.exp(-tilt * (v[end] - top)) * above_reach if end < v.size else 0.0
        reach[start:end] = (_suffix_sums(p[start:end] * np.exp(tilt * down)) + carried) * np.exp(-tilt * down)
        gaps = np.append(np.diff(v[start:end]), v[end] - v[end - 1] if end < v.size else 0.0)
        following = np.append(reach[start + 1 : end], above_reach)
        steps = np.exp(-tilt * gaps) * -np.expm1(-gaps) * following
        carried = math.exp(-(tilt + 1) * (v[end] - top)) * above_excess if end < v.size else 0.0
        grown = _suffix_sums(steps * np.exp((tilt + 1) * down)) + carried
        excess[start:end] = grown * np.exp(-(tilt + 1) * down)
        above_reach, above_excess = float(reach[start]), float(excess[start])
        end = start
        top = v[end - 1] if end else top
    return reach, excess
