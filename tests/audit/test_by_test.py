"""The tester tested: how often it is wrong, what it can see, and what it makes of every kind of answer."""

from __future__ import annotations

import copy
import math
import pickle
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from indistinct import ApproximateDP, GaussianDP, PureDP, compose, ln
from indistinct.audit import NotPrivate, TestedAudit, assert_private, by_test
from indistinct.audit.judging import judged, least_epsilon, visible_epsilon
from indistinct.audit.outputs import gather, last_bits
from indistinct.audit.search import most_telling
from indistinct.audit.statistics import statistics_of
from indistinct.errors import InvalidParameter
from indistinct.noise import DiscreteLaplace
from indistinct.regions import Region, Tangent
from tests.audit.broken import floating_point_laplace, rounded_laplace
from tests.noise.budget import SHARE

RANDOM = np.random.default_rng(20260101)


def response(truth: float, runs: int) -> Any:
    """Yes with probability `truth`."""
    return RANDOM.random(runs) < truth


# How often it is wrong.


def accusations(runs: int, samples: int, false_alarm: object) -> int:
    """Of randomised response at exactly the epsilon that is claimed."""
    return sum(
        by_test(response, 0.75, 0.25, PureDP(ln(3)), samples=samples, false_alarm=false_alarm, batch=True).violates
        for _ in range(runs)
    )


@pytest.mark.parametrize("false_alarm", ["0.5", "0.2"])
def test_a_mechanism_exactly_at_its_claim_is_accused_no_more_often_than_stated(false_alarm: str) -> None:
    runs = 120
    assert accusations(runs, 60, false_alarm) <= stats.binom.ppf(1 - SHARE, runs, float(false_alarm))


def test_who_judges_by_the_answers_that_chose_the_event_is_wrong_more_often() -> None:
    """The fault that the split is for: forty answers in sixteen categories, all alike on both inputs."""
    region, tail, runs, wrong = Region.of_guarantee("0.1"), Fraction(1, 20), 60, 0
    for _ in range(runs):
        first, second = gather(lambda _, count: RANDOM.integers(0, 16, (count, 2)), 0, 1, 60, batch=True)
        found = most_telling(statistics_of(first, second), first, second, region, 60, 1.0)
        events = [
            judged(
                str(each), each.count(first), each.count(second), 60, speaks_for_first=each.speaks_for_first, tail=tail
            )
            for each in found
        ]
        wrong += any(event.breaks(region) for event in events)
    assert wrong > runs * 0.5


def test_the_bounds_are_the_quantiles_of_the_beta_law() -> None:
    for hits, trials in ((3, 50), (0, 20), (49, 50), (777, 10_000)):
        event = judged("it", hits, hits, trials, speaks_for_first=True, tail=Fraction(1, 1000))
        lower = stats.beta.ppf(0.001, hits, trials - hits + 1) if hits else 0
        upper = stats.beta.ppf(0.999, hits + 1, trials - hits)
        assert event.likely == pytest.approx(lower, rel=1e-9)
        assert event.unlikely == pytest.approx(upper, rel=1e-9)
        assert event.likely <= hits / trials <= event.unlikely


def test_both_directions_are_told_apart() -> None:
    event = judged("it", 10, 90, 100, speaks_for_first=False, tail=Fraction(1, 100))
    assert event.likely > 0.7 > 0.3 > event.unlikely
    assert event.breaks(Region.of_guarantee("0.5"))
    assert not judged("it", 10, 90, 100, speaks_for_first=True, tail=Fraction(1, 100)).breaks(Region.of_guarantee(0))


# What it can see.


