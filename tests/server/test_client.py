"""The client has the words of the local object, and neither loses an answer nor pays for one twice."""

from __future__ import annotations

import json
import pickle
import socket
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from indistinct import connect
from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.ledger import read_receipt
from indistinct.queries import PrivateDatabase, QueryRefused
from indistinct.server.client import RemoteRefusal
from tests.server.serving import COUNT, Served, database, serving


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[PrivateDatabase, Served]]:
    with database(tmp_path) as opened, serving(opened, tmp_path) as there:
        yield opened, there


def test_it_says_what_the_local_object_says(both: tuple[PrivateDatabase, Served]) -> None:
    opened, served = both
    opened.analyst = "ada"
    remote = connect(served.url, served.ada)
    here, there = opened.explain(COUNT, rho="0.001"), remote.explain(COUNT, rho=Fraction(1, 1000))
    assert (here.statement, here.mechanisms, here.cost, here.errors) == (
        there.statement,
        there.mechanisms,
        there.cost,
        there.errors,
    )
    answer, again = remote.sql(COUNT, rho="0.001"), opened.sql(COUNT, rho="0.001")
    assert (answer.columns, answer.rows, answer.intervals()) == (again.columns, again.rows, again.intervals())
    assert (answer.cost, answer.free, again.receipt.free, len(answer)) == ({"rho": Fraction(1, 1000)}, False, True, 1)
    assert remote.remaining == opened.remaining == answer.remaining == there.remaining_after
    assert [charge["key"] for charge in remote.history] == [answer.key]
    assert read_receipt(json.dumps(remote.receipt(answer.key))) == read_receipt(answer.receipt)


def test_it_raises_what_the_local_object_raises(both: tuple[PrivateDatabase, Served]) -> None:
    _, served = both
    remote = connect(served.url, served.ada)
    with pytest.raises(BudgetExceeded, match="is left in") as exceeded:
        remote.sql(COUNT, rho=1)
    assert "left" in repr(pickle.loads(pickle.dumps(exceeded.value)))  # noqa: S301  # our own
    with pytest.raises(QueryRefused):
        remote.sql("SELECT age FROM people")
    with pytest.raises(RemoteRefusal, match="groups must") as invalid:
        remote.sql(COUNT, groups=-1)
    assert (invalid.value.status, invalid.value.code) == (422, "invalid")
    with pytest.raises(RemoteRefusal, match="token that holds"):
        _ = connect(served.url, "indistinct_0_0").remaining
    with pytest.raises(InvalidParameter, match="a number"):
        remote.explain(COUNT, rho=object())


@pytest.mark.parametrize(
    ("url", "token"), [("ftp://x", "t"), ("x", "t"), ("http://", "t"), ("http://x", "a\nb"), ("http://x", "")]
)
def test_what_is_no_address_or_token_is_refused(url: str, token: str) -> None:
    with pytest.raises(InvalidParameter):
        connect(url, token)


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(connect("http://127.0.0.1", "secret"))


def test_an_answer_that_was_lost_on_the_way_is_had_again_for_free(both: tuple[PrivateDatabase, Served]) -> None:
    opened, served = both
    lost = 2
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def forward() -> None:
            nonlocal lost
            while True:
                try:
                    near, _ = proxy.accept()
                except OSError:
                    return
                with near, socket.create_connection(("127.0.0.1", int(served.url.rsplit(":", 1)[1]))) as far:
                    request = b""
                    while not request.endswith(b"}"):
                        request += near.recv(65_536)
                    far.sendall(request)
                    answer = b""
                    while not answer.endswith(b"}"):
                        answer += far.recv(65_536)
                    if lost:
                        lost -= 1
                    else:
                        near.sendall(answer)

        thread = threading.Thread(target=forward, daemon=True)
        thread.start()
        answer = connect(f"http://127.0.0.1:{proxy.getsockname()[1]}", served.ada).sql(COUNT, rho="0.001")
    assert (answer.free, lost) == (True, 0)
    spent = [each.spent for each in opened.ledger.standings() if each.account == "rho" and not each.budget.analyst]
    assert spent == [Fraction(1, 1000)]


def test_a_server_that_is_not_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RemoteRefusal, match="cannot be reached") as refused:
        _ = connect(f"http://127.0.0.1:{port}", "t", attempts=2).remaining
    assert refused.value.code == "unreachable"
