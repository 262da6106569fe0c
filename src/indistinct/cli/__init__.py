"""The command line: `indistinct query`, `policy`, `ledger`, `serve`, `explore`, `compose`, `audit` and others.

Exit codes: 0 done; 1 an audit found a violation; 2 the question was not well put, which one sentence on standard error
says; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    from indistinct.cli.parser import make_parser
    from indistinct.errors import IndistinctError

    parsed = make_parser().parse_args(arguments)
    try:
        code: int | None = parsed.run(parsed)
        sys.stdout.flush()
    except IndistinctError as error:
        print(f"indistinct: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read has seen enough. What is left in the buffer goes nowhere, without complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code or 0
