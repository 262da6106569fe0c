"""Three adversaries: two attain the optimal region exactly, corner by corner, and none passes it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from indistinct import ApproximateDP, Region, compose
from indistinct.composition.adversaries import AdaptiveAdversary, LikelihoodAdversary, Repeater
from indistinct.composition.allowance import Request
from indistinct.composition.experiment import Adversary, View, exact_power, view_laws
from indistinct.composition.guarantees import Guarantee, PureDP
from indistinct.composition.mechanism import geometric, leaking, randomized_response
from indistinct.regions import Tangent
from tests.composition.oracles import knot_delta

RATIO = Fraction(3)
TIMES = [1, 2, 3, 4, 5, 8]
DELTAS = [Fraction(0), Fraction(1, 5)]
STRONGEST = [LikelihoodAdversary, AdaptiveAdversary]


def guarantee_of(delta: Fraction) -> Guarantee:
    return ApproximateDP("ln(3)", delta) if delta else PureDP("ln(3)")


def edges(times: int, delta: Fraction) -> dict[int, Tangent]:
    """KOV, Theorem 3.3: the line at (k - 2i) ln(3) for every i, and its mirror image."""
    lines = {}
    for i in range(times // 2 + 1):
        lines[times - 2 * i] = Tangent(RATIO ** (times - 2 * i), knot_delta(RATIO, delta, times, i))
        lines[2 * i - times] = lines[times - 2 * i].swapped()
    return lines


def optimal(times: int, delta: Fraction) -> Region:
    return Region.of_tangents(edges(times, delta).values())


def strongest(kind: type, times: int, delta: Fraction, threshold: int) -> Adversary:
    adversary: Adversary
    if kind is LikelihoodAdversary:
        adversary = LikelihoodAdversary("ln(3)", delta, threshold)
    else:
        adversary = AdaptiveAdversary("ln(3)", delta, threshold, times=times)
    return adversary


@pytest.mark.parametrize("kind", STRONGEST)
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("delta", DELTAS)
def test_every_threshold_attains_a_corner_of_the_optimal_region(kind: type, times: int, delta: Fraction) -> None:
    region, certified = optimal(times, delta), compose({guarantee_of(delta): times}).region()
    for threshold, line in edges(times, delta).items():
        errors = exact_power(strongest(kind, times, delta, threshold), times, family=guarantee_of(delta))
        point = errors.missed_detection, errors.false_alarm
        assert line.slack(*point) == 0
        assert point in region.vertices
        assert region.tradeoff()(errors.false_alarm) == errors.missed_detection
        assert region.contains(*point)
        assert certified.contains(*point)


@pytest.mark.parametrize("kind", STRONGEST)
@pytest.mark.parametrize("times", [1, 2, 3, 6])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_thresholds_attain_every_corner(kind: type, times: int, delta: Fraction) -> None:
    attained = set()
    for threshold in range(times + 2, -times - 1, -2):
        errors = exact_power(strongest(kind, times, delta, threshold), times, family=guarantee_of(delta))
        attained.add((errors.missed_detection, errors.false_alarm))
    assert attained == set(optimal(times, delta).vertices)


@pytest.mark.parametrize("kind", STRONGEST)
def test_a_threshold_between_the_lattice_points_changes_nothing(kind: type) -> None:
    between, above = (exact_power(strongest(kind, 4, Fraction(0), t), 4, family=PureDP("ln(3)")) for t in (1, 2))
    assert between == above


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("delta", DELTAS)
def test_no_rejection_rule_can_do_more_with_these_questions(times: int, delta: Fraction) -> None:
    for kind in STRONGEST:
        laws = view_laws(strongest(kind, times, delta, 0), times, family=guarantee_of(delta))
        assert optimal(times, delta).includes(Region.of(laws))


@pytest.mark.parametrize("kind", STRONGEST)
def test_fewer_questions_do_not_reach_the_corner(kind: type) -> None:
    """The tests above can fail: one question less, and no corner is attained but those of certainty."""
    for threshold in range(4, -5, -2):
        errors = exact_power(strongest(kind, 3, Fraction(0), threshold), 3, family=PureDP("ln(3)"))
        assert (errors.missed_detection, errors.false_alarm) not in optimal(4, Fraction(0)).vertices[1:-1]


@pytest.mark.parametrize("kind", STRONGEST)
@pytest.mark.parametrize("epsilon", ["0.1", 1])
@pytest.mark.parametrize("delta", ["0.001", 0])
def test_where_the_ratio_is_irrational_the_corner_is_attained_to_rounding(
    kind: type, epsilon: object, delta: object
) -> None:
    family = ApproximateDP(epsilon, delta)
    certified = compose({family: 5}).region()
    for threshold in (5, 1, -3):
        adversary: Adversary
        if kind is LikelihoodAdversary:
            adversary = LikelihoodAdversary(epsilon, delta, threshold)
        else:
            adversary = AdaptiveAdversary(epsilon, delta, threshold, times=5)
        errors = exact_power(adversary, 5, family=family)
        assert certified.contains(errors.missed_detection, errors.false_alarm)
        least = certified.tradeoff()(errors.false_alarm)
        assert 0 <= errors.missed_detection - least <= Fraction(1, 10**13) * errors.missed_detection


# What makes the adaptive one adaptive.


def requests_of(adversary: AdaptiveAdversary, times: int, family: Guarantee) -> tuple[set[Request | None], set[int]]:
    """All that it ever asks for, and how many questions it may ask."""
    laws = view_laws(adversary, times, family=family)
    asked: set[Request | None] = set()
    lengths: set[int] = set()
    for view in laws.outcomes:
        assert isinstance(view, View)
        lengths.add(len(view.answers))
        asked |= {adversary.request(View(view.coins, view.answers[:i])) for i in range(len(view.answers))}
    return asked, lengths


@pytest.mark.parametrize("delta", DELTAS)
def test_the_adaptive_adversary_chooses_everything_by_what_it_has_seen(delta: Fraction) -> None:
    adversary = AdaptiveAdversary("ln(3)", delta, 0, times=6)
    asked, lengths = requests_of(adversary, 6, guarantee_of(delta))
    assert len(asked) == 4
    for part in ("database0", "database1", "query", "mechanism"):
        assert len({getattr(request, part) for request in asked}) == 2
    assert min(lengths) == (1 if delta else 3)  # given away at once, or three of six say the same
    assert max(lengths) == 6


@pytest.mark.parametrize("delta", DELTAS)
def test_the_adaptive_adversary_asks_in_no_fixed_order(delta: Fraction) -> None:
    adversary = AdaptiveAdversary("ln(3)", delta, 0, times=6)
    laws = view_laws(adversary, 6, family=guarantee_of(delta))
    histories = {
        tuple(adversary.request(View((), view.answers[:i])) for i in range(3))
        for view in laws.outcomes
        if isinstance(view, View) and len(view.answers) > 3
    }
    assert len(histories) > 1


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("threshold", [-3, 0, 1, 4])
def test_the_adaptive_adversary_stops_when_and_only_when_its_mind_is_made_up(delta: Fraction, threshold: int) -> None:
    """Against every continuation: all of them lead to one decision if it stops, and to both if it asks."""
    adversary = AdaptiveAdversary("ln(3)", delta, threshold, times=4)

    def decisions(evidence: float, left: int) -> set[int]:
        if not left or math.isinf(evidence):
            return {0 if evidence >= threshold else 1}
        steps = (1, -1, math.inf, -math.inf) if delta else (1, -1)
        return set().union(*(decisions(evidence + step, left - 1) for step in steps))

    def walk(view: View) -> None:
        left = 4 - len(view.answers)
        possible = decisions(adversary.evidence(view), left)
        request = adversary.request(view) if left else None
        assert (request is None) == (len(possible) == 1)
        if request is None:
            assert possible == {adversary.guess(view)}
            return
        laws = request.mechanism.laws(request.query, request.database0, request.database1)
        for outcome, p, q in zip(laws.outcomes, laws.null, laws.alternative, strict=True):
            if p or q:
                walk(View((), (*view.answers, outcome)))

    walk(View((), ()))


# The repeater.


@pytest.mark.parametrize("times", [1, 2, 3, 4, 7])
def test_a_majority_of_randomised_responses_is_on_the_boundary(times: int) -> None:
    errors = exact_power(Repeater(randomized_response("ln(3)")), times, family=PureDP("ln(3)"))
    wrong = sum(
        Fraction(math.comb(times, ones) * 3 ** (times - ones), 4**times) * (Fraction(1, 2) if 2 * ones == times else 1)
        for ones in range((times + 1) // 2, times + 1)
    )
    assert errors.false_alarm == errors.missed_detection == wrong
    assert optimal(times, Fraction(0)).tradeoff()(errors.false_alarm) == errors.missed_detection


@pytest.mark.parametrize("others", [0, 1, 3])
def test_the_mean_of_geometric_answers_is_inside(others: int) -> None:
    """Sums are no likelihood ratios: inside, and for three answers not on the boundary."""
    adversary = Repeater(geometric("ln(3)", 2 * others + 1), others)
    errors = exact_power(adversary, 3, family=PureDP("ln(3)"))
    assert errors.false_alarm == errors.missed_detection  # the range is symmetric about the two counts
    least = optimal(3, Fraction(0)).tradeoff()(errors.false_alarm)
    assert errors.missed_detection > least or others == 0
    assert optimal(3, Fraction(0)).contains(errors.missed_detection, errors.false_alarm)


def test_a_repeater_decides_by_the_mean_and_ties_by_its_coin() -> None:
    adversary = Repeater(geometric(1, 5), others=2)
    assert [adversary.guess(View(0, answers)) for answers in ((2,), (3,), (2, 4), (1, 4), (1, 4, 2))] == [0, 1, 1, 0, 0]
    assert [adversary.guess(View(coin, (2, 3))) for coin in (0, 1)] == [0, 1]


def test_leaks_are_for_the_likelihood_adversaries() -> None:
    """A leaking mechanism's answers are not all numbers, so there is no mean."""
    adversary = Repeater(leaking(randomized_response("ln(3)"), "1/5"))
    with pytest.raises(TypeError):
        exact_power(adversary, 2, family=ApproximateDP("ln(3)", "1/5"))
