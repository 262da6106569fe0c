r"""What Kairouz, Oh and Viswanath compare the sketch with, on one graph under one budget.

For k cuts in all, under (epsilon, delta) for edges:

- Laplace noise on each cut, its k answers composed by the basic, the advanced and the optimal theorem;
- the exponential mechanism on each cut, a whole number chosen by its distance from the cut;
- randomised response on every pair of nodes, once: pure, and without a limit on the number of cuts;
- multiplicative weights (MWEM) on the pairs, for small graphs;
- the sketch, once, and without a limit on the number of cuts.

Errors are root mean squares. Where the noise has a known law they are computed from it, for a random cut of a size; and
they are measured, on cuts drawn at random. The answers of all but the sketch are whole numbers, so edges weigh 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.guarantees import PureDP
from indistinct.composition.planning import how_many, least_noise
from indistinct.composition.planning.formulas import Question, pure_levels
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.exponential import ExponentialMechanism
from indistinct.mechanisms.sketches.graph import Edges
from indistinct.mechanisms.sketches.plan import CutPlan
from indistinct.noise import SYSTEM, BitSource, DiscreteLaplace
from indistinct.numbers import Epsilon, read_count
from indistinct.numbers.bracket import float_above
from indistinct.numbers.logarithm import bracket_of

__all__ = ["Contender", "CutContest", "contest"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MOST_PAIRS = 5_000_000
"""Of randomised responses that are drawn to measure."""
_MOST_NODES_OF_MWEM = 64
_MOST_ROUNDS = 10
_MOST_TRIED = 100
_SEED = 20120


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to answer, and its errors for each size of cut."""

    name: str
    detail: str
    expected: tuple[float, ...] | None
    """By its law; None where none is known."""
    measured: tuple[float, ...] | None
    """None where it would take too long."""


@dataclass(frozen=True, slots=True)
class CutContest:
    """All contenders side by side; printed, it is a table with expected and (measured) errors, and says who wins."""

    nodes: int
    edges: int
    plan: CutPlan
    cuts: int
    sizes: tuple[int, ...]
    contenders: tuple[Contender, ...]

    @property
    def crossovers(self) -> tuple[str, ...]:
        """From how many cuts on, and up to which size of cut, the sketch is the better one."""
        return (*(_against_laplace(self.plan, self.edges, size) for size in self.sizes), self._against_responses())

    def _against_responses(self) -> str:
        plan, edges = self.plan, self.edges
        half = self.nodes // 2

        def wins(size: int) -> bool:
            return sketch_error(plan, edges, size) < response_error(plan.epsilon, self.nodes, size)

        if wins(half):
            return "the sketch is better than randomised response for cuts of any size"
        low, high = 0, half
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if wins(middle) else (low, middle)
        if low == 0:
            return "randomised response is better than the sketch for cuts of any size"
        return f"the sketch is better than randomised response for cuts of up to {_nodes(low)}, and worse beyond"

    def __str__(self) -> str:
        epsilon, delta = bracket_of(self.plan.epsilon), float(self.plan.delta)
        lines = [
            f"{self.nodes:,} nodes, {self.edges:,} edges; ({epsilon:.6g}, {delta:.6g})-private; {self.cuts:,} cuts",
            "root mean square error by law (and measured), for cuts of so many nodes:",
            f"{'':<32}" + "".join(f"{size:>26,}" for size in self.sizes),
        ]
        for contender in self.contenders:
            cells = [_cell(contender, place) for place in range(len(self.sizes))]
            lines.append(f"{contender.name:<32}" + "".join(f"{cell:>26}" for cell in cells))
        return "\n".join([*lines, "", *(f"- {sentence}" for sentence in self.crossovers)])


