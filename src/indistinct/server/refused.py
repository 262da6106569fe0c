"""Which questions of a person were refused, for that person alone; in memory, and forgotten when the server stops.

A refusal costs nothing and depends on the question, the policy and the ledger, never on the data. What was turned away
unread, or failed after it was charged, is no refusal of a question and is not kept.
"""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict, deque
from threading import Lock

__all__ = ["Refused"]

_KEPT = {"budget_exceeded", "invalid", "key_reused", "question_refused"}
_MOST_PEOPLE = 1000
_MOST_OF_ONE = 100


class Refused:
    """The latest refusals of each person: the time and the code.

    >>> refused = Refused()
    >>> refused.note("ada", "budget_exceeded")
    >>> [each["code"] for each in refused.of("ada")], refused.of("bob")
    (['budget_exceeded'], [])
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._people: OrderedDict[str, deque[dict[str, str]]] = OrderedDict()

    def note(self, person: str, code: str) -> None:
        """A question was refused just now, by a code of the refusals."""
        if code not in _KEPT:
            return
        with self._lock:
            theirs = self._people.setdefault(person, deque(maxlen=_MOST_OF_ONE))
            self._people.move_to_end(person)
            theirs.append({"time": dt.datetime.now(dt.UTC).isoformat(), "code": code})
            if len(self._people) > _MOST_PEOPLE:
                self._people.popitem(last=False)

    def of(self, person: str) -> list[dict[str, str]]:
        """What was refused to somebody, the newest first."""
        with self._lock:
            return list(self._people.get(person, ()))[::-1]
