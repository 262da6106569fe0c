"""What was changed from outside is found, and its first row named; what is no ledger is left alone."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import psycopg
import pytest

from indistinct import PureDP
from indistinct.composition.filters import BasicRule
from indistinct.errors import LedgerError, LedgerUnavailable, LedgerUntrusted
from indistinct.ledger import Anchor, Budget, Ledger, read_receipt
from indistinct.ledger.canonical import digest
from indistinct.ledger.sqlite import APPLICATION
from tests.ledger.conftest import NewAddress
from tests.ledger.counts import count, tell

FILLED = 40


def fill(ledger: Ledger, first: int = 0, number: int = FILLED) -> None:
    for at in range(first, first + number):
        key = f"k{at}"
        with ledger.reserve("1e-9", key=key).start() if at % 2 else ledger.charge("1e-9", key=key) as charge:
            charge.seal({"answer": at})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of 102 rows: the first, a budget, and for each of 40 charges two, or three if it is reserved first."""
    made = tmp_path / "hr.ledger"
    with Ledger.create(made, Budget("hr", BasicRule(1, 0))) as ledger:
        fill(ledger)
    return made


def mark_of(path: Path) -> Path:
    """The file beside it, which tells of lost charges; see test_marks.py."""
    return path.with_name(f"{path.name}-mark")


