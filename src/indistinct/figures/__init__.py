"""Figures 1, 2 and 3 of Kairouz, Oh and Viswanath, drawn from the library's own numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from indistinct.mechanisms.sketches.comparison import CutContest

__all__ = ["draw_cuts", "draw_figures", "write", "write_figures"]


def draw_figures() -> dict[str, Figure]:
    """The three figures by name; needs the extra `plot`."""
    _check_installed()
    from indistinct.figures.comparison import theorems_compared
    from indistinct.figures.composed import composed_regions
    from indistinct.figures.guarantee import privacy_region

    return {
        "figure-1-privacy-region": privacy_region(),
        "figure-2-composed-regions": composed_regions(),
        "figure-3-theorems-compared": theorems_compared(),
    }


def draw_cuts(contest: CutContest) -> dict[str, Figure]:
    """The comparison of answers about cuts; needs the extra `plot`."""
    _check_installed()
    from indistinct.figures.cuts import cuts_compared

    return {"cuts-compared": cuts_compared(contest)}


def write_figures(directory: str | Path) -> list[Path]:
    """Writes each figure as SVG and PNG into a directory, which is made if need be."""
    return write(draw_figures(), directory)


def write(figures: dict[str, Figure], directory: str | Path) -> list[Path]:
    """Writes figures into a directory."""
    import matplotlib as mpl

    folder = Path(directory)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context({"svg.hashsalt": "indistinct"}):  # names of parts that do not change
            for name, figure in figures.items():
                for kind in ("svg", "png"):
                    path = folder / f"{name}.{kind}"
                    figure.savefig(path, dpi=160, metadata={"Date": None} if kind == "svg" else None)
                    written.append(path)
    except OSError as error:
        raise InvalidParameter("the directory", str(directory), "be one that can be written to") from error
    return written


def _check_installed() -> None:
    try:
        import matplotlib.figure  # noqa: F401  # only to say so where it is missing
    except ImportError as error:
        raise MissingExtra("drawing", "plot") from error
