r"""The loss of a pair of laws with finitely many outcomes, known exactly: a user's own, a sampled black box.

P and Q are restricted to the outcomes that both allow, and normalised there to P' and Q'. The rest of P is the
probability D of disclosure; log P/Q is log P'/Q' and a constant, log (1 - D)/(1 - D_Q). Since E e^(-L') = 1, K is
a sum of terms of one sign (see `sums`): accurate relative to itself however small the losses are, which is what a
billion uses need. Probabilities and losses are rounded once, from exact numbers or balls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import Adjacency, PrivacyLoss
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, exact, precision
from indistinct.numbers.logarithm import enclosure
from indistinct.regions.laws import DiscretePair, by_likelihood

__all__ = ["discrete_loss", "loss_of_masses", "more_bits"]

_BITS = 256
_MOST_PLACES = 100_000
_SHORT_POWER = 1 << 14


def discrete_loss(pair: DiscretePair) -> PrivacyLoss:
    """Both directions of an exact pair; a lattice is found where the ratios are powers of one number.

    >>> law = discrete_loss(DiscretePair(["1/2", "1/4", "1/4"], [0, "1/4", "3/4"])).forward
    >>> law.disclosed, law.losses.size
    (Fraction(1, 2), 2)
    """
    groups = by_likelihood(pair)
    masses = [
        (sum((pair.null[i] for i in group), Fraction(0)), sum((pair.alternative[i] for i in group), Fraction(0)))
        for group in groups
    ]
    disclosed = sum((p for p, q in masses if not q), Fraction(0))
    back = sum((q for p, q in masses if not p), Fraction(0))
    both = [(p, q) for p, q in masses if p and q]
    # A ratio of two such numbers that is not 1 differs from it by more than 2^-(their lengths).
    numbers = [disclosed, back, *(number for pair_ in both for number in pair_)]
    bits = _BITS + 2 * max(number.denominator.bit_length() for number in numbers)
    with precision(bits):
        masses_of_both = [(ball(p), ball(q)) for p, q in both]
        return loss_of_masses(masses_of_both, disclosed, back, _powers([p / q for p, q in both]), bits=bits)


def loss_of_masses(
    masses: Sequence[tuple[arb, arb]],
    disclosed: Fraction,
    disclosed_back: Fraction,
    places: Sequence[int] | None = None,
    adjacency: Adjacency | None = None,
    bits: int = _BITS,
) -> PrivacyLoss:
    """Both directions from the masses, in narrow balls, of the outcomes that both laws allow.

    `places` are whole numbers in step with the losses, where there are such; `bits` are enough to tell the ratio of
    each pair of masses from 1 to some 60 digits.
    """
    with precision(bits):
        shift = ((1 - ball(disclosed)) / (1 - ball(disclosed_back))).log() if masses else ball(0)
        logs = [
            ((p.log() - (-ball(disclosed)).log1p()), (q.log() - (-ball(disclosed_back)).log1p())) for p, q in masses
        ]
        losses = [(p / q).log() for p, q in masses] or [ball(0)]
        lattice = _lattice(losses, places) if places else None
        own = np.array([float((loss - shift).mid()) for loss in losses])
        first = np.array([float(p.mid()) for p, _ in logs] or [0.0])
        second = np.array([float(q.mid()) for _, q in logs] or [0.0])
        constant = float(shift.mid())
    back = None if lattice is None else LossLattice(lattice.exact_spacing, -lattice.offset)
    forward = AtomsLoss(own, first, disclosed, lattice=lattice, balanced=True, shift=constant)
    backward = AtomsLoss(-own, second, disclosed_back, lattice=back, balanced=True, shift=-constant)
    return PrivacyLoss(forward, backward, adjacency)


def more_bits(small: Epsilon) -> int:
    """How many more bits tell what is so near to 0 as it is told at 1."""
    value = enclosure(small)[0]
    return max(value.denominator.bit_length() - value.numerator.bit_length() + 1, 0) if value > 0 else 0


def _powers(ratios: Sequence[Fraction]) -> list[int] | None:
    """Whole numbers k_i with ratio_i / ratio_0 = b^k_i for some b, verified exactly; None where there are none.

    >>> _powers([Fraction(1, 3), Fraction(3), Fraction(27)]), _powers([Fraction(1), Fraction(2), Fraction(3)])
    ([0, 1, 2], None)
    """
    steps = [ratio / ratios[0] for ratio in ratios[1:]]
    if not steps:
        return None
    logs = [_log(step) for step in steps]
    if not min(logs) > 0:
        return None
    spacing = logs[0]
    for value in logs[1:]:
        while value > 1e-9 * logs[-1]:
            spacing, value = value, spacing % value  # Euclid's algorithm
            if spacing - value < 1e-9 * logs[-1]:
                value = 0.0
    places = [round(value / spacing) for value in logs]
    if places[-1] > _MOST_PLACES:
        return None
    bits = max(step.numerator.bit_length() + step.denominator.bit_length() for step in steps)
    if bits * max(places) > _SHORT_POWER * len(places):
        return None
    exact_steps = all(step ** places[0] == steps[0] ** place for step, place in zip(steps, places, strict=True))
    return [0, *places] if exact_steps else None


def _log(ratio: Fraction) -> float:
    """The log of a ratio above 1, also where it is all but 1."""
    if ratio < 2:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _lattice(losses: Sequence[arb], places: Sequence[int]) -> LossLattice:
    """The lattice of losses in known places; spacing and offset are exact numbers within 2^-200 of the true ones."""
    spacing = (losses[-1] - losses[0]) / (places[-1] - places[0])
    return LossLattice(exact(spacing.mid()), exact((losses[0] - spacing * places[0]).mid()))
