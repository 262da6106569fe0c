"""What a stranger tries, and an analyst who means ill: each gets the one shape of refusals, and nobody else notices."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import indistinct.server.connections
import indistinct.server.service
from indistinct.server.pages import page_files
from indistinct.server.work import Limits
from tests.server.serving import COUNT, Served, database, serving

ASK = {"sql": COUNT, "rho": "0.0001"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with database(tmp_path) as opened, serving(opened, tmp_path) as there:
        yield there
        assert there.send("GET", "/health", token=None) == (200, {"healthy": True})


def dialled(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(served.url.rsplit(":", 1)[1])), timeout=20)


def all_of(connection: socket.socket) -> bytes:
    """Everything until the server ends the connection."""
    found = b""
    try:
        while piece := connection.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def refusal_in(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    told: dict[str, Any] = json.loads(body)
    assert set(told) == {"status", "code", "sentence"}
    assert head.startswith(b"HTTP/1.1 %d " % told["status"])
    assert b"application/json" in head
    return told


def head(path: str, *more: str, method: str = "GET", token: str = "") -> bytes:
    bearer = [f"Authorization: Bearer {token}"] if token else []
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *bearer, *more, "", ""]).encode("latin-1")


@pytest.mark.parametrize(
    "sent",
    [
        b"\0\1\2\3\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/two\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",  # no Host
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nName : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20_000,  # and no end
        b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n",  # TLS, where there is none
    ],
)
def test_what_is_no_http_is_refused_in_the_one_shape_and_not_logged(
    served: Served, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with dialled(served) as connection:
        connection.sendall(sent)
        assert refusal_in(all_of(connection))["code"] == "bad_request"
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


def test_two_lengths_smuggle_no_second_request(served: Served) -> None:
    hidden = head("/v1/balance", token=served.owner)
    outer = head("/v1/ask", "Content-Type: application/json", "Transfer-Encoding: chunked", "Content-Length: 4",
                 method="POST", token=served.ada)  # fmt: skip
    with dialled(served) as connection:
        connection.sendall(outer + b"0\r\n\r\n" + hidden)
        connection.shutdown(socket.SHUT_WR)
        answers = all_of(connection)
    assert answers.count(b"HTTP/1.1 200") <= 1  # chunks alone count, and then the second is one request of its own
    assert b'"bad_request"' in answers
    alone = b"4\r\n{}\r\n\r\n" + hidden
    with dialled(served) as connection:
        connection.sendall(outer.replace(b"Transfer-Encoding: chunked", b"X: y") + alone)
        connection.shutdown(socket.SHUT_WR)
        answers = all_of(connection)
    assert b"HTTP/1.1 200" not in answers


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indistinct.server.connections, "_TO_SEND", 0.5)
    monkeypatch.setattr(indistinct.server.connections, "_TO_TAKE", 0.5)


def test_who_says_nothing_or_too_slowly_is_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    silent, slow, second, endless = (dialled(served) for _ in range(4))
    slow.sendall(b"GET / HTTP/1.1\r\n")
    second.sendall(head("/health"))
    endless.sendall(head("/health", "Content-Length: 1000000"))
    time.sleep(0.2)
    assert b"200 OK" in second.recv(65_536)
    assert b"200 OK" in endless.recv(65_536)
    begun = time.monotonic()
    second.sendall(b"GET / HTTP/1.1\r\n")
    ended: dict[socket.socket, float] = {}
    for _ in range(40):  # a byte now and then keeps nothing open
        for connection in (slow, second, endless):
            try:
                connection.sendall(b"X")
            except OSError:
                ended.setdefault(connection, time.monotonic() - begun)
        time.sleep(0.05)
    assert set(ended) == {slow, second, endless}
    assert max(ended.values()) < 1.9
    assert refusal_in(all_of(silent))["code"] == "too_slow_sending"
    for connection in (silent, slow, second, endless):
        connection.close()


def test_a_body_that_does_not_end_is_not_waited_for_and_a_large_one_not_read(served: Served) -> None:
    options = ("Content-Type: application/json",)
    with dialled(served) as connection:
        connection.sendall(head("/v1/ask", *options, "Content-Length: 1000000000000", method="POST", token=served.ada))
        sent = 0
        with contextlib.suppress(OSError):  # it is ended while we send
            for sent in range(10_000):  # noqa: B007  # looked at afterwards
                connection.sendall(b" " * 65_536)
        assert sent < 9_999
    with dialled(served) as connection:
        connection.sendall(head("/v1/ask", *options, "Transfer-Encoding: chunked", method="POST", token=served.ada))
        connection.sendall(b"1\r\n \r\n" * 70_000)
        assert b'"too_large"' in all_of(connection)
    with dialled(served) as connection:
        connection.sendall(head("/v1/ask", *options, "Content-Length: 9", "Expect: 100-continue", method="POST"))
        answer = connection.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 401")  # before any of the body was wanted


def test_who_does_not_take_the_answers_is_left(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    with dialled(served) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asked = 4000
        sender = threading.Thread(target=_send_all, args=(connection, head("/openapi.json") * asked), daemon=True)
        sender.start()
        time.sleep(2.5)
        taken = all_of(connection)
        sender.join(20)
        assert taken.count(b"HTTP/1.1 200") < asked


def _send_all(connection: socket.socket, content: bytes) -> None:
    with contextlib.suppress(OSError):  # it is ended, as it should be
        connection.sendall(content)


def test_beyond_so_many_connections_a_new_one_is_told(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indistinct.server.connections, "MOST_CONNECTIONS", 5)
    held = [dialled(served) for _ in range(5)]
    time.sleep(0.2)
    with dialled(served) as one_more:
        assert refusal_in(all_of(one_more))["code"] == "busy"
    for connection in held:
        connection.close()
    time.sleep(0.2)
    assert served.send("POST", "/v1/explain", ASK)[0] == 200


@pytest.mark.parametrize(
    "target",
    [
        "/../tokens.json",
        "/%2e%2e/tokens.json",
        "/..%2ftokens.json",
        "/..%5ctokens.json",
        "/%2fetc%2fpasswd",
        "//etc/passwd",
        "/ask.html/../../local.py",
        "/page/ask.html",
        "/__init__.py",
        "/ask.html%00.js",
        "/ASK.HTML",
        "/ask.html.",
        "http://elsewhere.example/etc/passwd",
        "/" + "a" * 9000,
        "/%ff%fe",
        "/.",
        "/*",
    ],
)
def test_no_path_leads_to_another_file(served: Served, target: str) -> None:
    with dialled(served) as connection:
        connection.sendall(head(target, "Connection: close"))
        answer = all_of(connection)
    assert refusal_in(answer)["code"] == "not_found"
    assert len(page_files()) == sum(name.endswith((".html", ".css", ".js")) for name in page_files())


def test_nothing_that_is_sent_becomes_a_header(served: Served) -> None:
    injected = "%0d%0aSet-Cookie:%20harm=1"
    for path in (f"/v1/receipts/x{injected}", f"/v1/history?most=1{injected}", f"/x{injected}", f"/?{injected}"):
        with dialled(served) as connection:
            connection.sendall(head(path, "Connection: close", token=served.ada))
            names = all_of(connection).partition(b"\r\n\r\n")[0].lower()
        assert b"set-cookie" not in names
        assert b"\nlocation:" not in names


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "CONNECT", "PUT", "PATCH", "get", "X" * 100])
def test_other_methods_do_nothing(served: Served, method: str) -> None:
    for path in ("/v1/ask", "/v1/balance", "/health", "/"):
        with dialled(served) as connection:
            connection.sendall(head(path, "Connection: close", method=method, token=served.ada))
            status = int(all_of(connection).split()[1])
        assert status in {404, 405} or (method == "HEAD" and status == 200)
    assert served.send("GET", "/v1/history")[1]["charges"] == []


def test_no_text_that_is_no_token_opens_anything(served: Served) -> None:
    name, secret = served.ada.split("_", 2)[1:]
    wrong = [
        f"Bearer indistinct_{name}_",
        f"Bearer indistinct_{name}_{secret[:-1]}",
        f"Bearer indistinct_{name}_{secret} {secret}",
        f"Bearer indistinct_{name}_{secret}\xff",
        f"Bearer indistinct__{secret}",
        f"Bearer INDISTINCT_{name}_{secret}",
        f"Basic {served.ada}",
        f"Bearer\xa0{served.ada}",
        f"Bearer indistinct_*_{secret}",
        "Bearer " + "_" * 190,
        "Bearer " + "a" * 10_000,
        "",
    ]
    answers = []
    for value in wrong:
        with dialled(served) as connection:
            connection.sendall(head("/v1/balance", f"Authorization: {value}", "Connection: close"))
            answers.append(refusal_in(all_of(connection)))
    assert answers == [answers[0]] * len(wrong)
    assert answers[0]["code"] == "no_token"
    with dialled(served) as connection:  # the first of two counts, as for every proxy before it
        connection.sendall(head("/v1/balance", "Authorization: Bearer x", f"Authorization: Bearer {served.ada}",
                                "Connection: close"))  # fmt: skip
        assert refusal_in(all_of(connection))["code"] == "no_token"


def test_a_file_of_tokens_that_cannot_be_read_lets_nobody_in_and_is_not_told_of(served: Served, tmp_path: Path) -> None:
    kept = (tmp_path / "tokens.json").read_text()
    (tmp_path / "tokens.json").write_text("{")
    status, told = served.send("GET", "/v1/balance")
    assert (status, told["code"]) == (500, "internal")
    assert str(tmp_path) not in json.dumps(told)
    (tmp_path / "tokens.json").unlink()
    assert served.send("GET", "/v1/balance")[1]["code"] == "no_token"
    (tmp_path / "tokens.json").write_text(kept)
    assert served.send("GET", "/v1/balance")[0] == 200


def test_who_is_revoked_while_asking_has_no_request_answered_that_came_later(served: Served) -> None:
    token = served.book.issue("ada", "analyst")
    revoked = threading.Event()
    found: list[tuple[bool, int]] = []

    def ask(which: int) -> None:
        for number in range(30):
            before = revoked.is_set()
            body = {"sql": f"{COUNT} WHERE age <> {100 * which + number}", "rho": "1e-6"}
            found.append((before, served.send("POST", "/v1/ask", body, token=token)[0]))

    threads = [threading.Thread(target=ask, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.4)
    served.book.revoke(token.split("_")[1])
    revoked.set()
    for thread in threads:
        thread.join()
    assert {status for before, status in found if before} == {401}
    assert {status for _, status in found} == {200, 401}
    answered = sum(status == 200 for _, status in found)
    assert len(served.send("GET", "/v1/history?most=1000", token=served.owner)[1]["charges"]) == answered


def test_the_same_question_of_two_persons_is_two_charges_and_neither_has_the_other_s(tmp_path: Path) -> None:
    """Also where their names look the same: they are compared letter by letter, and none is changed."""
    with database(tmp_path, epsilon="2") as opened, serving(opened, tmp_path) as served:
        names = [unicodedata.normalize(form, "Zoé") for form in ("NFC", "NFD")] + ["Zoe\u0301 ".strip(), "Ζoé", "zoé"]
        assert len(set(names)) == 4
        tokens = {name: served.book.issue(name, "analyst") for name in names}
        keys = {}
        for name, token in tokens.items():
            _, answer = served.send("POST", "/v1/ask", ASK, token=token)
            assert not answer["receipt"]["free"]
            keys[name] = answer["receipt"]["key"]
        assert len(set(keys.values())) == len(keys)
        for name, token in tokens.items():
            _, told = served.send("GET", "/v1/history", token=token)
            assert [(each["key"], each["analyst"]) for each in told["charges"]] == [(keys[name], name)]
            for other, key in keys.items():
                status, told = served.send("GET", f"/v1/receipts/{key.replace(' ', '%20')}", token=token)
                assert (status == 200) == (name == other)
                if name != other:
                    missing = served.send("GET", f"/v1/receipts/{key[:-1]}x".replace(" ", "%20"), token=token)[1]
                    assert told["sentence"].replace(key, "") == missing["sentence"].replace(f"{key[:-1]}x", "")


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("SELECT COUNT（*） FROM people", 422),
        ("SELECT\u200bCOUNT(*) FROM people", 422),
        ("\ufeffSELECT COUNT(*) FROM people", 422),
        ("SELECT COUNT(*) FROM реople", 422),
        ("SELECT COUNT(*) FROM people WHERE \u212a > 1", 422),
        ("SELECT COUNT(*) FROM people -- \u202e", 200),
        ("SELECT COUNT(*)\u2028FROM people", 200),
        ("SELECT COUNT(*) FROM people WHERE 'x\uffff' = 'x'", 200),
        ("SELECT COUNT(*) FROM people WHERE $$a$$ = 'a'", 422),
        ("SELECT COUNT(*) FROM people WHERE age > 1\x1b[2J\x07", 422),
        ("SELECT COUNT(*) FROM people WHERE " + "NOT " * 4000 + "age > 1", 422),
        ("SELECT COUNT(*) FROM people WHERE age" + "[1]" * 6000, 422),
        ("SELECT COUNT(*) FROM people WHERE age > " + "1+" * 9000 + "1", 422),
        ("SELECT COUNT(*) FROM people WITH ERROR 0." + "0" * 29 + "1", 422),
    ],
)
def test_odd_letters_and_long_chains_are_read_or_refused(served: Served, sql: str, status: int) -> None:
    begun = time.monotonic()
    assert served.send("POST", "/v1/explain", {"sql": sql, **({} if "ERROR" in sql else {"rho": "0.001"})})[0] == status
    assert time.monotonic() - begun < 5  # the machine is others' too


@pytest.mark.parametrize("amount", ["1e-400", "1e-3000", "1e-31", "1e19", "1e4999", "1/" + "9" * 58])
@pytest.mark.parametrize("name", ["rho", "epsilon", "delta"])
def test_amounts_beyond_all_noise_are_said(served: Served, name: str, amount: str) -> None:
    status, told = served.send("POST", "/v1/explain", {"sql": COUNT, "rho": "0.001", name: amount})
    assert (status, told["code"]) == (422, "invalid")


@pytest.mark.parametrize("raw", [b'{"sql": "a", "sql": 7}', b'{"rho": 1e400}', b'{"groups": ' + b"9" * 5000 + b"}"])
def test_odd_json_is_refused(served: Served, raw: bytes) -> None:
    assert served.send("POST", "/v1/explain", raw=raw)[1]["code"] in {"invalid", "bad_request"}


def test_strangers_at_the_explorer_keep_nobody_from_asking(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def slow(_: object) -> dict[str, object]:
        release.wait(20)
        return {}

    monkeypatch.setattr(indistinct.server.service, "numbers", slow)
    with ThreadPoolExecutor(30) as pool:
        strangers = [pool.submit(served.send, "POST", "/explore/numbers", {}, token=None) for _ in range(30)]
        time.sleep(0.5)
        assert served.send("POST", "/v1/ask", ASK)[0] == 200
        release.set()
        codes = [each.result()[1].get("code") for each in strangers]
    assert codes.count("busy") == 30 - 9


def test_one_verification_at_a_time(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = threading.Event(), threading.Event()
    honest: Callable[..., Any] = indistinct.ledger.Ledger.verify

    def slow(*arguments: Any) -> Any:
        begun.set()
        release.wait(20)
        return honest(*arguments)

    monkeypatch.setattr("indistinct.ledger.Ledger.verify", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.send, "POST", "/v1/verify", token=served.auditor)
        begun.wait(20)
        assert served.send("POST", "/v1/verify", token=served.owner)[1]["code"] == "busy"
        assert served.send("POST", "/v1/ask", ASK)[0] == 200
        release.set()
        assert first.result()[0] == 200
    assert (tmp_path / "people.ledger").exists()


def test_refusals_of_a_question_leave_on_the_tick_as_answers_do(tmp_path: Path) -> None:
    tick = 0.3
    with database(tmp_path) as opened, serving(opened, tmp_path, Limits(tick=tick, rate=1000)) as served:
        for body in (ASK, {"sql": COUNT, "rho": "1"}, {"sql": "SELECT age FROM people"}, {"sql": 7}):
            for path, sent in (("/v1/ask", body), ("/v1/batch", {"questions": [body]})):
                begun = time.monotonic()
                served.send("POST", path, sent)
                assert time.monotonic() - begun >= tick - 1e-3


def test_out_of_the_ordinary_numbers_of_the_explorer_are_said(served: Served) -> None:
    for part in (
        {"kind": "geometric", "epsilon": "1e-29", "times": 100_000},
        {"kind": "geometric", "epsilon": "ln(1.00000000000000000000001)", "times": 1},
        {"kind": "gaussian", "sigma": "1e17", "times": 1},
        {"kind": "geometric", "epsilon": "1" + "0" * 30, "times": 1},
    ):
        status, told = served.send("POST", "/explore/numbers", {"parts": [part], "delta": "1e-300"}, token=None)
        assert (status, told["code"]) == (422, "invalid")
