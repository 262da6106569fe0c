"""Two servers over one ledger in PostgreSQL: one is killed, both race for the last unit, and nothing is spent twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from indistinct import connect
from indistinct.errors import BudgetExceeded
from indistinct.ledger import Ledger
from indistinct.server.client import RemoteAnswer, RemoteDatabase, RemoteRefusal
from tests.ledger.conftest import NewAddress, new_database
from tests.server.programs import issue, made, running, without

__all__ = ["new_database"]  # a fixture

COST = Fraction(1, 10_000)
ASKERS = 6
EACH = 8


def together(work: Callable[[int], None], number: int) -> None:
    """All at once, in threads; what fails in one fails here."""
    failed: list[BaseException] = []

    def run_one(which: int) -> None:
        try:
            work(which)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run_one, args=(which,)) for which in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if failed:
        raise failed[0]


def wherever(servers: list[RemoteDatabase], first: int, question: str) -> RemoteAnswer:
    """The answer of one server, or of the other where nobody is there any more: the same question, so the same key."""
    for attempt in range(10):
        try:
            return servers[(first + attempt) % 2].sql(question, rho=COST)
        except RemoteRefusal as refusal:
            if refusal.code != "unreachable":
                raise
    raise AssertionError("nobody is there")


def test_a_server_that_is_killed_is_replaced_by_the_other_and_one_has_the_last_unit(
    new_database: NewAddress, tmp_path: Path
) -> None:
    address, policy = new_database(), made(tmp_path)
    token = issue(policy)
    answers: dict[int, RemoteAnswer] = {}
    with running(policy, "--ledger", address) as (one, dying), running(policy, "--ledger", address) as (other, _):
        servers = [connect(url, token, attempts=2) for url in (one, other)]
        assert servers[0].remaining == servers[1].remaining

        def ask(which: int) -> None:
            for number in range(EACH):
                if (which, number) == (0, EACH // 2):
                    dying.kill()
                question = 100 * which + number
                answers[question] = wherever(servers, which, without(question))

        together(ask, ASKERS)
        for question, answer in answers.items():
            again = servers[1].sql(without(question), rho=COST)
            assert (again.rows, again.key, again.free) == (answer.rows, answer.key, True)
        with running(policy, "--ledger", address) as (third, _):
            servers[0] = connect(third, token)
            left = servers[0].remaining["rho"]
            servers[0].sql(without(-1), rho=left - COST)
            assert servers[1].remaining["rho"] == COST
            won: list[RemoteAnswer] = []
            lost: list[BudgetExceeded] = []

            def race(which: int) -> None:
                try:
                    won.append(servers[which % 2].sql(without(-2 - which), rho=COST))
                except BudgetExceeded as error:
                    lost.append(error)

            together(race, ASKERS)
            assert (len(won), len(lost)) == (1, ASKERS - 1)
            assert servers[0].remaining["rho"] == servers[1].remaining["rho"] == 0
    with Ledger.open(address) as ledger:
        assert ledger.verify().charges == ASKERS * EACH + 2
        (rho,) = [each for each in ledger.standings() if each.account == "rho"]
        assert rho.spent == rho.cap
