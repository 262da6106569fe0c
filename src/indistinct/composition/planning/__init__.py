"""Planning: how little noise is enough, how many uses fit, how a budget is best split."""

from indistinct.composition.planning.budget import Budget
from indistinct.composition.planning.calibration import Calibration, least_noise
from indistinct.composition.planning.counting import MostUses, how_many
from indistinct.composition.planning.formulas import Formula
from indistinct.composition.planning.knob import Knob
from indistinct.composition.planning.splitting import PlannedQuery, Query, Split, split

__all__ = [
    "Budget",
    "Calibration",
    "Formula",
    "Knob",
    "MostUses",
    "PlannedQuery",
    "Query",
    "Split",
    "how_many",
    "least_noise",
    "split",
]
