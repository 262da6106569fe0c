"""An anchor: how far a ledger had come, kept elsewhere, so that an older copy of it is found out.

A ledger that was restored from a backup is whole in itself, and yet forgets what was spent since. Only something
outside can tell: the number and the hash of a row. It says nothing else, so it may be kept anywhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from indistinct.errors import LedgerUnavailable, LedgerUntrusted
from indistinct.ledger.canonical import canonical
from indistinct.ledger.entries import Head
from indistinct.ledger.store import Reader

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # not a Unix

__all__ = ["Anchor"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A row of a ledger, by its number and hash.

    >>> Anchor.parse(str(Anchor("af", 3, "00" * 32))).number
    3
    """

    ledger: str
    number: int
    hash: str

    def __str__(self) -> str:
        return canonical({"anchor": 1, "ledger": self.ledger, "number": self.number, "hash": self.hash})

    @classmethod
    def at(cls, ledger: str, head: Head) -> Anchor:
        """The anchor of a chain's end."""
        return cls(ledger, head.number, head.hash.hex())

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """An anchor from its text."""
        try:
            told = json.loads(text)
            if (
                told["anchor"] == 1
                and type(told["number"]) is int
                and 0 < told["number"] < 2**63
                and len(bytes.fromhex(told["hash"])) == 32
            ):
                return cls(str(told["ledger"]), told["number"], told["hash"])
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        raise LedgerUntrusted("The anchor is not one line as 'indistinct ledger verify' prints it.")

    @classmethod
    def load(cls, path: Path) -> Anchor | None:
        """The anchor in a file; None if there is no such file, or nothing in it yet."""
        try:
            text = path.read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeError):
            raise LedgerUnavailable(f"The anchor {str(path)!r} cannot be read.") from None
        return cls.parse(text) if text else None

    @staticmethod
    def prepare(path: Path) -> None:
        """Refuses a place where no anchor can be written, before anything depends on it."""
        with _locked(path):
            pass

    def keep(self, path: Path) -> None:
        """Replaces the file, in one step and durably; an anchor that is further on, by another process, stays."""
        with _locked(path):
            kept = Anchor.load(path)
            if kept is not None and kept.ledger == self.ledger and kept.number > self.number:
                return
            beside = path.with_name(f".{path.name}.new")
            with beside.open("w", encoding="ascii") as file:
                file.write(f"{self}\n")
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def check(self, ledger: str, reader: Reader) -> None:
        """Refuses a ledger that is not the one of the anchor, or that has gone back before it."""
        if ledger != self.ledger:
            raise LedgerUntrusted("The anchor belongs to another ledger.")
        row = reader.rows_at([self.number]).get(self.number)
        if row is None:
            last = reader.head().number
            raise LedgerUntrusted(
                f"The ledger ends at row {last}, but was at row {self.number} before: rows were cut off, or an older "
                "copy was restored.",
                last + 1,
            )
        if row.hash.hex() != self.hash:
            raise LedgerUntrusted(
                f"Row {self.number} of the ledger is not the one that the anchor knows: an older copy was restored and "
                "used since, or rows were changed.",
                self.number,
            )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lets one process at a time write an anchor; the file beside it that is locked is all that is needed to."""
    if fcntl is None:
        raise LedgerUnavailable(
            "An anchor that follows a ledger needs the file locks of a Unix: open the ledger without one, and keep "
            "what 'indistinct ledger verify' prints."
        )
    try:
        with path.with_name(f".{path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError:
        raise LedgerUnavailable(f"The anchor {str(path)!r} cannot be written; the charges are in the ledger.") from None
