"""The explorer's server: one shape of errors, this machine alone, nothing inline, bounded work."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from indistinct.errors import InvalidParameter
from indistinct.server.local import ExplorerServer
from indistinct.server.pages import page_files

ASKED = json.dumps({"parts": [{"kind": "geometric", "epsilon": "0.1", "times": 3}]})
JSON = {"Content-Type": "application/json"}


def send(
    address: str, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
) -> tuple[int, http.client.HTTPMessage, Any]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, answer.headers, json.loads(content) if is_json else content
    finally:
        connection.close()


def test_it_answers(explorer: str) -> None:
    status, headers, answer = send(explorer, "POST", "/explore/numbers", ASKED, JSON)
    assert (status, answer["epsilon"]["text"], headers["Cache-Control"]) == (200, "0.299994", "no-store")


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("GET", "/nothing", None, {}, 404, "not_found"),
        ("GET", "/../server/local.py", None, {}, 404, "not_found"),
        ("GET", "/%2e%2e/local.py", None, {}, 404, "not_found"),
        ("POST", "/nothing", "{}", JSON, 404, "not_found"),
        ("POST", "/explore/numbers", "{}", {"Content-Type": "text/plain"}, 415, "not_json"),
        ("POST", "/explore/numbers", "{", JSON, 400, "not_json"),
        ("POST", "/explore/numbers", "[" * 9000, JSON, 400, "not_json"),
        ("POST", "/explore/numbers", "{}", JSON, 422, "invalid"),
        ("POST", "/explore/numbers", '{"parts": NaN}', JSON, 422, "invalid"),
        ("POST", "/explore/numbers", " " * 20_000, JSON, 413, "too_large"),
        ("POST", "/explore/numbers", "{}", JSON | {"Content-Length": "two"}, 411, "no_length"),
        ("POST", "/explore/numbers", ASKED, JSON | {"Host": "elsewhere.example"}, 421, "foreign_host"),
        ("GET", "/", None, {"Host": "127.0.0.1.elsewhere.example"}, 421, "foreign_host"),
        ("DELETE", "/", None, {}, 501, "bad_request"),
    ],
)
def test_refusals_have_one_shape(
    explorer: str, method: str, path: str, body: str | None, headers: dict[str, str], status: int, code: str
) -> None:
    got, _, answer = send(explorer, method, path, body, headers)
    assert got == status
    assert (answer["status"], answer["code"], set(answer)) == (status, code, {"status", "code", "sentence"})
    assert answer["sentence"].endswith(".")
    assert "Traceback" not in answer["sentence"]


def test_what_is_no_http_is_refused(explorer: str) -> None:
    host, port = urlsplit(explorer).netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        raw.sendall(b"\x00\x01\x02 nonsense\r\n\r\n")
        assert b'"code": "bad_request"' in raw.recv(4096)


def test_the_page_s_files_are_small_tagged_and_run_nothing_inline(explorer: str) -> None:
    weight = 0
    for name in ["", *(name for name in page_files() if not name.startswith("ask."))]:
        status, headers, content = send(explorer, "GET", f"/{name}")
        assert status == 200
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert send(explorer, "GET", f"/{name}", headers={"If-None-Match": headers["ETag"]})[0] == 304
        assert b"http://" not in content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in content
        assert b"innerHTML" not in content
        assert b"eval(" not in content
        weight += len(content) if name else 0
    assert weight < 150_000


def test_too_many_questions_are_turned_away_and_later_ones_answered() -> None:
    import threading

    with ExplorerServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        places = 0
        while server.places.acquire(blocking=False):
            places += 1
        assert send(server.address, "POST", "/explore/numbers", ASKED, JSON)[2]["code"] == "busy"
        for _ in range(places):
            server.places.release()
        assert send(server.address, "POST", "/explore/numbers", ASKED, JSON)[0] == 200
        server.shutdown()


@pytest.mark.parametrize("host", ["0.0.0.0", "example.org", "192.0.2.1", ""])  # noqa: S104  # refused
def test_only_this_machine_is_answered(host: str) -> None:
    with pytest.raises(InvalidParameter, match="this machine"):
        ExplorerServer(host)


def test_a_port_in_use_is_said(explorer: str) -> None:
    port = urlsplit(explorer).port or 0
    with pytest.raises(InvalidParameter, match="port must be free"):
        ExplorerServer(port=port)
    with pytest.raises(InvalidParameter, match="port"):
        ExplorerServer(port=70_000)
