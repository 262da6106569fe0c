"""The ledger beside an exact model: whatever is done in whatever order, both say the same."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from indistinct.composition.filters import BasicRule
from indistinct.errors import AnswerFailed, BudgetExceeded, KeyReused
from indistinct.ledger import Budget, Ledger
from indistinct.ledger.charge import Charge
from tests.ledger.conftest import NewAddress
from tests.ledger.counts import count, tell

UNIT = "1e-9"
WINDOW = 100
CAPS = {"hr": 12, "hr/ann": 8, "hr/bob": 9, "window": 5}

KEYS = st.sampled_from("abcdefgh")
ANALYSTS = st.sampled_from(["ann", "bob"])
COSTS = st.integers(0, 4)
ANSWERS = st.one_of(st.none(), st.integers(-3, 3), st.booleans(), st.text(max_size=3), st.binary(max_size=3))


@dataclass
class Known:
    """What the model knows of a charge."""

    request: tuple[int, str]
    state: str
    period: int
    answer: object = None


@dataclass
class Model:
    """The same, said in the simplest way."""

    caps: dict[tuple[str, int], int] = field(default_factory=dict)
    spent: dict[tuple[str, int], int] = field(default_factory=dict)
    charges: dict[str, Known] = field(default_factory=dict)
    now: int = 10_000
    latest: int = 10_000

    def moment(self) -> int:
        self.latest = max(self.latest, self.now)
        return self.latest // WINDOW + 1

    def places(self, analyst: str, period: int) -> list[tuple[str, int]]:
        return [("hr", 0), (f"hr/{analyst}", 0), ("window", period)]

    def left(self, place: tuple[str, int]) -> int:
        return self.caps.get(place, CAPS[place[0]]) - self.spent.get(place, 0)

    def take(self, analyst: str, period: int, units: int) -> None:
        for place in self.places(analyst, period):
            self.spent[place] = self.spent.get(place, 0) + units


class Ledgers(RuleBasedStateMachine):
    """Every rule does one thing to the ledger and to the model."""

    new_address: NewAddress
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.clock = mock.patch("indistinct.ledger.group.time.time_ns", new=self.nanoseconds)
        self.clock.start()

    def nanoseconds(self) -> int:
        return self.model.now * 10**9

    @initialize()
    def create(self) -> None:
        self.address = type(self).new_address()
        caps = {name: BasicRule(f"{cap}e-9", 0) for name, cap in CAPS.items()}
        self.ledger = Ledger.create(
            self.address,
            Budget("hr", caps["hr"]),
            Budget("hr", caps["hr/ann"], analyst="ann"),
            Budget("hr", caps["hr/bob"], analyst="bob"),
            Budget("hr", caps["window"], window=WINDOW, name="window"),
        )

    @rule(key=KEYS, units=COSTS, analyst=ANALYSTS, start=st.booleans())
    def charge(self, key: str, units: int, analyst: str, start: bool) -> None:
        type(self).steps += 1
        known = self.model.charges.get(key)
        ask = self.ledger.charge if start else self.ledger.reserve
        cost = {"epsilon": f"{units}e-9"}
        if known is not None and (known.request != (units, analyst) or known.state == "void"):
            with pytest.raises(KeyReused):
                ask(cost, key=key, analyst=analyst)
            return
        if known is None:
            period = max(self.model.latest, self.model.now) // WINDOW + 1
            if any(self.model.left(place) < units for place in self.model.places(analyst, period)):
                with pytest.raises(BudgetExceeded):
                    ask(cost, key=key, analyst=analyst)
                return
            self.model.moment()
            self.model.take(analyst, period, units)
            known = self.model.charges[key] = Known((units, analyst), "reserve", period)
        if start and known.state == "fail":
            with pytest.raises(AnswerFailed):
                ask(cost, key=key, analyst=analyst)
            return
        if start and known.state == "reserve":
            self.model.moment()
            known.state = "start"
        got = ask(cost, key=key, analyst=analyst)
        if isinstance(got, Charge):
            assert got.answered == (known.state == "release")
            if got.answered:
                assert repr(got.answer) == repr(known.answer)

    @rule(key=KEYS, answer=ANSWERS)
    def seal(self, key: str, answer: object) -> None:
        known = self.model.charges.get(key)
        if known is None or known.state not in ("start", "release"):
            return
        units, analyst = known.request
        with self.ledger.charge({"epsilon": f"{units}e-9"}, key=key, analyst=analyst) as charge:
            sealed = charge.seal(answer)
        if known.state == "start":
            known.state, known.answer = "release", answer
            self.model.moment()
        assert repr(sealed) == repr(known.answer)

    @rule(key=KEYS)
    def fail(self, key: str) -> None:
        known = self.model.charges.get(key)
        if known is None or known.state != "start":
            return
        units, analyst = known.request
        with (
            pytest.raises(AnswerFailed),
            self.ledger.charge({"epsilon": f"{units}e-9"}, key=key, analyst=analyst),
        ):
            raise ValueError(key)
        known.state = "fail"
        self.model.moment()

    @rule(key=KEYS)
    def void(self, key: str) -> None:
        known = self.model.charges.get(key)
        if known is None:
            return
        if known.state != "reserve":
            with pytest.raises(KeyReused):
                self.ledger.void(key, reason="test")
            return
        self.ledger.void(key, reason="test")
        self.model.moment()
        self.model.take(known.request[1], known.period, -known.request[0])
        known.state = "void"

    @rule(name=st.sampled_from(sorted(CAPS)), units=st.integers(1, 2))
    def grant(self, name: str, units: int) -> None:
        self.ledger.grant(name, f"{units}e-9", reason="test")
        period = self.model.moment() if name == "window" else 0
        self.model.moment()
        place = (name, period)
        self.model.caps[place] = self.model.caps.get(place, CAPS[name]) + units

    @rule(seconds=st.integers(-300, 300))
    def clock_moves(self, seconds: int) -> None:
        self.model.now = max(0, self.model.now + seconds)

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.address)

    @rule()
    def verify(self) -> None:
        self.ledger.verify()

    @invariant()
    def both_say_the_same(self) -> None:
        for each in self.ledger.standings():
            if each.account == "epsilon":
                place = (each.budget.name, each.period)
                assert each.spent * 10**9 == self.model.spent.get(place, 0)
                assert each.cap * 10**9 == self.model.caps.get(place, CAPS[place[0]])
                assert each.spent <= each.cap
        states = {record.number: record.state for record in self.ledger.unfinished()}
        assert sorted(states.values()) == sorted(
            known.state for known in self.model.charges.values() if known.state in ("reserve", "start")
        )

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.verify()
            self.ledger.close()
        self.clock.stop()


def test_on_files() -> None:
    _run_on_files(_settings(15, 1000))


def _run_on_files(chosen: settings) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ledger-model-"))
    numbers = iter(range(10**9))

    class OnFiles(Ledgers):
        @staticmethod
        def new_address() -> str:
            return str(folder / f"{next(numbers)}.ledger")

    try:
        run_state_machine_as_test(OnFiles, settings=chosen)
        tell(f"model, files: {OnFiles.steps:,} charges asked for, the same in both")
    finally:
        shutil.rmtree(folder)


def test_on_postgres(new_database: NewAddress) -> None:
    class OnPostgres(Ledgers):
        new_address = staticmethod(new_database)

    run_state_machine_as_test(OnPostgres, settings=_settings(3, 100))
    tell(f"model, PostgreSQL: {OnPostgres.steps:,} charges asked for, the same in both")


def _settings(short: int, full: int, **more: Any) -> settings:
    return settings(
        **more,
        max_examples=count(short, full),
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def test_a_ledger_that_forgets_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model finds a ledger that does not charge everything."""
    from indistinct.ledger import operations

    original = operations.Reserve.deductions
    monkeypatch.setattr(operations.Reserve, "deductions", lambda self, page: original(self, page)[:2])
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        _run_on_files(_settings(50, 50, phases=[Phase.generate], report_multiple_bugs=False))
