r"""What the explorer says of a composition, as JSON: numbers, sentences, the curve and the region.

Every number is the library's own, and is sent twice: as the text that is shown, its claimed end rounded up, and as
a float for drawing. The page computes none of them.

How often an adversary is right. Somebody has a record in the database with probability p. Whoever rejects by any
rule is right with probability at most 1 - min (p x + (1 - p) y), over the points (x, y) of missed detection and
false alarm in the region. With m = max(p, 1 - p) this is

    m + (1 - m) delta(ln(m / (1 - m))),

since y + r x >= 1 - delta(ln r) is what bounds the region (KOV, Theorem 2.1), and no smaller number will do.

What an adversary believes. Anything that keeps (epsilon, delta) is a function of an outcome that gives everything
away with probability delta and otherwise moves the odds by e^epsilon at most (KOV, equations 12 and 13).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain

from indistinct.composition import PrivacyProfile, compare
from indistinct.composition.parts import Thing
from indistinct.errors import InvalidParameter
from indistinct.mechanisms import Gaussian, Geometric, Laplace
from indistinct.numbers import Bracket, ln, read_delta
from indistinct.numbers.balls import ball, bracket_of, exact, precision
from indistinct.numbers.bracket import float_above, rounded_up
from indistinct.numbers.logarithm import exponential
from indistinct.numbers.reading import read_probability
from indistinct.regions import Region, Tangent
from indistinct.server.compositions import Part, profile_of, read_parts

__all__ = ["DIGITS", "curve", "noise_of", "numbers", "python_for"]

DIGITS = 6
_GUESSES = 1000
_FIRST_HALVING = 3
_LAST_HALVING = 6
_PATIENCE = 0.8
_ENOUGH = 6
_BATCH = 8
_INVISIBLE = Fraction(1, 10**9)
_FEW_DIGITS = 4
_STEEPEST = 60  # a tangent of ratio e^60 is upright for every eye


def numbers(asked: object) -> dict[str, object]:
    """Epsilon at a delta by every theorem, the odds of a guess, what may be believed, and all of it as Python.

    >>> answer = numbers({"parts": [{"kind": "geometric", "epsilon": "0.1", "times": 30}], "delta": "1e-6"})
    >>> answer["epsilon"]["text"], answer["odds"]["right"]
    ('2.34589', '608')
    """
    parts, fields = _read(asked, "delta", "prior")
    delta = read_delta("delta", fields["delta"])
    prior = read_probability("prior", fields["prior"])
    if not 0 < prior < 1:
        raise InvalidParameter("prior", fields["prior"], "lie strictly between 0 and 1")
    profile = _profile_of(parts)
    epsilon = _epsilon_of(parts, delta)
    return {
        "times": profile.times,
        "delta": fields["delta"],
        "epsilon": _number(epsilon),
        "disclosure": _number(profile.disclosure),
        "theorems": _theorems_of(parts, delta),
        "odds": _odds(_success_of(parts, prior), prior),
        "belief": _belief(prior, epsilon),
        "noise": [noise_of(part) for part in parts],
        "python": python_for(parts, fields["delta"]),
    }


def curve(asked: object) -> dict[str, object]:
    """delta at rising epsilons, and the region that these tangents bound; never smaller than the true one.

    First delta at nine epsilons. Where that is quick, epsilons are halved between; where it is slow, as far out in
    the tails of a few answers, the rest are epsilons at powers of ten of delta, which are quicker found. Every
    knot is certified, so fewer only mean a coarser region.
    """
    parts, _ = _read(asked)
    profile = _profile_of(parts)
    knots = _knots(profile)
    return {
        "knots": [
            {"epsilon": text, "x": float(text), "delta": _number(delta, _FEW_DIGITS), "asked": what}
            for text, (delta, what) in knots
        ],
        "region": [[float(x), float(y)] for x, y in _region_of(knots).vertices],
    }


Knot = tuple[str, tuple[Bracket, str]]


def _knots(profile: PrivacyProfile) -> list[Knot]:
    """Epsilons as text, by size, with delta there, and which of the two was asked for."""
    visible = profile.epsilon(min(Fraction(1), Fraction(profile.disclosure.upper) + _INVISIBLE)).upper
    start = time.monotonic()
    found: dict[str, tuple[Bracket, str]] = {}

    def ask(texts: list[str]) -> bool:
        """Whether there is time for more."""
        found.update(zip(texts, ((delta, "delta") for delta in profile.deltas(texts)), strict=True))
        return time.monotonic() - start < _PATIENCE

    def between(level: int) -> list[str]:
        wanted = dict.fromkeys(_short(visible * step / 2**level) for step in range(2**level + 1))
        return [text for text in wanted if text not in found]

    if all(ask([text]) for text in between(_FIRST_HALVING)):
        more = chain.from_iterable(_batched(between(level)) for level in range(_FIRST_HALVING + 1, _LAST_HALVING + 1))
        all(ask(texts) for texts in more)
    else:
        _follow(profile, found, start)
    return sorted(found.items(), key=lambda knot: float(knot[0]))


def _batched(texts: list[str]) -> Iterator[list[str]]:
    """A few at a time."""
    return (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))


def _follow(profile: PrivacyProfile, found: dict[str, tuple[Bracket, str]], start: float) -> None:
    """Goes on to where delta is invisible, by powers of ten of delta."""
    last = max(found, key=float)
    for power in range(1, 10):
        delta = Fraction(1, 10**power)
        if profile.disclosure.upper < delta < found[last][0].lower:
            text = rounded_up(profile.epsilon(delta).upper, _FEW_DIGITS)
            found[text] = Bracket(0.0, float_above(delta)), "epsilon"
            if time.monotonic() - start > 3 * _PATIENCE and power > _ENOUGH:
                break


def python_for(parts: tuple[Part, ...], delta: str) -> str:
    """A program that prints the epsilon shown.

    >>> print(python_for(read_parts([{"kind": "laplace", "scale": "10", "times": 30}]), "1e-6"))
    from indistinct import Laplace, compose
    <BLANKLINE>
    profile = compose([
        *[Laplace(scale='10')] * 30,
    ])
    print(f"{profile.epsilon('1e-6'):.6g}")
    """
    ordered = [*sorted({name for part in parts for name in part.python[1]}), "compose"]
    lines = "\n".join(f"    *[{part.python[0]}] * {part.times}," for part in parts)
    return (
        f"from indistinct import {', '.join(ordered)}\n\nprofile = compose([\n{lines}\n])\n"
        f'print(f"{{profile.epsilon({delta!r}):.{DIGITS}g}}")'
    )


def noise_of(part: Part) -> str | None:
    """Half the width of the interval that holds 95% of one answer's noise; None where the answer has no noise added.

    >>> noise_of(Part("laplace", ("10",), 1)), noise_of(Part("geometric", ("0.1",), 1))
    ('30', '30')
    """
    match part.thing:
        case Laplace(scale=scale):
            half = float(scale) * math.log(20)
        case Gaussian(sigma=sigma):
            half = 1.959963984540054 * float(sigma)
        case Geometric(epsilon=epsilon):
            # P(|X| > t) = 2 a^(t + 1) / (1 + a), a = e^-epsilon; the least whole t with at most 1/20.
            a = math.exp(-float(epsilon))
            return str(max(0, math.ceil(math.log((1 + a) / 40) / math.log(a) - 1 - 1e-12)))
        case _:
            return None
    return rounded_up(half, 3)


def _read(asked: object, *names: str) -> tuple[tuple[Part, ...], dict[str, str]]:
    """The parts and the other fields of a request, which are text."""
    if not isinstance(asked, dict):
        raise InvalidParameter("the request", asked, "be an object with parts")
    if unknown := sorted(str(name) for name in set(asked) - {"parts", "delta", "prior"}):
        raise InvalidParameter("the request", unknown[0], "have no fields but parts, delta and prior")
    fields = {"delta": "1e-6", "prior": "1/2"}
    for name in names:
        value = asked.get(name, fields[name])
        if not isinstance(value, str) or len(value) > 40:
            raise InvalidParameter(name, value, "be a number as text of at most 40 characters")
        fields[name] = value
    return read_parts(asked.get("parts")), fields


@lru_cache(maxsize=64)
def _profile_of(parts: tuple[Part, ...]) -> PrivacyProfile:
    return profile_of(parts)


@lru_cache(maxsize=256)
def _epsilon_of(parts: tuple[Part, ...], delta: Fraction) -> Bracket:
    return _profile_of(parts).epsilon(delta)


@lru_cache(maxsize=256)
def _theorems_of(parts: tuple[Part, ...], delta: Fraction) -> list[dict[str, object]]:
    return list(_theorems(parts, delta, _epsilon_of(parts, delta)))


@lru_cache(maxsize=256)
def _success_of(parts: tuple[Part, ...], prior: Fraction) -> Fraction:
    """With which probability the best guess is right, at most."""
    likelier = max(prior, 1 - prior)
    delta = _profile_of(parts).delta(ln(likelier / (1 - likelier)))
    return likelier + (1 - likelier) * min(Fraction(delta.upper), Fraction(1))


def _theorems(parts: tuple[Part, ...], delta: Fraction, epsilon: Bracket) -> Iterator[dict[str, object]]:
    """The theorems on guarantees, where each part has one, and the certified epsilon of these very mechanisms."""
    guarantees: Counter[Thing] = Counter()
    for part in parts:
        guarantee = part.guarantee
        if guarantee is None:
            break
        guarantees[guarantee] += part.times
    else:
        for row in compare(guarantees, delta=delta).rows:
            yield {"theorem": row.theorem, "source": row.source, **_number(row.value)}
    yield {
        "theorem": "these mechanisms",
        "source": "their exact losses composed, certified",
        **_number(epsilon),
    }


def _odds(success: Fraction, prior: Fraction) -> dict[str, object]:
    """How many of a thousand guesses are right, with the answers and without, rounded up."""
    right = _GUESSES * success
    without = _GUESSES * max(prior, 1 - prior)
    return {
        "guesses": str(_GUESSES),
        "right": str(math.ceil(right)),
        "without": f"{float(without):.6g}",
        "share": float(right) / _GUESSES,
    }


def _belief(prior: Fraction, epsilon: Bracket) -> dict[str, object]:
    """The least and the largest posterior, unless everything was given away: delta is the chance of that."""
    if not math.isfinite(epsilon.upper):
        return {"lower": "0", "upper": "1", "x": float(prior), "low": 0.0, "high": 1.0}
    with precision(128):
        factor = exponential(Fraction(epsilon.upper))
        before = ball(prior)
        upper = bracket_of(before * factor / (1 - before + before * factor)).upper
        lower = bracket_of(before / (before + (1 - before) * factor)).lower
    high, low = min(upper, 1.0), max(lower, 0.0)
    return {
        "lower": _rounded_down(low),
        "upper": _shown(Bracket(high, high), _FEW_DIGITS),
        "x": float(prior),
        "low": low,
        "high": high,
    }


def _region_of(knots: list[Knot]) -> Region:
    tangents = []
    for text, (delta, _) in knots:
        if float(text) > _STEEPEST:
            break
        with precision(64):  # not below e^epsilon, so that delta is enough for it
            tangent = Tangent(exact((exponential(Fraction(text)) * 1).upper()), Fraction(delta.upper))
        tangents += [tangent, tangent.swapped()]
    return Region.of_tangents(tangents)


def _number(value: Bracket, digits: int = DIGITS) -> dict[str, object]:
    """The text that is shown, and the float that is drawn; JSON has no infinity."""
    return {"text": _shown(value, digits), "value": value.upper if math.isfinite(value.upper) else None}


def _shown(value: Bracket, digits: int = DIGITS) -> str:
    return format(value, f".{digits}g") if math.isfinite(value.upper) else "infinite"


def _short(epsilon: float) -> str:
    """A decimal of four digits for an epsilon."""
    return f"{epsilon:.4g}" if epsilon < 1e4 else str(round(epsilon))


def _rounded_down(value: float) -> str:
    """Four digits, not above the value."""
    text = f"{value:.4g}"
    if float(text) <= value or not value:
        return text
    step = Fraction(10) ** (math.floor(math.log10(value)) - 3)
    return f"{float(Fraction(text) - step):.4g}"
