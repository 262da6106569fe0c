"""What an adversary can tell: regions, profiles, divergences, domination."""

from indistinct.regions.decompositions import (
    BothTruncated,
    ConditioningEvents,
    Truncated,
    both_truncated,
    conditioning_events,
    truncated,
)
from indistinct.regions.divergences import (
    approximate_max_divergence,
    hockey_stick,
    kl_bound,
    kl_divergence,
    kl_of_randomized_response,
    max_divergence,
    renyi_divergence,
    statistical_distance,
)
from indistinct.regions.dominating import Simulator, dominating_pair, simulator
from indistinct.regions.domination import Domination, SeparatingTest, dominates
from indistinct.regions.implications import implied_delta, implied_epsilon, total_variation_bound
from indistinct.regions.kernel import StochasticMap
from indistinct.regions.laws import DiscretePair
from indistinct.regions.profile import Direction, PolygonProfile
from indistinct.regions.region import Region
from indistinct.regions.tangent import Tangent
from indistinct.regions.testing import Errors, errors_of, most_powerful_test, satisfies
from indistinct.regions.tradeoff import TradeOff

__all__ = [
    "BothTruncated",
    "ConditioningEvents",
    "Direction",
    "DiscretePair",
    "Domination",
    "Errors",
    "PolygonProfile",
    "Region",
    "SeparatingTest",
    "Simulator",
    "StochasticMap",
    "Tangent",
    "TradeOff",
    "Truncated",
    "approximate_max_divergence",
    "both_truncated",
    "conditioning_events",
    "dominates",
    "dominating_pair",
    "errors_of",
    "hockey_stick",
    "implied_delta",
    "implied_epsilon",
    "kl_bound",
    "kl_divergence",
    "kl_of_randomized_response",
    "max_divergence",
    "most_powerful_test",
    "renyi_divergence",
    "satisfies",
    "simulator",
    "statistical_distance",
    "total_variation_bound",
    "truncated",
]
