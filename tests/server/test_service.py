"""The service: who may do what, what is charged when, and what never leaves it."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from indistinct.ledger import Ledger, read_receipt
from indistinct.server.refusals import CODES
from indistinct.server.work import Limits
from tests.server.serving import COUNT, HOSTILE, Served, database, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with database(tmp_path) as opened, serving(opened, tmp_path) as there:
        yield there


def spent(served: Served) -> dict[str, Fraction]:
    _, told = served.send("GET", "/v1/balance", token=served.owner)
    return {f"{each['budget']} {each['currency']}": Fraction(each["spent"]) for each in told["budgets"]}


def test_a_question_is_explained_for_nothing_and_asked_at_that_price(served: Served) -> None:
    before = spent(served)
    status, plan = served.send("POST", "/v1/explain", {"sql": COUNT, "rho": "0.001"})
    assert (status, plan["cost"], plan["times"]) == (200, {"rho": "1/1000"}, 22)
    assert spent(served) == before
    status, answer = served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})
    assert status == 200
    ((count,),) = answer["rows"]
    assert abs(count - 300) < 300
    ((low, high),) = next(iter(answer["noise_intervals"]["columns"].values()))
    assert low < count < high
    assert answer["noise_intervals"]["of"] == "privacy noise only"
    assert answer["receipt"]["remaining"] == plan["remaining_after"]
    assert answer["receipt"]["cost"] == plan["cost"]
    assert read_receipt(answer["receipt"]["ledger"]).analyst == "ada"


def test_the_same_again_is_the_same_and_free(served: Served) -> None:
    first, again = (served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})[1] for _ in range(2))
    assert (first["rows"], first["receipt"]["free"]) == (again["rows"], False)
    assert again["receipt"]["free"]
    assert first["receipt"]["remaining"] == again["receipt"]["remaining"]


def test_each_has_a_budget_of_their_own_within_the_whole(served: Served) -> None:
    for token in (served.ada, served.bob):
        assert served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"}, token=token)[0] == 200
    told = spent(served)
    one = Fraction(1, 1000)
    assert sorted(value for name, value in told.items() if "rho" in name) == [0, one, one, 2 * one]
    _, mine = served.send("GET", "/v1/balance", token=served.bob)
    _, hers = served.send("GET", "/v1/balance", token=served.ada)
    assert {each["analyst"] for each in mine["budgets"]} == {None, "bob"}
    assert {each["analyst"] for each in hers["budgets"]} == {None, "ada"}
    assert hers["remaining"] != mine["remaining"]


def test_history_and_receipts_are_one_s_own_but_for_owner_and_auditor(served: Served) -> None:
    _, answer = served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"}, token=served.bob)
    key = answer["receipt"]["key"]
    path = f"/v1/receipts/{key.replace(' ', '%20')}"
    hers = served.send("GET", "/v1/history", token=served.ada)[1]
    assert (hers["charges"], hers["refused"], hers["before"]) == ([], [], None)
    assert {move["budget"] for move in hers["moves"]} == {"people", "people/ada"}
    assert {move["spent"] for move in hers["moves"]} == {"0"}
    assert served.send("GET", path, token=served.ada)[0] == 422
    for token in (served.bob, served.auditor, served.owner):
        (charge,) = served.send("GET", "/v1/history?most=5", token=token)[1]["charges"]
        assert (charge["key"], charge["analyst"], charge["state"]) == (key, "bob", "answered")
        status, receipt = served.send("GET", path, token=token)
        assert (status, read_receipt(json.dumps(receipt)).key) == (200, key)


def test_history_is_told_a_page_at_a_time_with_what_each_charge_moved(served: Served) -> None:
    for age in range(5):
        served.send("POST", "/v1/ask", {"sql": f"{COUNT} WHERE age > {age}", "rho": "0.001"})
    _, first = served.send("GET", "/v1/history?most=3")
    _, rest = served.send("GET", f"/v1/history?most=3&before={first['before']}")
    assert [len(page["charges"]) for page in (first, rest)] == [3, 2]
    numbers = [charge["number"] for charge in first["charges"] + rest["charges"]]
    assert numbers == sorted(numbers, reverse=True)
    spendings = [move["spent"] for move in first["moves"] if (move["budget"], move["currency"]) == ("people", "rho")]
    assert spendings == ["1/200", "1/250", "3/1000"]
    for wrong in ("before=0", "before=x", "most=0", "most=1001", "before=99999999999999999999"):
        assert served.send("GET", f"/v1/history?{wrong}")[1]["code"] == "invalid"


def test_one_sees_one_s_own_refused_questions_and_no_other_person_s(served: Served) -> None:
    served.send("POST", "/v1/ask", {"sql": "SELECT age FROM people"})
    served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "1"})
    served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})
    served.send("POST", "/v1/explain", {"sql": COUNT, "rho": "-1"})  # asks for nothing
    _, hers = served.send("GET", "/v1/history")
    assert [each["code"] for each in hers["refused"]] == ["budget_exceeded", "question_refused"]
    for token in (served.bob, served.owner, served.auditor):
        assert served.send("GET", "/v1/history", token=token)[1]["refused"] == []


def test_a_batch_has_one_price_and_is_asked_whole_or_not_at_all(served: Served) -> None:
    questions = [{"sql": f"{COUNT} WHERE age > {age}", "rho": "0.001"} for age in (30, 40, 50)]
    before = spent(served)
    for batch in (
        {"questions": questions, "most": {"rho": "0.0029"}},
        {"questions": questions, "most": {}},
        {"questions": [*questions, {"sql": COUNT, "rho": "0.02"}]},
    ):
        assert served.send("POST", "/v1/batch", batch)[1]["code"] == "budget_exceeded"
    wrong = {"questions": [*questions, {"sql": "SELECT age FROM people"}]}
    assert served.send("POST", "/v1/batch", wrong)[1]["code"] == "question_refused"
    assert spent(served) == before
    status, told = served.send("POST", "/v1/batch", {"questions": questions, "most": {"rho": "0.003"}})
    assert (status, told["price"], len(told["answers"])) == (200, {"rho": "3/1000"}, 3)
    assert max(spent(served).values()) == Fraction(3, 1000)


def test_roles(served: Served) -> None:
    ask = {"sql": COUNT, "rho": "0.001"}
    allowed = {
        ("POST", "/v1/ask"): "oab",
        ("POST", "/v1/explain"): "oab",
        ("POST", "/v1/batch"): "oab",
        ("GET", "/v1/balance"): "oabi",
        ("GET", "/v1/history"): "oabi",
        ("POST", "/v1/verify"): "oi",
        ("GET", "/v1/metrics"): "oi",
    }
    people = {"o": served.owner, "a": served.ada, "b": served.bob, "i": served.auditor}
    for (method, path), who in allowed.items():
        for letter, token in people.items():
            body = {"questions": [ask]} if path.endswith("batch") else ask if method == "POST" else None
            status, told = served.send(method, path, body, token=token)
            assert (status == 200) == (letter in who), (path, letter, told)
            if letter not in who:
                assert told["code"] == "not_your_role"


@pytest.mark.parametrize("token", [None, "", "x", "indistinct_0_0", "REVOKED"])
def test_foreign_missing_and_revoked_tokens_get_nothing_and_cost_nothing(served: Served, token: str | None) -> None:
    before = spent(served)
    if token == "REVOKED":  # noqa: S105  # a word of this test
        token = served.book.issue("eve", "owner")
        assert served.send("GET", "/v1/balance", token=token)[0] == 200
        served.book.revoke(token.split("_")[1])
    for method, path in (("POST", "/v1/ask"), ("GET", "/v1/history"), ("POST", "/v1/verify"), ("GET", "/v1/metrics")):
        headers = {"Authorization": "Bearer "} if token == "" else {}
        status, told = served.send(method, path, {"sql": COUNT}, token=token or None, headers=headers)
        assert (status, told["code"]) == (401, "no_token")
    assert spent(served) == before


BAD: list[tuple[dict[str, Any], str]] = [
    ({"raw": b"{"}, "bad_request"),
    ({"raw": b'{"sql": NaN}'}, "bad_request"),
    ({"raw": b"[" * 60_000}, "bad_request"),
    ({"raw": b"\xff\xfe"}, "bad_request"),
    ({"raw": b" " * 70_000}, "too_large"),
    ({"body": {"sql": COUNT}, "headers": {"Content-Type": "text/plain"}}, "not_json"),
    ({"body": None}, "bad_request"),
    ({"body": []}, "invalid"),
    ({"body": {}}, "invalid"),
    ({"body": {"sql": 7}}, "invalid"),
    ({"body": {"sql": ""}}, "invalid"),
    ({"body": {"sql": "\0"}}, "invalid"),
    ({"body": {"sql": "\ud800"}}, "invalid"),
    ({"body": {"sql": "x" * 20_001}}, "invalid"),
    ({"body": {"sql": COUNT, "rho": 0.1}}, "invalid"),
    ({"body": {"sql": COUNT, "rho": "-1"}}, "invalid"),
    ({"body": {"sql": COUNT, "rho": "nan"}}, "invalid"),
    ({"body": {"sql": COUNT, "rho": "0.1", "epsilon": "0.1"}}, "invalid"),
    ({"body": {"sql": COUNT, "groups": 0}}, "invalid"),
    ({"body": {"sql": COUNT, "rows": True}}, "invalid"),
    ({"body": {"sql": COUNT, "keys": {"age": 3}}}, "invalid"),
    ({"body": {"sql": COUNT, "fresh": True}}, "invalid"),
    ({"body": {"sql": "SELECT * FROM people"}}, "question_refused"),
    ({"body": {"sql": "DROP TABLE people"}}, "question_refused"),
    ({"body": {"sql": f"{COUNT}; DROP TABLE people"}}, "question_refused"),
    ({"body": {"sql": "SELECT COUNT(*) FROM read_csv('/etc/passwd')"}}, "question_refused"),
    ({"body": {"sql": "COPY people TO 'people.csv'"}}, "question_refused"),
    ({"body": {"sql": "((" * 500}}, "question_refused"),
    ({"body": {"sql": COUNT, "rho": "1"}}, "budget_exceeded"),
]


@pytest.mark.parametrize(("sent", "code"), BAD)
def test_bad_requests_have_one_shape_and_cost_nothing(served: Served, sent: dict[str, Any], code: str) -> None:
    before = spent(served)
    status, told = served.send("POST", "/v1/ask", **sent)
    assert (told["code"], status, told["status"]) == (code, CODES[code], CODES[code])
    assert set(told) == {"status", "code", "sentence"}
    assert "Traceback" not in told["sentence"]
    assert "site-packages" not in told["sentence"]
    assert spent(served) == before


def test_other_addresses_and_methods_are_refused_in_the_same_shape(served: Served) -> None:
    assert served.send("GET", "/nothing")[1]["code"] == "not_found"
    assert served.send("GET", "/a/b/c")[1]["code"] == "not_found"
    assert served.send("DELETE", "/v1/ask")[1]["code"] == "wrong_method"
    assert served.send("GET", "/v1/history?most=x")[1]["code"] == "invalid"
    assert served.send("GET", "/v1/receipts/none")[1]["code"] == "invalid"
    assert served.send("GET", "/health", token=None) == (200, {"healthy": True})


def test_hostile_columns_are_columns(served: Served) -> None:
    quoted = HOSTILE.replace('"', '""')
    question = f'SELECT SUM("{quoted}") AS total FROM people'  # a hostile one
    status, answer = served.send("POST", "/v1/ask", {"sql": question, "rho": "0.01"})
    assert status == 200
    assert answer["columns"] == ["total"]
    assert served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})[0] == 200


def test_no_question_and_no_answer_is_logged_or_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with database(tmp_path) as opened, serving(opened, tmp_path) as served:
        secret = "SELECT COUNT(*) FROM people WHERE age = 42"  # noqa: S105  # what must not be seen
        answer = served.send("POST", "/v1/ask", {"sql": secret, "rho": "0.001"})[1]
        served.send("POST", "/v1/ask", {"sql": "SELECT nothing FROM people"})
        _, metrics = served.send("GET", "/v1/metrics", token=served.auditor)
        told = json.dumps(metrics)
    assert {"path": "/v1/ask", "status": 200, "times": 1} in metrics["answered"]
    for text in (told, caplog.text):
        assert "42" not in text.replace("422", "")
        assert "ada" not in text
        assert served.ada not in text
        assert str(answer["rows"][0][0]) + "]" not in text


def test_two_race_for_the_last_unit_and_one_has_it(tmp_path: Path) -> None:
    with database(tmp_path, epsilon="0.3", delta="0") as opened, serving(opened, tmp_path) as served:
        found: list[tuple[int, Any]] = []

        def ask(token: str, age: int) -> None:
            found.append(
                served.send("POST", "/v1/ask", {"sql": f"{COUNT} WHERE age > {age}", "epsilon": "0.1"}, token=token)
            )

        threads = [
            threading.Thread(target=ask, args=(token, age))
            for age, token in enumerate([served.ada, served.bob, served.owner] * 3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(status for status, _ in found) == [200] * 3 + [409] * 6
        assert {told["code"] for status, told in found if status == 409} == {"budget_exceeded"}
        assert served.send("GET", "/v1/balance")[1]["remaining"]["epsilon"] == "0"


class _Broken:
    """An engine that fails, or is slow."""

    def __init__(self, engine: Any, *, seconds: float = 0, fails: bool = False) -> None:
        self._engine, self._seconds, self._fails = engine, seconds, fails
        self.runs = 0

    def run(self, statement: str, *, seconds: float) -> Any:
        self.runs += 1
        time.sleep(self._seconds)
        if self._fails:
            raise RuntimeError("bed 7 holds the value 99")
        return self._engine.run(statement, seconds=seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def test_a_failing_engine_is_charged_says_one_sentence_and_tells_nothing(tmp_path: Path) -> None:
    with database(tmp_path) as opened:
        opened.engine = _Broken(opened.engine, fails=True)
        with serving(opened, tmp_path) as served:
            status, told = served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})
            assert (status, told["code"]) == (500, "answer_failed")
            assert "99" not in told["sentence"]
            assert max(spent(served).values()) == Fraction(1, 1000)
            assert served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})[1] == told
            assert max(spent(served).values()) == Fraction(1, 1000)


def test_a_slow_engine_is_given_up_and_its_answer_is_there_later_for_free(tmp_path: Path) -> None:
    with database(tmp_path) as opened:
        slow = _Broken(opened.engine, seconds=0.6)
        opened.engine = slow
        with serving(opened, tmp_path, Limits(seconds=0.3, tick=0.005, rate=1000)) as served:
            ask = {"sql": COUNT, "rho": "0.001"}
            assert served.send("POST", "/v1/ask", ask)[1]["code"] == "too_slow"
            assert served.send("GET", "/health", token=None)[0] == 200
            time.sleep(0.7)
            status, answer = served.send("POST", "/v1/ask", ask)
            assert (status, answer["receipt"]["free"], slow.runs) == (200, True, 1)
            assert max(spent(served).values()) == Fraction(1, 1000)


def test_too_much_waiting_is_turned_away_and_nothing_of_it_is_charged(tmp_path: Path) -> None:
    with database(tmp_path) as opened:
        opened.engine = _Broken(opened.engine, seconds=0.4)
        with serving(opened, tmp_path, Limits(workers=1, waiting=1, rate=1000, tick=0.005)) as served:
            found: list[int] = []

            def ask(age: int) -> None:
                found.append(served.send("POST", "/v1/ask", {"sql": f"{COUNT} WHERE age > {age}", "rho": "0.001"})[0])

            threads = [threading.Thread(target=ask, args=(age,)) for age in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            answered = found.count(200)
            assert set(found) == {200, 503}
            assert answered >= 2
            assert max(spent(served).values()) == Fraction(answered, 1000)


def test_one_who_asks_too_fast_waits_and_others_do_not(tmp_path: Path) -> None:
    with database(tmp_path) as opened, serving(opened, tmp_path, Limits(rate=1, tick=0.005)) as served:
        found = [served.send("POST", "/v1/explain", {"sql": COUNT})[1].get("code") for _ in range(4)]
        assert found[-1] == "too_fast"
        assert served.send("POST", "/v1/explain", {"sql": COUNT}, token=served.bob)[0] == 200


def test_stopping_lets_what_has_begun_end(tmp_path: Path) -> None:
    with ExitStack() as stack:
        opened = stack.enter_context(database(tmp_path))
        opened.engine = _Broken(opened.engine, seconds=0.5)
        found: list[int] = []
        with serving(opened, tmp_path) as served:
            thread = threading.Thread(
                target=lambda: found.append(served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})[0])
            )
            thread.start()
            time.sleep(0.2)
        thread.join()
        assert found == [200]


def test_the_ledger_of_the_service_verifies(served: Served, tmp_path: Path) -> None:
    served.send("POST", "/v1/ask", {"sql": COUNT, "rho": "0.001"})
    status, told = served.send("POST", "/v1/verify", token=served.auditor)
    assert (status, told["whole"], told["charges"]) == (200, True, 1)
    with Ledger.open(tmp_path / "people.ledger") as ledger:
        assert ledger.verify().charges == 1
