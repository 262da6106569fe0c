"""A few Laplace answers in closed form, against integrals over the losses and against another method."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from indistinct import Gaussian, Laplace, PureDP, compose, ln
from indistinct.composition.folding.folded import FoldedComposition
from indistinct.composition.folding.sources import source_of, source_of_response
from indistinct.composition.losses import LaplaceLoss
from indistinct.composition.residues import ResidueComposition
from indistinct.composition.responses import Response, Responses
from indistinct.numbers import Bracket
from indistinct.numbers.balls import bracket_of
from tests.composition.folding import truth

F = Fraction


def closed(epsilons: list[Fraction], at: Fraction) -> Bracket:
    found = ResidueComposition.of([(LaplaceLoss(each), 1) for each in epsilons], Responses.of(()))
    assert found is not None
    return bracket_of(found.delta(at))


@pytest.mark.parametrize(
    ("epsilons", "at"),
    [
        ([F(1)], F(1, 2)),
        ([F(1), F(1)], F(0)),
        ([F(1), F(1)], F(3, 2)),
        ([F(1), F(2)], F(1, 3)),
        ([F(1, 1000), F(1, 3000)], F(1, 2000)),
        ([F(40), F(30)], F(69)),
        ([F(1), F(1), F(1)], F(2)),
        ([F(1), F(2), F(1, 3)], F(1)),
    ],
)
def test_delta_is_the_integral(epsilons: list[Fraction], at: Fraction) -> None:
    with mp.workdps(25):
        wanted = truth.of_laplace(epsilons, truth.number(at))
        found = closed(epsilons, at)
        assert found.lower <= wanted * (1 + mpf(10) ** -15)
        assert wanted * (1 - mpf(10) ** -15) <= found.upper
        assert found.relative_width < 4e-16


@pytest.mark.parametrize(
    ("levels", "responses", "at"),
    [
        ([(F(1), 10)], [], 3.0),
        ([(F(1), 6), (F(1, 2), 4)], [], 0.0),
        ([(F(1), 3)], [(F(1, 2), 5)], 2.0),
        ([(F(1, 10), 16)], [], 0.4),
        ([(F(5), 2), (F(1, 5), 2)], [(F(3), 1)], 11.0),
    ],
)
def test_another_method_holds_it(
    levels: list[tuple[Fraction, int]], responses: list[tuple[Fraction, int]], at: float
) -> None:
    laws = [(LaplaceLoss(level), times) for level, times in levels]
    boxes = Responses.of(responses)
    exact = ResidueComposition.of(laws, boxes)
    assert exact is not None
    found = bracket_of(exact.delta(F(at)))
    parts = [(source, times) for law, times in laws if (source := source_of(law)) is not None]
    parts += [(source_of_response(Response(level, 1)), times) for level, times in responses]
    around = FoldedComposition(parts).narrow(at, 1e-3).delta(at, at)
    assert around.lower <= found.lower <= found.upper <= around.upper
    assert around.relative_width <= 1e-3


def test_one_use_less_or_one_level_off_is_noticed() -> None:
    with mp.workdps(25):
        wanted = truth.of_laplace([F(1), F(1)], mpf(1))
    for wrong in ([F(1)], [F(1)] * 3, [F(1), F(1001, 1000)]):
        found = closed(wrong, F(1))
        assert not found.lower <= wanted <= found.upper


def test_deltas_far_in_the_tail_and_at_the_ends() -> None:
    ten = compose({Laplace(1, 1): 10})
    assert ten.delta(10) == Bracket(0.0, 0.0)
    assert ten.delta(F(10) - F(1, 10**20)).lower > 0
    near = ten.delta(F(10) - F(1, 10**20))
    assert near.relative_width < 4e-16
    assert near.upper == pytest.approx(2.0**-10 * 10.0**-20, rel=1e-9)  # the ten atoms together, and little else
    found = ten.epsilon("1e-300")
    assert found.relative_width < 1e-15
    assert found.upper == 10
    assert compose({Laplace(1, 1): 2, PureDP(ln(3)): 2}).delta(ln(2)).relative_width < 4e-16


def test_it_is_asked_for_little_work_only() -> None:
    law, nothing = LaplaceLoss(F(1)), Responses.of(())
    assert ResidueComposition.of([(law, 17)], nothing) is None
    assert ResidueComposition.of([(LaplaceLoss(F(i)), 2) for i in range(1, 7)], nothing) is None
    assert ResidueComposition.of([], nothing) is None
    beside = compose({Laplace(1, 1): 2, Gaussian(): 1}).delta(1)
    assert beside.relative_width < 1e-6
