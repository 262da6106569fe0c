"""Sparse vectors: their law, what it keeps private, and how far answers are off; broken ones are told apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from indistinct import (
    AboveThreshold,
    ApproximateDP,
    NumericSparse,
    PureDP,
    Sparse,
    compose,
    least_noise,
)
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.watch import Watch
from indistinct.noise import SYSTEM
from tests.mechanisms.selection_laws import below, density, halting_law, integral, real, worst_ratio
from tests.noise.budget import band

F = Fraction
TRIALS, FEWER = 40_000, 5_000
VALUES = [2, 3, 1, 3]


def halts(watch: Watch, values: Sequence[int]) -> Any:
    """Where each run halts, cumulated; one more place, where a query always does, for those that did not before."""
    places = []
    while not watch.halted:
        at = 0
        while not watch.ask(values[at] if at < len(values) else 10**9):
            at += 1
        places.append(at)
    return np.cumsum(np.bincount(places, minlength=len(values) + 1)) / len(places)


def runs(threshold_scale: Any, query_scale: Any, count: int = TRIALS) -> Watch:
    """So many runs of AboveThreshold with these scales, for a threshold of 1."""
    return Watch(1, F(threshold_scale), F(query_scale), count, F(1), SYSTEM)


STREAM = [-4, -3, 0, 6]


@pytest.mark.parametrize("monotone", [False, True])
def test_a_stream_has_its_law_and_no_other(monotone: bool) -> None:
    """Faults: a scale 20% off either way, no noise on the threshold, half as much on the values."""
    mechanism = Sparse(TRIALS, TRIALS, monotone=monotone)
    b = AboveThreshold(1, monotone=monotone).query_scale
    assert mechanism.threshold_scale == 2
    assert mechanism.query_scale == (2 if monotone else 4) == b
    found, allowed = halts(mechanism.start(1), STREAM), band(TRIALS)
    with mpmath.workdps(15):

        def law(a: Any, b: Any) -> Any:
            return np.cumsum([float(p) for p in halting_law(STREAM, 1, a, b)])

        truth, faults = law(2, b), [law(2, b * F(6, 5)), law(2, b * F(4, 5)), law(F(1, 100), b), law(2, b / 2)]
    assert truth[-1] == pytest.approx(1)
    assert np.abs(found - truth).max() <= allowed
    for fault in faults:
        assert np.abs(found - fault).max() > allowed


def test_one_run_is_above_threshold() -> None:
    """Started one by one."""
    with mpmath.workdps(15):
        truth = np.cumsum([float(p) for p in halting_law(STREAM, 1, 2, 4)])
    places = [len(AboveThreshold(1).release([*STREAM, 10**9], 1)) - 1 for _ in range(FEWER)]
    found = np.cumsum(np.bincount(places, minlength=len(STREAM) + 1)) / FEWER
    assert np.abs(found - truth).max() <= band(FEWER)


def test_broken_streams_are_rejected() -> None:
    """The same faults, planted in the algorithm: its answers leave the band of the true law."""
    with mpmath.workdps(15):
        truth = np.cumsum([float(p) for p in halting_law(STREAM, 1, 2, 4)])
    allowed = band(TRIALS)
    assert np.abs(halts(runs(2, 4), STREAM) - truth).max() <= allowed
    for broken in (runs(2, "4.8"), runs(2, "3.2"), runs("0.001", 4), runs(2, 2)):
        assert np.abs(halts(broken, STREAM) - truth).max() > allowed


def test_so_many_runs_have_the_law_of_runs_one_after_the_other() -> None:
    """Sparse with cutoff 3 and epsilon 6: each run is a run of epsilon 2, with a fresh threshold."""
    with mpmath.workdps(15):
        truth = runs_law(VALUES, 3, 1, 2)
        as_if_unscaled = runs_law(VALUES, 3, F(1, 3), F(2, 3))
    found = patterns([Sparse(6, cutoff=3).start(1) for _ in range(FEWER)])
    allowed = band(FEWER)
    assert np.abs(found - truth).max() <= allowed < np.abs(found - as_if_unscaled).max()
    not_scaled, endless = ([runs(a, 2 * a, c) for _ in range(2000)] for a, c in ((F(1, 3), 3), (1, 100)))
    wider = band(2000)
    assert np.abs(patterns(not_scaled) - truth).max() > wider
    assert np.abs(patterns(endless) - truth).max() > wider


def test_the_threshold_of_each_run_is_a_new_one() -> None:
    """Two queries at the threshold, both above: 1/4; with one noise on the threshold for both it would be 1/3."""
    mechanism = Sparse(2, 2, monotone=True)
    pairs = [mechanism.start(1).ask_many([1, 1]).tolist() == [True, True] for _ in range(FEWER)]
    with mpmath.workdps(15):
        kept = integral(lambda r: density(r, mpmath.mpf(2)) * below(-r, mpmath.mpf(2)) ** 2, [mpmath.mpf(0)], 140)
    assert kept == pytest.approx(1 / 3)
    assert abs(np.mean(pairs) - 0.25) <= band(FEWER) < abs(np.mean(pairs) - float(kept))


def patterns(watches: Sequence[Any]) -> Any:
    """How often each pattern of answers came, cumulated in the order of `all_patterns`."""
    counts = dict.fromkeys(all_patterns(len(VALUES)), 0)
    for watch in watches:
        counts[tuple(watch.ask_many(VALUES).tolist())] += 1
    return np.cumsum(list(counts.values())) / len(watches)


def all_patterns(size: int) -> list[tuple[bool, ...]]:
    return [pattern for length in range(size + 1) for pattern in itertools.product((False, True), repeat=length)]


def runs_law(values: Sequence[int], cutoff: int, a: Any, b: Any) -> Any:
    """The same from integrals, run by run."""
    law = dict.fromkeys(all_patterns(len(values)), mpmath.mpf(0))

    def follow(pattern: tuple[bool, ...], chance: Any, left: int) -> None:
        rest = values[len(pattern) :]
        if not left or not rest:
            law[pattern] += chance
            return
        *halting, never = halting_law(rest, 1, a, b)
        for at, halt in enumerate(halting):
            follow((*pattern, *[False] * at, True), chance * halt, left - 1)
        law[(*pattern, *[False] * len(rest))] += chance * never

    follow((), mpmath.mpf(1), cutoff)
    assert sum(law.values()) == pytest.approx(1)
    return np.cumsum([float(chance) for chance in law.values()])


# Privacy, of the exact laws.


def moved(values: Sequence[int], *, monotone: bool) -> list[list[int]]:
    steps = (0, 1) if monotone else (-1, 1)
    return [[v + step for v, step in zip(values, by, strict=True)] for by in itertools.product(steps, repeat=3)]


@pytest.mark.parametrize("monotone", [False, True])
def test_the_exact_law_keeps_epsilon(monotone: bool) -> None:
    epsilon = F(1, 2)
    mechanism = AboveThreshold(epsilon, monotone=monotone)
    worst = mpmath.mpf(0)
    with mpmath.workdps(15):
        for values in ((0, 0, 0), (-4, -20, 30)):
            truth = halting_law(values, 1, mechanism.threshold_scale, mechanism.query_scale)
            for other in moved(values, monotone=monotone):
                law = halting_law(other, 1, mechanism.threshold_scale, mechanism.query_scale)
                worst = max(worst, worst_ratio(truth, law))
    assert worst <= float(epsilon) * (1 + 1e-9)
    assert worst > float(epsilon) / 3


def test_without_noise_on_the_threshold_the_loss_grows_with_the_stream() -> None:
    """The planted fault: noise on the values alone, of the same total."""
    long_stream, after = [0] * 8, [1] * 8
    with mpmath.workdps(15):
        broken = worst_ratio(*(halting_law(values, 0, F(1, 100), 4) for values in (long_stream, after)))
        whole = worst_ratio(*(halting_law(values, 0, 2, 4) for values in (long_stream, after)))
    assert whole <= 1 < broken


def test_monotone_noise_is_too_little_for_queries_that_move_apart() -> None:
    """The planted fault: all queries but the last fall, the last one rises, with the noise for monotone ones."""
    values, other = [0, 0, 0, 0, 0, -30], [1, 1, 1, 1, 1, -31]
    with mpmath.workdps(15):
        assert worst_ratio(halting_law(values, -12, 2, 2), halting_law(other, -12, 2, 2)) > 1
        assert worst_ratio(halting_law(values, -12, 2, 4), halting_law(other, -12, 2, 4)) <= 1


# What it costs.


def test_what_is_charged() -> None:
    assert AboveThreshold("0.3").loss == PureDP("0.3")
    assert Sparse("0.3", 10).loss == PureDP("0.3")
    assert Sparse("0.3", 10).parts == {PureDP("0.03"): 10}
    assert Sparse("0.3", 10, "1e-6").loss == ApproximateDP("0.3", "1e-6")
    pure = NumericSparse(9, 10)
    assert (pure.each_epsilon, pure.value_epsilon) == (F("0.8"), F("0.1"))
    assert pure.loss == PureDP(9)


def test_the_papers_noise() -> None:
    """Algorithm 2: sigma is sqrt(32 c ln(1/delta)) / epsilon; Algorithm 3: for its two levels, with delta / 2."""
    sparse = Sparse("0.5", 20, "1e-6", sensitivity=3)
    sigma = 3 * math.sqrt(32 * 20 * math.log(1e6)) / 0.5
    assert float(sparse.threshold_scale) == pytest.approx(sigma, rel=1e-12)
    assert sparse.query_scale == 2 * sparse.threshold_scale
    assert sparse.saving == 0

    numeric = NumericSparse("0.5", 20, "1e-6", sensitivity=3)
    root = math.sqrt(512)
    first, second = root / (root + 1) * 0.5, 2 / (root + 1) * 0.5
    units = 3 * math.sqrt(32 * 20 * math.log(2e6))
    assert float(numeric.threshold_scale) == pytest.approx(units / first, rel=1e-12)
    assert float(numeric.value_scale) == pytest.approx(units / second, rel=1e-12)

    pure = NumericSparse("0.5", 20, sensitivity=3)
    assert pure.threshold_scale == 3 * 2 * 20 / (F(8, 9) / 2)
    assert pure.value_scale == 3 * 2 * 20 / (F(2, 9) / 2)


@pytest.mark.parametrize("cutoff", [1, 10, 300])
def test_optimal_composition_allows_less_noise(cutoff: int) -> None:
    """The runs together keep (epsilon, delta), and 0.1% less noise does not."""
    for mechanism in (Sparse, NumericSparse):
        paper, optimal = (mechanism("0.7", cutoff, "1e-6", accounting=how) for how in ("paper", "optimal"))
        assert compose(optimal.parts).delta("0.7").upper <= 1e-6
        parts: dict[Any, int] = dict(optimal.parts)
        bolder = {PureDP(part.epsilon * F("1.001")): times for part, times in parts.items()}
        assert compose(bolder).delta("0.7").lower > 1e-6
        assert optimal.each_epsilon >= F("0.7") / cutoff * (1 if mechanism is Sparse else F("0.95"))
        assert optimal.saving == pytest.approx(1 - float(optimal.query_scale / paper.query_scale))
        assert 0.3 < optimal.saving < 0.95
        assert compose(paper.parts).delta("0.7").upper < 1e-6
        assert optimal.loss == paper.loss


def test_the_papers_noise_is_refused_where_it_is_too_little() -> None:
    """Advanced composition in this form needs a small epsilon, and a delta not near 1 (errata 10)."""
    for mechanism in (Sparse, NumericSparse):
        with pytest.raises(InvalidParameter, match="be smaller for the paper's noise"):
            mechanism(2000, 1000, "1e-6")
        assert compose(mechanism(2000, 1000, "1e-6", accounting="optimal").parts).delta(2000).upper <= 1e-6
    with pytest.raises(InvalidParameter, match="be smaller for the paper's noise"):
        Sparse("0.9", 10, "0.999")


def test_the_least_noise_beside_other_things_is_found() -> None:
    plan: Any = least_noise(Sparse, cutoff=5, each_delta="1e-8", times=3, epsilon=1, delta="1e-6")
    assert plan.mechanism.delta == F("1e-8")
    assert compose({plan.mechanism: 3}).delta(1).upper <= 1e-6
    assert compose({Sparse(plan.mechanism.epsilon * F("1.01"), 5, "1e-8"): 3}).delta(1).lower > 1e-6


# Accuracy.


def test_the_theorems_constants() -> None:
    """As printed, forwards and backwards."""
    k, c, beta, delta = 5000, 7, 0.01, 1e-6
    expected: list[tuple[Any, float]] = [
        (AboveThreshold("0.3"), 8 * (math.log(k) + math.log(2 / beta)) / 0.3),
        (Sparse("0.3", c), 8 * c * (math.log(k) + math.log(2 * c / beta)) / 0.3),
        (
            Sparse("0.3", c, "1e-6"),
            (math.log(k) + math.log(2 * c / beta)) * math.sqrt(512 * c * math.log(1 / delta)) / 0.3,
        ),
        (NumericSparse("0.3", c), 9 * c * (math.log(k) + math.log(4 * c / beta)) / 0.3),
    ]
    for mechanism, alpha in expected:
        found = mechanism.accuracy("0.01", queries=k)
        assert found.alpha == pytest.approx(alpha, rel=1e-12)
        assert mechanism.failure(found.alpha, queries=k).beta == pytest.approx(beta, rel=1e-9)
        assert "Dwork and Roth" in found.theorem


def test_theorem_3_28_forgets_the_scale_of_the_values() -> None:
    """For delta > 0 it names (ln k + ln(4c/beta)) units; the values' noise alone needs sqrt(8) ln(2c/beta) of them."""
    epsilon, delta, beta = 0.5, 1e-6, F(1, 20)
    mechanism = NumericSparse("0.5", 1, "1e-6", granularity=F(1, 2**20))
    unit = math.sqrt(math.log(2 / delta)) * (math.sqrt(512) + 1) / epsilon
    printed = math.log(4 / beta) * unit
    assert math.exp(-printed / float(mechanism.value_scale)) > 4 * beta  # what the printed alpha promises at most beta
    found = mechanism.accuracy(beta, queries=1)
    assert found.alpha == pytest.approx(math.sqrt(8) * math.log(2 / beta) * unit, rel=1e-6)
    assert "own noise" in found.theorem
    many = mechanism.accuracy(beta, queries=10**9)
    assert many.alpha == pytest.approx((math.log(1e9) + math.log(4 / beta)) * unit, rel=1e-9)
    assert many.theorem == "Dwork and Roth, Theorem 3.28"


