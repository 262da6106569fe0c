"""least_noise: how little noise is enough."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from indistinct.composition.compose import Part, compose
from indistinct.composition.guarantees import spelled
from indistinct.composition.parts import Thing
from indistinct.composition.planning.budget import Budget
from indistinct.composition.planning.crossing import Crossing
from indistinct.composition.planning.formulas import Formula, Formulas, Question
from indistinct.composition.planning.knob import Knob, chosen_knob
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, read_count, read_number
from indistinct.numbers.bracket import float_above, float_below

__all__ = ["Calibration", "least_noise"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The least noise that is proven to be enough, and what the theorems in closed form ask for."""

    mechanism: Thing
    """The mechanism to use, with the certified value of what was unknown."""
    unknown: str
    value: Fraction
    """Exactly; `profile` is the proof that it is enough."""
    bracket: Bracket
    """One end is the certified value, rounded to a float on the safe side; the other is proven not to be enough."""
    quiets: bool
    """Whether more of the unknown is more private: then the claim is the upper end, else the lower one."""
    because: str
    """Why nothing beyond the insufficient end can do; empty where that is assumed."""
    times: int
    budget: Budget
    profile: PrivacyProfile
    """Everything composed, the parts beside it included."""
    asked: tuple[Formulas, Question] | None
    """What the theorems are asked, where they apply: to equal answers with nothing beside them."""

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """What the theorems in closed form ask for; computed when it is wanted."""
        return self.asked[0](self.asked[1]) if self.asked else ()

    @property
    def spent(self) -> Bracket:
        """delta at the epsilon of the budget; the upper end is within the budget."""
        return self.budget.spent(self.profile)

    @property
    def spelled(self) -> str:
        """The certified value as text that is read back exactly; the search chooses values that have a short one."""
        return spelled(self.value).strip("'")

    def __str__(self) -> str:
        head = f"{'theorem':<24}{self.unknown:>18}{'of the least':>14}   source"
        lines = [f"{name:<24}{value:>18}{share:>14}   {source}" for name, value, share, source in self._rows()]
        what = f"The least {self.unknown}" if self.quiets else f"The largest {self.unknown}"
        uses = f"{self.times:,} use{'s' if self.times != 1 else ''}"
        return "\n".join([f"{what} for {uses} under {self.budget}", "", head, *lines, "", self._meaning()])

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        heads = "".join(f"<th>{html.escape(cell)}</th>" for cell in ("theorem", self.unknown, "of the least", "source"))
        return (
            f"<div><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>{html.escape(self._meaning())}</p></div>"
        )

    def _rows(self) -> list[tuple[str, str, str, str]]:
        rows = []
        for formula in self.formulas:
            value = formula.value.upper if self.quiets else formula.value.lower
            share = f"{100 * value / float(self.value):.2f} %" if self.value else ""
            rows.append((formula.theorem, f"{value:.10g}", share, formula.source))
        return [*rows, ("certified", self.spelled, "100 %", "exact composition")]

    def _meaning(self) -> str:
        other = self.bracket.lower if self.quiets else self.bracket.upper
        enough = f"{self.unknown} = {self.spelled} is proven to be enough"
        if other in (0, math.inf):
            return f"{enough}; how near it is to the least is not proven."
        side = "smaller" if self.quiets else "larger"
        beyond = f"nor is anything {side}" if self.because else f"that nothing {side} is, is assumed"
        return f"{enough}; {other:.15g} is proven not to be, {beyond}."


def least_noise(
    mechanism: Any,
    /,
    *,
    epsilon: object,
    delta: object,
    times: object = 1,
    beside: Mapping[Any, object] | Iterable[Part] | None = None,
    unknown: str | None = None,
    **fixed: object,
) -> Calibration:
    """The least noise with which so many uses of a mechanism are (epsilon, delta)-private together.

    `mechanism` is a class (`Laplace`, `Gaussian`, `Geometric`, `PoissonSubsampled`, or a guarantee such as
    `PureDP`), the other keywords are its other parameters (`each_epsilon` and `each_delta` where their names are
    taken), and `unknown` names what is looked for, if it is not the usual one. A function from a number to a
    mechanism serves as well, noisier for larger numbers: that this is so is assumed, and said. `beside` is what
    is composed with it and stays as it is.

    Guaranteed: the mechanism of the answer keeps the budget, by the certified composition (`profile`); the other
    end of the bracket is proven not to, and so does nothing beyond it, as more noise of these kinds is
    post-processing of less. The two are within some 1e-6 of each other, or the bracket says that they are not.

    >>> from indistinct import Gaussian, Laplace
    >>> plan = least_noise(Laplace, sensitivity=1, times=1000, epsilon=1, delta="1e-6")
    >>> print(f"{plan.bracket:.7g}", plan.spent.upper <= 1e-6)
    133.2423 True
    >>> print(f"{least_noise(Gaussian, epsilon=1, delta='1e-5').bracket.upper:.12f}")
    3.730631634816
    """
    budget, count = Budget.of(epsilon, delta), read_count("times", times, least=1)
    given = {name.removeprefix("each_"): value for name, value in fixed.items()}
    knob = chosen_knob(mechanism, unknown, given)
    build = knob.build or mechanism

    def made(value: Fraction) -> Thing:
        try:
            return build(value) if not knob.because and not given else build(**{knob.name: value}, **given)
        except TypeError as error:
            name = getattr(mechanism, "__name__", "a mechanism")
            raise InvalidParameter(f"the parameters of {name}", sorted(given), f"be what it takes ({error})") from None

    others: tuple[tuple[Thing, int], ...] = ()
    if beside is not None:
        check_room(fixed_parts := compose(beside), budget)
        others = fixed_parts.parts
    crossing = Crossing(
        lambda value: [(made(value), count), *others], budget, quiets=knob.quiets, least=knob.least, most=knob.most
    )
    size = read_number("sensitivity", given.get("sensitivity", 1))
    found = crossing.find(_start(knob, count, size))
    if found is None:
        raise InvalidParameter(
            "the budget",
            str(budget),
            f"be one that some {knob.name} keeps",
            instead="Use the mechanism less often, or allow a larger delta or epsilon.",
        )
    return Calibration(
        made(found.enough),
        knob.name,
        found.enough,
        _bracket(knob, found.enough, found.insufficient),
        knob.quiets,
        knob.because,
        count,
        budget,
        found.profile,
        (knob.formulas, Question(budget.epsilon, budget.delta, count, size)) if knob.formulas and not others else None,
    )


def check_room(profile: PrivacyProfile, budget: Budget) -> None:
    """Refuses a budget that what is fixed already spends."""
    if budget.judge(profile).exceeds:
        raise InvalidParameter(
            "the budget", str(budget), "be more than what is beside it spends", instead="Nothing else fits."
        )


def _start(knob: Knob, times: int, size: Fraction) -> float:
    """Where to begin: some noise of the right order for epsilons about 1."""
    about = float(size) * math.sqrt(times) * 3 if knob.quiets else 0.3 / math.sqrt(times)
    return min(max(about, float(knob.least) * 2), float(knob.most) / 2)


def _bracket(knob: Knob, enough: Fraction, short: Fraction | None) -> Bracket:
    if knob.quiets:
        return Bracket(0.0 if short is None else float_below(short), float_above(enough))
    return Bracket(float_below(enough), math.inf if short is None else float_above(short))
