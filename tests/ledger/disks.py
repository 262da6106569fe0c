"""A disk that can lose power, and one that fails at a chosen moment: a VFS for SQLite, over the real one.

What a program writes is in the machine's memory until it is synchronised. So for each file the content that is
certain is kept apart, together with the writes since. When the power goes, each of these may be there, may not be
there, or may be there in part, in any order: chance decides.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

__all__ = ["Disk"]

SECTOR = 512


@dataclass
class Content:
    """A file: what is certain, and what was written since."""

    certain: bytearray
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def settle(self) -> None:
        for offset, data in self.pending:
            _apply(self.certain, offset, data)
        self.pending.clear()

    def after_power_loss(self, chance: random.Random) -> bytes:
        found = bytearray(self.certain)
        for offset, data in self.pending:
            if data is None:
                if chance.random() < 0.5:
                    _apply(found, offset, None)
                continue
            for start in range(0, len(data), SECTOR):
                if chance.random() < 0.5:
                    _apply(found, offset + start, data[start : start + SECTOR])
        return bytes(found)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class Disk(apsw.VFS):
    """The VFS; `fails_at` operations from now it fails, once with `failure`, or for ever if the power is lost."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.contents: dict[str, Content] = {}
        self.operations = 0
        self.fails_at: int | None = None
        self.failure: type[apsw.Error] | None = None
        super().__init__(name, "")

    def arm(self, operations: int, failure: type[apsw.Error] | None = None) -> None:
        """Fails after so many operations; without a failure to raise, the power is lost."""
        self.operations, self.fails_at, self.failure = 0, operations, failure

    def disarm(self) -> None:
        """Works again."""
        self.fails_at = None

    @property
    def failed(self) -> bool:
        """Whether the moment came."""
        return self.fails_at is not None and self.operations >= self.fails_at

    def step(self) -> None:
        """One operation of a program."""
        if self.fails_at is None:
            return
        if self.failed and self.failure is None:
            raise apsw.IOError("no power")
        self.operations += 1
        if self.operations == self.fails_at:
            raise (self.failure or apsw.IOError)("the disk")

    def restart(self, chance: random.Random) -> None:
        """Puts on the real disk what is there after the power was lost."""
        self.disarm()
        for path, content in self.contents.items():
            Path(path).write_bytes(content.after_power_loss(chance))
        self.contents.clear()

    def xOpen(self, name: Any, flags: Any) -> DiskFile:  # noqa: N802  # SQLite's names
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        known = self.contents.get(path)
        if known is None:
            there = Path(path).read_bytes() if Path(path).exists() else b""
            self.contents[path] = known = Content(bytearray(there))
        return DiskFile(self, known, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        self.contents.pop(name, None)
        super().xDelete(name, sync)


class DiskFile(apsw.VFSFile):
    """A file on that disk."""

    def __init__(self, disk: Disk, content: Content, name: Any, flags: Any) -> None:
        self.disk = disk
        self.content = content
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self.disk.step()
        self.content.pending.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self.disk.step()
        self.content.pending.append((size, None))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.disk.step()
        self.content.settle()
        super().xSync(flags)
