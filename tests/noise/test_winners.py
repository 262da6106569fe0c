"""The largest of many scores in blocks: the same as all at once."""

from __future__ import annotations

import numpy as np
import pytest

from indistinct.errors import InvalidParameter
from indistinct.noise.bits import Words
from indistinct.noise.lazy import LazyNoise
from indistinct.noise.standard import Kind
from indistinct.noise.winners import winners
from tests.noise.sources import RepeatableBits


class Given:
    """One sequence of words, however it is asked for."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def words(self, count: int) -> Words:
        given, self._words = self._words[:count], self._words[count:]
        return given


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("k", [1, 5])
def test_blocks_choose_as_one_array_does(kind: Kind, k: int) -> None:
    words = RepeatableBits(8).words(200_100)
    scores = np.arange(200_000) % 23
    whole = LazyNoise(kind, len(scores), 4, Given(words))
    assert winners(kind, scores, 4, k, Given(words)).tolist() == whole.top(scores, k).tolist()
    some = np.where(scores % 3, scores, -np.inf)
    assert winners(kind, some, 4, k, Given(words)).tolist() == whole.top(some, k).tolist()


def test_equal_words_in_different_blocks_are_refined() -> None:
    """The two largest noises have the same word: the next words, in order, decide."""
    words = np.full(70_000, 2**63, dtype=np.uint64)
    words[[3, 69_000]] = 2**40
    for first, second, best in ((5, 9, 3), (9, 5, 69_000)):
        more = np.array([first << 32, second << 32, 7, 7, 7, 7], dtype=np.uint64)
        found = winners(Kind.EXPONENTIAL, np.zeros(70_000), 1, 1, Given(np.concatenate([words, more])))
        assert found.tolist() == [best]


def test_blocks_without_a_possible_score_are_passed_over() -> None:
    scores = np.full(200_000, -np.inf)
    scores[150_000] = -5.0
    assert winners(Kind.GUMBEL, scores, 1).tolist() == [150_000]
    with pytest.raises(InvalidParameter, match="from 1 to 1"):
        winners(Kind.GUMBEL, scores, 1, 2)
