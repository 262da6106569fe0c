"""indistinct serve and token, as programs: killed again and again, nothing is lost and nothing is paid for twice."""

from __future__ import annotations

import json
import resource
import signal
import socket
import time
from fractions import Fraction
from pathlib import Path

import pytest

from indistinct import connect
from indistinct.errors import LedgerUnavailable
from indistinct.ledger import Ledger
from indistinct.server.client import RemoteRefusal
from tests.server.programs import issue, made, run, running, without


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return made(tmp_path)


def small_disk() -> None:
    """No file may grow beyond this: what a full disk is to a program."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))


def test_it_serves_until_it_is_stopped(policy: Path) -> None:
    token = issue(policy)
    with running(policy) as (url, process):
        database = connect(url, token)
        answer = database.sql("SELECT COUNT(*) FROM people", rho="0.001")
        assert abs(answer.rows[0][0] - 200) < 300
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in {0, -signal.SIGTERM}
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_kills_lose_no_charge_and_spend_none_twice(policy: Path) -> None:
    token = issue(policy)
    answers: dict[int, object] = {}
    for kill in range(3):
        with running(policy) as (url, process):
            database = connect(url, token, attempts=6)
            for age, rows in answers.items():
                again = database.sql(without(age), rho="0.0001")
                assert (again.free, again.rows) == (True, rows)
            for age in range(10 * kill, 10 * kill + 5):
                answers[age] = database.sql(without(age), rho="0.0001").rows
            # Killed while it works on questions that nobody hears the answer of.
            with socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1]))) as raw:
                body = json.dumps({"sql": without(1000 + kill), "rho": "0.0001"})
                head = f"POST /v1/ask HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                raw.sendall(
                    f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
                )
                time.sleep(0.01 * kill)
                process.kill()
    with running(policy) as (url, _):
        database = connect(url, token, attempts=6)
        for kill in range(3):
            database.sql(without(1000 + kill), rho="0.0001")
        for age, rows in answers.items():
            assert database.sql(without(age), rho="0.0001").rows == rows
    with Ledger.open(policy.with_name("people.csv.ledger")) as ledger:
        assert ledger.verify().charges == 18
        assert [each.spent for each in ledger.standings() if each.account == "rho"] == [Fraction(18, 10_000)]


def test_a_full_disk_ends_answering_and_loses_nothing(policy: Path) -> None:
    token = issue(policy)
    answers: dict[int, object] = {}
    with running(policy, before=small_disk) as (url, _):
        database = connect(url, token, attempts=1)
        _wait(url)

        def ask_for_ever() -> None:
            for age in range(1000):
                answers[age] = database.sql(without(age), rho="0.000001").rows

        with pytest.raises(LedgerUnavailable, match="cannot be read or written"):
            ask_for_ever()
        assert answers
    with running(policy) as (url, _):
        database = connect(url, token, attempts=6)
        for age, rows in list(answers.items())[-20:]:
            again = database.sql(without(age), rho="0.000001")
            assert (again.free, again.rows) == (True, rows)
        assert database.sql(without(len(answers)), rho="0.000001").rows
    with Ledger.open(policy.with_name("people.csv.ledger")) as ledger:
        assert ledger.verify().charges == len(answers) + 1


def _wait(url: str) -> None:
    """Until it listens."""
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1]))).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


def test_two_servers_share_one_ledger(policy: Path) -> None:
    token = issue(policy)
    question = "SELECT COUNT(*) FROM people"
    with running(policy) as (one, _), running(policy) as (other, _):
        first, second = connect(one, token), connect(other, token)
        answer, again = first.sql(question, rho="0.001"), second.sql(question, rho="0.001")
        assert (answer.rows, answer.free, again.free) == (again.rows, False, True)
        assert first.remaining == second.remaining


def test_tokens_are_listed_without_their_secrets_and_revoked_at_once(policy: Path) -> None:
    token = issue(policy, "ines", "auditor")
    name = token.split("_")[1]
    listed = run("token", "list", "--policy", policy)
    assert listed.stdout == f"{name}  auditor   holds     ines\n"
    with running(policy) as (url, _):
        assert connect(url, token).history == ()
        assert run("token", "revoke", name, "--policy", policy).returncode == 0
        with pytest.raises(RemoteRefusal, match="token that holds"):
            _ = connect(url, token).history
    told = run("token", "list", "--policy", policy, "--json").stdout
    assert '"revoked": true' in told
    assert token.split("_", 2)[2] not in told


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "0.0.0.0"], "host must be an address of this machine alone"),  # noqa: S104  # refused
        (["--port", "0"], "port must be"),
        (["--certificate", "nowhere.pem"], "certificate must be a file that exists"),
        (["--tick", "0"], "tick must be above 0"),
        (["--workers", "many"], "workers must be a number"),
        (["--ledger", "/nowhere/at/all.ledger"], "ledger"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(policy: Path, options: list[str], sentence: str) -> None:
    issue(policy)
    told = run("serve", policy, *options)
    assert told.returncode == 2
    assert sentence in told.stderr
    assert "Traceback" not in told.stderr


def test_bad_tokens_are_said_in_one_sentence(policy: Path) -> None:
    for arguments in (["issue", "ada", "--role", "god"], ["revoke", "nobody"], ["issue", ""]):
        told = run("token", *arguments, "--policy", policy)
        assert (told.returncode, told.stdout) == (2, "")
        assert told.stderr.startswith("indistinct: ")
