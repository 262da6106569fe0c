"""The Johnson-Lindenstrauss mechanism for cuts of a graph (KOV, section 4.2 and appendix D)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from indistinct.composition.losses import PrivacyLoss
from indistinct.composition.losses.chi_square import chi_square_loss
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.parameters import read_positive
from indistinct.mechanisms.sketches.accuracy import SketchAccuracy, accuracy_of, read_share
from indistinct.mechanisms.sketches.calibration import MOST_ROWS, Accounting
from indistinct.mechanisms.sketches.drawing import sketch_rows
from indistinct.mechanisms.sketches.graph import MOST_NODES, read_graph
from indistinct.mechanisms.sketches.plan import CutPlan, planned
from indistinct.mechanisms.sketches.progress import teller
from indistinct.mechanisms.sketches.synopsis import CutSynopsis
from indistinct.noise import SYSTEM, BitSource
from indistinct.numbers import read_count

__all__ = ["CutSketch"]


@dataclass(frozen=True, slots=True, init=False)
class CutSketch:
    """r random combinations of a graph's edges, among edges of weight w/n that are added between all its nodes.

    Graphs are neighbours if the weight of one pair of nodes differs, by at most 1 (all are clipped to [0, 1]); the
    nodes are public. What is released answers any number of questions about cuts, however chosen, at no further cost.

    The loss is exact: `compose([sketch]).delta(epsilon)` is what the worst pair of graphs gives away, no more. It is
    that of the law in real numbers; a release is made in floats and rounded to a grid (see the page on sketches).

    >>> from indistinct import CutSketch, compose
    >>> plan = CutSketch.plan(nodes=100_000, epsilon=1, delta="1e-6", eta="0.25", nu="0.05")
    >>> print(plan.r, f"{float(plan.w):.5g}", f"{compose([plan.sketch]).delta(1):.6g}")
    473 140.85 1e-06
    """

    nodes: int
    r: int
    w: Fraction

    def __init__(self, nodes: object, r: object, w: object) -> None:
        count, rows, weight = read_nodes(nodes), read_count("r", r, least=1), read_positive("w", w)
        if rows > MOST_ROWS:
            raise InvalidParameter("r", r, f"be at most {MOST_ROWS:,}")
        if weight >= count:
            raise InvalidParameter(
                "w",
                w,
                f"be below the number of nodes, {count:,}",
                instead=f"A graph of {int(weight) + 1:,} nodes would do, or a budget that needs a smaller w.",
            )
        object.__setattr__(self, "nodes", count)
        object.__setattr__(self, "r", rows)
        object.__setattr__(self, "w", weight)

    @staticmethod
    def plan(
        *,
        nodes: object,
        epsilon: object,
        delta: object,
        eta: object,
        nu: object,
        accounting: Accounting | str = Accounting.EXACT,
    ) -> CutPlan:
        """The sketch for a budget and an accuracy; no data is needed.

        r = 8 ln(2/nu) / eta^2 rows, and the least w that the accounting finds to be (epsilon, delta)-private.
        """
        return planned(CutSketch, read_nodes(nodes), epsilon, delta, eta, nu, accounting)

    @property
    def excess(self) -> Fraction:
        r"""x = 2 (1 - w/n) / w, by which one edge may stretch the variance of a row in one direction.

        An edge between u and v adds c b b^T to the Laplacian, b = e_u - e_v and c <= 1 - w/n; seen from the other
        graph's law that is a stretch by 1 + c b^T L^+ b, and L >= w on the complement of the constant vectors. The
        empty graph attains it.
        """
        return 2 * (1 / self.w - Fraction(1, self.nodes))

    @property
    def loss(self) -> PrivacyLoss:
        """N(0, 1)^r against N(0, 1 + x)^r, both ways."""
        return chi_square_loss(self.r, self.excess)

    def accuracy(self, size: object, *, nu: object, cuts: object = 1) -> SketchAccuracy:
        """The promise for so many cuts with `size` nodes on the smaller side, all of them but for probability nu.

        tau = eta w s (n - s) / (n - w), which is at most KOV's 2 s eta w where w is at most n/2.
        """
        smaller = read_count("size", size, least=1)
        if 2 * smaller > self.nodes:
            raise InvalidParameter("size", size, f"be that of the smaller side, at most {self.nodes // 2}")
        added = self.w * smaller * (self.nodes - smaller) / (self.nodes - self.w)
        return accuracy_of(self.r, added, read_count("cuts", cuts, least=1), read_share("nu", nu))

    def release(self, graph: Any, *, progress: bool | None = None, source: BitSource = SYSTEM) -> CutSynopsis:
        """The synopsis of a graph; see `read_graph` for what may be given.

        Its cost is `loss`, once. `progress` says how far it is on standard error; unless told, where that is a
        terminal. In O(r (n + m)) time and O(r n) memory.
        """
        edges = read_graph(graph, self.nodes)
        numbers = sketch_rows(edges, self.r, self.w, source, teller("sketching", progress))
        return CutSynopsis(self, numbers, edges.names)


def read_nodes(nodes: object) -> int:
    """How many nodes there are."""
    count = read_count("nodes", nodes, least=2)
    if count > MOST_NODES:
        raise InvalidParameter("nodes", nodes, f"be at most {MOST_NODES:,}")
    return count
