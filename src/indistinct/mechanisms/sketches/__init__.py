"""Private synopses of graphs and matrices: the Johnson-Lindenstrauss mechanism (KOV, section 4.2 and appendix D)."""

from indistinct.mechanisms.sketches.accuracy import SketchAccuracy
from indistinct.mechanisms.sketches.calibration import Accounting
from indistinct.mechanisms.sketches.covariance import CovarianceSketch, CovarianceSynopsis
from indistinct.mechanisms.sketches.cut import CutSketch
from indistinct.mechanisms.sketches.graph import Edges, read_graph
from indistinct.mechanisms.sketches.plan import CutPlan
from indistinct.mechanisms.sketches.synopsis import CutSynopsis

__all__ = [
    "Accounting",
    "CovarianceSketch",
    "CovarianceSynopsis",
    "CutPlan",
    "CutSketch",
    "CutSynopsis",
    "Edges",
    "SketchAccuracy",
    "read_graph",
]
