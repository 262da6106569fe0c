"""A charge in hand: what is paid for, and the one answer that may be given for it."""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from indistinct.errors import AnswerFailed, InvalidParameter, LedgerError, LedgerUntrusted
from indistinct.ledger.bills import check_text
from indistinct.ledger.canonical import canonical, fingerprint
from indistinct.ledger.entries import ChargeRecord
from indistinct.ledger.operations import Fail, Release, Start, Void

if TYPE_CHECKING:
    from indistinct.ledger.group import Group

__all__ = ["Charge", "Reservation"]

_LONGEST = 1 << 24


class Charge:
    """What was charged, durably, before the data are touched; made by `Ledger.charge`.

    Inside the `with` block the answer is computed, with its noise, and sealed: only what `seal` returns, or
    `answer`, may be sent. If the block fails, whatever the reason, the charge stays, and AnswerFailed says
    the same for every reason. If the process dies, the same key leads back to the same charge.
    """

    def __init__(self, group: Group, key: str, record: ChargeRecord) -> None:
        self._group = group
        self._record = record
        self.key = key

    @property
    def number(self) -> int:
        """The number of the ledger's row that reserved it."""
        return self._record.number

    @property
    def answered(self) -> bool:
        """Whether there is an answer already: then it is free, and nothing needs to be computed."""
        return self._record.answer is not None

    @property
    def sealed(self) -> bytes:
        """The bytes of the answer, the same whenever they are asked for."""
        if self._record.answer is None:
            raise LedgerError(f"The charge {self.key!r} has no answer yet.")
        return self._record.answer

    @property
    def answer(self) -> Any:
        """The answer, as it was sealed: bytes, or a value of JSON."""
        return json.loads(self.sealed) if self._record.form == "json" else self.sealed

    def seal(self, answer: object) -> Any:
        """Stores the answer, durably, and returns the one that may be sent.

        The first answer that was sealed stays: whoever seals another one gets the first. Bytes are stored as they are,
        and anything else as JSON, so that 0, None and negative numbers are answers like all others.
        """
        if not self.answered:
            content, form = spelled_answer(answer)
            self._settle(self._group.run(Release(self.key, content, form)))
        return self.answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            if not self.answered:
                raise LedgerError(f"The charge {self.key!r} was left without an answer: seal one. It stays charged.")
            return
        error.__context__ = error.__cause__ = None  # what went wrong in the block may tell of the data
        if self.answered or not tells(error, traceback):
            return
        del error, traceback, kind
        try:
            self._settle(self._group.run(Fail(self.key)))
        except LedgerError as failure:
            failure.__context__ = None
            raise

    @property
    def failed(self) -> bool:
        """Whether its outcome is that no answer will come."""
        return self._record.state == "fail"

    def settle(self, record: object) -> None:
        """Takes what has become of the charge in the ledger."""
        if not isinstance(record, ChargeRecord):
            raise TypeError(record)
        self._record = _unharmed(record)

    def _settle(self, record: object) -> None:
        self.settle(record)
        if self.failed:
            raise AnswerFailed


class Reservation:
    """A charge that is deducted, but may still be given back; made by `Ledger.reserve`."""

    def __init__(self, group: Group, key: str, record: ChargeRecord) -> None:
        self._group = group
        self.key = key
        self.number = record.number

    def start(self) -> Charge:
        """From here on the data may be read, and nothing is given back."""
        record = self._group.run(Start(self.key))
        return charge_of(self._group, self.key, record)

    def void(self, reason: str) -> None:
        """Gives it back, if it has not started."""
        check_text("a reason", reason)
        self._group.run(Void(self.key, reason))


def charge_of(group: Group, key: str, record: object) -> Charge:
    """The charge, or AnswerFailed if that is its outcome."""
    if not isinstance(record, ChargeRecord):
        raise TypeError(record)
    if record.state == "fail":
        raise AnswerFailed
    return Charge(group, key, _unharmed(record))


def reservation_of(group: Group, key: str, record: object) -> Reservation:
    """The reservation."""
    if not isinstance(record, ChargeRecord):
        raise TypeError(record)
    return Reservation(group, key, record)


def _unharmed(record: ChargeRecord) -> ChargeRecord:
    """The charge, if its stored answer is the one that was sealed."""
    if record.answer is not None and fingerprint(record.answer) != record.seal:
        raise LedgerUntrusted(f"The answer of the charge in row {record.number} was changed.", record.number)
    return record


def tells(error: BaseException, traceback: TracebackType | None) -> bool:
    """Whether an error may carry what the block has read: all but the ledger's own, and interruptions without words."""
    if isinstance(error, LedgerError):
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        return traceback is None or not traceback.tb_frame.f_globals.get("__name__", "").startswith("indistinct.")
    return isinstance(error, Exception | BaseExceptionGroup) or bool(error.args)


def spelled_answer(answer: object) -> tuple[bytes, str]:
    """An answer as it is stored, and how it is spelled."""
    if isinstance(answer, bytes):
        content, form = answer, "bytes"
    else:
        try:
            content, form = canonical(answer).encode("ascii"), "json"
        except (TypeError, ValueError):
            raise InvalidParameter("an answer", type(answer), "be bytes or a value of JSON") from None
    if len(content) > _LONGEST:
        raise InvalidParameter("an answer", f"{len(content):,} bytes", f"have at most {_LONGEST:,}")
    return content, form