def test_theorem_3_26_halts_early_where_it_says_it_does_not() -> None:
    """One query far above, cutoff 1, and others to follow: L(T) = 1 = c, but it halts at the first."""
    assert Sparse(1, 1).release([10**6, 0, 0], threshold=1000).tolist() == [True]


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("queries", [1, 2, 30])
def test_the_exact_failure_is_that_of_the_worst_stream(queries: int, monotone: bool) -> None:
    mechanism = AboveThreshold(1, monotone=monotone)
    a, b = real(mechanism.threshold_scale), real(mechanism.query_scale)
    scales = mechanism.threshold_scale, mechanism.query_scale
    for alpha in (0, 3, 25):

        def right(r: Any, alpha: int = alpha) -> Any:
            return density(r, a) * below(r + alpha, b) ** (queries - 1) * below(alpha - r, b)

        with mpmath.workdps(20):
            truth = 1 - integral(right, [mpmath.mpf(0), mpmath.mpf(alpha), mpmath.mpf(-alpha)], 60 * b)
            found = mechanism.failure(alpha, queries=queries)
            assert found.exact is not None
            assert found.exact.lower - 1e-12 <= truth <= found.exact.upper + 1e-12
            assert found.exact.relative_width < 1e-9
            assert found.beta >= truth
            if queries == 2 and alpha == 3:  # others err less: the last just below, or near
                for values in ([-alpha, -alpha], [-alpha, 0], [-alpha - 1, alpha]):
                    first, last, never = halting_law(values, 0, *scales)
                    errs: dict[int, Any] = {-alpha: last, 0: mpmath.mpf(0), alpha: never}
                    wrong = first + errs[values[1]]
                    assert wrong <= truth
    there = mechanism.accuracy("0.01", queries=queries)
    assert there.exact is not None
    assert there.exact.upper < there.alpha
    assert mechanism.failure(there.exact.upper, queries=queries).exact.upper == pytest.approx(0.01, rel=1e-6)  # type: ignore[union-attr]
    assert Sparse(1, 1, monotone=monotone).accuracy("0.01", queries=queries).exact == there.exact


