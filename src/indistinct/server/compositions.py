"""The compositions that the explorer's page builds: a few kinds of mechanisms, each so many times.

On the wire a part is an object: its kind, its parameters as text (text is read exactly), and how many times it is
used. `{"kind": "laplace", "scale": "10", "times": 30}` is thirty answers with Laplace noise of scale 10.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from indistinct.composition import ApproximateDP, PrivacyProfile, PureDP, compose
from indistinct.composition.parts import Thing
from indistinct.errors import InvalidParameter
from indistinct.mechanisms import Gaussian, Geometric, Laplace, PoissonSubsampled, RandomizedResponse
from indistinct.numbers import NaturalLog, read_count, read_epsilon, read_number

__all__ = [
    "KINDS",
    "MOST_PARTS",
    "MOST_USES",
    "Kind",
    "Parameter",
    "Part",
    "counted",
    "profile_of",
    "read_parts",
]

MOST_PARTS = 8
MOST_USES = 100_000
_LONGEST_TEXT = 40
_LEAST, _MOST = "1e-9", "1e9"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a mechanism that can be set: its steps on a slider, and which end protects more."""

    name: str
    label: str
    first: str
    steps: tuple[str, ...]
    more_protects: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of mechanism, as it is offered."""

    name: str
    label: str
    parameters: tuple[Parameter, ...]


def _steps(least: int, most: int, digits: tuple[str, ...] = ("1", "1.5", "2", "3", "5", "7")) -> tuple[str, ...]:
    """Decimals of one or two digits between two powers of ten, the last included."""
    steps = [Fraction(digit) * Fraction(10) ** power for power in range(least, most) for digit in digits]
    return tuple(f"{float(step):.12g}" for step in [*steps, Fraction(10) ** most])


_EPSILONS = (*_steps(-2, 0), "1.5", "2", "3", "5")
_SCALES = _steps(-1, 2)
_DELTAS = ("0", *(f"1e-{power}" for power in range(12, 1, -1)))

KINDS: tuple[Kind, ...] = (
    Kind("geometric", "geometric noise on a count", (Parameter("epsilon", "epsilon", "0.1", _EPSILONS, False),)),
    Kind("laplace", "Laplace noise", (Parameter("scale", "scale", "10", _SCALES, True),)),
    Kind("gaussian", "Gaussian noise", (Parameter("sigma", "sigma", "10", _SCALES, True),)),
    Kind(
        "sampled",
        "Gaussian noise on a sample",
        (
            Parameter("sigma", "sigma", "1", _SCALES, True),
            Parameter("rate", "sampling rate", "0.01", _steps(-4, 0), False),
        ),
    ),
    Kind("response", "randomised response", (Parameter("epsilon", "epsilon", "ln(3)", _EPSILONS, False),)),
    Kind(
        "guarantee",
        "any (epsilon, delta) mechanism",
        (
            Parameter("epsilon", "epsilon", "0.1", _EPSILONS, False),
            Parameter("delta", "delta", "1e-9", _DELTAS, False),
        ),
    ),
)
_BY_NAME = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of mechanism with its parameters as they were written, so many times."""

    kind: str
    values: tuple[str, ...]
    times: int

    @property
    def thing(self) -> Thing:
        """The mechanism itself, for an answer that one person changes by at most 1."""
        match self.kind, self.values:
            case "geometric", (epsilon,):
                return Geometric(epsilon=epsilon)
            case "laplace", (scale,):
                return Laplace(scale=scale)
            case "gaussian", (sigma,):
                return Gaussian(sigma=sigma)
            case "sampled", (sigma, rate):
                return PoissonSubsampled(Gaussian(sigma=sigma), rate)
            case "response", (epsilon,):
                return RandomizedResponse(epsilon)
            case "guarantee", (epsilon, delta):
                return ApproximateDP(epsilon, delta)
        raise InvalidParameter("kind", self.kind, f"be one of {', '.join(_BY_NAME)}")

    @property
    def guarantee(self) -> PureDP | ApproximateDP | None:
        """The (epsilon, delta) that the theorems on guarantees start from; None for Gaussian noise, which has many."""
        match self.thing:
            case Geometric(epsilon=epsilon) | Laplace(epsilon=epsilon) | RandomizedResponse(epsilon=epsilon):
                return PureDP(epsilon)
            case ApproximateDP() as guarantee:
                return guarantee
        return None

    @property
    def python(self) -> tuple[str, tuple[str, ...]]:
        """How it is written in Python, and the names that this needs."""
        written = tuple(repr(value) for value in self.values)
        match self.kind, written:
            case "geometric", (epsilon,):
                return f"Geometric(epsilon={epsilon})", ("Geometric",)
            case "laplace", (scale,):
                return f"Laplace(scale={scale})", ("Laplace",)
            case "gaussian", (sigma,):
                return f"Gaussian(sigma={sigma})", ("Gaussian",)
            case "sampled", (sigma, rate):
                return f"PoissonSubsampled(Gaussian(sigma={sigma}), rate={rate})", ("Gaussian", "PoissonSubsampled")
            case "response", (epsilon,):
                return f"RandomizedResponse({epsilon})", ("RandomizedResponse",)
        return f"ApproximateDP({', '.join(written)})", ("ApproximateDP",)