def test_what_is_called_visible_is_seen_with_the_stated_probability() -> None:
    """An event of just the epsilon that is said to be visible; its counts are binomial, and judged as ever."""
    trials, tail, claimed = 200, Fraction(1, 10_000), Tangent(Fraction(3), Fraction(1, 100))
    region = Region.of_guarantee(ln(3), "1/100")
    event = judged("it", 120, 3, trials, speaks_for_first=True, tail=tail)
    visible = visible_epsilon(event, claimed, tail)
    p = event.likely
    q = (p - 0.01) * math.exp(-visible)

    def seen(chance: float, runs: int = 40) -> int:
        counts = zip(RANDOM.binomial(trials, p, runs), RANDOM.binomial(trials, chance, runs), strict=True)
        return sum(
            judged("it", int(a), int(b), trials, speaks_for_first=True, tail=tail).breaks(region) for a, b in counts
        )

    assert seen(q) >= stats.binom.ppf(SHARE, 40, 0.95)
    assert seen((p - 0.01) / 3) <= 2
    assert visible > math.log(3)


def test_what_is_proven_is_below_the_truth_and_near_it() -> None:
    noise = DiscreteLaplace(2)
    audit = by_test(
        lambda count, runs: count + noise.draws(runs), 7, 8, PureDP(1), samples=200_000, false_alarm=SHARE, batch=True
    )
    assert audit.verdict == "consistent"
    assert 0.44 < audit.epsilon <= 0.5
    assert audit.visible > 1


def test_too_few_answers_are_said_to_show_nothing() -> None:
    audit = by_test(response, 0.5, 0.5, PureDP(8), samples=40, batch=True)
    assert audit.visible == math.inf
    assert "could not have shown any violation" in str(audit)


def test_delta_is_not_held_against_a_mechanism() -> None:
    """One answer in a hundred gives the input away."""

    def leaking(name: str, runs: int) -> list[str]:
        return [name if leak else "nothing" for leak in RANDOM.random(runs) < 0.01]

    assert by_test(leaking, "Ada", "Eve", (0, "0.01"), samples=40_000, false_alarm=SHARE, batch=True).epsilon == 0
    assert by_test(leaking, "Ada", "Eve", ("0.1", "0.005"), samples=40_000, batch=True).violates
    assert by_test(leaking, "Ada", "Eve", (1, 0), samples=40_000, batch=True).event.name[-5:] in ("'Ada'", "'Eve'")


def test_a_profile_is_a_claim() -> None:
    def gaussian(count: float, runs: int) -> Any:
        return np.round(count + RANDOM.normal(0, 1, runs), 4)

    assert by_test(gaussian, 0, 1, GaussianDP(1), samples=40_000, false_alarm=SHARE, batch=True).verdict == "consistent"
    convicted = by_test(gaussian, 0, 1, compose([GaussianDP("0.7")]), samples=40_000, batch=True)
    assert convicted.violates
    assert convicted.epsilon > convicted.claimed
    assert convicted.claim == "the profile of GaussianDP('0.7')"


# Every kind of answer.


def pick(first: Any, second: Any) -> Any:
    """A mechanism that answers `first` three times in four on input 0, one time in four on input 1."""
    return lambda given: first if (RANDOM.random() < 0.75) == (given == 0) else second


KINDS = {
    "strings": ("yes", "no"),
    "none": (None, 0),
    "not a number": (math.nan, 1.5),
    "infinite": (math.inf, -math.inf),
    "large": (10**400, -(10**400)),
    "whole": (2**70, 2**70 + 1),
    "lists": ([1, "a"], [1, "b"]),
    "arrays": (np.array([1.5, 2.5]), np.array([2.5, 1.5])),
    "lengths": ((True,), (True, True)),
    "nested": ((1, (2, 3)), (1, (2, 4))),
    "nothing": ((), (1,)),
    "numpy numbers": (np.float64(1.5), np.int64(2)),
    "true and one": ((True, 1), (1, True)),
}


@pytest.mark.parametrize(("first", "second"), KINDS.values(), ids=KINDS)
def test_answers_of_every_kind_are_told_apart(first: Any, second: Any) -> None:
    audit = by_test(pick(first, second), 0, 1, PureDP(ln(3)), samples=2000, false_alarm=SHARE)
    assert audit.verdict == "consistent"
    assert audit.epsilon > 0.4
    assert by_test(pick(first, second), 0, 1, PureDP("0.3"), samples=2000).verdict == "violates"


