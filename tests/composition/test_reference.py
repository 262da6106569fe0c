"""The table in reference/, which a generator made that knows nothing of the library."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from indistinct import (
    ApproximateDP,
    Bracket,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PrivacyProfile,
    PureDP,
    compose,
)
from indistinct.composition.lattice import Lattice
from indistinct.composition.responses import Responses
from indistinct.composition.transform import TransformedComposition
from indistinct.numbers.balls import bracket_of
from reference import make, mechanisms
from tests.composition.oracles import faults

F = Fraction
DOUBT = F(1, 10**28)
TABLE = json.loads((Path(__file__).parents[2] / "reference" / "composition.json").read_text(encoding="utf-8"))


def progression(count: int) -> PrivacyProfile:
    return compose(PureDP(F(5, 1000) + F(95, 1000) * F(i, count)) for i in range(1, count + 1))


def composed(epsilons: str) -> PrivacyProfile:
    """The composition that an entry describes."""
    if found := re.fullmatch(r"(\d+) x \((\S+), (\S+)\)", epsilons):
        return compose({ApproximateDP(found[2], found[3]): found[1]})
    if found := re.fullmatch(r"(\d+) x (\S+)", epsilons):
        return compose({PureDP(found[2]): found[1]})
    if found := re.fullmatch(r"0\.005 \+ 0\.095 i/(\d+), i = 1\.\.\1", epsilons):
        return progression(int(found[1]))
    if epsilons == "i/1000, i = 1..1000":
        return compose(PureDP(F(i, 1000)) for i in range(1, 1001))
    primes = [p for p in range(2, 174) if all(p % q for q in range(2, p))]
    assert "sqrt(p)/100" in epsilons
    return compose(PureDP(repr(p**0.5 / 100)) for p in primes)


def named(entry: dict[str, str]) -> str:
    return f"{entry.get('epsilons', entry.get('epsilon'))} at {entry.get('at', entry.get('delta'))}"


@pytest.mark.parametrize("entry", TABLE["hom"], ids=named)
def test_delta_of_equal_mechanisms(entry: dict[str, str]) -> None:
    profile = compose({ApproximateDP(entry["epsilon"], entry["delta"]): entry["times"]})
    assert faults(profile.delta(entry["at"]), F(entry["value"]), 1e-15, DOUBT) == []


@pytest.mark.parametrize("entry", TABLE["het"], ids=named)
def test_delta_of_a_progression(entry: dict[str, str]) -> None:
    bracket = progression(int(entry["k"])).delta(entry["at"])
    assert faults(bracket, F(entry["value"]), 0.01, DOUBT) == []


def on_the_lattice(count: int, at: str) -> Bracket:
    """A progression by the exact method, whatever `compose` takes for it."""
    lattice = Lattice.common(Responses.of((F(5, 1000) + F(95, 1000) * F(i, count), 1) for i in range(1, count + 1)))
    assert lattice is not None
    return bracket_of(TransformedComposition(lattice).delta(F(at)))


@pytest.mark.parametrize(("count", "at"), [(20, "0.5"), (20, "1"), (100, "2"), (100, "4")])
def test_a_progression_on_a_lattice_is_composed_exactly(count: int, at: str) -> None:
    assert progression(count).delta(at).relative_width < 3e-11


@pytest.mark.parametrize("at", ["5", "12"])
def test_a_long_progression_is_composed_at_once_and_the_exact_value_is_within(at: str) -> None:
    quick, exact = progression(1000).delta(at), on_the_lattice(1000, at)
    assert quick.lower <= exact.lower <= exact.upper <= quick.upper
    assert exact.relative_width < 2e-11
    assert quick.relative_width < 2e-6


def _width(entry: dict[str, str]) -> float:
    """How narrow a bracket must be: exact methods serve all but the longer progressions."""
    if "i/1000, i = 1..1000" in entry["epsilons"] and entry["epsilons"] != "i/1000, i = 1..1000":
        return 1e-6
    return 1e-10 if "i/100," in entry["epsilons"] else 1e-12


@pytest.mark.parametrize("entry", TABLE["epsilon"], ids=named)
def test_epsilon(entry: dict[str, str]) -> None:
    bracket = composed(entry["epsilons"]).epsilon(entry["delta"])
    assert faults(bracket, F(entry["value"]), _width(entry), DOUBT) == []


def test_the_largest_share_that_still_composes() -> None:
    """DR, Example 3.7: 10^4 uses of 1/801 at e^-32; and the largest share for epsilon 1."""
    delta = F("1.266416554909417572312904464536779387687e-14")  # e^-32
    assert faults(compose({PureDP("1/801"): 10**4}).epsilon(delta), F(".890468147886613"), 1e-14, F(1, 10**14)) == []
    one = compose({PureDP(1 / F("715.510557802")): 10**4}).epsilon(delta)
    assert faults(one, F(1), 1e-14, F(1, 10**11)) == []


@pytest.mark.parametrize(("at", "value"), [("5", "0.018429829480513127108"), ("12", "4.3958073506403673375e-9")])
def test_values_that_miss_the_resonance_are_noticed(at: str, value: str) -> None:
    """An integral over the main part of the contour was taken for these once; it is wrong in the tenth digit."""
    (right,) = (entry for entry in TABLE["het"] if entry["k"] == 1000 and entry["at"] == at)
    assert abs(F(value) / F(right["value"]) - 1) < F(1, 10**7)
    assert faults(on_the_lattice(1000, at), F(right["value"]), 1e-10, F(1, 10**18)) == []
    assert faults(on_the_lattice(1000, at), F(value), 1e-10, F(1, 10**18)) != []


def entries_of(made: Iterable[dict[str, str | int]], within: str) -> list[str]:
    """What a generator makes that is not in the file."""
    return [str(entry) for entry in made if entry not in TABLE[within]]


def test_the_file_is_what_the_generator_makes() -> None:
    """The parts of it that take no time."""
    assert entries_of(make.hom(10**4), "hom") == []
    assert entries_of(make.het(100), "het") == []
    assert entries_of(make.equal_epsilons(1000), "epsilon") == []
    assert entries_of(make.progression_epsilons(20), "epsilon") == []
    assert TABLE["note"] == make.NOTE
    assert len(TABLE["hom"]) == len(make.HOM)
    assert len(TABLE["het"]) == len(make.HET)


def test_a_digit_changed_in_the_file_would_be_noticed() -> None:
    first = dict(make.hom(30)[0])
    first["value"] = str(first["value"])[:-1] + "x"
    assert entries_of([first], "hom") != []


MECHANISMS = json.loads((Path(__file__).parents[2] / "reference" / "mechanisms.json").read_text(encoding="utf-8"))


def mechanisms_of(task: str) -> PrivacyProfile:
    """The composition that an entry of the second table describes."""
    match task.replace("-", " ").split():
        case ["laplace"]:
            return compose({Laplace(scale=10): 1000})
        case ["mixed"]:
            kinds = {Laplace(scale=20): 500, Gaussian(sigma=40): 500, Geometric(epsilon="0.05"): 1000}
            return compose({**kinds, ApproximateDP("0.01", "1e-9"): 200})
        case ["sampled", steps]:
            return compose({PoissonSubsampled(Gaussian(sigma="0.8"), rate="0.004"): steps})
        case ["progression", count]:
            k = int(count)
            return compose(ApproximateDP(F(5 * k + 95 * i, 1000 * k), "1e-10") for i in range(1, k + 1))
        case ["small", count]:
            return compose({PureDP("0.1" if count == "1000" else "0.01"): count})
    raise AssertionError(task)


@pytest.mark.parametrize("entry", MECHANISMS["epsilon"], ids=lambda entry: f"{entry['of']} at {entry['delta']}")
def test_epsilon_of_mechanisms(entry: dict[str, str]) -> None:
    bracket = mechanisms_of(entry["task"]).epsilon(entry["delta"])
    digits = len(entry["value"].partition(".")[2])
    doubt = F(1, 10**digits) / F(entry["value"])
    assert faults(bracket, F(entry["value"]), 1e-6, doubt) == []


def test_a_digit_off_in_the_second_table_would_be_noticed() -> None:
    (entry,) = (entry for entry in MECHANISMS["epsilon"] if entry["task"] == "mixed")
    bracket = mechanisms_of("mixed").epsilon(entry["delta"])
    assert faults(bracket, F(entry["value"]) * (1 + F(1, 10**9)), 1e-6, F(1, 10**18)) != []


def test_the_second_generator_makes_these() -> None:
    with mpmath.workdps(mechanisms.WORKING):
        parts = mechanisms.summed([(mechanisms.laplace("0.1"), 1000)])
        value, digits = mechanisms.epsilon_at(parts, mpmath.mpf("1e-6"), 18.95)
        assert mpmath.nstr(value, digits) == MECHANISMS["epsilon"][0]["value"]
