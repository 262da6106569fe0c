from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import InvalidParameter
from indistinct.regions import DiscretePair, StochasticMap
from tests.regions.pairs import kernels, pairs

BLUR = StochasticMap({"yes": {"yes": Fraction(3, 4), "no": Fraction(1, 4)}, "no": {"no": Fraction(1)}}, ("yes", "no"))


@given(pairs(), st.data())
def test_push_apply_and_then_are_matrix_products(pair: DiscretePair, data: st.DataObject) -> None:
    kernel: StochasticMap = data.draw(kernels(len(pair)))
    after: StochasticMap = data.draw(kernels(len(kernel.outputs)))
    image = kernel.apply(pair)
    assert image.outcomes == kernel.outputs
    np.testing.assert_allclose(
        np.array(image.null, dtype=float), np.array(pair.null, dtype=float) @ kernel.as_matrix(), rtol=1e-12
    )
    assert kernel.then(after).apply(pair) == after.apply(image)
    assert all(
        kernel.then(after).probability(x, z)
        == sum(kernel.probability(x, y) * after.probability(y, z) for y in kernel.outputs)
        for x in pair.outcomes
        for z in after.outputs
    )


def test_samples_follow_the_row_exactly() -> None:
    class Counting(Random):
        """Answers 0, 1, 2, ... so that four draws from four are each value once."""

        drawn = -1

        def randrange(self, *arguments: int) -> int:  # type: ignore[override]  # one argument is used
            assert arguments == (4,)
            self.drawn += 1
            return self.drawn

    random = Counting()
    assert [BLUR.sample("yes", random) for _ in range(4)] == ["yes"] * 3 + ["no"]
    assert BLUR.sample("no", Random(1)) == "no"  # noqa: S311  # no secret is drawn


def test_what_is_no_stochastic_map_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"the row of 0 must sum to one exactly, but is 3/4"):
        StochasticMap({0: {0: Fraction(3, 4)}}, (0,))
    with pytest.raises(InvalidParameter, match="the probability of 0 from 0 must lie in"):
        StochasticMap({0: {0: Fraction(3, 2), 1: Fraction(-1, 2)}}, (0, 1))
    with pytest.raises(InvalidParameter, match="the row of 0 must name outcomes among the outputs only"):
        StochasticMap({0: {2: Fraction(1)}}, (0, 1))
    with pytest.raises(InvalidParameter, match="the input must be an outcome that the map starts from"):
        BLUR.probability("maybe", "yes")
