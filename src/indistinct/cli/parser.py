"""What the command line understands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from indistinct import __version__
from indistinct.cli import (
    audit,
    calibrate,
    compose,
    cuts,
    demo,
    explore,
    figures,
    ledger,
    policy,
    query,
    serve,
    sgd,
    token,
)

__all__ = ["make_parser"]


@dataclass(slots=True)
class Group:
    """Mechanisms of one kind, as given: `--epsilon`, then perhaps `--delta` and `--times`."""

    epsilon: str
    delta: str = "0"
    times: str = "1"


class _Parser(argparse.ArgumentParser):
    """Says in one sentence what is wrong, as everything else here does, and where to read on."""

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2."""
        said = " ".join(message.split()).rstrip(".")
        self.exit(2, f"indistinct: {said}. Read {self.prog} --help.\n")


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
    parser = _Parser(prog="indistinct", description="Differential privacy, exact and certified.")
    parser.add_argument("--version", action="version", version=f"indistinct {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_query(commands)
    _add_policy(commands)
    _add_demo(commands)
    _add_compose(commands)
    _add_calibrate(commands)
    _add_sgd(commands)
    _add_audit(commands)
    cuts.add(commands)
    _add_figures(commands)
    _add_ledger(commands)
    _add_explore(commands)
    _add_serve(commands)
    _add_token(commands)
    return parser


def _add_query(commands: Any) -> None:
    parser = commands.add_parser(
        "query",
        help="ask a private database, in SQL",
        description="Asks a private database in SQL. Without a question, a prompt takes one after the other, each "
        "ended by a semicolon, from the terminal or from standard input.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=query.run)
    parser.add_argument("file", metavar="FILE", help="Parquet, CSV, a DuckDB file, or the address of a database")
    parser.add_argument("sql", metavar="SQL", nargs="?", help="the question, in quotes")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("--unit", metavar="COLUMN", help="the column that says whose row it is")
    whose.add_argument("--unit-is-row", action="store_true", help="each row is a person of its own")
    whose.add_argument("--policy", metavar="FILE", help="a policy file, which says unit and budget and more")
    parser.add_argument("--epsilon", help="privacy level of all answers together; not needed once there is a ledger")
    parser.add_argument("--delta", help="delta of all answers together (0)")
    parser.add_argument("--groups", metavar="NUMBER", help="in how many groups of an answer a unit counts (1)")
    parser.add_argument("--rows", metavar="NUMBER", help="with how many rows in each of them (1)")
    parser.add_argument("--ledger", metavar="FILE", help="where what is spent is kept for ever (FILE.ledger)")
    parser.add_argument("--analyst", metavar="NAME", help="who asks, where the policy names several")
    manner = parser.add_mutually_exclusive_group()
    manner.add_argument("--explain", action="store_true", help="say what it would cost and how; touches no data")
    manner.add_argument("--rehearse", action="store_true", help="answer on made-up rows; touches no data, free")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, with intervals and receipt")
    form.add_argument("--csv", action="store_true", help="print CSV, with the ends of the intervals")
    form.add_argument(
        "--chart",
        nargs="?",
        const="",
        metavar="FILE",
        help="draw bars, in the terminal or into an .svg, .png or .pdf file",
    )


def _add_policy(commands: Any) -> None:
    parser = commands.add_parser(
        "policy",
        help="check a policy file, or draft one",
        description="What the owner of the data decides, in a file.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    check = actions.add_parser(
        "check",
        help="say what a policy file says, or what is wrong with it",
        description="Says what a policy file says, or what is wrong with it, one sentence for each fault.",
        allow_abbrev=False,
    )
    check.set_defaults(run=policy.check)
    check.add_argument("file", metavar="FILE", help="the policy, in TOML")
    check.add_argument("--json", action="store_true", help="print JSON")
    draft = actions.add_parser(
        "draft",
        help="a first policy, from names and types alone",
        description="Prints a policy with the names and types of a file's columns. No row is read.",
        allow_abbrev=False,
    )
    draft.set_defaults(run=policy.draft)
    draft.add_argument("file", metavar="FILE", help="a Parquet or DuckDB file")
    draft.add_argument("--unit", metavar="COLUMN", required=True, help="the column that says whose row it is")
    draft.add_argument("--epsilon", required=True, help="privacy level of all answers together")
    draft.add_argument("--delta", default="0", help="delta of all answers together (0)")


def _add_demo(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="a short tour: five questions about 200,000 invented visits to hospitals",
        description="Makes a table of visits of patients who do not exist, asks five questions about it, shows the "
        "true and the private answers side by side, and draws them.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=demo.run)
    parser.add_argument("--out", default="demo", metavar="DIRECTORY", help="where table, policy and picture go (demo)")
    parser.add_argument("--visits", default="200000", metavar="NUMBER", help="how many visits to make (200,000)")
    parser.add_argument("--data-only", action="store_true", help="make table and policy, and ask nothing")


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


def _add_ledger(commands: Any) -> None:
    parser = commands.add_parser(
        "ledger",
        help="budgets that outlive processes: create, show, grant, verify",
        description="Budgets that outlive processes, crashes and losses of power. LEDGER is the path of a file, or "
        "an address that begins with postgresql://.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")

    def add(name: str, run: Any, about: str, *, json: bool = True) -> Any:
        action = actions.add_parser(
            name,
            help=about[0].lower() + about[1:].rstrip("."),
            description=about,
            argument_default=argparse.SUPPRESS,
            allow_abbrev=False,
        )
        action.set_defaults(run=run, json=False)
        if name != "receipt":
            action.add_argument("ledger", metavar="LEDGER", help="the path of a file, or postgresql://...")
        if json:
            action.add_argument("--json", action="store_true", help="print JSON")
        return action

    for action, name in (
        (add("init", ledger.init, "Creates a ledger, with a budget for a dataset.", json=False), "init"),
        (add("budget", ledger.budget, "Adds a budget to a ledger: for an analyst, a window.", json=False), "budget"),
    ):
        _add_budget(action, name)
    add("show", ledger.show, "Shows what each budget has, has spent, and promises.")
    action = add("grant", ledger.grant, "Adds to a budget, for a reason that is kept.", json=False)
    action.set_defaults(part=[])
    action.add_argument("budget", metavar="BUDGET", help="the name of the budget")
    action.add_argument("amount", metavar="AMOUNT", help="how much of the budget's currency")
    action.add_argument("--delta", help="how much delta for black boxes beside it (0)")
    action.add_argument("--reason", required=True, help="why")
    action.add_argument("--part", action="append", help="to this part of the data alone")
    action = add("verify", ledger.verify, "Checks every row and every balance, and prints an anchor.")
    action.set_defaults(anchor="")
    action.add_argument("--anchor", metavar="FILE", help="check against this anchor, and then bring it up to date")
    add("export", ledger.export, "Prints all rows.")
    action = add("plan", ledger.plan, "Tells what a charge would cost and how often it would fit.")
    action.set_defaults(dataset=None, analyst=None, part=[])
    action.add_argument("--epsilon", help="an answer of this privacy level")
    action.add_argument("--delta", help="with this delta")
    action.add_argument("--rho", help="or of this level of zero-concentrated privacy")
    action.add_argument("--mu", help="or of this level of Gaussian privacy")
    action.add_argument("--dataset", help="about this dataset (the only one)")
    action.add_argument("--analyst", help="asked by this analyst")
    action.add_argument("--part", action="append", help="about this part of the data (all of them)")
    action = add("receipt", ledger.receipt, "Checks a receipt, without any ledger.")
    action.set_defaults(ledger="", key="")
    action.add_argument("file", metavar="FILE", help="the receipt; with --key, a ledger")
    action.add_argument("--ledger", metavar="LEDGER", help="ask this ledger as well whether the receipt is its own")
    action.add_argument("--key", help="print the receipt of the answer with this key")


def _add_budget(parser: Any, name: str) -> None:
    parser.set_defaults(
        slot=[],
        rule="zcdp",
        order="32",
        black_box="0",
        name=None,
        analyst=None,
        window="0",
        part=[],
        adjacency="add-remove",
    )
    parser.add_argument("--dataset", required=True, help="what the budget is for")
    parser.add_argument("--epsilon", help="privacy level of all answers together")
    parser.add_argument("--delta", help="delta of all answers together")
    parser.add_argument("--rule", choices=ledger.RULES, help="how charges add up (zcdp)")
    parser.add_argument("--order", help="the one order of Renyi divergence (32)")
    parser.add_argument("--black-box", help="the part of delta for charges that have one of their own (0)")
    parser.add_argument(
        "--slot", action="append", metavar="EPSILON[,DELTA]=TIMES", help="instead: so many answers of this level"
    )
    parser.add_argument("--part", action="append", help="a part of the data with this budget of its own; repeat")
    parser.add_argument("--adjacency", choices=("add-remove", "replace-one"), help="neighbouring data (add-remove)")
    parser.add_argument("--name", help="what to call it")
    if name == "budget":
        parser.add_argument("--analyst", help="for one analyst, within the budget of the dataset")
        parser.add_argument("--window", metavar="SECONDS", help="anew in each stretch of so many seconds")


def _add_explore(commands: Any) -> None:
    parser = commands.add_parser(
        "explore",
        help="see what anyone can tell, on a page in the browser",
        description="Opens the explorer of privacy regions in the browser, served to this machine alone until it is "
        "interrupted; or writes it as one HTML file that needs no server.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=explore.run)
    parser.add_argument("--port", default="0", help="the port to listen on (any that is free)")
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="print the address, open nothing")
    parser.add_argument("--export", metavar="FILE", help="write one HTML file, with numbers computed beforehand")


def _add_serve(commands: Any) -> None:
    parser = commands.add_parser(
        "serve",
        help="answer questions about private tables over HTTP",
        description="Serves the tables of a policy over HTTP to people with tokens, on this machine alone unless told "
        "otherwise, until it is told to stop. Needs the extra `server`.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=serve.run)
    parser.add_argument("policy", metavar="POLICY", help="the policy, a TOML file that names its sources")
    parser.add_argument("--ledger", help="a file or postgresql://... (beside the data)")
    parser.add_argument("--name", help="the name of the data set in the ledger (the first private table's)")
    parser.add_argument("--tokens", metavar="FILE", help="the file of tokens (POLICY.tokens)")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (127.0.0.1)")
    parser.add_argument("--port", default="8000", help="the port (8000)")
    parser.add_argument("--certificate", metavar="FILE", help="TLS: the certificate with its chain, PEM")
    parser.add_argument("--private-key", metavar="FILE", help="TLS: its key, PEM")
    parser.add_argument("--behind-proxy", action="store_true", help="a proxy before this server has TLS")
    parser.add_argument("--workers", default="8", help="questions worked on at a time (8)")
    parser.add_argument("--waiting", default="64", help="questions that may wait for these (64)")
    parser.add_argument("--rate", default="50", help="requests of one person in a second, on average (50)")
    parser.add_argument("--seconds", default="60", help="until an answer is given up (60)")
    parser.add_argument("--tick", default="0.05", help="answers leave a whole number of these seconds later (0.05)")


def _add_token(commands: Any) -> None:
    parser = commands.add_parser(
        "token",
        help="who may ask a service, and in which role",
        description="Issues, lists and revokes the tokens of a service. Only their hashes are kept.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    issue = actions.add_parser("issue", help="print a new token, this once", allow_abbrev=False)
    issue.set_defaults(run=token.issue)
    issue.add_argument("person", metavar="PERSON", help="whose it is: the analyst's name in the policy, if it has one")
    issue.add_argument("--role", default="analyst", help="owner, analyst or auditor (analyst)")
    listed = actions.add_parser("list", help="print who has tokens", allow_abbrev=False)
    listed.set_defaults(run=token.listed)
    listed.add_argument("--json", action="store_true", help="print JSON")
    revoke = actions.add_parser("revoke", help="refuse a token from now on", allow_abbrev=False)
    revoke.set_defaults(run=token.revoke)
    revoke.add_argument("token", metavar="NAME", help="its name: what is between the first two underscores")
    for action in (issue, listed, revoke):
        action.add_argument("--policy", default="policy.toml", help="the policy that is served (policy.toml)")
        action.add_argument("--tokens", metavar="FILE", help="the file of tokens (POLICY.tokens)")