def test_streams_fail_as_often_as_they_should() -> None:
    """At the exact alpha for beta = 0.2; twice as much noise fails more often than the band allows."""
    mechanism, queries = AboveThreshold(1), 20
    exact = mechanism.accuracy("0.2", queries=queries).exact
    assert exact is not None
    values = np.array([-exact.upper] * (queries - 1) + [exact.upper])
    right = [False] * (queries - 1) + [True]
    failed = np.mean([mechanism.release(values, 0.0).tolist() != right for _ in range(FEWER)])
    allowed = band(FEWER)
    assert abs(failed - 0.2) <= allowed
    broken = [Watch(0, F(2) * F(6, 5), F(4) * F(6, 5), 1, F(1), SYSTEM) for _ in range(FEWER)]
    assert np.mean([watch.ask_many(values).tolist() != right for watch in broken]) > 0.2 + allowed


def test_sparse_fails_at_most_as_often_as_promised() -> None:
    mechanism = Sparse(3, 3)
    alpha = mechanism.accuracy("0.2", queries=12).alpha
    values = np.array(([-alpha] * 3 + [alpha]) * 3)
    failed = np.mean([mechanism.release(values, 0.0).tolist() != (values > 0).tolist() for _ in range(2000)])
    assert failed <= 0.2 + band(2000)
    nearer = np.mean([mechanism.release(values / 6, 0.0).tolist() != (values > 0).tolist() for _ in range(2000)])
    assert nearer > 0.2 + band(2000)  # the bound is no empty one


