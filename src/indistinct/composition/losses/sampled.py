r"""What a Poisson sample makes of a loss, for every kind of pair.

If the whole data give the pair (P, Q), P with the record and Q without, the sample gives (1 - q) Q + q P against Q
when the record is removed, and the two exchanged when it is added. Where (P, Q) dominates a mechanism, answers are a
random function of a draw from the one or the other; so are those on the sample, with the mixture for P: the sampled
pair dominates the sampled mechanism, and mixing over the other records' part in the sample can only make it harder
to tell (Zhu, Dong and Wang 2022, Theorem 11). In particular the 4-point pair of a black box may be sampled.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from indistinct.composition.guarantees import ApproximateDP, PureDP
from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.law import UNIT, Adjacency, PrivacyLoss
from indistinct.composition.losses.pair import discrete_loss, loss_of_masses, more_bits
from indistinct.numbers.balls import ball, precision
from indistinct.numbers.logarithm import exponential
from indistinct.regions import DiscretePair

__all__ = ["sampled_atoms", "sampled_box", "sampled_pair"]

_BITS = 256
_FAR = 600.0
_MATTERS = 100.0


def sampled_pair(pair: DiscretePair, rate: Fraction) -> PrivacyLoss:
    """A discrete pair, exactly."""
    mixed = [rate * p + (1 - rate) * q for p, q in zip(pair.null, pair.alternative, strict=True)]
    whole = discrete_loss(DiscretePair(mixed, pair.alternative))
    return PrivacyLoss(whole.forward, whole.backward, Adjacency.ADD_REMOVE)


def sampled_box(guarantee: PureDP | ApproximateDP, rate: Fraction) -> PrivacyLoss:
    """Whatever keeps an (epsilon, delta) guarantee, by the 4-point pair that dominates it."""
    bits = _BITS + 2 * (more_bits(guarantee.epsilon) + more_bits(rate) + more_bits(guarantee.delta))
    with precision(bits):
        odds, delta, share = exponential(guarantee.epsilon), ball(guarantee.delta), ball(rate)
        likely, unlikely = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
        masses = [
            (share * unlikely + (1 - share) * likely, likely),
            (share * likely + (1 - share) * unlikely, unlikely),
        ]
        if guarantee.delta and rate < 1:
            masses.append(((1 - share) * delta, delta))
        back = guarantee.delta if rate == 1 else Fraction(0)
        places = [0, 1] if len(masses) == 2 and guarantee.epsilon else None
        return loss_of_masses(masses, rate * guarantee.delta, back, places, Adjacency.ADD_REMOVE, bits)


def sampled_atoms(law: AtomsLoss, rate: Fraction) -> PrivacyLoss:
    """A pair of finitely many losses, or of those that matter, none of them infinite in either direction."""
    share = float(rate)
    limit = law.unbounded_from
    losses = np.log1p(share * np.expm1(np.minimum(law.losses, _FAR)))
    losses = np.where(law.losses < _FAR, losses, math.log(share) + law.losses)
    alternative = law.log_probabilities - law.losses
    null = alternative + losses
    # The logs are differences of what may be much larger: rounded in units of that.
    sizes = np.abs(law.log_probabilities) + np.abs(law.losses)
    matters = np.maximum(law.log_probabilities, alternative) > -_MATTERS
    rounding = law.rounding + 8 * UNIT * float(np.max(sizes[matters], initial=0.0))
    return PrivacyLoss(
        AtomsLoss(losses, null, unbounded_from=limit, balanced=True, rounding=rounding),
        AtomsLoss(-losses, alternative, unbounded_from=limit, balanced=True, rounding=rounding),
        Adjacency.ADD_REMOVE,
    )
