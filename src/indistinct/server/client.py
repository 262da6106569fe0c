"""A private database on another host: asked as one on this one is.

>>> from indistinct import connect
>>> connect("ftp://example.org", "token")
Traceback (most recent call last):
...
indistinct.errors.InvalidParameter: url must be an address such as https://data.example.org, but is 'ftp://example.org'.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from urllib.parse import quote, urlsplit

from indistinct.errors import (
    AnswerFailed,
    BudgetExceeded,
    DataUnavailable,
    IndistinctError,
    InvalidParameter,
    LedgerUnavailable,
    LedgerUntrusted,
)

__all__ = ["RemoteAnswer", "RemoteDatabase", "RemoteExplanation", "RemoteRefusal", "connect"]

_LARGEST_ANSWER = 1 << 28
_AGAIN = {"busy", "too_fast", "too_slow", "ledger_unavailable"}


class RemoteRefusal(IndistinctError):
    """The server refused, for a reason that has no error of its own here; `status` and `code` tell which."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        self.status = status
        self.code = code
        super().__init__(sentence)

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return type(self), (self.status, self.code, str(self))


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """A table of noisy numbers, with the ends of their noise intervals (95%, privacy noise only)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cost: Mapping[str, Fraction]
    free: bool
    remaining: Mapping[str, Fraction]
    key: str
    """Of the charge in the ledger."""
    receipt: str
    """The ledger's own, in one line of JSON, which `read_receipt` of `indistinct.ledger` checks."""
    _intervals: Mapping[str, list[tuple[Any, Any]]] = field(repr=False)

    def intervals(self) -> dict[str, list[tuple[Any, Any]]]:
        """For each column, ends between which it would be without the noise, 95 times of 100 each."""
        return dict(self._intervals)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class RemoteExplanation:
    """The statement, the mechanisms, the cost and the error of a question, and what would be left."""

    statement: str
    mechanisms: tuple[str, ...]
    bounds: str
    cost: Mapping[str, Fraction]
    errors: Mapping[str, float]
    suppression: str
    remaining_after: Mapping[str, Fraction]
    times: int
    """How often it fits into what is left."""


def connect(
    url: str, token: str, *, seconds: float = 120.0, attempts: int = 4, context: ssl.SSLContext | None = None
) -> RemoteDatabase:
    """The database that is served at a URL, for whom a token was issued; nothing is sent yet.

    A request that may have been lost is sent again, up to so many times: the same question is never charged twice.
    """
    return RemoteDatabase(url, token, seconds, attempts, context)


