"""indistinct demo: a hospital network of nobody, and what can be asked about it."""

from indistinct.cli.demo.run import run

__all__ = ["run"]
