"""indistinct demo: makes the table, takes the tour, and draws it."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from indistinct.errors import InvalidParameter, MissingExtra

__all__ = ["run"]

_TABLE, _POLICY, _PICTURE = "visits.parquet", "policy.toml", "true-and-private.svg"


def run(arguments: argparse.Namespace) -> None:
    """Makes table and policy and, unless that is all that was wanted, asks."""
    from indistinct.cli.demo.questions import policy_text
    from indistinct.cli.demo.visits import PATIENTS, VISITS, write_visits
    from indistinct.numbers import read_count

    visits = read_count("--visits", arguments.visits, least=1)
    patients = max(1, PATIENTS * visits // VISITS)
    folder = Path(arguments.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _POLICY).write_text(policy_text(_TABLE), encoding="utf-8")
    except OSError as error:
        raise InvalidParameter("the directory", str(folder), "be one that can be written to") from error
    write_visits(folder / _TABLE, visits, patients)
    print(f"{visits:,} visits of {patients:,} patients, none of whom exists: {folder / _TABLE}")
    print(f"What their hospitals say in public about the table: {folder / _POLICY}")
    if not arguments.data_only:
        _take(folder)


def _take(folder: Path) -> None:
    """Asks with a ledger of its own, which is forgotten: the tour can be taken again."""
    from indistinct.cli.demo.picture import draw
    from indistinct.cli.demo.questions import QUESTIONS
    from indistinct.cli.demo.tour import Compared, tour
    from indistinct.queries import open as open_database
    from indistinct.queries.policy.file import read_policy

    drawn, table, policy = [], folder / _TABLE, read_policy(folder / _POLICY)
    with (
        tempfile.TemporaryDirectory(prefix="indistinct-") as temporary,
        open_database(
            table, policy=policy, ledger=Path(temporary, "demo.ledger"), questions=len(QUESTIONS) + 1
        ) as database,
    ):
        for piece in tour(database, table):
            if isinstance(piece, Compared):
                drawn.append(piece)
            else:
                print(piece, flush=True)
    print()
    try:
        draw(folder / _PICTURE, drawn)
        print(f"True and private answers as a picture: {folder / _PICTURE}")
    except MissingExtra as missing:
        print(f"No picture: {missing}")
    print(f"Go on yourself: indistinct query {table} --policy {folder / _POLICY}")
