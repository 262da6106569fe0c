r"""MWEM (Hardt, Ligett and McSherry 2012): a synthetic histogram that answers many linear queries well.

In each round the exponential mechanism chooses a query on which the synthetic histogram is far off, its true answer
is measured with noise, and multiplicative weights move the synthetic histogram towards the measurement. Only the choice
and the measurement look at the data. Both are exact: histogram and queries are whole numbers (of a unit that the
queries have in common), so true answers are; synthetic answers are floats made from what was released already, rounded
to a lattice that does not depend on the data before they are compared with the true ones. The rest is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.guarantees import PureDP
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.display import card
from indistinct.mechanisms.exponential import ExponentialMechanism
from indistinct.mechanisms.level import EPSILON_KNOBS, read_level
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.selecting import PRIVATE, at_least, probability, read_beta, read_distance
from indistinct.mechanisms.values import all_whole
from indistinct.mechanisms.workload import Workload
from indistinct.noise import SYSTEM, BitSource, DiscreteLaplace, Scale
from indistinct.noise.given import as_given
from indistinct.noise.table import Integers
from indistinct.numbers import read_number
from indistinct.numbers.balls import arb, ball, bracket_of, precision

__all__ = ["MWEM", "SyntheticHistogram"]

Reals = NDArray[np.float64]
_THEOREM = "Hardt, Ligett and McSherry, Theorem 2.2, for any beta"
_MOST_ROUNDS = 10**5
_FINE_BITS = 10
_BITS = 128


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticHistogram:
    """A histogram made from noisy answers alone: public, and as many questions as you like may be asked of it.

    It is the mean of the histograms that the rounds began with, as the theorem has it.
    """

    cells: Reals
    """Weights that add up to the total."""
    answers: Reals
    """Of the queries it was made for, in their order."""
    measured: tuple[tuple[int, float], ...]
    """Which query was measured in each round, and its noisy answer."""

    def answer(self, query: object) -> float:
        """Another linear query's answer: one number for each cell."""
        weights = np.asarray(query, dtype=np.float64)
        if weights.shape != self.cells.shape:
            raise InvalidParameter("query", query, f"give one number for each of the {len(self.cells)} cells")
        return float(weights @ self.cells)


