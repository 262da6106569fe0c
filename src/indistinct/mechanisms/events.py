"""What other libraries keep of a run, read as things to compose: Opacus histories, dp_accounting's events.

Neither library is needed: a history is a list of numbers, and events are known by the names of their classes and
attributes. Nothing is guessed: an event that is not expressed exactly here is refused by its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from indistinct.composition.guarantees import ApproximateDP, PureDP, ZeroConcentratedDP
from indistinct.composition.parts import Thing
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.mechanisms.geometric import Geometric
from indistinct.mechanisms.laplace import Laplace
from indistinct.mechanisms.randomized_response import RandomizedResponse
from indistinct.mechanisms.subsampled import PoissonSubsampled
from indistinct.numbers import NaturalLog, read_count
from indistinct.numbers.reading import read_probability

__all__ = ["from_dp_event", "from_opacus"]

_PACKAGE = "dp_accounting"


def from_opacus(history: Iterable[tuple[object, object, object]]) -> dict[Thing, int]:
    """The steps of private training as Opacus keeps them: (noise multiplier, sampling rate, steps) each.

    That is `accountant.history` of any of its accountants, whose optimizers sample by Poisson's rule unless told
    otherwise; batches of a fixed size are not covered. The numbers are taken as the floats they are.

    >>> from indistinct import compose
    >>> spent = compose(from_opacus([(1.0, 0.004, 500), (0.8, 0.004, 500)]))
    >>> print(f"{spent.epsilon('1e-6'):.5g}")
    1.4643
    """
    counts: Counter[Thing] = Counter()
    for entry in history:
        try:
            sigma, rate, steps = entry
        except (TypeError, ValueError):
            raise InvalidParameter("an entry of the history", entry, "be (noise multiplier, rate, steps)") from None
        counts.update(_sampled(Gaussian(sigma=sigma), rate, read_count("steps", steps)))
    return dict(counts)


def from_dp_event(event: Any) -> dict[Thing, int]:
    """The leaves of an event of dp_accounting, and how often each is used.

    Understood: Gaussian, Laplace, DiscreteLaplace, EpsilonDelta, RandomizedResponse, ZCDp (with xi = 0), NoOp,
    PoissonSampled over one Gaussian, SelfComposed and Composed, nested as they may be. All others are refused.
    Poisson sampling is meant for databases that differ by adding or removing a record, dp_accounting's usual choice.

    Usage: `compose(from_dp_event(accountant.ledger))` or any event that was built by hand.
    """
    counts: Counter[Thing] = Counter()
    waiting = [(event, 1)]
    while waiting:
        inner, times = waiting.pop()
        match _kind(inner):
            case "SelfComposedDpEvent":
                waiting.append((inner.event, times * read_count("count", inner.count)))
            case "ComposedDpEvent":
                waiting += [(each, times) for each in reversed(inner.events)]
            case _:
                counts.update(_leaf(inner, times))
    return {thing: times for thing, times in counts.items() if times}


def _leaf(event: Any, times: int) -> dict[Thing, int]:
    match _kind(event):
        case "NoOpDpEvent":
            return {}
        case "GaussianDpEvent":
            return {Gaussian(sigma=event.noise_multiplier): times}
        case "LaplaceDpEvent":
            return {Laplace(scale=event.noise_multiplier): times}
        case "DiscreteLaplaceDpEvent":
            width = read_count("sensitivity", event.sensitivity, least=1)
            return {Geometric(width, epsilon=width * Fraction(event.noise_parameter)): times}
        case "EpsilonDeltaDpEvent":
            epsilon, delta = event.epsilon, event.delta
            return {ApproximateDP(epsilon, delta) if delta else PureDP(epsilon): times}
        case "ZCDpEvent" if not event.xi:
            return {ZeroConcentratedDP(event.rho): times}
        case "RandomizedResponseDpEvent":
            return _response(event, times)
        case "PoissonSampledDpEvent" if _kind(event.event) == "GaussianDpEvent":
            return _sampled(Gaussian(sigma=event.event.noise_multiplier), event.sampling_probability, times)
        case name:
            raise InvalidParameter("an event", name, "be one that is understood here", instead=_UNDERSTOOD)


_UNDERSTOOD = (
    "These are: Gaussian, Laplace, DiscreteLaplace, EpsilonDelta, RandomizedResponse, ZCDp with xi = 0, NoOp, "
    "PoissonSampled over one Gaussian, SelfComposed, Composed."
)


def _kind(event: Any) -> str:
    """The name of an event's class."""
    kind = type(event)
    if not kind.__module__.partition(".")[0] == _PACKAGE:
        raise InvalidParameter("an event", event, f"be one of {_PACKAGE}", instead="compose takes mechanisms.")
    return kind.__name__


def _sampled(mechanism: Gaussian, rate: object, times: int) -> dict[Thing, int]:
    """Noise on a sample: a sample of all is no sample, and one of nobody tells nothing."""
    share = read_probability("rate", rate)
    if share == 0 or times == 0:
        return {}
    return {mechanism if share == 1 else PoissonSubsampled(mechanism, share): times}


def _response(event: Any, times: int) -> dict[Thing, int]:
    noise = read_probability("noise_parameter", event.noise_parameter)
    buckets = read_count("num_buckets", event.num_buckets, least=1)
    if buckets == 1 or noise == 1:
        return {}
    if noise == 0:
        raise InvalidParameter("noise_parameter", 0, "be above 0: without noise the answer is told")
    # Told truly with probability 1 - noise, else drawn from all the buckets.
    other = noise / buckets
    return {RandomizedResponse(NaturalLog((1 - noise + other) / other), buckets): times}