def test_a_long_vector_is_told_apart_by_its_sum() -> None:
    def answer(shift: float, runs: int) -> Any:
        return np.round(RANDOM.laplace(0, 20, (runs, 100)) + shift, 3)

    assert by_test(answer, 0.0, 20.0, PureDP(1), samples=4000, batch=True).verdict == "violates"


def test_a_statistic_of_a_shared_noise() -> None:
    """Two numbers that share a large noise: only their difference tells, which logistic regression finds."""

    def answer(shift: float, runs: int) -> Any:
        shared = RANDOM.laplace(0, 1000, runs)
        return np.round(np.stack([shared, shared + RANDOM.laplace(0, 1, runs) + shift], axis=1), 3)

    audit = by_test(answer, 0, 2, PureDP("0.5"), samples=20_000, batch=True)
    assert audit.epsilon > 1
    assert "logistic regression" in audit.event.name


def test_the_last_bit_is_what_gives_floating_point_away() -> None:
    assert last_bits(np.array([0.1, 3.0, 2.0**-1074, 0.0, math.inf, math.nan])).tolist() == [-55, 0, -1074, *[2000] * 3]
    audit = by_test(floating_point_laplace, 0.0, 1.0, PureDP(1), samples=20_000, batch=True)
    assert audit.epsilon > 4
    assert not by_test(
        lambda value, runs: rounded_laplace(value, runs, scale=1), 0.0, 1.0, PureDP(1), samples=20_000, batch=True
    ).violates


# How it shows itself, and the assertion.


def test_the_region_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    audit = by_test(response, 0.75, 0.25, PureDP("0.5"), samples=4000, batch=True)
    axes = audit.plot(tmp_path / "region.svg")
    assert "<svg" in (tmp_path / "region.svg").read_text()
    assert axes.get_xlabel() == "missed detection"
    labels = {text.get_text() for text in axes.get_legend().get_texts()}  # type: ignore[union-attr]  # there is one
    assert labels == {"allowed by the claim", "an event, not allowed"}
    audit.plot(tmp_path / "region.png", axes)
    for path in (tmp_path / "none" / "region.svg", tmp_path / "region.story"):
        with pytest.raises(InvalidParameter, match="the path must be a file"):
            audit.plot(path)


def test_it_says_what_it_found() -> None:
    audit = by_test(response, 0.75, 0.25, PureDP(ln(3)), samples=4000, false_alarm=SHARE, batch=True)
    assert str(audit).startswith("Consistent with (ln(3), 0)-differential privacy: epsilon is at least")
    assert "\n" not in str(audit)
    assert "<table>" in audit._repr_html_()
    assert pickle.loads(pickle.dumps(audit)) == audit == copy.deepcopy(audit)  # noqa: S301  # our own
    assert least_epsilon(audit.event, Fraction(1)) == 0


def test_the_assertion() -> None:
    kept = assert_private(response, 0.75, 0.25, epsilon="ln(3)", samples=4000, false_alarm=SHARE, batch=True)
    assert isinstance(kept, TestedAudit)
    with pytest.raises(AssertionError, match="Violates") as caught:
        assert_private(response, 0.75, 0.25, epsilon="0.1", delta="1e-6", samples=4000, batch=True)
    error = caught.value
    assert isinstance(error, NotPrivate)
    assert error.audit.violates
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301  # our own


# Bad input.


def failing(given: int) -> int:
    if given:
        raise RuntimeError("out of luck")
    return 1