@dataclass(frozen=True, slots=True, init=False)
class MWEM:
    r"""A synthetic histogram from so many rounds of choosing, measuring and reweighting.

    Each round spends epsilon / (2 rounds) on the exponential mechanism and as much on a measurement with discrete
    Laplace noise: epsilon in all, as a pure guarantee; `parts` lists them one by one for a finer account.

    The guarantee is for histograms of which one person changes every query's answer by at most `sensitivity`. For
    adding or removing a record, that is the largest absolute number in the queries. For replacing one, it is the
    largest less the smallest number of a query: 1 for queries of zeros and ones, but 2 for queries of signs.

    >>> from indistinct import MWEM
    >>> ages = [40, 90, 120, 80, 20]
    >>> up_to = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]
    >>> released = MWEM(epsilon=20, rounds=8).release(ages, up_to, total=350)
    >>> bool(abs(released.answers - [40, 130, 250, 330]).max() < 100), round(sum(released.cells))
    (True, 350)
    """

    knobs: ClassVar[tuple[Knob, ...]] = EPSILON_KNOBS

    epsilon: Fraction
    rounds: int
    sensitivity: Fraction

    def __init__(self, epsilon: object, rounds: object, sensitivity: object = 1) -> None:
        object.__setattr__(self, "epsilon", read_level(epsilon))
        object.__setattr__(self, "rounds", at_least("rounds", rounds, 1, _MOST_ROUNDS))
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))

    @property
    def each_epsilon(self) -> Fraction:
        """What each choice, and each measurement, costs."""
        return self.epsilon / (2 * self.rounds)

    @property
    def loss(self) -> PureDP:
        """Of the whole release."""
        return PureDP(self.epsilon)

    @property
    def parts(self) -> Mapping[PureDP | ExponentialMechanism, int]:
        """The choices and measurements one by one, for `compose`: a finer account than `loss`."""
        choice = ExponentialMechanism(self.each_epsilon, self.sensitivity)
        return {choice: self.rounds, PureDP(self.each_epsilon): self.rounds}

    def release(
        self,
        histogram: object,
        queries: object,
        *,
        total: object,
        count: object = None,
        source: BitSource = SYSTEM,
    ) -> SyntheticHistogram:
        """The synthetic histogram; costs `loss`.

        `histogram` holds whole numbers. `queries` is a matrix with a row of numbers for each query and a column for
        each cell, dense or one of SciPy's sparse arrays, or a function from the number of a query (below `count`) to
        its row. Numbers are multiples of 2^-20 and at most `sensitivity`. `total` is how many records there are, as
        far as the public knows: nothing is read from the histogram's own sum. The guarantee does not depend on its
        being right, the accuracy does.
        """
        cells = _read_histogram(histogram)
        workload = Workload.read(queries, len(cells), self.sensitivity, count)
        size = read_positive("total", total)
        if size < 1:  # weights move by (answer - synthetic) / total, and the lattice of answers may be as coarse as 1
            raise InvalidParameter("total", total, "be at least 1, in records")
        # Answers are whole numbers of the workload's unit. Scores are counted in a finer one.
        fine = 1 << _FINE_BITS
        bound = math.ceil(size * self.sensitivity / workload.unit)
        if bound * fine >= 2**61:
            raise InvalidParameter("total", total, "be smaller: the answers do not fit 64 bits")
        truth = workload.exact_answers(cells, 2**61 // fine)
        select = ExponentialMechanism(self.each_epsilon, self.sensitivity / workload.unit * fine)
        noise = DiscreteLaplace(Scale(math.ceil(self.sensitivity / workload.unit), self.each_epsilon))

        mean = float(size)
        weights = np.full(len(cells), 1 / len(cells))
        average = np.zeros(len(cells))
        measured = []
        for _ in range(self.rounds):
            average += weights
            synthetic = workload.answers(weights) * mean
            scores = np.abs(_rounded(synthetic, fine, bound) - truth * fine)
            at = select.release(scores, source=source)
            noisy = min(max(int(truth[at]) + noise.draw(source), -bound), bound)
            answer = float(noisy * workload.unit)
            measured.append((at, answer))
            # |q(x)| is at most the sensitivity, and so is (answer - synthetic) / (2 total): the exponent is at most 1.
            pace = (answer - float(synthetic[at]) * float(workload.unit)) / (2 * mean * float(self.sensitivity) ** 2)
            weights = weights * np.exp(workload.row(at) * (float(workload.unit) * pace))
            weights /= weights.sum()
        average *= mean / self.rounds
        answers = workload.answers(average) * float(workload.unit)
        return SyntheticHistogram(average, answers, tuple(measured))

    def accuracy(self, beta: object, *, cells: object, queries: object, total: object) -> Accuracy:
        r"""How far the worst of the queries is off, except with probability beta.

        With n the total, and s the sensitivity: alpha = s (2 n sqrt(ln(cells) / rounds) + (4 rounds / epsilon)
        (ln(queries) + l) + (2 rounds / epsilon) l + 2) with l = ln(2 rounds / beta). At beta = 2 rounds / queries, and
        without the 2 for rounding to lattices, it is Theorem 2.2's 2 n sqrt(ln(cells) / rounds) + 10 rounds
        ln(queries) / epsilon. It needs the true total.

        >>> print(MWEM(1, rounds=10).accuracy("0.05", cells=1024, queries=1000, total=10**6))
        the error is at most 1.66...e+06 except with probability 0.05 (Hardt, Ligett and McSherry, Theorem 2.2, ...)
        """
        share = read_beta(beta)
        with precision(_BITS):
            logarithm = ball(2 * self.rounds / share).log()
            start, many = self._start(cells, total), at_least("queries", queries, 1)
            noise = 4 * (ball(many).log() + logarithm) + 2 * logarithm
            alpha = start + ball(self.sensitivity * self.rounds / self.epsilon) * noise
            return Accuracy(bracket_of(alpha).upper, float(share), _THEOREM)

    def failure(self, alpha: object, *, cells: object, queries: object, total: object) -> Accuracy:
        """How likely the worst of the queries is off by more than alpha: the same the other way round."""
        distance = read_distance(alpha)
        with precision(_BITS):
            start, many = self._start(cells, total), at_least("queries", queries, 1)
            room = (ball(distance) - start) / ball(self.sensitivity * self.rounds / self.epsilon)
            beta = 2 * self.rounds * ((4 * ball(many).log() - room) / 6).exp()
            return Accuracy(float(distance), probability(beta).upper, _THEOREM)

    def _start(self, cells: object, total: object) -> arb:
        """What so few rounds leave, and what the lattices add."""
        size = read_number("total", total)
        if not size > 0:
            raise InvalidParameter("total", total, "be above 0")
        left = 2 * ball(size) * (ball(at_least("cells", cells, 1)).log() / self.rounds).sqrt()
        return ball(self.sensitivity) * (left + 2)

    def _repr_html_(self) -> str:
        return card(
            self,
            {
                "rounds": self.rounds,
                "each choice, and each measurement": f"epsilon {float(self.each_epsilon):.6g}",
                "privacy of it all": f"epsilon {float(self.epsilon):.6g}",
            },
        )


def _read_histogram(histogram: object) -> Integers:
    cells = as_given("histogram", histogram)
    if cells.ndim != 1 or not len(cells) or not all_whole(cells):
        raise InvalidParameter("histogram", PRIVATE, "be a vector of whole numbers")
    if cells.min() < 0 or int(cells.max()) >= 2**62:
        raise InvalidParameter("histogram", PRIVATE, "be counts from 0 to 2^62")
    return cells.astype(np.int64)


def _rounded(synthetic: Reals, fine: int, bound: int) -> Integers:
    """Public answers on the lattice, within what any histogram of the public total could have."""
    limit = float(bound) * fine
    return np.clip(np.rint(synthetic * fine), -limit, limit).astype(np.int64)
