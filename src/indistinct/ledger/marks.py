"""A mark beside a ledger's file: how far it had come at least, so that lost charges are missed.

After a crash the last charges stand in the file that ends in `-wal` alone, and without it, or with less of it, the
ledger is whole and older. So the number and the hash of the last row are also written into a file of their own, after
every commit. They are not synchronised: the mark costs microseconds, and a loss of power may set it back, but it is
never ahead of what is durable. It is no anchor: whoever takes both files away, or copies one alone, is not found out.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from indistinct.errors import LedgerUntrusted
from indistinct.ledger.anchors import Anchor
from indistinct.ledger.canonical import fingerprint
from indistinct.ledger.store import Reader

__all__ = ["Mark"]

_WIDTH = 256


class Mark:
    """The mark of a file, or (None) that of a store which needs none."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file: int | None = None

    def read(self) -> Anchor | None:
        """What is written there; None if it is missing or torn, perhaps by a writer at this moment: it says nothing."""
        if self.path is None:
            return None
        try:
            told, _, checksum = self.path.read_text(encoding="ascii").rstrip().rpartition(" ")
            return Anchor.parse(told) if checksum == _checksum(told) else None
        except (OSError, UnicodeError, LedgerUntrusted):
            return None

    def check(self, kept: Anchor | None, ledger: str, reader: Reader) -> None:
        """Refuses a ledger that is behind its mark, as it was read before the ledger's rows."""
        if kept is None or self.path is None:
            return
        if kept.ledger != ledger:
            raise LedgerUntrusted(f"The file {str(self.path)!r} belongs to another ledger that was here: move it away.")
        row = reader.rows_at([kept.number]).get(kept.number)
        if row is None or row.hash.hex() != kept.hash:
            log, last = self.path.name.removesuffix("-mark") + "-wal", reader.head().number
            found = f"ends at row {last}" if row is None else "went another way from there"
            raise LedgerUntrusted(
                f"The ledger was at row {kept.number} and {found}: {log!r} is missing or was cut short, or an older "
                "copy was restored. Put back what is missing.",
                min(kept.number, last + 1),
            )

    def keep(self, anchor: Anchor) -> None:
        """Writes how far the ledger has come. It is durable without this, so a failure to is no failure."""
        if self.path is None:
            return
        with suppress(OSError):
            if self._file is None:
                self._file = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, f"{anchor} {_checksum(str(anchor))}\n".ljust(_WIDTH).encode("ascii"))

    def close(self) -> None:
        """Lets go of the file."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                os.close(file)

    def __del__(self) -> None:
        self.close()


def _checksum(told: str) -> str:
    return fingerprint(told.encode())[:16]
