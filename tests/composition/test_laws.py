"""What holds of every composition, whatever the method: tried on compositions of all kinds.

Each law is a function that returns what breaks it, so that it can be tried on planted faults as well. A law
about exact values can only be tested up to the brackets: what should be no more must not be proven to be more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from indistinct import ApproximateDP, Bracket, PrivacyProfile, compose, ln
from indistinct.numbers import Epsilon, NaturalLog
from tests.composition.oracles import Part, disclosed, equal, faults, wide

F = Fraction
often = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Compositions of all kinds.

levels: st.SearchStrategy[Epsilon] = st.one_of(
    st.integers(1, 40).map(lambda m: F(m, 20)),
    st.sampled_from(["0.1", "0.25", "1e-2", "1/3", "2.5"]).map(F),
    st.floats(0.01, 6).map(F),
    st.integers(2, 50).map(lambda x: NaturalLog(F(x))),
    st.just(F(0)),
)
deltas = st.one_of(
    st.just(F(0)),
    st.sampled_from(["1e-300", "1e-18", "1e-9", "1e-3", "0.25", "1/3"]).map(F),
    st.floats(0, 0.5).map(F),
)
few: st.SearchStrategy[list[Part]] = st.lists(st.tuples(levels, deltas, st.integers(0, 4)), min_size=1, max_size=4)
many: st.SearchStrategy[list[Part]] = st.one_of(
    st.tuples(levels, deltas, st.integers(1, 10**6)).map(lambda part: [part]),
    st.lists(
        st.tuples(st.integers(1, 20).map(lambda m: F(m, 100)), deltas, st.integers(50, 3000)), min_size=2, max_size=4
    ),
    few,
)


def profile_of(parts: Iterable[Part]) -> PrivacyProfile:
    """The composition of so many of each."""
    return compose([compose({ApproximateDP(epsilon, delta): times}) for epsilon, delta, times in parts])


def size(parts: Iterable[Part]) -> float:
    """Where delta is about 1e-6, or at least not yet nothing."""
    floats = [(float(epsilon), times) for epsilon, _, times in parts]
    total = sum(e * times for e, times in floats)
    mean = sum(e * math.tanh(e / 2) * times for e, times in floats)
    return min(total, mean + 5 * math.sqrt(sum((e / math.cosh(e / 2)) ** 2 * times for e, times in floats)))


Delta = Callable[[Epsilon], Bracket]


# The laws.


def rises(delta: Delta, places: list[F]) -> list[str]:
    """Where delta is proven to increase with epsilon."""
    places = sorted(places)
    values = [delta(at) for at in places]
    return [
        f"delta({x}) = {a} < delta({y}) = {b}"
        for (x, a), (y, b) in zip(
            zip(places, values, strict=True), list(zip(places, values, strict=True))[1:], strict=False
        )
        if a.upper < b.lower
    ]


def bulges(delta: Delta, ratios: list[F]) -> list[str]:
    """Where delta is proven not to be convex in e^epsilon."""
    found = []
    ratios = sorted(set(ratios))
    for x, y, z in zip(ratios, ratios[1:], ratios[2:], strict=False):
        a, b, c = (delta(ln(ratio) if ratio != 1 else F(0)) for ratio in (x, y, z))
        share = (z - y) / (z - x)
        if F(b.lower) > share * F(a.upper) + (1 - share) * F(c.upper):
            found.append(f"at the ratios {x}, {y}, {z}: {a}, {b}, {c}")
    return found


def gains(less: Delta, more: Delta, places: list[F]) -> list[str]:
    """Where what promises less privacy is proven to keep more."""
    return [f"at {at}: {less(at)} > {more(at)}" for at in places if less(at).lower > more(at).upper]


def disputes(one: Delta, other: Delta, places: list[F]) -> list[str]:
    """Where two answers to one question exclude each other."""
    found = []
    for at in places:
        a, b = one(at), other(at)
        if a.upper < b.lower or b.upper < a.lower:
            found.append(f"at {at}: {a} and {b}")
    return found


def misses(profile: PrivacyProfile, exact: Callable[[F], F], target: F, disclosure: F) -> list[str]:
    """What is wrong with epsilon(target), by an exact delta."""
    found = profile.epsilon(target)
    if target < disclosure:
        return [] if found == Bracket(math.inf, math.inf) else [f"{found} below the disclosures"]
    problems = []
    if exact(F(found.upper)) > target * (1 + F(1, 10**30)):
        problems.append(f"delta({found.upper!r}) > {float(target)}")
    if found.lower > 0 and exact(F(found.lower)) < target * (1 - F(1, 10**30)):
        problems.append(f"delta({found.lower!r}) < {float(target)}: tighter than the truth")
    if profile.delta(F(found.upper)).upper > F(target) * (1 + F(1, 10**9)):
        problems.append("delta(epsilon(delta)) is above delta")
    return problems


places_of = st.lists(st.floats(0, 1.1), min_size=2, max_size=4)


@given(many, places_of)
@often
def test_delta_does_not_rise(parts: list[Part], shares: list[float]) -> None:
    assert rises(profile_of(parts).delta, [F(share * size(parts)) for share in shares]) == []


@given(many, st.lists(st.floats(0, 1.1), min_size=3, max_size=3))
@often
def test_delta_is_convex_in_the_ratio(parts: list[Part], shares: list[float]) -> None:
    where = [min(share * size(parts), 600.0) for share in shares]
    ratios = [F(math.exp(x)) for x in where]
    assert bulges(profile_of(parts).delta, ratios) == []


@given(many, st.data(), places_of)
@often
def test_delta_grows_with_every_part(parts: list[Part], data: st.DataObject, shares: list[float]) -> None:
    """A larger epsilon, a larger delta, one use more: none of it can help."""
    chosen = data.draw(st.integers(0, len(parts) - 1))
    epsilon, delta, times = parts[chosen]
    grown: list[Part] = [(epsilon, min(delta + data.draw(deltas), F(1)), times), (epsilon, delta, times + 1)]
    if isinstance(epsilon, Fraction):
        grown.append((epsilon + data.draw(st.sampled_from([F(1, 10**9), F(1, 100), F(1)])), delta, times))
    less = profile_of(parts)
    places = [F(share * size(parts)) for share in shares]
    for part in grown:
        more = profile_of([*parts[:chosen], part, *parts[chosen + 1 :]])
        assert gains(less.delta, more.delta, places) == []


@given(many, places_of)
@often
def test_leaving_one_out_never_hurts(parts: list[Part], shares: list[float]) -> None:
    assume(len(parts) > 1)
    places = [F(share * size(parts)) for share in shares]
    assert gains(profile_of(parts[1:]).delta, profile_of(parts).delta, places) == []


@given(few, st.randoms(use_true_random=False), st.floats(0, 1))
@often
def test_order_and_nesting_do_not_matter(parts: list[Part], source: Random, share: float) -> None:
    """{g: n} is [g] * n is a profile of profiles, in any order."""
    singles = [ApproximateDP(epsilon, delta) for epsilon, delta, times in parts for _ in range(times)]
    assume(singles)
    flat = compose(singles)
    shuffled = list(singles)
    source.shuffle(shuffled)
    half = len(shuffled) // 2
    others = [compose(shuffled), profile_of(parts), compose([compose(shuffled[half:]), *shuffled[:half]])]
    places = [F(share * size(parts)), F(0)]
    for other in others:
        assert disputes(flat.delta, other.delta, places) == []


targets = st.sampled_from(
    ["1", "0.999999", "0.9", "0.5", "1e-1", "1e-2", "1e-3", "1e-6", "1e-9", "1e-15", "1e-50", "1e-100", "1e-300"]
).map(F)


@given(few, targets)
@often
def test_epsilon_and_delta_are_inverse(parts: list[Part], target: F) -> None:
    profile = profile_of(parts)
    assert misses(profile, lambda at: wide(parts, at), target, disclosed(parts)) == []


@given(st.sampled_from([F(1, 100), F(1, 10), F(1)]), st.integers(1, 2000), targets)
@settings(max_examples=25, deadline=None)
def test_epsilon_and_delta_are_inverse_for_many_equal_ones(epsilon: F, times: int, target: F) -> None:
    profile = profile_of([(epsilon, F(0), times)])
    assert misses(profile, lambda at: equal(epsilon, times, at), target, F(0)) == []
    found = profile.epsilon(target)
    assert found.width <= 1e-12 * found.upper


@given(many, targets, targets)
@settings(max_examples=40, deadline=None)
def test_epsilon_does_not_rise(parts: list[Part], one: F, other: F) -> None:
    profile = profile_of(parts)
    small, large = sorted([one, other])
    assert profile.epsilon(small).upper >= profile.epsilon(large).lower


@given(few, st.floats(0, 1.2), st.sampled_from([F(0), F(1, 2), F(1), ln(2), ln(3)]))
@settings(max_examples=100, deadline=None)
def test_the_truth_is_in_the_bracket(parts: list[Part], share: float, at: Epsilon) -> None:
    profile = profile_of(parts)
    total = sum((epsilon * times for epsilon, _, times in parts if isinstance(epsilon, Fraction)), F(0))
    knots = [total - 2 * e for e, _, times in parts if times and isinstance(e, Fraction) and total >= 2 * e]
    for place in (F(share * size(parts)), at, *knots):
        assert [f for f in faults(profile.delta(place), wide(parts, place)) if "width" not in f] == []


# Planted faults: each law must be able to fail.


@dataclass
class Bent:
    """A profile whose delta was tampered with."""

    profile: PrivacyProfile
    bend: Callable[[F, Bracket], Bracket]

    def delta(self, epsilon: Epsilon) -> Bracket:
        return self.bend(F(float(epsilon)), self.profile.delta(epsilon))


ORDINARY: list[Part] = [(F(1, 2), F(0), 4), (F(1, 3), F(1, 100), 2)]
PLACES = [F(i, 4) for i in range(8)]


def scaled(bracket: Bracket, factor: float) -> Bracket:
    return Bracket(bracket.lower * factor, bracket.upper * factor)


def test_the_laws_hold_of_an_ordinary_profile() -> None:
    profile = profile_of(ORDINARY)
    assert rises(profile.delta, PLACES) == []
    assert bulges(profile.delta, [F(i, 4) for i in range(4, 20)]) == []
    assert gains(profile_of(ORDINARY[1:]).delta, profile.delta, PLACES) == []
    assert misses(profile, lambda at: wide(ORDINARY, at), F(1, 10), disclosed(ORDINARY)) == []


def test_a_bump_is_noticed() -> None:
    bent = Bent(profile_of(ORDINARY), lambda at, bracket: scaled(bracket, 1.5 if at == 1 else 1.0))
    assert rises(bent.delta, PLACES) != []
    bent = Bent(profile_of(ORDINARY), lambda at, bracket: scaled(bracket, 1.02 if 1 < at < 1.1 else 1.0))
    assert bulges(bent.delta, [F(i, 4) for i in range(4, 20)]) != []


def test_a_lost_count_is_noticed() -> None:
    fewer = profile_of([(epsilon, delta, times - 1) for epsilon, delta, times in ORDINARY])
    assert disputes(fewer.delta, profile_of(ORDINARY).delta, PLACES) != []
    assert gains(profile_of(ORDINARY).delta, fewer.delta, PLACES) != []
    assert misses(fewer, lambda at: wide(ORDINARY, at), F(1, 10), disclosed(ORDINARY)) != []


@pytest.mark.parametrize("target", ["0.1", "0.05", "1e-3"])
def test_lost_disclosures_are_noticed(target: str) -> None:
    pure = profile_of([(epsilon, F(0), times) for epsilon, _, times in ORDINARY])
    assert misses(pure, lambda at: wide(ORDINARY, at), F(target), disclosed(ORDINARY)) != []
