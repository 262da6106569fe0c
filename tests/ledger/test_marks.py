"""What is lost beside a file is missed: its write-ahead log, all of it or a part, or all that came after a copy."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from indistinct.composition.filters import BasicRule
from indistinct.errors import LedgerUntrusted
from indistinct.ledger import Budget, Ledger
from tests.ledger.conftest import NewAddress
from tests.ledger.counts import count, tell

CHARGES = 20
SUFFIXES = ("", "-wal", "-mark")


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """What a process leaves behind that is killed: the last charges are in the write-ahead log alone."""
    folder = tmp_path / "alive"
    folder.mkdir()
    Ledger.create(folder / "hr.ledger", Budget("hr", BasicRule(1, 0))).close()
    with Ledger.open(folder / "hr.ledger") as ledger:
        for number in range(CHARGES):
            ledger.charge("1e-9", key=str(number)).seal(number)
        (tmp_path / "crashed").mkdir()
        for suffix in SUFFIXES:
            shutil.copy(folder / f"hr.ledger{suffix}", tmp_path / "crashed")
    return tmp_path / "crashed" / "hr.ledger"


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def charges_of(path: Path) -> int:
    with Ledger.open(path) as ledger:
        return ledger.verify().charges


def test_what_is_whole_is_opened(crashed: Path) -> None:
    assert charges_of(crashed) == CHARGES
    assert not beside(crashed, "-wal").exists()
    assert charges_of(crashed) == CHARGES  # closed, so that the file is all there is


def test_a_log_that_is_missing_is_missed(crashed: Path) -> None:
    lost = beside(crashed, "-wal").rename(crashed.with_name("elsewhere"))
    for _ in range(2):
        with pytest.raises(
            LedgerUntrusted, match=r"was at row 42 and ends at row 2: 'hr\.ledger-wal' is missing"
        ) as told:
            Ledger.open(crashed)
        assert told.value.row == 3
    for leftover in crashed.parent.glob("hr.ledger-[ws]*"):
        leftover.unlink()
    lost.rename(beside(crashed, "-wal"))
    assert charges_of(crashed) == CHARGES


def test_a_log_that_is_cut_short_anywhere_is_missed(crashed: Path, tmp_path: Path) -> None:
    log = beside(crashed, "-wal").read_bytes()
    chance = random.Random(5)  # noqa: S311  # test data
    missed = 0
    for number in range(tries := count(30, 1000)):
        copy = tmp_path / str(number) / "hr.ledger"
        copy.parent.mkdir()
        for suffix in ("", "-mark"):
            shutil.copy(beside(crashed, suffix), beside(copy, suffix))
        cut = chance.choice([0, 31, 32, len(log) - 1, chance.randrange(len(log))])
        beside(copy, "-wal").write_bytes(log[:cut])
        with pytest.raises(LedgerUntrusted, match="missing or was cut short"):
            Ledger.open(copy)
        missed += 1
    tell(f"{tries:,} logs cut short, {missed:,} missed")


def test_an_older_copy_in_its_place_is_missed(tmp_path: Path) -> None:
    path, copy = tmp_path / "hr.ledger", tmp_path / "backup"
    with Ledger.create(path, Budget("hr", BasicRule(1, 0))) as ledger:
        ledger.charge("0.1", key="a")
    shutil.copy(path, copy)
    with Ledger.open(path) as ledger:
        ledger.charge("0.1", key="b")
    shutil.copy(copy, path)
    with pytest.raises(LedgerUntrusted, match="was at row 4 and ends at row 3"):
        Ledger.open(path)
    beside(path, "-mark").rename(tmp_path / "mark")
    with Ledger.open(path) as ledger:  # nothing else knows
        ledger.charge("0.2", key="c")
    (tmp_path / "mark").rename(beside(path, "-mark"))
    with pytest.raises(LedgerUntrusted, match="was at row 4 and went another way from there") as told:
        Ledger.open(path)
    assert told.value.row == 4


@pytest.mark.parametrize("content", [b"", b"\0" * 256, b'{"anchor":1', b"\xff"])
def test_a_mark_that_is_torn_says_nothing_and_is_written_anew(crashed: Path, content: bytes) -> None:
    beside(crashed, "-mark").write_bytes(content)
    assert charges_of(crashed) == CHARGES
    whole = beside(crashed, "-mark").read_bytes()
    assert whole.startswith(b"42 ")
    beside(crashed, "-mark").write_bytes(b"43" + whole[2:])  # half of one, half of another
    assert charges_of(crashed) == CHARGES


def test_a_mark_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "hr.ledger"
    Ledger.create(path, Budget("hr", BasicRule(1, 0))).close()
    beside(path, "-mark").unlink()
    beside(path, "-mark").mkdir()
    with Ledger.open(path) as ledger:
        ledger.charge("0.1", key="a")
        assert ledger.verify().charges == 1


def test_a_mark_of_another_ledger_is_told(tmp_path: Path, crashed: Path) -> None:
    other = tmp_path / "other.ledger"
    Ledger.create(other, Budget("hr", BasicRule(1, 0))).close()
    shutil.copy(beside(crashed, "-mark"), beside(other, "-mark"))
    with pytest.raises(LedgerUntrusted, match="belongs to another ledger that was here"):
        Ledger.open(other)
    other.unlink()
    Ledger.create(other, Budget("hr", BasicRule(1, 0))).close()  # a new one begins its own
    Ledger.open(other).close()


def test_a_mark_never_runs_ahead(tmp_path: Path) -> None:
    """Whoever opens the file at any step of a charge, whole as it is then, finds no more promised than there is."""
    path, opened = tmp_path / "hr.ledger", 0

    def copied(_: str) -> None:
        nonlocal opened
        folder = tmp_path / str(opened)
        folder.mkdir()
        for suffix in SUFFIXES:
            shutil.copy(beside(path, suffix), folder)
        Ledger.open(folder / "hr.ledger").close()
        opened += 1

    with Ledger.create(path, Budget("hr", BasicRule(1, 0))) as ledger:
        ledger._group._watch = copied  # noqa: SLF001
        for number in range(3):
            ledger.charge("0.1", key=str(number))
    assert opened == 9


def test_a_server_needs_none(new_database: NewAddress) -> None:
    with Ledger.create(new_database(), Budget("hr", BasicRule(1, 0))) as ledger:
        assert ledger._store.mark is None  # noqa: SLF001
        ledger.charge("0.1", key="a")