# Released values.


def test_released_values_have_their_law_whatever_was_compared() -> None:
    """At the threshold, given that it is above; the planted fault reuses the noise that was compared."""
    mechanism = NumericSparse(9 * TRIALS, TRIALS)
    assert mechanism.value_scale == 1
    answers = mechanism.release([5] * (4 * TRIALS), 5)
    released = [answer for answer in answers if answer is not None]
    assert len(released) == TRIALS
    found = np.bincount(np.clip(np.array(released, dtype=np.int64) + 15, 0, 40), minlength=41)
    q = math.exp(-1)
    truth = np.cumsum([(1 - q) / (1 + q) * q ** abs(x) for x in range(-20, 21)])
    allowed = band(TRIALS)
    assert np.abs(np.cumsum(found) / len(released) - truth).max() <= allowed
    for wrong in (0.8, 1.2):
        q = math.exp(-1 / wrong)
        fault = np.cumsum([(1 - q) / (1 + q) * q ** abs(x) for x in range(-20, 21)])
        assert np.abs(np.cumsum(found) / len(released) - fault).max() > allowed
    with mpmath.workdps(15):  # P(noise < 0 | noise >= the threshold's), of the noise compared
        reused = integral(lambda v: density(v, mpmath.mpf(1)) * below(v, mpmath.mpf("0.5")) * (v < 0), [0], 50) * 2
    assert abs(reused - truth[19]) > allowed


