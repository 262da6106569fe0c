"""The explorer's own small server, on this machine alone: the page, and the numbers that it asks for.

It holds no data about anybody and keeps nothing. It answers this machine only, one question of each kind at a time
with a few waiting, and refuses what another site's page could send: a foreign Host, or a body that is not JSON.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from indistinct.errors import IndistinctError, InvalidParameter
from indistinct.server.compositions import KINDS
from indistinct.server.explorer import curve, numbers
from indistinct.server.pages import HEADERS, page_files

__all__ = ["ExplorerServer"]

_LARGEST_BODY = 16_384
_WAITING = 8
_SECONDS_TO_SEND = 10
_ANSWERS: dict[str, Callable[[object], dict[str, object]]] = {"/explore/numbers": numbers, "/explore/curve": curve}


class ExplorerServer(ThreadingHTTPServer):
    """Serves the explorer on a loopback address; port 0 takes any that is free.

    >>> with ExplorerServer() as server:
    ...     print(server.address.rsplit(":", 1)[0])
    http://127.0.0.1
    """

    daemon_threads = True

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        if not _is_loopback(host):
            raise InvalidParameter("host", host, "be an address of this machine alone, such as 127.0.0.1")
        if not 0 <= port <= 65_535:
            raise InvalidParameter("port", port, "lie in [0, 65535]")
        self.computing = {path: threading.Lock() for path in _ANSWERS}
        self.places = threading.BoundedSemaphore(_WAITING)
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise InvalidParameter(
                "port", port, "be free", instead="Another program may be listening there."
            ) from error

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback and ip_address(host).version == 4
    except ValueError:
        return False


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    protocol_version = "HTTP/1.1"
    timeout = _SECONDS_TO_SEND
    server_version = "indistinct"
    sys_version = ""

    def do_GET(self) -> None:
        """The page's files, and the kinds of mechanisms on offer."""
        if not self._is_ours():
            return
        path = urlsplit(self.path).path
        if path == "/explore/kinds":
            self._send_json(HTTPStatus.OK, [asdict(kind) for kind in KINDS])
            return
        file = page_files().get("index.html" if path == "/" else path.removeprefix("/"))
        if file is None or file.name.startswith("ask."):  # of the service alone
            self._refuse(HTTPStatus.NOT_FOUND, "not_found", "There is nothing at this address.")
        elif self.headers.get("If-None-Match") == file.tag:
            self._send(HTTPStatus.NOT_MODIFIED, file.media_type, b"", file.tag)
        else:
            self._send(HTTPStatus.OK, file.media_type, file.content, file.tag)

    def do_POST(self) -> None:
        """A question about a composition."""
        if not self._is_ours():
            return
        answer = _ANSWERS.get(urlsplit(self.path).path)
        asked = self._body() if answer else None
        if answer is None:
            self.close_connection = True
            self._refuse(HTTPStatus.NOT_FOUND, "not_found", "There is nothing at this address.")
        elif asked is not None:
            self._answer(answer, asked[0])

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What the base class refuses has the one shape of errors too."""
        self.close_connection = True
        self._refuse(HTTPStatus(code), "bad_request", f"The request was not understood: {HTTPStatus(code).phrase}.")

    def _answer(self, answer: Callable[[object], dict[str, object]], asked: object) -> None:
        if not self.server.places.acquire(blocking=False):
            self._refuse(
                HTTPStatus.SERVICE_UNAVAILABLE, "busy", "Too many questions are waiting: ask again in a moment."
            )
            return
        try:
            with self.server.computing[urlsplit(self.path).path]:
                found = answer(asked)
        except IndistinctError as error:
            self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", str(error))
        except (ArithmeticError, MemoryError, RecursionError, TypeError, ValueError):
            self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, "too_hard", "These numbers are beyond what can be computed.")
        else:
            self._send_json(HTTPStatus.OK, found)
        finally:
            self.server.places.release()

    def _is_ours(self) -> bool:
        """Whether the request is addressed to this server: a name that was rebound to this machine is not."""
        if urlsplit(f"//{self.headers.get('Host', '')}").hostname in {self.server.server_address[0], "localhost"}:
            return True
        self.close_connection = True
        self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "foreign_host", "This server answers to its own address only.")
        return False

    def _body(self) -> tuple[Any] | None:
        """The JSON that was sent, in a tuple; None once it was refused."""
        refusal = None
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            refusal = HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "not_json", "Send JSON, as application/json."
        elif not (length.isascii() and length.isdigit()):
            refusal = HTTPStatus.LENGTH_REQUIRED, "no_length", "Say in Content-Length how long the request is."
        elif len(length) > 9 or int(length) > _LARGEST_BODY:
            refusal = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", f"Send at most {_LARGEST_BODY:,} bytes."
        if refusal is None:
            try:
                return (json.loads(self.rfile.read(int(length))),)
            except (ValueError, RecursionError):
                refusal = HTTPStatus.BAD_REQUEST, "not_json", "The request is not JSON."
        self.close_connection = True
        self._refuse(*refusal)
        return None

    def _refuse(self, status: HTTPStatus, code: str, sentence: str) -> None:
        self._send_json(status, {"status": int(status), "code": code, "sentence": sentence})

    def _send_json(self, status: HTTPStatus, value: object) -> None:
        self._send(status, "application/json", json.dumps(value, allow_nan=False).encode())

    def _send(self, status: HTTPStatus, media_type: str, content: bytes, tag: str = "") -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache" if tag else "no-store")
        if tag:
            self.send_header("ETag", tag)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with suppress(ConnectionError):  # whoever asked has gone
            self.wfile.write(content)
