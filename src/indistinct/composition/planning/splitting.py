r"""split: how to share one budget between several queries so that the error is least.

The error of an answer is the variance of its noise times the weight of its query. Two totals can be least:

*worst*, the largest of these errors. At the optimum all of them are equal: if one were below the largest, more noise
there would leave room for less noise elsewhere. So one number is unknown, found as in `least_noise`.

*total*, the sum over all answers. For Gaussian noise sum n_i s_i^2 / sigma_i^2 is what is spent, and Lagrange's rule
gives variances proportional to s_i / sqrt(w_i). In general it asks that n_i w_i Var_i be proportional to the gain
g_i = - d log delta / d log deviation_i. Where that of a query is too large its deviation is raised by a quarter of the
log of the ratio, as g_i falls about like the inverse square of the deviation; then all deviations are multiplied
by one factor to meet the budget again. Near the optimum errors matter in second order only. That last
factor is certified.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from indistinct.composition.parts import Thing
from indistinct.composition.planning.budget import Budget
from indistinct.composition.planning.crossing import Crossing
from indistinct.composition.planning.estimate import estimated_log_delta
from indistinct.composition.planning.knob import Adjustable, Knob
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, read_count, read_number

__all__ = ["PlannedQuery", "Query", "Split", "split"]

_ROUNDS = 25
_SETTLED = 1e-5
_NUDGE = 0.01
_DIGITS = 12


@dataclass(frozen=True, slots=True, init=False)
class Query:
    """A kind of question: its noise, its sensitivity, how often it is asked, and how much its errors matter.

    >>> from indistinct import Laplace
    >>> Query(Laplace, sensitivity=5, times=10).weight
    Fraction(1, 1)
    """

    mechanism: Any
    sensitivity: Fraction
    times: int
    weight: Fraction

    def __init__(self, mechanism: Any, *, sensitivity: object = 1, times: object = 1, weight: object = 1) -> None:
        knob = mechanism.knobs[0] if isinstance(mechanism, Adjustable) else None
        if knob is None or knob.at_deviation is None:
            raise InvalidParameter(
                "mechanism", mechanism, "be a class of mechanisms that add noise", instead="Laplace, for example."
            )
        object.__setattr__(self, "mechanism", mechanism)
        for name, value in (("sensitivity", sensitivity), ("weight", weight)):
            number = read_number(name, value)
            if not number > 0:
                raise InvalidParameter(name, value, "be above 0")
            object.__setattr__(self, name, number)
        object.__setattr__(self, "times", read_count("times", times, least=1))
        self.with_deviation(1.0)  # so that a sensitivity which the mechanism refuses is refused at once

    def with_deviation(self, deviation: float) -> Any:
        """The mechanism whose noise has (very nearly) a standard deviation."""
        knob: Knob = self.mechanism.knobs[0]
        value = knob.at_deviation(deviation, float(self.sensitivity)) if knob.at_deviation else math.nan
        return self.mechanism(sensitivity=self.sensitivity, **{knob.name: Fraction(f"{value:.{_DIGITS}g}")})


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query and the mechanism it is to be answered by."""

    query: Query
    mechanism: Any

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on each answer."""
        return math.sqrt(self.mechanism.variance)

    @property
    def error(self) -> float:
        """The weighted variance of each answer."""
        return float(self.query.weight) * float(self.mechanism.variance)


@dataclass(frozen=True, slots=True)
class Split:
    """A budget split between queries; certified to fit by `profile`, least as far as a search in floats finds."""

    plans: tuple[PlannedQuery, ...]
    minimised: str
    budget: Budget
    profile: PrivacyProfile

    @property
    def total(self) -> float:
        """The sum over all answers of weight times variance."""
        return math.fsum(plan.query.times * plan.error for plan in self.plans)

    @property
    def worst(self) -> float:
        """The largest weight times variance."""
        return max(plan.error for plan in self.plans)

    @property
    def spent(self) -> Bracket:
        """delta at the epsilon of the budget; the upper end is within the budget."""
        return self.budget.spent(self.profile)

    def __str__(self) -> str:
        head = f"{'noise':<14}{'times':>10}{'sensitivity':>14}{'parameter':>24}{'deviation':>14}"
        lines = [
            f"{name:<14}{times:>10}{width:>14}{value:>24}{deviation:>14}"
            for name, times, width, value, deviation in self._rows()
        ]
        return "\n".join([f"The least {self.minimised} error under {self.budget}", "", head, *lines, "", self._sums()])

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        heads = "".join(f"<th>{head}</th>" for head in ("noise", "times", "sensitivity", "parameter", "deviation"))
        return f"<div><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table><p>{self._sums()}</p></div>"

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        rows = []
        for plan in self.plans:
            name = plan.query.mechanism.knobs[0].name
            parameter = f"{name} = {float(getattr(plan.mechanism, name)):.10g}"
            kind, width = plan.query.mechanism.__name__, f"{float(plan.query.sensitivity):g}"
            rows.append((kind, f"{plan.query.times:,}", width, parameter, f"{plan.deviation:.6g}"))
        return rows

    def _sums(self) -> str:
        return f"Weighted variances: {self.total:.6g} in all, {self.worst:.6g} at worst."


def split(
    workload: Iterable[Query],
    *,
    epsilon: object,
    delta: object,
    minimise: Literal["total", "worst"] = "total",
) -> Split:
    """The noise for every query so that all answers together are (epsilon, delta)-private and the error is least.

    The error of an answer is the variance of its noise times the weight of its query; `minimise` says whether
    the sum over all answers is to be least or the largest of them.

    Guaranteed: the mechanisms of the answer keep the budget, by the certified composition. That the error is the
    least is exact for Gaussian noise and for "worst"; else it is found by a search in floats.

    >>> from indistinct import Gaussian, Laplace
    >>> workload = [Query(Laplace, times=100), Query(Gaussian, sensitivity=4, times=20, weight="1/2")]
    >>> plan = split(workload, epsilon=1, delta="1e-6")
    >>> [f"{each.deviation:.1f}" for each in plan.plans], plan.spent.upper <= 1e-6
    (['69.7', '141.4'], True)
    """
    queries, budget = tuple(workload), Budget.of(epsilon, delta)
    if not queries or not all(isinstance(query, Query) for query in queries):
        raise InvalidParameter("workload", queries, "be one or more of Query(...)")
    if minimise not in ("total", "worst"):
        raise InvalidParameter("minimise", minimise, 'be "total" or "worst"')
    search = _Search(queries, budget)
    alike = [float(query.weight) ** -0.5 for query in queries]
    deviations = alike if minimise == "worst" else search.least_total()
    size = math.sqrt(sum(query.times for query in queries)) * max(float(query.sensitivity) for query in queries)
    crossing = Crossing(
        lambda factor: search.parts([float(factor) * each for each in deviations]),
        budget,
        quiets=True,
        least=Fraction(1, 10**12),
        most=Fraction(10**12),
    )
    found = crossing.find(3 * size / max(deviations))
    if found is None:
        raise InvalidParameter("the budget", str(budget), "be one that some noise keeps")
    plans = tuple(
        PlannedQuery(query, query.with_deviation(float(found.enough) * each))
        for query, each in zip(queries, deviations, strict=True)
    )
    return Split(plans, minimise, budget, found.profile)


class _Search:
    """The deviations of least total error, up to a common factor."""

    def __init__(self, queries: Sequence[Query], budget: Budget) -> None:
        self._queries = queries
        self._budget = budget

    def parts(self, deviations: Sequence[float]) -> list[tuple[Thing, int]]:
        return [
            (query.with_deviation(deviation), query.times)
            for query, deviation in zip(self._queries, deviations, strict=True)
        ]

    def least_total(self) -> list[float]:
        start = [math.sqrt(float(query.sensitivity)) / float(query.weight) ** 0.25 for query in self._queries]
        if len({(query.mechanism, query.sensitivity, query.weight) for query in self._queries}) == 1:
            return start
        best, least = start, math.inf
        current, damping = self._fitted(start), 1.0
        for _ in range(_ROUNDS):
            total = self._total(current)
            if not total < least * (1 - _SETTLED):
                if total > least * (1 + _SETTLED) and damping > 0.1:
                    damping /= 2
                    current = self._moved(best, damping)
                    continue
                break
            best, least = current, total
            current = self._moved(current, damping)
        return best

    def _total(self, deviations: Sequence[float]) -> float:
        return sum(
            query.times * float(query.weight) * float(query.with_deviation(deviation).variance)
            for query, deviation in zip(self._queries, deviations, strict=True)
        )

    def _moved(self, deviations: list[float], damping: float) -> list[float]:
        ratios = []
        for i, query in enumerate(self._queries):
            up, down = (
                self._excess([*deviations[:i], deviations[i] * math.exp(way), *deviations[i + 1 :]])
                for way in (_NUDGE, -_NUDGE)
            )
            gain = max((down - up) / (2 * _NUDGE), 1e-300)
            spent = query.times * float(query.weight) * query.with_deviation(deviations[i]).variance
            ratios.append(math.log(gain / spent) if math.isfinite(gain) else math.nan)
        known = [ratio for ratio in ratios if math.isfinite(ratio)] or [0.0]
        middle = sum(known) / len(known)
        moves = [ratio - middle if math.isfinite(ratio) else 0.0 for ratio in ratios]
        steps = [min(max(damping * move / 4, -1.0), 1.0) for move in moves]
        return self._fitted([each * math.exp(step) for each, step in zip(deviations, steps, strict=True)])

    def _excess(self, deviations: Sequence[float]) -> float:
        return estimated_log_delta(self.parts(deviations), self._budget.epsilon, rough=True) - self._budget.log_delta

    def _fitted(self, deviations: Sequence[float]) -> list[float]:
        """All times one factor, so that about the whole budget is spent."""
        factor = _root(lambda log_factor: self._excess([each * math.exp(log_factor) for each in deviations]))
        return [each * math.exp(factor) for each in deviations]


def _root(falling: Callable[[float], float]) -> float:
    """About where a falling function is 0."""
    low = high = None
    point, step, last = 0.0, 1.0, None
    for _ in range(80):
        value = falling(point)
        low, high = (point, high) if value > 0 else (low, point)
        secant = math.nan
        if last is not None and math.isfinite(value - last[1]) and value != last[1]:
            secant = point - value * (point - last[0]) / (value - last[1])
        last = (point, value)
        if low is None or high is None:
            following = point + (step if value > 0 else -step)
            if math.isfinite(secant) and abs(secant - point) < step:
                following = secant
            step *= 1.3
        else:
            following = secant if low < secant < high else (low + high) / 2
        if abs(following - point) < 1e-6:
            return following
        point = following
    return point
