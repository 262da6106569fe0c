"""Which method answers what, and that all methods give one answer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import ln
from indistinct.composition.decay import TooManyNodes
from indistinct.composition.evaluators import Evaluator, evaluator_of
from indistinct.composition.lattice import Lattice
from indistinct.composition.pairing import PairedComposition
from indistinct.composition.responses import Responses
from indistinct.composition.rounding import RoundedComposition
from indistinct.composition.transform import TransformedComposition
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.balls import bracket_of, precision
from tests.composition.oracles import convolved, faults, outcomes

F = Fraction
Parts = list[tuple[Epsilon, int]]


def methods(responses: Responses) -> Iterator[Evaluator]:
    """Everything that can answer."""
    yield evaluator_of(responses)
    yield PairedComposition(responses)
    if len(responses.groups) == 1:
        yield TransformedComposition(Lattice.of_equal(responses.groups[0]))
    if (lattice := Lattice.common(responses)) is not None:
        yield TransformedComposition(lattice)
    if (rounded := RoundedComposition.near_decimals(responses)) is not None:
        yield rounded


def disagreements(evaluators: Iterator[Evaluator], parts: Parts, places: list[Epsilon]) -> list[str]:
    """Which of some evaluators exclude the enumerated delta, or claim a part of it to be all."""
    found = []
    with precision(192):
        truths = [outcomes(parts, at) for at in places]
        for evaluator in evaluators:
            for at, truth in zip(places, truths, strict=True):
                try:
                    delta = evaluator.delta(at)
                except TooManyNodes:
                    continue
                named = f"{type(evaluator).__name__} at {at}"
                found += [f"{named}: {fault}" for fault in faults(bracket_of(delta), truth) if "width" not in fault]
    return found


mixed = st.one_of(
    st.integers(1, 60).map(lambda m: F(m, 20)),
    st.sampled_from(["0.1", "0.25", "1e-2", "1/3"]).map(F),
    st.floats(0.01, 8).map(F),
    st.integers(2, 20).map(lambda x: NaturalLog(F(x))),
)


@given(
    st.one_of(
        st.lists(st.tuples(mixed, st.integers(1, 3)), min_size=1, max_size=4),
        st.lists(st.tuples(st.integers(1, 40).map(lambda m: F(m, 10)), st.integers(1, 3)), min_size=1, max_size=4),
        st.tuples(mixed, st.integers(1, 12)).map(lambda one: [one]),
    ),
    st.floats(0, 1),
    st.sampled_from([F(0), F(1, 2), F(1), ln(2), ln(3), F(3, 2)]),
)
@settings(max_examples=60, deadline=None)
def test_all_methods_hold_the_truth(parts: Parts, share: float, at: Epsilon) -> None:
    responses = Responses.of(parts)
    place = F(share) * F(float(responses.largest_loss()))
    assert disagreements(methods(responses), parts, [place, at, parts[0][0]]) == []


def test_one_method_that_is_off_is_noticed() -> None:
    parts: Parts = [(F(1, 2), 2), (F(1), 3)]
    wrong = Responses.of([(F(1, 2), 3), (F(1), 3)])
    assert disagreements(methods(wrong), parts, [F(1)]) != []


def test_nothing_tells_nothing() -> None:
    silent = evaluator_of(Responses.of([(F(0), 5)]))
    assert silent.delta(F(0)) == 0


def test_dozens_of_responses_by_every_method() -> None:
    """Ten each of three kinds: enumerable, on a lattice, and near one when read as floats."""
    decimals: Parts = [(F(1, 10), 10), (F(1, 4), 10), (F(3, 10), 10)]
    floats: Parts = [(F(0.1), 10), (F(0.25), 10), (F(0.3), 10)]
    for parts in (decimals, floats):
        responses = Responses.of(parts)
        assert len(list(methods(responses))) >= 3
        assert disagreements(methods(responses), parts, [F(0), F(2), F(5)]) == []


def test_many_arbitrary_ones() -> None:
    """More than can be enumerated, and on no lattice but one so fine that it does not count as one."""
    spacing = F(1, 3 * 10**5)
    multiples = [10_007 + 997 * i for i in range(66)]
    shared = [(m * spacing, 1) for m in multiples]
    hidden = F(1, 10**60)  # moves no loss that a long double could tell, and hides the lattice
    evaluator = evaluator_of(Responses.of([(epsilon + i * hidden, 1) for i, (epsilon, _) in enumerate(shared)]))
    for at, tilt in ((F(2), 0.5), (F(5), 2.0)):
        truth = F(*convolved(spacing, multiples, at, tilt=tilt).as_integer_ratio())
        with precision(192):
            bracket = bracket_of(evaluator.delta(at))
        assert faults(bracket, truth, 1e-3, doubt=F(1, 10**14)) == []


def test_where_the_lattice_fails_the_next_method_answers() -> None:
    """Forty epsilons on a lattice of hundred thousands, most often 0: the transform hardly decays."""
    parts: Parts = [(F(100_000 + i * i, 100_000), 1) for i in range(20)]
    evaluator = evaluator_of(Responses.of(parts))
    with precision(192):
        paired = PairedComposition(Responses.of(parts))
        for at in (F(1), F(5), F(15)):
            assert evaluator.delta(at).overlaps(paired.delta(at))