def contest(
    edges: Edges,
    plan: CutPlan,
    *,
    cuts: object = 1000,
    sizes: Sequence[int] = (),
    repeats: int = 1,
    source: BitSource = SYSTEM,
) -> CutContest:
    """All contenders on a graph whose edges weigh 1, for `cuts` cuts in all under the budget of the plan.

    Nothing here is private: the errors are told, and the graph is looked at as it is. The cuts that are measured are
    always the same ones, at most a hundred of each size; the noise is not.
    """
    count = read_count("cuts", cuts, least=1)
    if edges.nodes != plan.sketch.nodes:
        raise InvalidParameter("the number of nodes of the graph", edges.nodes, f"be {plan.sketch.nodes}")
    if not np.all(edges.weight == 1):
        raise InvalidParameter("weights", "others", "all be 1 to compare", instead="The others answer whole numbers.")
    chosen = tuple(sizes) or _spread_out(edges.nodes)
    if not all(1 <= size <= edges.nodes // 2 for size in chosen):
        raise InvalidParameter("sizes", chosen, f"lie from 1 to {edges.nodes // 2}, half the nodes")
    trial = _Trial(edges, plan, count, chosen, repeats, source)
    return CutContest(edges.nodes, edges.count, plan, count, chosen, tuple(trial.contenders()))


def sketch_error(plan: CutPlan, edges: int, size: int) -> float:
    """sqrt(2 / r) of what is measured: the cut, and the added weight."""
    n, w = plan.sketch.nodes, float(plan.w)
    mean_cut = edges * 2 * size * (n - size) / (n * (n - 1))
    return math.sqrt(2 / plan.r) * (mean_cut + w * size * (n - size) / (n - w))


def response_error(epsilon: Epsilon, nodes: int, size: int) -> float:
    """Of s (n - s) responses, each unbiased with variance p (1 - p) / (1 - 2p)^2 = 1 / (4 sinh(epsilon / 2)^2)."""
    return math.sqrt(size * (nodes - size)) / (2 * math.sinh(float(bracket_of(epsilon).lower) / 2))


def laplace_error(scale: float) -> float:
    """Of discrete Laplace noise."""
    return 1 / (math.sqrt(2) * math.sinh(1 / (2 * scale)))


@dataclass(frozen=True, slots=True)
class _Trial:
    """One graph, one budget, some cuts."""

    edges: Edges
    plan: CutPlan
    cuts: int
    sizes: tuple[int, ...]
    repeats: int
    source: BitSource

    def contenders(self) -> list[Contender]:
        tried = self._tried()
        truths = [np.array([self.edges.cut(inside) for inside in of_size]) for of_size in tried]
        found = [*self._laplace(truths), self._exponential(truths), self._responses(tried, truths)]
        if self.edges.nodes <= _MOST_NODES_OF_MWEM:
            found.append(self._multiplicative_weights(tried, truths))
        return [*found, self._sketch(tried, truths)]

    def _tried(self) -> list[list[Flags]]:
        random = np.random.default_rng(_SEED)
        n, count = self.edges.nodes, min(self.cuts, _MOST_TRIED)
        tried = []
        for size in self.sizes:
            flags = [np.zeros(n, dtype=bool) for _ in range(count)]
            for each in flags:
                each[random.choice(n, size, replace=False)] = True
            tried.append(flags)
        return tried

    def _laplace(self, truths: list[Floats]) -> list[Contender]:
        question = Question(self.plan.epsilon, self.plan.delta, self.cuts, Fraction(1))
        levels = {formula.theorem: formula for formula in pure_levels(question)}
        found = []
        for theorem in ("basic", "advanced", "optimal"):
            scale = float_above(1 / Fraction(levels[theorem].value.lower))
            noise = DiscreteLaplace(scale)
            draws = [[noise.draws(truth.size, self.source) for _ in range(self.repeats)] for truth in truths]
            measured = tuple(_root_mean_square(of_size) for of_size in draws)
            expected = (laplace_error(scale),) * len(self.sizes)
            found.append(Contender(f"Laplace, {theorem} composition", f"scale {scale:.6g}", expected, measured))
        return found

    def _exponential(self, truths: list[Floats]) -> Contender:
        """A number v from 0 to s (n - s) with probability proportional to e^(-epsilon_0 |v - cut| / 2)."""

        def mechanism_of(scale: Fraction) -> ExponentialMechanism:
            return ExponentialMechanism(1 / scale)

        each = least_noise(
            mechanism_of,
            epsilon=self.plan.epsilon,
            delta=self.plan.delta,
            times=self.cuts,
        )
        scale = 2 * float(each.value)
        noise = DiscreteLaplace(scale)
        most = {size: size * (self.edges.nodes - size) for size in self.sizes}

        def proposed(truth: Floats, size: int) -> Floats:
            """From the same law without its ends, or evenly between them, whichever is more often accepted."""
            if scale < most[size]:
                return np.asarray(truth + noise.draws(truth.size, self.source), dtype=np.float64)
            found = (self.source.words(truth.size) % np.uint64(most[size] + 1)).astype(np.float64)
            accepted = self.source.words(truth.size) * 2.0**-64 < np.exp(-np.abs(found - truth) / scale)
            return np.where(accepted, found, -1.0)

        def answered(truth: Floats, size: int) -> Floats:
            found = proposed(truth, size)
            while np.any(outside := (found < 0) | (found > most[size])):
                found[outside] = proposed(truth[outside], size)
            return found

        measured = tuple(
            _root_mean_square([answered(truth, size) - truth for _ in range(self.repeats)])
            for truth, size in zip(truths, self.sizes, strict=True)
        )
        return Contender("exponential mechanism", f"scale {scale:.6g}", None, measured)

    def _responses(self, tried: list[list[Flags]], truths: list[Floats]) -> Contender:
        n, level = self.edges.nodes, bracket_of(self.plan.epsilon).lower
        expected = tuple(response_error(self.plan.epsilon, n, size) for size in self.sizes)
        name = "randomised response"
        if n * (n - 1) // 2 > _MOST_PAIRS:
            return Contender(name, "of every pair", expected, None)
        flip = 1 / (1 + math.exp(level))
        u, v = np.triu_indices(n, 1)
        bits = np.zeros((n, n), dtype=bool)
        bits[self.edges.u, self.edges.v] = True
        errors: list[list[Floats]] = [[] for _ in self.sizes]
        for _ in range(self.repeats):
            flipped = self.source.words(u.size) < np.uint64(int(flip * 2.0**64))
            told = np.asarray((bits[u, v] ^ flipped) - flip) / (1 - 2 * flip)
            for place, (flags, truth) in enumerate(zip(tried, truths, strict=True)):
                answers = np.array([np.sum(told[inside[u] != inside[v]]) for inside in flags])
                errors[place].append(answers - truth)
        return Contender(name, "of every pair", expected, tuple(_root_mean_square(each) for each in errors))

    def _multiplicative_weights(self, tried: list[list[Flags]], truths: list[Floats]) -> Contender:
        """A histogram of the pairs made from noisy answers about the same cuts; it takes the number of edges as public.

        Purely private, as it is published, and with as many rounds as there are cuts, up to ten.
        """
        u, v = np.triu_indices(self.edges.nodes, 1)
        bits = np.zeros((self.edges.nodes, self.edges.nodes), dtype=np.int64)
        bits[self.edges.u, self.edges.v] = 1
        flags = np.array([inside for of_size in tried for inside in of_size])
        queries = (flags[:, u] != flags[:, v]).astype(np.int64)
        rounds = min(_MOST_ROUNDS, len(queries))
        mechanism = import_module("indistinct").MWEM(self.plan.epsilon, rounds)  # for small graphs only, so late
        errors: list[list[Floats]] = [[] for _ in self.sizes]
        for _ in range(self.repeats):
            released = mechanism.release(bits[u, v], queries, total=max(self.edges.count, 1), source=self.source)
            answers = np.split(np.asarray(released.answers), len(self.sizes))
            for place, (answer, truth) in enumerate(zip(answers, truths, strict=True)):
                errors[place].append(answer - truth)
        measured = tuple(_root_mean_square(each) for each in errors)
        return Contender("multiplicative weights", f"{rounds} rounds", None, measured)

    def _sketch(self, tried: list[list[Flags]], truths: list[Floats]) -> Contender:
        errors: list[list[Floats]] = [[] for _ in self.sizes]
        for _ in range(self.repeats):
            synopsis = self.plan.release(self.edges, progress=False, source=self.source)
            for place, (flags, truth) in enumerate(zip(tried, truths, strict=True)):
                errors[place].append(np.array([synopsis.cut(inside) for inside in flags]) - truth)
        expected = tuple(sketch_error(self.plan, self.edges.count, size) for size in self.sizes)
        measured = tuple(_root_mean_square(each) for each in errors)
        return Contender("sketch", f"r = {self.plan.r}, w = {float(self.plan.w):.6g}", expected, measured)


def _root_mean_square(errors: Sequence[Floats]) -> float:
    return float(np.sqrt(np.mean(np.concatenate([np.asarray(each, dtype=np.float64) for each in errors]) ** 2)))


def _against_laplace(plan: CutPlan, edges: int, size: int) -> str:
    """The least number of cuts for which Laplace noise, composed optimally, is worse.

    Noise with the sketch's error has epsilon_0 = 2 asinh(1 / (sqrt(2) error)), and so many answers of that fit.
    """
    level = 2 * math.asinh(1 / (math.sqrt(2) * sketch_error(plan, edges, size)))
    fit = how_many(PureDP(level), epsilon=plan.epsilon, delta=plan.delta).times
    return f"for cuts of {_nodes(size)}, the sketch is better than Laplace noise from {fit + 1:,} cuts on"


def _nodes(count: int) -> str:
    return f"{count:,} node" + ("" if count == 1 else "s")


def _spread_out(nodes: int) -> tuple[int, ...]:
    """Some sizes from one node to half of them."""
    half = nodes // 2
    return tuple(sorted({1, max(round(half**0.5), 1), half}))


def _cell(contender: Contender, place: int) -> str:
    expected = "" if contender.expected is None else f"{contender.expected[place]:.5g}"
    measured = "" if contender.measured is None else f"({contender.measured[place]:.3g})"
    return f"{expected} {measured}".strip()
