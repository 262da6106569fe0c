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
from contextlib import AbstractContextManager

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

    __slots__ = ("done", "error", "leads", "operation", "result", "turn")

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.result: object = None
        self.error: BaseException | None = None
        self.done = False
        self.leads = False
        self.turn = threading.Lock()
        self.turn.acquire()


class Group:
    """Runs operations, those that come at the same time in one transaction."""

    def __init__(self, store: Store, watch: Watch, committed: Callable[[Head], None]) -> None:
        self._store = store
        self._watch = watch
        self._committed = committed
        self._process = os.getpid()
        self._mutex = threading.Lock()
        self._waiting: list[_Ticket] = []
        self._busy = False
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
        with self._mutex:
            self._waiting.append(ticket)
            ticket.leads = not self._busy
            self._busy = True
        if not ticket.leads:
            self._wait(ticket)
        if not ticket.done:
            self._lead(ticket)
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _wait(self, ticket: _Ticket) -> None:
        try:
            ticket.turn.acquire()
        except BaseException:  # an interruption; nobody may be left to wait for a leader who is gone
            with self._mutex:
                if ticket in self._waiting:
                    self._waiting.remove(ticket)
                heir = self._heir() if ticket.leads and not ticket.done else None
            if heir is not None:
                heir.turn.release()
            raise

    def _lead(self, own: _Ticket) -> None:
        with self._mutex:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        try:
            self._commit(batch)
        except BaseException as error:
            for ticket in batch:
                ticket.error = error if ticket is own else _same(error)
        with self._mutex:
            heir = self._heir()
        if heir is not None:
            heir.turn.release()
        for ticket in batch:
            ticket.done = True
            if ticket is not own:
                ticket.turn.release()

    def _heir(self) -> _Ticket | None:
        if not self._waiting:
            self._busy = False
            return None
        self._waiting[0].leads = True
        return self._waiting[0]

    def _commit(self, batch: list[_Ticket]) -> None:
        with self._database:
            with self._store.session() as session:
                self._watch("begun")
                page = Page(session, self.shelf, time.time_ns() // 1000)
                page.look_up([ticket.operation.key for ticket in batch if ticket.operation.key])
                for ticket in batch:
                    try:
                        ticket.result = ticket.operation.apply(page)
                    except (LedgerUnavailable, LedgerUntrusted):
                        raise
                    except IndistinctError as error:
                        ticket.error = error
                page.flush(session)
                self._watch("written")
            self.shelf = page.shelf
            self._watch("committed")
            if page.rows:
                last = page.rows[-1]
                self._committed(Head(last.number, last.hash, last.time))


def _same(error: BaseException) -> BaseException:
    """The error for another thread, which adds its own traceback."""
    match error:
        case LedgerUntrusted(reason=reason, row=row):
            return LedgerUntrusted(reason, row)
        case LedgerUnavailable():
            return LedgerUnavailable(*error.args)
        case _:
            return LedgerUnavailable("The ledger was interrupted. Ask again with the same key.")
