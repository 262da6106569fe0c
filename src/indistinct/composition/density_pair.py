"""A user's own pair of densities, as a mechanism of the accountant."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from indistinct.composition.losses.densities import Density, LinePair, laid_out
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.law import Floats
from indistinct.errors import InvalidParameter
from indistinct.numbers import read_number

__all__ = ["DensityPair"]

_WHOLE = 1e-9
_CHECKED = 512


@dataclass(frozen=True, eq=False, init=False, repr=False)
class DensityPair:
    """The laws of a mechanism's answer on two neighbouring databases, as densities on the line.

    Each law is a frozen distribution of SciPy, or anything with its three methods `logpdf`, `cdf` and `sf` of an
    array. What is claimed is a bracket: the line is cut into cells by the size of the loss, and from the exact masses
    of the cells follow a pair that dominates yours and one that yours dominates (`losses.cells`). The cells are
    made finer until the bracket has a relative width of 1e-4, or as far as is reasonable; the bracket says how far.

    It rests on what you say of your functions:

    - `turns` names every point at which the ratio of the densities turns or jumps; between them it is monotone;
    - `accuracy` bounds the relative errors of `cdf` and `sf`, and of `logpdf` (absolutely, where that is small).
      It is taken against the claim, once per use;
    - `supports` says where the densities are positive, if the laws have no method `support`; the mass of one law
      outside the other's support is found, and its loss is infinite;
    - `bound`, if given, is a number that the loss never passes in size. Otherwise the last 1e-60 of either law,
      where nothing is looked at, may disclose everything.

    What contradicts itself is refused where that shows: a density that does not integrate to one, or a ratio that
    turns elsewhere.

    >>> from indistinct import compose
    >>> class Logistic:
    ...     def __init__(self, at): self.at = at
    ...     def logpdf(self, x): return -abs(x - self.at) - 2 * np.log1p(np.exp(-abs(x - self.at)))
    ...     def cdf(self, x): return 1 / (1 + np.exp(np.minimum(self.at - x, 700)))
    ...     def sf(self, x): return 1 / (1 + np.exp(np.minimum(x - self.at, 700)))
    >>> found = compose({DensityPair(Logistic(0), Logistic(1)): 100}).epsilon("1e-6")
    >>> print(f"{found:.4g}", found.relative_width < 1e-4)
    41.5 True
    """

    pair: LinePair

    def __init__(
        self,
        null: Any,
        alternative: Any,
        *,
        turns: Iterable[object] = (),
        supports: tuple[tuple[float, float], tuple[float, float]] | None = None,
        accuracy: object = 1e-13,
        bound: object = math.inf,
    ) -> None:
        for name, law in (("null", null), ("alternative", alternative)):
            if not all(callable(getattr(law, method, None)) for method in ("logpdf", "cdf", "sf")):
                raise InvalidParameter(
                    f"the {name} law",
                    law,
                    "have the methods logpdf, cdf and sf",
                    instead="scipy.stats.norm(0, 1) does.",
                )
        within = supports or (_support(null), _support(alternative))
        line = laid_out(null, alternative, within, [float(read_number("a turn", turn)) for turn in turns])
        largest = math.inf if bound == math.inf else _above_zero("bound", bound, 1e9)
        pair = LinePair(null, alternative, line, _above_zero("accuracy", accuracy, 1e-3), largest)
        object.__setattr__(self, "pair", pair)
        _check_whole("null", null, within[0])
        _check_whole("alternative", alternative, within[1])

    @property
    def loss(self) -> EnclosedLoss:
        """Both directions, enclosed."""
        return EnclosedLoss(self.pair)

    def __repr__(self) -> str:
        return f"DensityPair({_name(self.pair.null)}, {_name(self.pair.alternative)})"


def _above_zero(name: str, value: object, most: float) -> float:
    number = float(read_number(name, value))
    if not 0 < number <= most:
        raise InvalidParameter(name, value, f"be above 0 and at most {most:g}")
    return number


def _support(law: Any) -> tuple[float, float]:
    if callable(getattr(law, "support", None)):
        a, b = law.support()
        return float(a), float(b)
    return -math.inf, math.inf


def _check_whole(name: str, law: Density, support: tuple[float, float]) -> None:
    """Refuses a law that is visibly not one: by its ends, and by its density against its distribution function."""
    ends = np.clip(np.array(support), -1e300, 1e300)
    below, above = np.asarray(law.cdf(ends)), np.asarray(law.sf(ends))
    if not (abs(float(below[1]) - 1) <= _WHOLE and abs(float(above[0]) - 1) <= _WHOLE):
        total = float(below[1] - below[0])
        raise InvalidParameter(f"the {name} density", law, "integrate to one", instead=f"Its total is {total:.6g}.")
    if not (abs(float(below[0])) <= _WHOLE and abs(float(above[1])) <= _WHOLE):
        raise InvalidParameter(f"the {name} law", law, "have all its mass on its support")
    edges = _quantiles(law, support)
    centres = (edges[1:] + edges[:-1]) / 2
    densities = [np.exp(np.asarray(law.logpdf(x))) for x in (edges[:-1], centres, edges[1:])]
    if not all(np.all(density >= 0) for density in densities):  # or not a number
        raise InvalidParameter(f"the {name} density", law, "be a number that is at least 0 everywhere")
    width = edges[1:] - edges[:-1]
    straight, curved = (densities[0] + densities[2]) / 2, (densities[0] + 4 * densities[1] + densities[2]) / 6
    smooth = np.isfinite(straight) & (np.abs(straight - curved) <= 0.01 * curved) & (width > 0)
    integral, mass = float(np.sum((curved * width)[smooth])), float(np.sum(np.diff(law.cdf(edges))[smooth]))
    if mass > 0.01 and not abs(integral - mass) <= 0.02 * mass:
        raise InvalidParameter(
            f"the {name} density", law, "integrate to one", instead=f"Its total is about {integral / mass:.4g}."
        )


def _quantiles(law: Density, support: tuple[float, float]) -> Floats:
    """Points at equal steps of probability, found by halving in arcsinh."""
    targets = (np.arange(_CHECKED) + 0.5) / _CHECKED
    low, high = np.full(_CHECKED, -100.0), np.full(_CHECKED, 100.0)
    for _ in range(64):
        middle = (low + high) / 2
        below = np.asarray(law.cdf(np.sinh(middle))) < targets
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    inner = math.nextafter(support[0], math.inf), math.nextafter(support[1], -math.inf)
    return np.asarray(np.clip(np.sinh((low + high) / 2), *inner))


def _name(law: Any) -> str:
    """SciPy's frozen distributions by their own names."""
    kind = getattr(getattr(law, "dist", None), "name", None)
    if kind is None:
        return type(law).__name__
    arguments = [*map(str, getattr(law, "args", ())), *(f"{k}={v}" for k, v in getattr(law, "kwds", {}).items())]
    return f"{kind}({', '.join(arguments)})"
