"""Many charges, one commit.

A commit waits for the disk, some milliseconds, however much it carries. So whoever comes while one is under way joins
those who wait for the next, and the first of these commits for all of them: there is no thread but the callers' own,
and a caller who is alone does not wait for company.

A company shares one lock, and that is all that anybody waits for. Its holder commits, if nobody has; each of the
others gets the lock in turn, finds what has become of its operation, and passes it on. The interpreter itself lets go
of a lock at the end of a `with` block, whatever ends it: however often callers are interrupted, nobody is left behind.
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

    __slots__ = ("error", "gone", "operation", "result")

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.result: object = None
        self.error: BaseException | None = None
        self.gone = False
        """Whether its caller waits no longer."""


class _Company:
    """Those who share a commit."""

    __slots__ = ("begun", "done", "failure", "tickets", "turn")

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.tickets: list[_Ticket] = []
        self.begun = False
        """Whether one of them has begun to commit for all; nobody joins any more."""
        self.done = False
        """Whether the results are durable."""
        self.failure: BaseException | None = None


class Group:
    """Runs operations, those that come at the same time in one transaction."""

    def __init__(self, store: Store, watch: Watch, committed: Callable[[Head], None]) -> None:
        self._store = store
        self._watch = watch
        self._committed = committed
        self._process = os.getpid()
        self._mutex = threading.Lock()
        self._open = _Company()
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
                company = self._open
                company.tickets.append(ticket)
                if len(company.tickets) == _MOST:
                    self._open = _Company()
            with company.turn:
                if not company.begun:
                    self._lead(company)
        finally:
            ticket.gone = True
        if not company.done:
            raise _same(company.failure)
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _lead(self, company: _Company) -> None:
        """Commits for all. Nobody is told of a result that may not be durable."""
        with self._database:
            following = _Company()
            with self._mutex:
                if self._open is company:
                    self._open = following  # first of all: nobody may join one that has begun
                company.begun = True
            try:
                self._commit([ticket for ticket in company.tickets if not ticket.gone])
                company.done = True
            except BaseException as error:
                company.failure = _same(error)
                raise

    def _commit(self, batch: list[_Ticket]) -> None:
        page = self._write(batch)
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
            try:
                self._store.undo()
            except BaseException:  # interrupted once more
                self._store.undo()
                raise
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


def _same(error: BaseException | None) -> BaseException:
    """The error for another thread, which adds its own traceback."""
    match error:
        case LedgerUntrusted(reason=reason, row=row):
            return LedgerUntrusted(reason, row)
        case LedgerUnavailable():
            return LedgerUnavailable(*error.args)
        case _:
            return LedgerUnavailable("The ledger was interrupted. Ask again with the same key.")
