"""Every composition theorem side by side with the exact answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from indistinct.composition.advanced import advanced_composition, advanced_delta
from indistinct.composition.basic import basic_composition
from indistinct.composition.closed_form import closed_form_composition, closed_form_delta
from indistinct.composition.compose import Part, compose
from indistinct.composition.guarantees import spelled
from indistinct.composition.parts import plain_parts
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_delta, read_epsilon
from indistinct.numbers.bracket import float_above, float_below
from indistinct.numbers.logarithm import bracket_of, sign_of_sum

__all__ = ["Comparison", "Row", "compare"]


@dataclass(frozen=True, slots=True)
class Row:
    """What one theorem says; `excess` is by how many percent it is above the exact answer.

    NaN where there is no such number, the exact answer being 0 or infinite.
    """

    theorem: str
    source: str
    value: Bracket
    excess: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The epsilons at one delta, or the deltas at one epsilon, that the theorems give for a composition."""

    profile: PrivacyProfile
    asked: str
    rows: tuple[Row, ...]

    @property
    def answer(self) -> str:
        """What the values are: 'epsilon' or 'delta'."""
        return "epsilon" if self.asked.startswith("delta") else "delta"

    def __str__(self) -> str:
        head = f"{'theorem':<22}{self.answer:>16}{'above exact':>14}   source"
        lines = [
            f"{row.theorem:<22}{_shown(row.value):>16}{_percent(row.excess):>14}   {row.source}" for row in self.rows
        ]
        return "\n".join([f"{self.profile.times:,} uses at {self.asked}", "", head, *lines])


def compare(
    things: Mapping[Any, object] | Iterable[Part], *, delta: object = None, epsilon: object = None
) -> Comparison:
    """Basic, advanced, closed-form and optimal composition, at a delta or at an epsilon.

    Where a theorem has a slack to choose, the best one is taken: all of the delta that the mechanisms' own
    deltas leave. Advanced composition is stated for equal mechanisms and listed for them alone.

    >>> from indistinct import ApproximateDP
    >>> print(compare({ApproximateDP("0.1", "0.001"): 30}, delta="0.05"))
    30 uses at delta = 0.05
    <BLANKLINE>
    theorem                        epsilon   above exact   source
    basic                                3      +254.5 %   KOV Theorem 3.1, Dwork and Roth Theorem 3.16
    advanced                       1.84758      +118.3 %   KOV Theorem 3.2, Dwork and Roth Theorem 3.20
    closed form                    1.56933       +85.4 %   KOV Theorems 3.4 and 3.5
    optimal                       0.846303         exact   KOV Theorem 3.3
    """
    profile = compose(things)
    if (delta is None) == (epsilon is None):
        raise InvalidParameter("the question", (delta, epsilon), "be either a delta or an epsilon")
    if delta is not None:
        target = read_delta("delta", delta)
        return Comparison(profile, f"delta = {_plain(target)}", tuple(_at_delta(profile, target)))
    level = read_epsilon("epsilon", epsilon)
    return Comparison(profile, f"epsilon = {_plain(level)}", tuple(_at_epsilon(profile, level)))


_BASIC = "basic", "KOV Theorem 3.1, Dwork and Roth Theorem 3.16"
_ADVANCED = "advanced", "KOV Theorem 3.2, Dwork and Roth Theorem 3.20"
_CLOSED = "closed form", "KOV Theorems 3.4 and 3.5"
_OPTIMAL = "optimal", "KOV Theorem 3.3"
_MANY_PERCENT = 10_000
_INFINITE = Bracket(math.inf, math.inf)


def _at_delta(profile: PrivacyProfile, delta: Fraction) -> list[Row]:
    """Every theorem's epsilon at a delta."""
    exact = profile.epsilon(delta)
    basic = basic_composition(dict(profile.parts))
    rows = [_row(_BASIC, bracket_of(basic.epsilon) if basic.delta <= delta else _INFINITE, exact)]
    if len(profile.parts) == 1:
        ((part, times),) = plain_parts(profile.parts)
        slack = delta - times * part.delta
        value = advanced_composition(part.epsilon, times, min(slack, 1)) if slack >= 0 else _INFINITE
        rows.append(_row(_ADVANCED, value, exact))
    disclosure = Fraction(profile.disclosure.upper)
    slack = (delta - disclosure) / (1 - disclosure) if disclosure < 1 else Fraction(0)
    if slack > 0:
        closed = closed_form_composition(dict(profile.parts), slack).epsilon
    else:
        closed = profile.largest_epsilon if math.isfinite(exact.upper) else _INFINITE
    return [*rows, _row(_CLOSED, closed, exact), _row(_OPTIMAL, exact, exact)]


def _at_epsilon(profile: PrivacyProfile, epsilon: Epsilon) -> list[Row]:
    """Every theorem's delta at an epsilon."""
    exact = profile.delta(epsilon)
    nothing = Bracket(1.0, 1.0)
    basic = basic_composition(dict(profile.parts))
    parts = plain_parts(profile.parts)
    enough = sign_of_sum((1, epsilon), *((-times, part.epsilon) for part, times in parts)) >= 0
    rows = [_row(_BASIC, Bracket.exactly(basic.delta) if enough else nothing, exact)]
    if len(profile.parts) == 1:
        ((part, times),) = plain_parts(profile.parts)
        slack = advanced_delta(part.epsilon, times, epsilon)
        own = times * part.delta
        least, most = (min(own + Fraction(end), Fraction(1)) for end in (slack.lower, slack.upper))
        rows.append(_row(_ADVANCED, Bracket(float_below(least), float_above(most)), exact))
    rows.append(_row(_CLOSED, closed_form_delta(dict(profile.parts), epsilon), exact))
    return [*rows, _row(_OPTIMAL, exact, exact)]


def _row(names: tuple[str, str], value: Bracket, exact: Bracket) -> Row:
    excess = 100 * (value.upper / exact.upper - 1) if 0 < exact.upper < math.inf else math.nan
    return Row(*names, value, 0.0 if value is exact else excess)


def _shown(value: Bracket) -> str:
    return "infinite" if math.isinf(value.upper) else f"{value:.6g}"


def _percent(excess: float) -> str:
    if excess == 0:
        return "exact"
    if not math.isfinite(excess):
        return ""
    return f"{excess:+,.1f} %" if excess < _MANY_PERCENT else f"{1 + excess / 100:,.0f} times"


def _plain(number: Epsilon) -> str:
    return spelled(number).strip("'")
