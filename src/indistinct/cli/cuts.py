"""indistinct cuts: a private synopsis of a graph: planned, made, asked, and compared with other mechanisms."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING, Any

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from indistinct.mechanisms.sketches import CutPlan

__all__ = ["add"]

_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def add(commands: Any) -> None:
    """Adds the command with its own ones to a parser's."""
    parser = commands.add_parser(
        "cuts",
        help="a private synopsis of a graph that answers for every cut",
        description="The Johnson-Lindenstrauss mechanism: a private synopsis of a graph that answers for every cut.",
        allow_abbrev=False,
    )
    own = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    plan = _command(own, "plan", _plan, "what a synopsis would be, before any data: rows, weight, errors")
    _add_budget(plan)
    plan.add_argument("--accounting", default="exact", help="exact, optimal (KOV 11) or advanced (KOV 10)")
    plan.add_argument("--json", action="store_true", help="print JSON")
    sketch = _command(own, "sketch", _sketch, "make the synopsis of a graph")
    sketch.add_argument("edges", metavar="EDGES", help="a CSV or Parquet file with columns u, v and perhaps weight")
    sketch.add_argument("--out", required=True, metavar="FILE", help="where to write the synopsis, which is public")
    sketch.add_argument("--quiet", action="store_true", help="do not say how far it is")
    _add_budget(sketch)
    ask = _command(own, "ask", _ask, "ask a synopsis about cuts")
    ask.add_argument("file", metavar="FILE", help="a synopsis")
    ask.add_argument(
        "--nodes", action="append", required=True, metavar="NODES", help="one side of a cut: 0,3,10-19; may be repeated"
    )
    ask.add_argument("--nu", default="0.05", help="how often an interval may miss (0.05)")
    ask.add_argument("--json", action="store_true", help="print JSON")
    compare = _command(own, "compare", _compare, "Laplace, exponential, responses, MWEM and the sketch on one graph")
    compare.add_argument("edges", nargs="?", metavar="EDGES", help="a file of edges (else two random communities)")
    compare.add_argument("--cuts", default="1000", help="how many cuts are asked for in all (1000)")
    compare.add_argument("--sizes", help="of the cuts: 1,4,16 (three from one node to half of all)")
    compare.add_argument("--repeats", default="1", help="how often each mechanism is run to measure it (1)")
    compare.add_argument("--out", metavar="DIRECTORY", help="draw it as SVG and PNG as well")
    _add_budget(compare)


def _command(commands: Any, name: str, run: Any, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + ".", allow_abbrev=False
    )
    parser.set_defaults(run=run)
    return parser


def _add_budget(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", required=True, help="how many nodes the graph has: public, numbered from 0")
    parser.add_argument("--epsilon", required=True, help="privacy level of the synopsis, for one edge")
    parser.add_argument("--delta", required=True, help="delta of the synopsis")
    parser.add_argument("--eta", default="0.25", help="relative error of a cut (0.25)")
    parser.add_argument("--nu", default="0.05", help="how often the error may be larger (0.05)")


def _planned(arguments: argparse.Namespace, accounting: str = "exact") -> CutPlan:
    from indistinct import CutSketch

    return CutSketch.plan(
        nodes=arguments.nodes,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        eta=arguments.eta,
        nu=arguments.nu,
        accounting=accounting,
    )


def _plan(arguments: argparse.Namespace) -> None:
    """Prints the plan, and the accountings side by side."""
    plan = _planned(arguments, arguments.accounting)
    compared = plan.compare()
    if not arguments.json:
        print(f"{plan}\n\n{compared}")
        return
    one = plan.accuracy(1)
    print(
        json.dumps(
            {
                "nodes": plan.sketch.nodes,
                "r": plan.r,
                "w": float(plan.w),
                "accounting": plan.accounting.value,
                "delta spent": {"lower": plan.spent.lower, "upper": plan.spent.upper},
                "cut of one node": {"eta": one.eta, "tau": one.tau, "nu": one.nu},
                "accountings": {row.accounting.value: {"w": row.w, "tau": row.tau} for row in compared.rows},
            },
            indent=2,
        )
    )


def _sketch(arguments: argparse.Namespace) -> None:
    """Writes the synopsis."""
    from indistinct.mechanisms.sketches.files import read_edges

    plan = _planned(arguments)
    edges = read_edges(arguments.edges, plan.sketch.nodes)
    plan.release(edges, progress=False if arguments.quiet else None).save(arguments.out)
    print(f"{plan}\nwritten to {arguments.out}, to be asked by: indistinct cuts ask {arguments.out} --nodes ...")


def _ask(arguments: argparse.Namespace) -> None:
    """Prints each answer with the interval that holds the truth."""
    from indistinct.mechanisms.sketches import CutSynopsis

    synopsis = CutSynopsis.load(arguments.file)
    nodes = synopsis.sketch.nodes
    found = []
    for text in arguments.nodes:
        inside = _nodes(text, nodes)
        answer = synopsis.cut(inside)
        size = min(len(inside), nodes - len(inside))
        accuracy = synopsis.sketch.accuracy(size, nu=arguments.nu, cuts=len(arguments.nodes)) if size else None
        low, high = accuracy.interval(answer) if accuracy else (0.0, 0.0)
        found.append({"nodes": text, "answer": answer, "lower": low, "upper": high})
    if arguments.json:
        print(json.dumps({"nu": float(arguments.nu), "cuts": found}, indent=2))
        return
    for cut in found:
        print(f"{cut['nodes']}: about {cut['answer']:.6g}, from {cut['lower']:.6g} to {cut['upper']:.6g}")
    each = "that" if len(found) == 1 else "all of that"
    print(f"Except with probability {arguments.nu}, {each} holds.")


def _compare(arguments: argparse.Namespace) -> None:
    """Prints the table, and draws it where asked to."""
    from indistinct.mechanisms.sketches.comparison import contest
    from indistinct.mechanisms.sketches.files import read_edges
    from indistinct.mechanisms.sketches.generators import planted_partition
    from indistinct.numbers import read_count

    plan = _planned(arguments)
    nodes = plan.sketch.nodes
    edges = read_edges(arguments.edges, nodes) if arguments.edges else planted_partition(nodes, min(20, nodes // 4))
    sizes = [read_count("a size", text) for text in arguments.sizes.split(",")] if arguments.sizes else []
    repeats = read_count("repeats", arguments.repeats, least=1)
    found = contest(edges, plan, cuts=arguments.cuts, sizes=sizes, repeats=repeats)
    print(found)
    if arguments.out:
        from indistinct.figures import draw_cuts, write

        for path in write(draw_cuts(found), arguments.out):
            print(path)


def _nodes(text: str, nodes: int) -> list[int]:
    """The nodes of a list of numbers and ranges."""
    found: set[int] = set()
    for part in text.split(","):
        span = _RANGE.fullmatch(part.strip())
        first, last = (int(span[1]), int(span[2] or span[1])) if span and len(part) < 40 else (1, 0)
        if not first <= last < nodes:
            raise InvalidParameter("--nodes", text, f"be numbers and ranges from 0 to {nodes - 1}, such as 0,3,10-19")
        found.update(range(first, last + 1))
    return sorted(found)