@dataclass(frozen=True, slots=True)
class RemoteDatabase:
    """Asks over HTTP; made by `indistinct.connect`."""

    url: str
    token: str = field(repr=False)
    seconds: float = 120.0
    attempts: int = 4
    context: ssl.SSLContext | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        address = urlsplit(self.url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise InvalidParameter("url", self.url, "be an address such as https://data.example.org")
        if not self.token.isascii() or not self.token.isprintable() or not self.token:
            raise InvalidParameter("token", "what was given", "be one that `indistinct token issue` printed")

    def sql(
        self,
        text: str,
        *,
        epsilon: object = None,
        rho: object = None,
        delta: object = None,
        groups: int | None = None,
        rows: int | None = None,
        keys: Mapping[str, Sequence[object]] | None = None,
    ) -> RemoteAnswer:
        """The answer to a question in SQL, charged before it exists; the same question again is free."""
        told = self._send("POST", "/v1/ask", _question(text, epsilon, rho, delta, groups, rows, keys))
        receipt = told["receipt"]
        return RemoteAnswer(
            tuple(told["columns"]),
            tuple(tuple(row) for row in told["rows"]),
            _amounts(receipt["cost"]),
            receipt["free"],
            _amounts(receipt["remaining"]),
            receipt["key"],
            receipt["ledger"],
            {name: [(low, high) for low, high in ends] for name, ends in told["noise_intervals"]["columns"].items()},
        )

    def explain(
        self,
        text: str,
        *,
        epsilon: object = None,
        rho: object = None,
        delta: object = None,
        groups: int | None = None,
        rows: int | None = None,
        keys: Mapping[str, Sequence[object]] | None = None,
    ) -> RemoteExplanation:
        """What `sql` would do, with the same arguments: nothing is charged."""
        told = self._send("POST", "/v1/explain", _question(text, epsilon, rho, delta, groups, rows, keys))
        return RemoteExplanation(
            told["statement"],
            tuple(told["mechanisms"]),
            told["bounds"],
            _amounts(told["cost"]),
            told["errors"],
            told["suppression"],
            _amounts(told["remaining_after"]),
            told["times"],
        )

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left of the budget, exactly, in its currencies."""
        return _amounts(self._send("GET", "/v1/balance", None)["remaining"])

    @property
    def history(self) -> tuple[dict[str, Any], ...]:
        """The latest charges, the newest first: those of this person, or of all for owners and auditors."""
        return tuple(self._send("GET", "/v1/history", None)["charges"])

    def receipt(self, key: str) -> dict[str, Any]:
        """The ledger's receipt of an answer."""
        return self._send("GET", f"/v1/receipts/{quote(key, safe='')}", None)

    def _send(self, method: str, path: str, body: object) -> dict[str, Any]:
        for attempt in range(1, self.attempts + 1):
            try:
                status, told = self._once(method, path, body)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if attempt == self.attempts or isinstance(error, ssl.SSLCertVerificationError):
                    sentence = f"{self.url} cannot be reached, or did not answer: {type(error).__name__}."
                    raise RemoteRefusal(503, "unreachable", sentence) from error
            else:
                if status == 200:
                    return told
                if told.get("code") not in _AGAIN or attempt == self.attempts:
                    raise _error(status, told)
            time.sleep(0.2 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, method: str, path: str, body: object) -> tuple[int, dict[str, Any]]:
        address = urlsplit(self.url)
        host, port = address.hostname or "", address.port
        connection: http.client.HTTPConnection
        if address.scheme == "https":
            context = self.context or ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=self.seconds, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=self.seconds)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, address.path.rstrip("/") + path, content, headers)
            answer = connection.getresponse()
            told = json.loads(answer.read(_LARGEST_ANSWER))
            if not isinstance(told, dict):
                raise ValueError("no object")
            return answer.status, told
        finally:
            connection.close()


def _question(
    text: str,
    epsilon: object,
    rho: object,
    delta: object,
    groups: int | None,
    rows: int | None,
    keys: Mapping[str, Sequence[object]] | None,
) -> dict[str, object]:
    amounts = {name: _spelled(value) for name, value in (("epsilon", epsilon), ("rho", rho), ("delta", delta))}
    listed = None if keys is None else {column: list(values) for column, values in keys.items()}
    told = {"sql": text, **amounts, "groups": groups, "rows": rows, "keys": listed}
    return {name: value for name, value in told.items() if value is not None}


def _spelled(value: object) -> str | None:
    """An amount as text that is read back exactly."""
    if value is None or isinstance(value, str):
        return value
    from indistinct.numbers import read_number

    return str(read_number("an amount", value))


def _amounts(told: Mapping[str, str]) -> dict[str, Fraction]:
    return {name: Fraction(amount) for name, amount in told.items()}


def _error(status: int, told: dict[str, Any]) -> IndistinctError:
    """The error that the same question raises on this host, where there is one."""
    code, sentence = str(told.get("code", "unknown")), str(told.get("sentence", "The server gave no reason."))
    match code:
        case "budget_exceeded":
            return _Exceeded(sentence)
        case "question_refused":
            from indistinct.queries.refusals import QueryRefused

            return QueryRefused("", None, sentence)
        case "answer_failed":
            return AnswerFailed()
        case "data_unavailable":
            return DataUnavailable(sentence)
        case "ledger_unavailable":
            return LedgerUnavailable(sentence)
        case "ledger_untrusted":
            return LedgerUntrusted(sentence)
    return RemoteRefusal(status, code, sentence)


class _Exceeded(BudgetExceeded):
    """As the server said it."""

    def __init__(self, sentence: str) -> None:
        IndistinctError.__init__(self, sentence)
        self.asked = self.left = None
        self.scope = self.currency = ""

    def __repr__(self) -> str:
        return f"BudgetExceeded({str(self)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return type(self), (str(self),)