def tampered(path: Path, *statements: str) -> None:
    """What somebody does who knows SQL and owns the file."""
    connection = apsw.Connection(str(path))
    for (trigger,) in list(connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
        connection.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.close()
    mark_of(path).unlink()


def found(path: Path, anchor: Anchor | None = None) -> LedgerUntrusted:
    """What is said of a ledger that was changed, when it is opened or when it is verified."""
    with pytest.raises(LedgerUntrusted) as error, Ledger.open(path) as ledger:
        ledger.verify(anchor)
    assert len(str(error.value)) < 250
    return error.value


def rehash(path: Path, first: int) -> None:
    """Makes the chain agree with its texts again, from a row on."""
    connection = apsw.Connection(str(path))
    previous = connection.execute("SELECT hash FROM entry WHERE number = ?", (first - 1,)).get
    for number, text in list(connection.execute("SELECT number, text FROM entry WHERE number >= ?", (first,))):
        previous = digest(previous, number, text)
        connection.execute("UPDATE entry SET hash = ? WHERE number = ?", (previous, number))
    connection.close()


TAMPERINGS = {
    "an edit": ("UPDATE entry SET text = replace(text, '\"k5\"', '\"k6\"') WHERE number = 15", 15),
    "a column": ("UPDATE entry SET time = time + 1 WHERE number = 15", 15),
    "another key": ("UPDATE entry SET key = 'other' WHERE number = 15", 15),
    "an answer": ("UPDATE entry SET answer = x'31' WHERE number = 17", 17),
    "a hash": ("UPDATE entry SET hash = zeroblob(32) WHERE number = 15", 15),
    "a row less": ("DELETE FROM entry WHERE number = 15", 15),
    "the end cut off": ("DELETE FROM entry WHERE number > 80", 81),
    "the last row cut off": ("DELETE FROM entry WHERE number = 102", None),
    "a balance": ("UPDATE balance SET spent = spent - 1 WHERE account = 'epsilon'", 100),
    "a cap": ("UPDATE balance SET cap = cap + 1 WHERE account = 'epsilon'", 100),
    "a balance less": ("DELETE FROM balance WHERE account = 'epsilon'", 100),
    "a new balance": ("INSERT INTO balance VALUES ('hr', '', 7, 'epsilon', 1, 0, 100)", 100),
    "an older balance": ("UPDATE balance SET spent = 1, entry = 3 WHERE account = 'epsilon'", 3),
    "rows swapped": ("UPDATE entry SET number = CASE number WHEN 17 THEN -1 ELSE number END WHERE number = 17", 17),
    "everything": ("DELETE FROM entry", 1),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_was_changed_is_found_with_its_row(path: Path, name: str) -> None:
    with Ledger.open(path) as ledger:
        ledger.verify()
        anchor = ledger.anchor
    statement, row = TAMPERINGS[name]
    tampered(path, "PRAGMA ignore_check_constraints = ON", statement)
    error = found(path, anchor)
    if name != "the last row cut off":
        assert error.row == row, str(error)
    assert error.row is not None


def test_a_rewritten_past_is_found_by_its_contents(path: Path) -> None:
    """Somebody who also makes the hashes agree must still make every sum agree, and is then found by an anchor."""
    with Ledger.open(path) as ledger:
        anchor = ledger.anchor
    tampered(path, "UPDATE entry SET text = replace(text, '\"epsilon\",1,', '\"epsilon\",0,') WHERE number = 15")
    rehash(path, 15)
    assert found(path).row == 15
    assert found(path, anchor).row in (15, 102)


def test_only_an_anchor_knows_of_a_whole_ledger_that_is_older(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup"
    shutil.copy(path, copy)
    with Ledger.open(path) as ledger:
        fill(ledger, FILLED, 3)
        anchor = ledger.anchor
    shutil.copy(copy, path)
    mark_of(path).unlink()
    with Ledger.open(path) as restored:
        restored.verify()  # whole in itself
        with pytest.raises(LedgerUntrusted, match="ends at row 102, but was at row 109"):
            restored.verify(anchor)
        fill(restored, 100, 5)  # and used on
        with pytest.raises(LedgerUntrusted, match="Row 109 of the ledger is not the one that the anchor knows"):
            restored.verify(anchor)


def test_an_anchor_that_is_kept_follows_every_commit_and_guards_the_opening(path: Path, tmp_path: Path) -> None:
    kept, copy = tmp_path / "elsewhere", tmp_path / "backup"
    shutil.copy(path, copy)
    with pytest.raises(LedgerUntrusted, match="There is no anchor"):
        Ledger.open(path, anchor=kept)
    with Ledger.open(path) as ledger:
        ledger.anchor.keep(kept)
    with Ledger.open(path, anchor=kept) as ledger:
        fill(ledger, FILLED, 1)
        assert Anchor.load(kept) == ledger.anchor
        ledger.verify(Anchor.load(kept))
    Ledger.open(path, anchor=kept).close()
    shutil.copy(copy, path)
    mark_of(path).unlink()
    with pytest.raises(LedgerUntrusted, match="an older copy was restored"):
        Ledger.open(path, anchor=kept)
    other = tmp_path / "other.ledger"
    with pytest.raises(LedgerUntrusted, match="another ledger"):
        Ledger.create(other, anchor=kept)
    assert not other.exists()
    kept.write_text("nonsense")
    with pytest.raises(LedgerUntrusted, match="The anchor is not one line"):
        Ledger.open(path, anchor=kept)


def test_bits_that_flip_are_found_or_change_nothing(path: Path, tmp_path: Path) -> None:
    with Ledger.open(path) as ledger:
        rows, balances = list(ledger.rows()), ledger.standings()
    content = path.read_bytes()
    chance = random.Random(9)  # noqa: S311  # test data
    caught = tried = 0
    for _ in range(count(60, 2000)):
        flipped = bytearray(content)
        at = chance.randrange(len(content))
        flipped[at] ^= 1 << chance.randrange(8)
        copy = tmp_path / "flipped"
        copy.write_bytes(flipped)
        tried += 1
        try:
            with Ledger.open(copy) as ledger:
                ledger.verify()
                assert [row[1:] for row in ledger.rows()] == [row[1:] for row in rows], at
                assert [each.spent for each in ledger.standings()] == [each.spent for each in balances], at
        except LedgerError:
            caught += 1
        for leftover in tmp_path.glob("flipped-*"):
            leftover.unlink()
    assert caught > tried // 4
    tell(f"{tried:,} flipped bits: {caught:,} found, the others changed nothing that was written")


@pytest.mark.parametrize("content", [b"", b"not a ledger at all", b"SQLite format 3\0" + bytes(100), bytes(5000)])
def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(content)
    with pytest.raises(LedgerUntrusted, match="is not a ledger"):
        Ledger.open(path)
    with pytest.raises(LedgerUnavailable, match="already"):
        Ledger.create(path)
    assert path.read_bytes() == content


def test_another_database_or_another_format_is_refused(tmp_path: Path, path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "other"))
    other.execute("CREATE TABLE t (a)")
    other.close()
    with pytest.raises(LedgerUntrusted, match="is not a ledger"):
        Ledger.open(tmp_path / "other")
    for version, kind in ((1, "an older format, 1"), (3, "a newer format, 3")):
        connection = apsw.Connection(str(path))
        assert connection.pragma("application_id") == APPLICATION
        connection.pragma("user_version", version)
        connection.close()
        with pytest.raises(LedgerUntrusted, match=f"{kind}; Indistinct reads 2 here"):
            Ledger.open(path)


def test_other_formats_and_edits_are_refused_in_postgres(new_database: NewAddress) -> None:
    address = new_database()
    with Ledger.create(address, Budget("hr", BasicRule(1, 0))) as ledger:
        fill(ledger, 0, 3)
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute("ALTER TABLE indistinct_ledger.entry DISABLE TRIGGER USER")
        owner.execute("UPDATE indistinct_ledger.entry SET text = replace(text, 'k1', 'k7') WHERE number = 5")
        with pytest.raises(LedgerUntrusted, match="Row 5 was changed"):
            Ledger.open(address)
        owner.execute("UPDATE indistinct_ledger.entry SET text = replace(text, 'k7', 'k1') WHERE number = 5")
        Ledger.open(address).close()
        owner.execute("UPDATE indistinct_ledger.version SET format = 3")
        with pytest.raises(LedgerUntrusted, match="the format 3"):
            Ledger.open(address)


def test_an_old_sqlite_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(LedgerUnavailable, match=r"SQLite 3\.51\.3 or newer"):
        Ledger.open(path)


def test_a_file_that_is_replaced_while_open_is_noticed(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup"
    shutil.copy(path, copy)
    with Ledger.open(path) as ledger:
        copy.replace(path)
        with pytest.raises(LedgerUntrusted, match="replaced or removed"):
            ledger.charge("1e-9", key="q")


def test_a_changed_answer_is_never_given(path: Path) -> None:
    with Ledger.open(path) as ledger:
        tampered(path, "UPDATE entry SET answer = x'31' WHERE number = 4")
        with pytest.raises(LedgerUntrusted, match="was changed"):
            ledger.charge("1e-9", key="k0")
        with pytest.raises(LedgerUntrusted, match="was changed"):
            ledger.reserve("1e-9", key="k0").start()


@pytest.mark.parametrize(
    "edit",
    [
        lambda receipt: {**receipt, "answer": "MQ=="},
        lambda receipt: {**receipt, "rows": receipt["rows"][:-1]},
        lambda receipt: {**receipt, "rows": receipt["rows"][::-1]},
        lambda receipt: {**receipt, "receipt": 2},
        lambda receipt: {
            **receipt,
            "rows": [{**row, "text": row["text"].replace('"epsilon"', '"delta"')} for row in receipt["rows"]],
        },
        lambda receipt: list(receipt),
        str,
    ],
)
@pytest.mark.parametrize(("at", "numbers"), [(3, (10, 11, 12)), (4, (13, 14))])
def test_a_receipt_is_checked_without_the_ledger(
    path: Path, edit: Callable[[object], object], at: int, numbers: tuple[int, ...]
) -> None:
    with Ledger.open(path) as ledger:
        text = ledger.receipt(f"k{at}")
        identity = ledger.identity
        hashes = {row.number: row.hash.hex() for row in ledger.rows()}
    shown = read_receipt(text)
    assert (shown.ledger, shown.key, shown.answer) == (identity, f"k{at}", {"answer": at})
    assert shown.balances == [["hr", "", 0, "epsilon", 1, 10**9, at + 1]]
    assert shown.hashes == {number: hashes[number] for number in numbers}
    with pytest.raises(LedgerUntrusted):
        read_receipt(json.dumps(edit(json.loads(text))))
    with pytest.raises(LedgerUntrusted):
        read_receipt(text[:-9])


def test_receipts_of_bytes_and_of_other_stores(new_address: NewAddress) -> None:
    with Ledger.create(new_address(), Budget("hr", epsilon=1, delta="1e-6")) as ledger:
        with ledger.charge(PureDP("0.1"), key="q", analyst="ann") as charge:
            charge.seal(b"\0\xff")
        shown = read_receipt(ledger.receipt("q"))
        assert (shown.answer, shown.analyst, shown.asked) == (b"\0\xff", "ann", [["pure", "1/10"]])


def test_a_file_with_two_names_is_refused(path: Path, tmp_path: Path) -> None:
    """The fault that this was written for: each name has a write-ahead log, and a budget was spent under both."""
    with Ledger.open(path) as ledger:
        (tmp_path / "second").hardlink_to(path)
        with pytest.raises(LedgerUntrusted, match="has a second name"):
            ledger.charge("1e-9", key="q")
    for name in (path, tmp_path / "second"):
        with pytest.raises(LedgerUntrusted, match="has a second name"):
            Ledger.open(name)
    (tmp_path / "second").unlink()
    (tmp_path / "link").symlink_to(path)
    with Ledger.open(tmp_path / "link") as ledger:
        assert ledger.verify().charges
    assert not (tmp_path / "link-wal").exists()


def test_an_anchor_never_goes_back_and_is_needed_before_anything_is_done(path: Path, tmp_path: Path) -> None:
    """The fault that this was written for: a ledger was made, and said to have failed; of two writers the later won."""
    nowhere = tmp_path / "no such folder" / "anchor"
    with pytest.raises(LedgerUnavailable, match="cannot be written"):
        Ledger.create(tmp_path / "new.ledger", anchor=nowhere)
    assert not (tmp_path / "new.ledger").exists()
    with pytest.raises(LedgerUnavailable, match="cannot be written"):
        Ledger.open(path, anchor=nowhere)
    kept = tmp_path / "anchor"
    with Ledger.open(path) as ledger:
        early = ledger.anchor
        fill(ledger, FILLED, 1)
        ledger.anchor.keep(kept)
        early.keep(kept)
        assert Anchor.load(kept) == ledger.anchor


def test_without_a_unix_no_anchor_follows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no `fcntl`, all else works, and the refusal comes before anything is made or charged."""
    without = (
        "import sys; sys.modules['fcntl'] = None; from indistinct.ledger import anchors; assert anchors.fcntl is None"
    )
    subprocess.run([sys.executable, "-c", without], check=True)
    monkeypatch.setattr("indistinct.ledger.anchors.fcntl", None)
    refused = "An anchor that follows a ledger needs the file locks of a Unix"
    for ask in (Ledger.open, Ledger.create):
        with pytest.raises(LedgerUnavailable, match=refused):
            ask(path if ask == Ledger.open else tmp_path / "new.ledger", anchor=tmp_path / "anchor")
    assert not (tmp_path / "new.ledger").exists()
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerUnavailable, match=refused):
            ledger.anchor.keep(tmp_path / "anchor")
        assert ledger.verify(Anchor.parse(str(ledger.anchor))).charges == FILLED
    assert not (tmp_path / "anchor").exists()


@pytest.mark.parametrize("number", ["-1", "0", "true", "1" * 26, "9" * 5000])
def test_hostile_anchors_are_refused(number: str) -> None:
    text = '{"anchor":1,"ledger":"a","number":' + number + ',"hash":"' + "00" * 32 + '"}'
    with pytest.raises(LedgerUntrusted, match="The anchor is not one line"):
        Anchor.parse(text)
    with pytest.raises(LedgerUntrusted, match="The anchor is not one line"):
        Anchor.parse("[" * 200_000)


@pytest.mark.parametrize("number", [-1, 10**26, 2**64])
def test_hostile_receipts_are_refused(number: int) -> None:
    row = {"number": number, "previous": "00", "text": "{}", "hash": ""}
    for text in ("[" * 200_000, json.dumps({"receipt": 1, "rows": [row] * 3})):
        with pytest.raises(LedgerUntrusted, match="receipt"):
            read_receipt(text)
