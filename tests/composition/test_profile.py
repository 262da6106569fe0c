"""The profile of a composition: exact answers, hard places, disclosures, regions, threads."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import flint
import pytest

from indistinct import ApproximateDP, Bracket, PrivacyProfile, PureDP, compose, ln
from indistinct.numbers.balls import precision
from indistinct.regions import DiscretePair, Region
from tests.composition.oracles import disclosed, equal, faults, knot_delta, rational, wide

F = Fraction


def exactly(bracket: Bracket, value: F | float) -> bool:
    """Whether the bracket is the tightest around a number."""
    return bracket == (Bracket.exactly(value) if isinstance(value, Fraction) else Bracket(value, value))


# Theorem 3.3 with rational e^epsilon: nothing is rounded in what it is compared with.


@pytest.mark.parametrize("delta", [F(0), F(1, 1000), F(1, 3)])
@pytest.mark.parametrize("ratio", [F(2), F(3), F(11, 10), F(100)])
@pytest.mark.parametrize("times", [1, 2, 3, 7, 12])
def test_the_levels_of_the_theorem(ratio: F, delta: F, times: int) -> None:
    """Equation (6) at (k - 2i) epsilon, each a knot of the curve, and the enumeration there and between."""
    profile = compose({ApproximateDP(ln(ratio), delta): times})
    for i in range(times // 2 + 1):
        knot = ratio ** (times - 2 * i)
        truth = knot_delta(ratio, delta, times, i)
        assert truth == rational([(ratio, delta, times)], knot)
        assert faults(profile.delta(ln(knot)), truth, 1e-14, F(0)) == []
        between = knot * F(99, 100)
        if between >= 1:
            truth = rational([(ratio, delta, times)], between)
            assert faults(profile.delta(ln(between)), truth, 1e-14, F(0)) == []


@pytest.mark.parametrize(
    "parts",
    [
        [(F(2), F(0), 2), (F(3), F(1, 10), 3)],
        [(F(3, 2), F(1, 10**9), 4), (F(5), F(0), 1), (F(7, 3), F(1, 2), 2)],
        [(F(2), F(1, 100), 4), (F(4), F(1, 1000), 3), (F(8), F(0), 2)],
        [(F(101, 100), F(0), 6), (F(1000), F(0), 2)],
    ],
)
def test_different_mechanisms_with_rational_ratios(parts: list[tuple[F, F, int]]) -> None:
    profile = compose({ApproximateDP(ln(ratio), delta): times for ratio, delta, times in parts})
    largest = math.prod((ratio**times for ratio, _, times in parts), start=F(1))
    for at in (F(1), F(2), F(3), F(7, 2), largest / 4, largest * F(999, 1000), largest, largest + 1):
        truth = rational(parts, at)
        assert faults(profile.delta(ln(at)), truth, 1e-9, F(0)) == []


def test_a_knot_is_a_corner() -> None:
    """Just left and just right of a knot the slopes differ; the value is continuous."""
    profile = compose({PureDP("0.1"): 30})
    for at in (F(0), F(2, 10), F(1), F(28, 10)):
        for moved in (at, at + F(1, 10**30), max(at - F(1, 10**30), F(0))):
            assert faults(profile.delta(moved), equal(F(1, 10), 30, moved), 1e-14) == []


# What is exact.


def test_one_mechanism() -> None:
    """(epsilon, delta) itself."""
    one = compose([ApproximateDP("0.5", "0.125")])
    assert faults(one.delta("0.5"), F(1, 8), 1e-15, F(0)) == []
    assert faults(one.delta(7), F(1, 8), 1e-15, F(0)) == []
    assert faults(one.disclosure, F(1, 8), 1e-15, F(0)) == []
    assert exactly(one.epsilon("0.125"), F(1, 2))
    assert exactly(one.epsilon(1), 0.0)
    assert exactly(one.largest_epsilon, F(1, 2))
    assert one.times == 1


def test_one_mechanism_claims_no_more_than_its_own_delta() -> None:
    assert compose([ApproximateDP("0.5", "0.125")]).delta("0.5").upper == 0.125


def test_one_answer_of_a_survey() -> None:
    """e^epsilon = 3: delta(0) is the total variation, 1/2."""
    survey = compose([PureDP("ln(3)")])
    assert exactly(survey.delta("ln(3)"), F(0))
    assert faults(survey.delta(0), F(1, 2), 1e-15, F(0)) == []
    assert faults(survey.delta("ln(2)"), F(1, 4), 1e-15, F(0)) == []
    assert survey.epsilon("1/4").lower <= math.log(2) <= survey.epsilon("1/4").upper


@pytest.mark.parametrize("at", [0, "0.1", "ln(2)", 10**9])
def test_without_epsilon_only_the_disclosures_remain(at: object) -> None:
    profile = compose({ApproximateDP(0, "0.5"): 2, PureDP(0): 10**5})
    assert faults(profile.delta(at), F(3, 4), 1e-15, F(0)) == []
    assert exactly(profile.epsilon("0.75"), 0.0)
    assert exactly(profile.epsilon("0.74"), math.inf)


def test_total_disclosure() -> None:
    profile = compose([ApproximateDP(1, 1), PureDP(2)])
    for at in (0, 1, 5):
        assert exactly(profile.delta(at), F(1))
    assert exactly(profile.epsilon("0.9999999999"), math.inf)
    assert exactly(profile.disclosure, F(1))


@pytest.mark.parametrize("times", [1, 3, 10**5, 10**6, 10**15])
def test_pure_mechanisms_never_disclose(times: int) -> None:
    profile = compose({PureDP("0.1"): times})
    assert exactly(profile.disclosure, F(0))
    if times <= 10**10:
        assert exactly(profile.delta(F(times, 10)), F(0))
    assert profile.epsilon(0) == profile.largest_epsilon


def test_many_tiny_deltas() -> None:
    profile = compose({ApproximateDP("1e-9", "1e-18"): 10**14, ApproximateDP("1e-9", "1e-300"): 10**3})
    truth = -math.expm1(-1e-4)
    assert profile.disclosure.lower == pytest.approx(truth, rel=1e-12, abs=0)
    assert profile.disclosure.relative_width < 1e-15
    tiny = compose({ApproximateDP(1, "1e-300"): 3})
    assert faults(tiny.delta(3), disclosed([(F(1), F(1, 10**300), 3)]), 1e-15, F(0)) == []


# Where delta meets the disclosures.

MEETING = [
    [(F(1, 2), F(1, 10), 1)],
    [(F(1, 2), F(1, 10), 3), (F(1, 3), F(1, 7), 2)],
    [(F(1), F(1, 10**9), 20)],
]


def profile_of(parts: list[tuple[F, F, int]]) -> PrivacyProfile:
    return compose({ApproximateDP(epsilon, delta): times for epsilon, delta, times in parts})


@pytest.mark.parametrize("parts", MEETING)
def test_at_the_disclosures_and_below(parts: list[tuple[F, F, int]]) -> None:
    profile, disclosure = profile_of(parts), disclosed(parts)
    assert profile.epsilon(disclosure) == profile.largest_epsilon
    for tiny in (F(1, 10**15), F(1, 10**60), F(1, 10**1000), F(1, 10**3000)):
        assert exactly(profile.epsilon(disclosure - tiny), math.inf)


@pytest.mark.parametrize("digits", [15, 40, pytest.param(60), 100, 1000, 3000])
@pytest.mark.parametrize("parts", MEETING[:1])
def test_just_above_the_disclosures(parts: list[tuple[F, F, int]], digits: int) -> None:
    """delta beyond the disclosures is tiny, so epsilon is all but the largest."""
    found = profile_of(parts).epsilon(disclosed(parts) + F(1, 10**digits))
    assert found.upper <= 0.5
    assert found.lower == pytest.approx(0.5, rel=1e-12, abs=0)


def test_above_the_disclosures_by_less_than_can_be_decided() -> None:
    """10^-1400 more than the disclosures of a million: the least epsilon is some 80, not 1000."""
    times = 10**6
    digits = 10**1600
    kept = math.prod([digits], start=1)
    base, power = (10**9 - 1) * digits // 10**9, times
    while power:  # (1 - 1e-9)^times to 1590 digits
        if power & 1:
            kept = kept * base // digits
        base, power = base * base // digits, power >> 1
    found = compose({ApproximateDP("0.001", "1e-9"): times}).epsilon(1 - F(kept, digits) + F(1, 10**1400))
    assert found.lower < 200


# Hard places. A method may give a wide bracket, but not a wrong one, and no error but its own.


@pytest.mark.parametrize("epsilon", ["1e-12", "1e-20", "1e-50", "1e-100", "1e-200", "1e-300"])
@pytest.mark.parametrize("times", [1, 2, 100])
def test_tiny_epsilons(epsilon: str, times: int) -> None:
    profile, e = compose({PureDP(epsilon): times}), F(epsilon)
    for at in (F(0), e / 2, e * (times - 1), e * times, F(1)):
        truth = equal(e, times, at)
        bracket = profile.delta(at)
        assert F(bracket.lower) <= truth * (1 + F(1, 10**40))
        assert F(bracket.upper) >= truth * (1 - F(1, 10**40))


@pytest.mark.parametrize("epsilon", ["1e-12", "1e-20", "1e-50", "1e-100", "1e-200", "1e-300"])
@pytest.mark.parametrize("times", [1, 2, 100])
def test_the_epsilon_of_tiny_epsilons(epsilon: str, times: int) -> None:
    e = F(epsilon)
    found = compose({PureDP(epsilon): times}).epsilon(e / 10)
    assert equal(e, times, F(found.upper)) <= e / 10
    assert equal(e, times, F(found.lower)) >= e / 10


@pytest.mark.parametrize(
    ("epsilon", "times"),
    [
        (F(1, 10**4), 10),
        (F(1, 10**8), 10),
        (F(1, 10**12), 1),
    ],
)
def test_small_epsilons_are_narrow_below_the_mean(epsilon: F, times: int) -> None:
    assert compose({PureDP(epsilon): times}).delta(0).relative_width < 1e-12


@pytest.mark.parametrize("times", [1, 2, 3, 1000])
def test_huge_epsilons(times: int) -> None:
    profile = compose({PureDP(10**9): times})
    for at in (0, 1, 10**6, 999_999_900):
        bracket = profile.delta(at)
        assert bracket.upper == 1
        assert bracket.lower == pytest.approx(1, rel=1e-15, abs=0)
    found = profile.epsilon("1e-6")
    assert found.upper <= 1e9 * times
    assert found.lower >= 1e9 * times - 1


HARD: list[tuple[str, Callable[[], Bracket], float, float]] = [
    ("1 x 10^15 at 1e-6", lambda: compose({PureDP(1): 10**15}).epsilon("1e-6"), 4.62e14, 4.63e14),
    ("0.1 x 10^15 at 1e-6", lambda: compose({PureDP("0.1"): 10**15}).epsilon("1e-6"), 4.99e12, 5e12),
    ("0.1 x 10^15 at 1e-300", lambda: compose({PureDP("0.1"): 10**15}).epsilon("1e-300"), 4.99e12, 5e12),
    ("1e9 and 1e-9", lambda: compose([PureDP(10**9), PureDP("1e-9")]).epsilon("1e-1000"), 9.9e8, 1.1e9),
    ("1e9 and 1e-300", lambda: compose([PureDP(10**9), PureDP("1e-300")]).epsilon("0.5"), 9.9e8, 1.1e9),
    ("1 and 1e-300", lambda: compose([PureDP(1), PureDP("1e-300")]).epsilon("1e-3"), 0.99, 1.0),
    ("1 and 1e-100", lambda: compose([PureDP(1), PureDP("1e-100")]).epsilon("1e-3"), 0.99, 1.0),
    ("700 x 2", lambda: compose({PureDP(700): 2}).epsilon("1e-300"), 1399.9, 1400),
    ("1000 x 10^6", lambda: compose({PureDP(1000): 10**6}).epsilon("1e-6"), 999_999_998, 10**9),
    ("3 at 1e-5000", lambda: compose({PureDP(1): 3}).epsilon("1e-5000"), 2.999, 3),
    ("30 and ln 2 at .999999", lambda: compose([PureDP(30), PureDP(ln(2))]).epsilon(".999999"), 16.18, 16.19),
]


@pytest.mark.parametrize(("ask", "least", "most"), [case[1:] for case in HARD], ids=[case[0] for case in HARD])
def test_hard_places(ask: Callable[[], Bracket], least: float, most: float) -> None:
    found = ask()
    assert least <= found.lower <= found.upper <= most


@pytest.mark.parametrize("digits", [5, 20, 50, 100, 150])
def test_one_epsilon_far_below_the_other(digits: int) -> None:
    """The small one hardly matters; with the tilt it calls for, all that matters underflows to delta = 0."""
    parts = [(F(1), F(0), 1), (F(1, 10**digits), F(0), 1)]
    for at in (F(1, 2), F(99, 100)):
        assert faults(profile_of(parts).delta(at), wide(parts, at), 1e-7) == []


def test_every_epsilon_that_is_answered_can_be_asked() -> None:
    profile = compose({PureDP("0.1"): 10**15})
    assert profile.delta(profile.epsilon("1e-6").upper).upper <= 1e-6


def test_delta_far_beyond_the_range_of_floats() -> None:
    """1e-400 and less: the upper end is the least float, never 0."""
    bracket = compose({PureDP("0.1"): 10**6}).delta(11_000)
    assert bracket == Bracket(0.0, math.nextafter(0.0, 1.0))
    assert compose({PureDP("0.1"): 10**6}).delta(100_000) == Bracket(0.0, 0.0)


def test_a_target_below_the_range_of_floats() -> None:
    found = compose({PureDP("0.1"): 10**6}).epsilon("1e-2000")
    assert 8692 < found.lower < found.upper < 100_000


# How it shows itself, and its region.


def test_it_shows_what_is_composed() -> None:
    assert repr(compose({PureDP("0.1"): 1000})) == "PrivacyProfile({PureDP('0.1'): 1,000})"
    many = compose([PureDP(i) for i in range(1, 6)])
    assert repr(many) == "PrivacyProfile({PureDP(1): 1, PureDP(2): 1, PureDP(3): 1, and 2 more})"


def product(ratio: F, times: int) -> DiscretePair:
    """The two laws of several randomised responses, by the number of high answers."""
    chances = [math.comb(times, ups) * ratio**ups / (1 + ratio) ** times for ups in range(times + 1)]
    return DiscretePair(chances, chances[::-1])


@pytest.mark.parametrize("times", [1, 2, 3, 8])
def test_the_region_is_that_of_the_two_laws(times: int) -> None:
    """With rational ratios the region of the dominating pair is exact; ours is never smaller, nor by much."""
    exact = Region.of(product(F(3), times))
    ours = compose({PureDP("ln(3)"): times}).region()
    for i in range(41):
        missed = F(i, 40)
        alarm = exact.tradeoff().inverse()(missed)
        assert ours.tradeoff().inverse()(missed) <= alarm
        if times <= 2:
            continue
        assert alarm - ours.tradeoff().inverse()(missed) <= F(1, 100)


def test_the_region_of_equal_mechanisms_has_all_edges() -> None:
    profile = compose({ApproximateDP("0.1", "0.01"): 9})
    region = profile.region()
    for missed, alarm in region.vertices:
        for at in (F(1, 10), F(5, 10), F(9, 10)):
            delta = F(profile.delta(at).lower)
            odds = F(math.nextafter(math.exp(at), math.inf))
            assert alarm + odds * missed >= 1 - delta - F(1, 10**12)
    assert len(region.vertices) >= 9


def test_no_test_beats_the_tradeoff() -> None:
    tradeoff = compose({PureDP("0.5"): 4}).tradeoff()
    assert 1 - F(1, 10**12) <= tradeoff(0) <= 1
    assert tradeoff(1) == 0
    assert tradeoff("1/10") >= tradeoff("1/5") >= tradeoff("1/2")


# Threads. The working precision is shared; it may make brackets wide, never wrong.


@pytest.fixture
def often_switched() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def asked_at_once(profile: PrivacyProfile, questions: list[Callable[[PrivacyProfile], Bracket]]) -> list[object]:
    """What several threads are answered that start together; an exception is an answer too."""
    barrier = threading.Barrier(len(questions))
    answers: list[object] = [None] * len(questions)

    def ask(i: int) -> None:
        barrier.wait()
        try:
            answers[i] = questions[i](profile)
        except Exception as error:  # whatever it is
            answers[i] = error

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(questions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


EQUAL = [(F(1, 10), F(0), 300)]
MIXED = [(F(3, 10), F(0), 2), (F(1, 3), F(1, 10**6), 3), (F(0.7), F(0), 1)]


@pytest.mark.parametrize("parts", [EQUAL, MIXED])
@pytest.mark.usefixtures("often_switched")
def test_threads_share_a_profile(parts: list[tuple[F, F, int]]) -> None:
    places = [F(1, 2), F(1), F(2)] if parts is MIXED else [F(2), F(5), F(8)]
    truths = [wide(parts, at) for at in places] if parts is MIXED else [equal(F(1, 10), 300, at) for at in places]
    before = flint.ctx.prec
    for _ in range(3):
        questions: list[Callable[[PrivacyProfile], Bracket]] = [
            partial(PrivacyProfile.delta, epsilon=at) for at in places * 2
        ]
        answers = asked_at_once(profile_of(parts), questions)
        for answer, truth in zip(answers, truths * 2, strict=True):
            assert isinstance(answer, Bracket), answer
            assert faults(answer, truth, 1e-3) == []
    flint.ctx.prec = before


def test_threads_leave_the_precision_as_it_was() -> None:
    """Two that overlap, as two threads' blocks do."""
    before = flint.ctx.prec
    first, second = precision(1000), precision(2000)
    try:
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        assert flint.ctx.prec == before
    finally:
        flint.ctx.prec = before


@pytest.mark.usefixtures("often_switched")
def test_threads_share_many_arbitrary_mechanisms() -> None:
    before = flint.ctx.prec
    try:
        profile = compose(PureDP(0.1 + i / 97 + i * i * 1e-5) for i in range(66))
        answers = asked_at_once(profile, [lambda profile: profile.delta(20)] * 2)
        assert all(isinstance(answer, Bracket) for answer in answers), answers
    finally:
        flint.ctx.prec = before
