"""The service: one private database over HTTP, for people with tokens.

Everything that can be asked for is a `Route` below: who may, what is read, what is done. Each request is read whole
and allowed before anything is charged, does its work in a bounded queue, and leaves on the clock's tick where its
work touches data. Nothing about a question or an answer is logged.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from http import HTTPStatus
from threading import Lock
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from indistinct.errors import InvalidParameter
from indistinct.numbers import read_number
from indistinct.queries import PrivateDatabase
from indistinct.server.asking import (
    answer_told,
    ask_all,
    balance_told,
    explanation_told,
    history_told,
    read_ask,
    receipt_told,
)
from indistinct.server.compositions import KINDS
from indistinct.server.explorer import curve, numbers
from indistinct.server.openapi import document
from indistinct.server.pages import HEADERS, page_files
from indistinct.server.refusals import Refusal, refusal_of
from indistinct.server.refused import Refused
from indistinct.server.tokens import ROLES, Token, TokenBook
from indistinct.server.work import Limits, Rates, Workers

__all__ = ["Service", "make_app"]

_ASKING = ("owner", "analyst")
_AUDITING = ("owner", "auditor")


@dataclass(slots=True)
class Service:
    """What the application holds: the database, the tokens, the limits, and counts of what was answered."""

    database: PrivateDatabase
    tokens: TokenBook
    limits: Limits = field(default_factory=Limits)
    workers: Workers = field(init=False)
    telling: Workers = field(init=False)
    """For what reads no data and waits for no disk: as many threads as that would only take turns."""
    explorer: Workers = field(init=False)
    """For what everybody may ask: strangers keep one thread busy, and nobody else waiting."""
    verifying: Lock = field(init=False, default_factory=Lock)
    rates: Rates = field(init=False)
    refused: Refused = field(init=False, default_factory=Refused)
    answered: Counter[tuple[str, int]] = field(init=False, default_factory=Counter)

    def __post_init__(self) -> None:
        self.workers = Workers(self.limits)
        self.telling = Workers(replace(self.limits, workers=min(self.limits.workers, 2)))
        self.explorer = Workers(replace(self.limits, workers=1, waiting=8))
        self.rates = Rates(self.limits.rate)

    def seen_by(self, person: str) -> PrivateDatabase:
        """The database as one person has it: their own budget, if they have one, and their own questions."""
        whole = self.database
        return PrivateDatabase(
            whole.name, whole.policy, whole.engine, whole.ledger, person, whole.questions, self.limits.seconds
        )


@dataclass(frozen=True, slots=True)
class _Call:
    """One request, read and allowed."""

    service: Service
    token: Token
    request: Request
    body: Any

    @property
    def database(self) -> PrivateDatabase:
        return self.service.seen_by(self.token.person)

    @property
    def sees_all(self) -> bool:
        return self.token.role in _AUDITING


Work = Callable[[_Call], object]


def _ask(call: _Call) -> object:
    ask = read_ask(call.body)
    return answer_told(call.database.sql(ask.sql, **ask.options))


def _explain(call: _Call) -> object:
    ask = read_ask(call.body)
    database = call.database
    return explanation_told(database, database.explain(ask.sql, **ask.options))


def _batch(call: _Call) -> object:
    body, most = call.body, call.service.limits.batch
    if not isinstance(body, dict) or not set(body) <= {"questions", "most"}:
        raise InvalidParameter("a batch", body, "be an object with questions and, if wanted, most")
    questions = body.get("questions")
    if not isinstance(questions, list) or not 1 <= len(questions) <= most:
        raise InvalidParameter("questions", questions, f"be a list of 1 to {most} questions")
    return ask_all(call.database, [read_ask(each) for each in questions], _read_most(body.get("most")))


def _balance(call: _Call) -> object:
    return balance_told(call.database, everybody=call.sees_all)


def _history(call: _Call) -> object:
    most, before = _whole(call.request, "most", 1000), _whole(call.request, "before", 2**63 - 1)
    person = None if call.sees_all else call.token.person
    told = history_told(call.service.database, person, most or 100, before)
    return {**told, "refused": call.service.refused.of(call.token.person)}


def _receipt(call: _Call) -> object:
    person = None if call.sees_all else call.token.person
    return receipt_told(call.service.database.ledger, call.request.path_params["key"], person)


def _verify(call: _Call) -> object:
    if not call.service.verifying.acquire(blocking=False):
        raise Refusal("busy", "The ledger is being verified already.", headers={"Retry-After": "5"})
    try:
        verdict = call.service.database.ledger.verify()
    finally:
        call.service.verifying.release()
    return {"whole": True, "rows": verdict.rows, "charges": verdict.charges, "sentence": str(verdict)}


def _metrics(call: _Call) -> object:
    counts = sorted(call.service.answered.items())
    return {"answered": [{"path": path, "status": status, "times": times} for (path, status), times in counts]}


def make_app(service: Service) -> Starlette:
    """The application, for any server that speaks ASGI."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.workers.close)
        await asyncio.to_thread(service.telling.close)
        await asyncio.to_thread(service.explorer.close)

    def route(path: str, method: str, give: Callable[[Request], Awaitable[Response]]) -> Route:
        async def endpoint(request: Request) -> Response:
            return await _answered(service, path, give(request))

        return Route(path, endpoint, methods=[method])

    def guarded(path: str, method: str, roles: tuple[str, ...], work: Work, *, timed: bool = False) -> Route:
        return route(path, method, lambda request: _told(service, request, roles, work, timed=timed))

    def known(value: object, headers: dict[str, str] | None = None) -> Callable[[Request], Awaitable[Response]]:
        async def give(_: Request) -> Response:
            return _json(value, headers=headers)

        return give

    return Starlette(
        routes=[
            guarded("/v1/ask", "POST", _ASKING, _ask, timed=True),
            guarded("/v1/explain", "POST", _ASKING, _explain),
            guarded("/v1/batch", "POST", _ASKING, _batch, timed=True),
            guarded("/v1/balance", "GET", ROLES, _balance),
            guarded("/v1/history", "GET", ROLES, _history),
            guarded("/v1/receipts/{key}", "GET", ROLES, _receipt),
            guarded("/v1/verify", "POST", _AUDITING, _verify),
            guarded("/v1/metrics", "GET", _AUDITING, _metrics),
            route("/health", "GET", known({"healthy": True})),
            route("/openapi.json", "GET", known(document(service.limits))),
            route("/explore/kinds", "GET", known([asdict(kind) for kind in KINDS], {"Indistinct-Service": "1"})),
            route("/explore/numbers", "POST", lambda request: _explored(service, request, numbers)),
            route("/explore/curve", "POST", lambda request: _explored(service, request, curve)),
            route("/", "GET", _page),
            route("/{name}", "GET", _page),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_error},
    )


