"""Many charges, one commit.

A commit waits for the disk, some milliseconds, however much it carries. So whoever comes while one is under way waits,
and then all who wait are committed at once, by the first of them: there is no thread but the callers' own, and a
caller who is alone does not wait for company.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

from indistinct.errors import IndistinctError, LedgerUnavailable, LedgerUntrusted
from indistinct.ledger.entries import Head
from indistinct.ledger.operations import Operation
from indistinct.ledger.page import Page
from indistinct.ledger.shelf import Shelf
from indistinct.ledger.store import Store, check_process

__all__ = ["Group", "Watch", "ignore"]

_MOST = 256

Watch = Callable[[str], None]
"""Is told of every step that a ledger takes, by name; tests stop the process there."""


def ignore(step: str) -> None:
    """The watch of nobody."""


class _Ticket:
    """One caller's operation, and what became of it."""

    __slots__ = ("batch", "done", "error", "operation", "result", "settled", "turn")

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.result: object = None
        self.error: BaseException | None = None
        self.settled = False
        """Whether the result is durable."""
        self.done = False
        self.batch: list[_Ticket] = []
        """Those for whom this one commits, if it leads."""
        self.turn = threading.Lock()
        self.turn.acquire()

    def wake(self) -> None:
        """Lets its caller go on, if that has not happened already."""
        with suppress(RuntimeError):
            self.turn.release()


class Group:
    """Runs operations, those that come at the same time in one transaction."""

    def __init__(self, store: Store, watch: Watch, committed: Callable[[Head], None]) -> None:
        self._store = store
        self._watch = watch
        self._committed = committed
        self._process = os.getpid()
        self._mutex = threading.Lock()
        self._waiting: list[_Ticket] = []
        self._leader: _Ticket | None = None
        self._database = threading.RLock()
        self.shelf = Shelf()

    def alone(self) -> AbstractContextManager[object]:
        """Held while the connection is in use; refused in a process that has inherited it, where it may be held."""
        check_process(self._process)
        return self._database

    def run(self, operation: Operation) -> object:
        """The result of the operation, once it is durable; or its error, and then nothing was changed."""
        check_process(self._process)
        ticket = _Ticket(operation)
        try:
            with self._mutex:
                self._waiting.append(ticket)
                if self._leader is None:
                    self._leader = ticket
            if self._leader is not ticket:
                ticket.turn.acquire()
            if not ticket.done:
                self._lead(ticket)
        finally:  # whatever interrupts a caller, nobody is left to wait for a leader who is gone
            try:
                if ticket.batch or not ticket.done:
                    self._finish(ticket)
            except BaseException:
                self._finish(ticket)
                raise
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _lead(self, own: _Ticket) -> None:
        with self._mutex:
            own.batch = self._waiting[:_MOST]
            del self._waiting[:_MOST]
        try:
            self._commit(own.batch)
        except BaseException as error:
            for ticket in own.batch:
                ticket.error = error if ticket is own else _same(error)

    def _finish(self, own: _Ticket) -> None:
        """Lets those go on who wait for this caller. Nobody is told of a result that may not be durable.

        If it is interrupted, it is simply done again.
        """
        with self._mutex:
            for ticket in own.batch:
                if not ticket.settled and ticket.error is None:
                    ticket.error = _same(KeyboardInterrupt())
                ticket.done = True
                if ticket is not own:
                    ticket.wake()
            if own in self._waiting:
                self._waiting.remove(own)
            if self._leader is own:
                heir = self._waiting[0] if self._waiting else None
                if heir is not None:
                    heir.wake()
                self._leader = heir
            own.done = True

    def _commit(self, batch: list[_Ticket]) -> None:
        with self._database:
            page = self._write(batch)
            for ticket in batch:
                ticket.settled = True
            self.shelf = page.shelf
            self._watch("committed")
            if page.rows:
                last = page.rows[-1]
                self._committed(Head(last.number, last.hash, last.time))

    def _write(self, batch: list[_Ticket]) -> Page:
        try:
            with self._store.session() as session:
                self._watch("begun")
                page = Page(session, self.shelf, time.time_ns() // 1000)
                page.look_up([ticket.operation.key for ticket in batch if ticket.operation.key])
                for ticket in batch:
                    _apply(ticket, page)
                page.flush(session)
                self._watch("written")
        finally:
            self._store.undo()
        return page


def _apply(ticket: _Ticket, page: Page) -> None:
    """One caller's operation; what is wrong with it is that caller's own, as long as nothing of it was applied."""
    before = page.changes
    try:
        ticket.result = ticket.operation.apply(page)
    except (LedgerUnavailable, LedgerUntrusted, UnicodeError):
        raise
    except IndistinctError as error:
        ticket.error = error
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        ticket.error = error
    if ticket.error is not None and page.changes != before:
        raise LedgerUnavailable("An operation failed half-way: nothing was written. Open the ledger again.")


def _same(error: BaseException) -> BaseException:
    """The error for another thread, which adds its own traceback."""
    match error:
        case LedgerUntrusted(reason=reason, row=row):
            return LedgerUntrusted(reason, row)
        case LedgerUnavailable():
            return LedgerUnavailable(*error.args)
        case _:
            return LedgerUnavailable("The ledger was interrupted. Ask again with the same key.")