def read_parts(given: object) -> tuple[Part, ...]:
    """The parts of a request, each checked by making its mechanism.

    >>> read_parts([{"kind": "laplace", "scale": "10", "times": 30}])
    (Part(kind='laplace', values=('10',), times=30),)
    """
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_PARTS:
        raise InvalidParameter("parts", given, f"be a list of 1 to {MOST_PARTS} parts")
    parts = tuple(_read_part(each) for each in given)
    if not 1 <= sum(part.times for part in parts) <= MOST_USES:
        total = sum(part.times for part in parts)
        raise InvalidParameter("times", total, f"add up to between 1 and {MOST_USES:,}")
    return parts


def counted(parts: tuple[Part, ...]) -> Counter[Thing]:
    """How often each mechanism is used; equal ones are added up."""
    counts: Counter[Thing] = Counter()
    for part in parts:
        counts[part.thing] += part.times
    return counts


def profile_of(parts: tuple[Part, ...]) -> PrivacyProfile:
    """The composition of all of them."""
    return compose(counted(parts))


def _read_part(given: Any) -> Part:
    if not isinstance(given, dict):
        raise InvalidParameter("a part", given, 'be an object such as {"kind": "laplace", "scale": "10", "times": 30}')
    name = given.get("kind")
    kind = _BY_NAME.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InvalidParameter("kind", name, f"be one of {', '.join(_BY_NAME)}")
    known = {"kind", "times", *(parameter.name for parameter in kind.parameters)}
    if unknown := sorted(set(given) - known):
        raise InvalidParameter(f"the part {kind.name!r}", unknown[0], f"have no fields but {', '.join(sorted(known))}")
    values = tuple(_read_text(given, parameter.name) for parameter in kind.parameters)
    part = Part(kind.name, values, read_count("times", given.get("times", 1)))
    _ = part.thing
    for parameter, value in zip(kind.parameters, values, strict=True):
        if parameter.name != "delta" and not _is_moderate(parameter.name, value):
            raise InvalidParameter(parameter.name, value, f"be from {_LEAST} to {_MOST}")
    return part


def _is_moderate(name: str, value: str) -> bool:
    """Whether a number is of a size that can be drawn, or nothing; of a logarithm, whether it is not too small."""
    if value.lower().startswith("ln"):
        logarithm = read_epsilon(name, value)
        argument = logarithm.argument if isinstance(logarithm, NaturalLog) else 1 + logarithm
        return argument == 1 or argument - 1 >= Fraction(_LEAST)
    number = read_number(name, value)
    return number == 0 or Fraction(_LEAST) <= number <= Fraction(_MOST)


def _read_text(given: dict[str, object], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= _LONGEST_TEXT:
        raise InvalidParameter(name, value, f'be a number as text of at most {_LONGEST_TEXT} characters, such as "0.1"')
    return value.strip()