async def _explored(service: Service, request: Request, answer: Callable[[object], dict[str, object]]) -> Response:
    """What the explorer asks is about no data, and everybody may; all of them together at one person's rate."""
    service.rates.take("")
    body = await _body(service, request)
    try:
        return _json(await service.explorer.run(lambda: answer(body)))
    except (ArithmeticError, MemoryError, RecursionError, TypeError):
        raise Refusal("invalid", "These numbers are beyond what can be computed.") from None


async def _told(service: Service, request: Request, roles: tuple[str, ...], work: Work, *, timed: bool) -> Response:
    arrived = time.monotonic()
    token = _allowed(service, request, roles)
    service.rates.take(token.person)
    body = await _body(service, request) if request.method == "POST" and request.url.path != "/v1/verify" else None
    call = _Call(service, token, request, body)
    if not timed:
        workers = service.workers if work is _verify else service.telling
        return _json(await workers.run(lambda: work(call)))
    try:
        told = await service.workers.run(lambda: work(call))
    except Exception as error:
        service.refused.note(token.person, refusal_of(error).code)
        raise
    finally:
        await service.workers.at_tick(arrived)
    return _json(told)


async def _answered(service: Service, path: str, giving: Awaitable[Response]) -> Response:
    """Whatever happens becomes an answer of a known shape, and is counted by its path and status alone."""
    try:
        response = await giving
    except ClientDisconnect:
        response = _refused(Refusal("bad_request", "The request ended before it was whole."))
    except Exception as error:  # nothing else may leave the server
        response = _refused(refusal_of(error))
    service.answered[path, response.status_code] += 1
    return response


def _allowed(service: Service, request: Request, roles: tuple[str, ...]) -> Token:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    try:
        token = service.tokens.check(secret.strip()) if scheme.lower() == "bearer" else None
    except InvalidParameter:  # its sentence is for the owner
        raise Refusal("internal", "The tokens cannot be read now, so nobody is let in.") from None
    if token is None:
        sentence = "Send a token that holds, as Authorization: Bearer TOKEN."
        raise Refusal("no_token", sentence, headers={"WWW-Authenticate": "Bearer"})
    if token.role not in roles:
        raise Refusal("not_your_role", f"This is for {' and '.join(roles)}, and the token is for {token.role}.")
    return token


async def _body(service: Service, request: Request) -> Any:
    """The JSON of a request, once all of it is there."""
    if request.headers.get("Content-Type", "").split(";")[0].strip().lower() != "application/json":
        raise Refusal("not_json", "Send JSON, as application/json.")
    most, content = service.limits.body, bytearray()
    try:
        async with asyncio.timeout(10):
            async for piece in request.stream():
                content += piece
                if len(content) > most:
                    sentence = f"Send at most {most:,} bytes."
                    raise Refusal("too_large", sentence, headers={"Connection": "close"})
    except TimeoutError:
        sentence = "The request did not arrive in time."
        raise Refusal("too_slow_sending", sentence, headers={"Connection": "close"}) from None
    try:
        return json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refusal("bad_request", "The request is not JSON.") from None


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


async def _page(request: Request) -> Response:
    file = page_files().get(request.path_params.get("name", "index.html"))
    if file is None:
        raise Refusal("not_found", "There is nothing at this address.")
    headers = {**HEADERS, "Cache-Control": "no-cache", "ETag": file.tag}
    if request.headers.get("If-None-Match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


async def _http_error(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
        return _refused(Refusal("wrong_method", "This address is asked in another way.", headers=headers))
    return _refused(Refusal("not_found", "There is nothing at this address."))


def _refused(refusal: Refusal) -> Response:
    return _json(refusal.body, refusal.status, refusal.headers)


def _json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    content = json.dumps(value, allow_nan=False).encode()
    sent = {**HEADERS, "Cache-Control": "no-store", **(headers or {})}
    return Response(content, status, media_type="application/json", headers=sent)


def _whole(request: Request, name: str, most: int) -> int | None:
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 20 and 1 <= int(given) <= most):
        raise InvalidParameter(name, given[:40], f"be a whole number from 1 to {most}")
    return int(given)


def _read_most(given: object) -> dict[str, Fraction] | None:
    """The most that a batch may cost, by currency."""
    if given is None:
        return None
    if not isinstance(given, dict) or not all(isinstance(each, str) and len(each) <= 60 for each in given.values()):
        raise InvalidParameter("most", given, 'be an object of amounts as text, such as {"rho": "0.01"}')
    if unknown := sorted(set(given) - {"rho", "epsilon", "delta"}):
        raise InvalidParameter("most", unknown[0], "have no fields but rho, epsilon and delta")
    return {name: read_number(name, amount) for name, amount in given.items()}
