"""Connections that nobody can hold for nothing: the bounds that uvicorn's own protocol does not have.

The head of a request must be whole within some seconds of its first byte, or of the connection where none comes,
however the bytes are spread out; an answer must be taken within some more; beyond so many connections a new one is told
that the server is busy. What is no HTTP gets the one shape of refusals and is not logged, as strangers would write the
log.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from indistinct.server.refusals import Refusal

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

__all__ = ["MOST_CONNECTIONS", "Connection"]

MOST_CONNECTIONS = 800
"""Below the 1024 open files that a process may usually have."""
_TO_SEND = 10.0
_TO_TAKE = 60.0
_HEAD = b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
_PHRASES = {400: b"Bad Request", 408: b"Request Timeout", 503: b"Service Unavailable"}


class Connection(H11Protocol):
    """One connection of a client."""

    _sending: asyncio.TimerHandle | None = None
    """Until its request must be whole."""
    _taking: asyncio.TimerHandle | None = None
    """Until its answer must be taken."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Somebody is there."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse(Refusal("busy", "Too many are connected: come again in a moment."))
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._sent()
        self._taken()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        if not self.transport.is_closing():
            super().data_received(data)
        if self._is_answering():
            self._sent()
        else:
            self._wait()

    def on_response_complete(self) -> None:
        """A request was answered: the next one may be long in coming, and counts from its first byte."""
        self._sent()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not take its answer."""
        super().pause_writing()
        self._taken()
        self._taking = self.loop.call_later(_TO_TAKE, self.transport.abort)

    def resume_writing(self) -> None:
        """The client takes its answer."""
        super().resume_writing()
        self._taken()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # what was wrong helps nobody who speaks HTTP
        """What came is no HTTP."""
        self._refuse(Refusal("bad_request", "The request is no HTTP that is understood."))

    def _wait(self) -> None:
        if self._sending is None and not self.transport.is_closing():
            self._sending = self.loop.call_later(_TO_SEND, self._give_up)

    def _give_up(self) -> None:
        self._refuse(Refusal("too_slow_sending", "The request did not arrive in time."))

    def _sent(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
        self._sending = None

    def _taken(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
        self._taking = None

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _refuse(self, refusal: Refusal) -> None:
        """Says so, unless an answer is on its way, and ends the connection."""
        if self.transport.is_closing():
            return
        if not self._is_answering():
            content = json.dumps(refusal.body).encode()
            self.transport.write(_HEAD % (refusal.status, _PHRASES[refusal.status], len(content)) + content)
        self.transport.close()
