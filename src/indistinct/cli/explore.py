"""indistinct explore: what anyone can tell, as a page on this machine or as one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from indistinct.errors import InvalidParameter

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> None:
    """Serves the page until it is interrupted, or writes it to a file."""
    if arguments.export is not None:
        _export(Path(arguments.export))
    else:
        _serve(_port(arguments.port), opened=arguments.browser)


def _serve(port: int, *, opened: bool) -> None:
    import webbrowser

    from indistinct.server.local import ExplorerServer

    with ExplorerServer(port=port) as server:
        print(f"The explorer is at {server.address} until you press Ctrl-C.", flush=True)
        if opened:
            webbrowser.open(server.address)
        server.serve_forever()


def _export(path: Path) -> None:
    from indistinct.server.export import exported

    if not path.parent.is_dir():
        raise InvalidParameter("the folder of the file", str(path.parent), "exist")
    try:
        path.write_text(exported(), encoding="utf-8")
    except OSError as error:
        raise InvalidParameter("the file", str(path), "be one that can be written to") from error
    print(path)


def _port(text: str) -> int:
    from indistinct.numbers import read_count

    return read_count("port", text)
