"""A mark beside a ledger's file: how far it had come at least, so that lost charges are missed.

After a crash the last charges stand in the file that ends in `-wal` alone, and without it, or with less of it, the
ledger is whole and older. So the number and the hash of the last row are also written into a file of their own, after
every commit. They are not synchronised: the mark costs microseconds, and a loss of power may set it back, but it is
never ahead of what is durable. It is no anchor: whoever takes both files away, or copies one alone, is not found out.
"""

from __future__ import annotations

import mmap
import os
import zlib
from contextlib import suppress
from pathlib import Path

from indistinct.errors import LedgerUntrusted
from indistinct.ledger.anchors import Anchor
from indistinct.ledger.entries import Head
from indistinct.ledger.store import Reader

__all__ = ["Mark"]

_WIDTH = 256


class Mark:
    """The mark of a file, or (None) that of a store which needs none."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._page: mmap.mmap | None = None

    def read(self) -> Anchor | None:
        """What is written there; None if it is missing or torn, perhaps by a writer at this moment: it says nothing."""
        if self.path is None:
            return None
        try:
            told, _, checksum = self.path.read_bytes()[:_WIDTH].rstrip().rpartition(b" ")
            number, chained, ledger = told.decode("ascii").split(" ")
            return Anchor(ledger, int(number), chained) if checksum == b"%08x" % zlib.crc32(told) else None
        except (OSError, ValueError):
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

    def keep(self, ledger: str, head: Head) -> None:
        """Writes how far the ledger has come. It is durable without this, so a failure to is no failure."""
        if self.path is None:
            return
        told = f"{head.number} {head.hash.hex()} {ledger}".encode("ascii")
        line = (b"%s %08x\n" % (told, zlib.crc32(told))).ljust(_WIDTH)
        if self._page is None:
            with suppress(OSError, ValueError):
                self._page = _mapped(self.path, line)
        if self._page is not None:
            self._page[:] = line

    def close(self) -> None:
        """Lets go of the file."""
        page, self._page = self._page, None
        if page is not None:
            page.close()


def _mapped(path: Path, line: bytes) -> mmap.mmap:
    """The file in memory, of which it has all bytes: so the system writes it when it likes, and nobody waits."""
    file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        if os.fstat(file).st_size < len(line):  # it never becomes shorter, as others may have mapped it
            os.write(file, line)
        return mmap.mmap(file, len(line))
    finally:
        os.close(file)
