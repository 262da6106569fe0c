"""The command line: `indistinct query`, `policy`, `ledger`, `serve`, `explore`, `compose`, `audit` and others.

Exit codes: 0 done; 1 an audit found a violation; 2 the question was not well put, which one sentence on standard error
says; 3 the program failed, which is its fault; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    from indistinct.cli.parser import make_parser
    from indistinct.errors import IndistinctError

    try:
        return _ran(make_parser().parse_args(arguments))
    except IndistinctError as error:
        return _refused(str(error))
    except BrokenPipeError:
        # Whoever read has seen enough. What is left in the buffer goes nowhere, without complaint.
        _turn_away()
        return 0
    except OSError as error:
        _turn_away()
        return _refused(f"the output must be writable to its end, but it was not: {error.strerror or error}.")
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if os.environ.get("INDISTINCT_TRACEBACK"):
            raise
        return _failed(error)


def _ran(parsed: argparse.Namespace) -> int:
    """The exit code of a command, once all that it printed is out; one that is ended from inside did not succeed."""
    try:
        code: int | None = parsed.run(parsed)
    except SystemExit:
        return _refused("the command was ended by the code that it called, so there is no answer.")
    sys.stdout.flush()
    return code or 0


def _refused(sentence: str) -> int:
    with suppress(OSError):
        print(f"indistinct: {sentence}", file=sys.stderr, flush=True)
    return 2


def _failed(error: Exception) -> int:
    """Names the kind of error alone, as its text and its places may show what is private."""
    _refused(
        f"this is a fault of the program, {type(error).__name__}, and not of the question. "
        "What was charged stays charged; INDISTINCT_TRACEBACK=1 shows where it was, which may show private values."
    )
    return 3


def _turn_away() -> None:
    """Lets what is left in the buffer of the standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
