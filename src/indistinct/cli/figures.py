"""indistinct figures: the papers' figures as files."""

from __future__ import annotations

import argparse

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> None:
    """Writes the figures and names the files."""
    from indistinct.figures import write_figures

    for path in write_figures(arguments.out):
        print(path)
