"""A policy in a file: TOML, read in full or refused with one sentence for each fault.

A key that is misspelt would be a bound that silently does not hold, so nothing is accepted but the tables and keys of
`reader.KEYS`. Numbers are read exactly (0.1 is one tenth).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from indistinct.errors import InvalidParameter
from indistinct.queries.policy.reader import Faulty, PolicyReader, Written
from indistinct.queries.policy.terms import Policy

__all__ = ["Reading", "parse_policy", "read_policy", "read_policy_file"]

LARGEST_FILE: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Reading:
    """What a policy file says: the policy, or what is wrong with it."""

    policy: Policy | None
    faults: tuple[InvalidParameter, ...]


def read_policy(path: str | Path) -> Policy:
    """The policy in a file, or the first fault as an error; sources are looked for beside the file.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "policy.toml")
    ...     _ = path.write_text('''
    ...         version = 1
    ...         budget = {epsilon = 1, delta = 1e-6}
    ...         [tables.visits]
    ...         unit = "patient"
    ...         columns.patient.type = "integer"
    ...         columns.cost = {type = "real", low = 0, high = 500}
    ...     ''')
    ...     read_policy(path).table("visits").columns["cost"]
    Column(type='real', low=0, high=500, step=None, keys=None, unit_low=None, unit_high=None)
    """
    reading = read_policy_file(path)
    if reading.policy is None:
        raise reading.faults[0]
    return reading.policy


def read_policy_file(path: str | Path) -> Reading:
    """The policy in a file, or every fault in it."""
    return parse_policy(_text(Path(path)), folder=Path(path).parent)


def parse_policy(text: str, *, folder: Path | None = None) -> Reading:
    """The policy that a text says, or every fault in it; relative sources are taken from the folder."""
    try:
        told = tomllib.loads(text, parse_float=Written)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        # A number of thousands of digits is a ValueError of its own.
        first = text.splitlines()[0] if text.splitlines() else ""
        return Reading(None, (InvalidParameter("the policy", first, "be TOML", instead=f"{error}."),))
    except RecursionError:
        return Reading(None, (InvalidParameter("the policy", text[:20], "be TOML that is not nested without end"),))
    reader = PolicyReader(folder)
    try:
        policy = reader.policy(told)
    except Faulty:
        policy = None
    return Reading(None if reader.faults else policy, tuple(reader.faults))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) <= LARGEST_FILE:
            return content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise InvalidParameter("the policy", str(path), "be a file that can be read") from error
    except UnicodeDecodeError:
        raise InvalidParameter("the policy", str(path), "be text in UTF-8") from None
    raise InvalidParameter("the policy", str(path), f"have at most {LARGEST_FILE >> 20} MiB")