def test_released_values_lie_on_their_lattice() -> None:
    quarter = NumericSparse(9, 3, granularity="1/4")
    assert quarter.value_scale == 3
    answers = quarter.release(np.array([0.1, 1000.1, 2000.9, 3000.2]), 500)
    assert answers[0] is None
    assert all(answer is not None and answer * 4 == int(answer * 4) for answer in answers[1:])
    assert isinstance(NumericSparse(9, 1).release([1000], 0)[0], int)
    assert NumericSparse(9, 1, sensitivity="0.3", granularity="1/4").value_scale == F(1, 2)
    for value, steps in ((0.125, 1), (-0.125, 0), (0.12, 0), (-0.13, -1)):
        assert quarter.start(0)._steps(value) == steps  # noqa: SLF001  # rounding before noise cannot be seen after it


# Bad parameters.


@pytest.mark.parametrize("mechanism", [Sparse, NumericSparse])
def test_bad_parameters_are_refused(mechanism: Any) -> None:
    for name, wrong in [
        ("cutoff", 0),
        ("cutoff", 10**7),
        ("cutoff", 1.5),
        ("delta", 1),
        ("delta", -0.1),
        ("delta", math.nan),
        ("sensitivity", 0),
        ("epsilon", 0),
        ("epsilon", math.inf),
        ("accounting", "moments"),
        ("accounting", ["paper"]),
    ]:
        with pytest.raises(InvalidParameter, match=name):
            mechanism(**{"epsilon": 1, "cutoff": 3, name: wrong})


@pytest.mark.parametrize("granularity", [0, -1, 3, "1/3", math.inf, 2**201, "0.75"])
def test_a_granularity_is_a_power_of_two(granularity: object) -> None:
    with pytest.raises(InvalidParameter, match="granularity"):
        NumericSparse(1, 3, granularity=granularity)


def test_cards_show_what_matters() -> None:
    for mechanism in (AboveThreshold(1), Sparse(1, 3, "1e-6", accounting="optimal"), NumericSparse(1, 3)):
        assert "noise on the threshold" in mechanism._repr_html_()
