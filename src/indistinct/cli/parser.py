"""What the command line understands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from indistinct import __version__
from indistinct.cli import audit, calibrate, compose, cuts, figures, sgd

__all__ = ["make_parser"]


@dataclass(slots=True)
class Group:
    """Mechanisms of one kind, as given: `--epsilon`, then perhaps `--delta` and `--times`."""

    epsilon: str
    delta: str = "0"
    times: str = "1"


class _Epsilon(argparse.Action):
    """`--epsilon` opens a group."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # argparse's form
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        namespace.groups = [*namespace.groups, Group(str(values))]


class _OfGroup(argparse.Action):
    """`--delta` and `--times` belong to the `--epsilon` before them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        if not namespace.groups:
            parser.error(f"{option_string} belongs to the --epsilon before it: give --epsilon first.")
        setattr(namespace.groups[-1], self.dest, str(values))


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets `run` to what carries it out."""
    parser = argparse.ArgumentParser(prog="indistinct", description="Differential privacy, exact and certified.")
    parser.add_argument("--version", action="version", version=f"indistinct {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_compose(commands)
    _add_calibrate(commands)
    _add_sgd(commands)
    _add_audit(commands)
    cuts.add(commands)
    _add_figures(commands)
    return parser


def _add_compose(commands: Any) -> None:
    parser = commands.add_parser(
        "compose",
        help="how private many answers are together, by every theorem",
        description="How private many adaptively chosen answers are together: every composition theorem side by "
        "side with the exact answer. Repeat --epsilon (with its --delta and --times) for unequal mechanisms.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parser.set_defaults(run=compose.run, groups=[], at_delta=[], at_epsilon=[], json=False)
    parser.add_argument(
        "--epsilon", action=_Epsilon, required=True, help="privacy level of one answer: 0.1, 1/10 or ln(3)"
    )
    parser.add_argument("--delta", action=_OfGroup, help="delta of that answer (0)")
    parser.add_argument("--times", action=_OfGroup, help="how many answers of that kind (1)")
    parser.add_argument("--at-delta", action="append", metavar="DELTA", help="give epsilon at this delta")
    parser.add_argument("--at-epsilon", action="append", metavar="EPSILON", help="give delta at this epsilon")
    parser.add_argument("--json", action="store_true", help="print JSON, with both ends of every bracket")


def _add_calibrate(commands: Any) -> None:
    parser = commands.add_parser(
        "calibrate",
        help="the least noise under a budget",
        description="The least noise that keeps (epsilon, delta) for so many answers, certified, beside what the "
        "theorems in closed form ask for.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parser.set_defaults(run=calibrate.run, times="1", json=False)
    parser.add_argument(
        "mechanism", choices=calibrate.KINDS, help="the noise; pure is any mechanism of an epsilon of its own"
    )
    parser.add_argument("--epsilon", required=True, help="privacy level of all answers together")
    parser.add_argument("--delta", required=True, help="delta of all answers together")
    parser.add_argument("--times", help="how many answers (1)")
    parser.add_argument("--sensitivity", help="by how much one person changes an answer (1)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_sgd(commands: Any) -> None:
    parser = commands.add_parser(
        "sgd",
        help="private gradient descent: epsilon, or sigma, rate or steps for one",
        description="Private gradient descent with Poisson sampling. Give three of --epsilon, --sigma, --rate and "
        "--steps, and the fourth is found: epsilon as a bracket, the least sigma, the largest rate, the most steps.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parser.set_defaults(run=sgd.run, json=False)
    parser.add_argument("--sigma", help="noise multiplier: standard deviation over clipping norm")
    parser.add_argument("--rate", help="with which probability a record takes part in a step")
    parser.add_argument("--steps", help="how many steps")
    parser.add_argument("--epsilon", help="privacy level of all steps together")
    parser.add_argument("--delta", required=True, help="delta of all steps together")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_audit(commands: Any) -> None:
    parser = commands.add_parser(
        "audit",
        help="does a mechanism keep what it claims?",
        description="Audits a mechanism: by its exact law where that is known, and by looking for an event that tells "
        "two neighbouring inputs apart better than is claimed. The exit code is 1 if the claim is violated.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parser.set_defaults(run=audit.run, delta="0", samples="100000", false_alarm="1e-6", batch=False, json=False)
    parser.add_argument(
        "mechanism",
        help="geometric, laplace, staircase, randomized-response, exponential, permute-and-flip, noisy-max, "
        "above-threshold, or module:function for your own",
    )
    parser.add_argument("--epsilon", required=True, help="the privacy level that is claimed")
    parser.add_argument("--delta", help="the delta that is claimed (0)")
    parser.add_argument("--first", metavar="INPUT", help="an input of your function, as Python writes it")
    parser.add_argument("--second", metavar="INPUT", help="a neighbouring input")
    parser.add_argument(
        "--batch", action="store_true", help="your function takes (input, count) and gives many answers"
    )
    parser.add_argument("--samples", help="how many answers on each input (100000)")
    parser.add_argument("--false-alarm", metavar="RATE", help="how often a correct mechanism may be accused (1e-6)")
    parser.add_argument("--plot", metavar="FILE", help="draw the region; needs the extra plot")
    parser.add_argument("--json", action="store_true", help="print JSON, with every event that was judged")


def _add_figures(commands: Any) -> None:
    parser = commands.add_parser(
        "figures",
        help="draw figures 1, 2 and 3 of Kairouz, Oh and Viswanath",
        description="Draws figures 1, 2 and 3 of Kairouz, Oh and Viswanath as SVG and PNG.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=figures.run)
    parser.add_argument("--out", required=True, metavar="DIRECTORY", help="where to write them")