def leaving(given: int) -> int:
    if given:
        sys.exit(0)
    return 1


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((5, 0, 1, (1, 0)), {}, "the mechanism must be a function of an input"),
        ((failing, 1, 2, (1, 0)), {}, r"answer at least once, but is .* Each of its 100 calls raised RuntimeError\.$"),
        ((lambda x, _: failing(x), 0, 1, (1, 0)), {"batch": True}, "answers when asked for so many, not what has no"),
        ((lambda x, _: failing(x), 1, 1, (1, 0)), {"batch": True}, "On 1 it raised RuntimeError. Without batch"),
        ((leaving, 0, 1, (1, 0)), {}, "answer and not end the program, but is .* On 1 it raised SystemExit"),
        ((lambda x, _: leaving(x + 1), 0, 1, (1, 0)), {"batch": True}, "answer and not end the program"),
        ((lambda x: iter([x]), 0, 1, (1, 0)), {}, "be a value, and not an iterator"),
        ((lambda x: (x for _ in range(2)), 0, 1, (1, 0)), {}, "be a value, and not an iterator"),
        ((lambda x: (1, map(abs, [x])), 0, 1, (1, 0)), {}, "be a value, and not an iterator"),
        ((lambda _: object(), 0, 1, (1, 0)), {}, "be comparable to others by its value"),
        ((lambda _: {}, 0, 1, (1, 0)), {}, "an answer must be hashable"),
        ((lambda _: (1, []), 0, 1, "no"), {}, "the claim must be a guarantee, a profile or"),
        ((lambda _: 1, 0, 1, (-1, 0)), {}, "epsilon must lie in"),
        ((lambda _: 1, 0, 1, (1, 0)), {"samples": 39}, "samples must be a whole number from 40 to 100,000,000"),
        ((lambda _: 1, 0, 1, (1, 0)), {"samples": -1}, "samples must be a whole number from 40 to 100,000,000"),
        ((lambda _: 1, 0, 1, (1, 0)), {"samples": 10**12}, "samples must be a whole number from 40 to 100,000,000"),
        ((lambda _: 1, 0, 1, (1, 0)), {"samples": 50.5}, "samples must be a whole number"),
        ((lambda _: 1, 0, 1, (1, 0)), {"false_alarm": 0}, r"false_alarm must lie in \[1e-12, 0\.5\]"),
        ((lambda _: 1, 0, 1, (1, 0)), {"false_alarm": "1e-400"}, r"false_alarm must lie in \[1e-12, 0\.5\]"),
        ((lambda _: 1, 0, 1, (1, 0)), {"false_alarm": "0.999"}, r"false_alarm must lie in \[1e-12, 0\.5\]"),
        ((lambda _: 1, 0, 1, (1, 0)), {"false_alarm": "x"}, "false_alarm must be a number"),
        ((lambda _, n: np.zeros(n + 1), 0, 1, (1, 0)), {"batch": True}, "give 50 answers when asked for so many"),
        ((lambda x, n: np.zeros((n, 1 + x)), 0, 1, (1, 0)), {"batch": True}, "the shape of an answer must be the same"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[Any, ...], options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        by_test(*arguments, **{"samples": 50, **options})


def test_an_exception_is_an_answer_by_its_type_alone() -> None:
    def raising(given: int) -> int:
        raise (KeyError if (RANDOM.random() < 0.8) == (given == 0) else ValueError)(f"private: {given}")

    for mechanism in (failing, raising):
        audit = by_test(mechanism, 0, 1, PureDP(1), samples=4000)
        assert audit.violates
        assert "private" not in str(audit)
        assert "luck" not in str(audit)
    kept = by_test(raising, 0, 1, PureDP(ln(4)), samples=4000, false_alarm=SHARE)
    assert kept.verdict == "consistent"
    assert "raising " in str(kept)


def test_an_interruption_ends_the_audit() -> None:
    def interrupted(_: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        by_test(interrupted, 0, 1, PureDP(1), samples=50)


def test_a_claim_of_nothing_is_never_broken() -> None:
    audit = by_test(lambda given: given, 0, 1, ApproximateDP(1, 1), samples=400)
    assert audit.verdict == "consistent"
