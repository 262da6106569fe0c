"""Lines from somebody at a keyboard: with history and completion where Python was built with readline."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from indistinct.cli.completion import Completer

__all__ = ["history_file", "prepare"]

_REMEMBERED = 1000


def history_file() -> Path:
    """Where typed lines are kept, for their owner alone."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "indistinct" / "history"


def prepare(names: Iterable[str]) -> None:
    """Teaches `input` to complete the names and to remember; without readline it is left as it is."""
    try:
        import readline
    except ImportError:
        return
    readline.set_completer(Completer(names, readline.get_line_buffer))
    readline.set_completer_delims(" \t\n()=,<>+-*/;")
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    path = history_file()
    # A home that cannot be read or written is no reason not to answer.
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        readline.read_history_file(path)
        readline.set_history_length(_REMEMBERED)
        atexit.register(_keep, str(path))


def _keep(path: str) -> None:
    import readline

    with contextlib.suppress(OSError):
        readline.write_history_file(path)
