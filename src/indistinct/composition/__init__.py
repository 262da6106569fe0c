"""How privacy loss adds up: the composition theorems, exact composition, the composition experiment."""

from indistinct.composition.advanced import (
    advanced_composition,
    advanced_delta,
    advanced_share,
    advanced_share_by_formula,
)
from indistinct.composition.adversaries import AdaptiveAdversary, LikelihoodAdversary, Repeater
from indistinct.composition.basic import basic_composition, basic_share
from indistinct.composition.closed_form import (
    ClosedForm,
    closed_form_composition,
    closed_form_delta,
    closed_form_share,
)
from indistinct.composition.comparison import Comparison, compare
from indistinct.composition.compose import compose
from indistinct.composition.experiment import Adversary, View, exact_power, run, view_laws
from indistinct.composition.guarantees import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from indistinct.composition.noise import classic_sigma, gaussian_variance, laplace_variance
from indistinct.composition.optimal import Level, optimal_composition, optimal_share
from indistinct.composition.power import Power, clopper_pearson, estimate_power
from indistinct.composition.profile import PrivacyProfile

__all__ = [
    "AdaptiveAdversary",
    "Adversary",
    "ApproximateDP",
    "ClosedForm",
    "Comparison",
    "GaussianDP",
    "Guarantee",
    "Level",
    "LikelihoodAdversary",
    "Power",
    "PrivacyProfile",
    "PureDP",
    "RenyiDP",
    "Repeater",
    "View",
    "ZeroConcentratedDP",
    "advanced_composition",
    "advanced_delta",
    "advanced_share",
    "advanced_share_by_formula",
    "basic_composition",
    "basic_share",
    "classic_sigma",
    "clopper_pearson",
    "closed_form_composition",
    "closed_form_delta",
    "closed_form_share",
    "compare",
    "compose",
    "estimate_power",
    "exact_power",
    "gaussian_variance",
    "laplace_variance",
    "optimal_composition",
    "optimal_share",
    "run",
    "view_laws",
]
