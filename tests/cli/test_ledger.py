"""indistinct ledger: every action, both forms of output, and one sentence for everything not well put."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indistinct import PureDP
from indistinct.ledger import Ledger
from tests.cli.test_cli import answered, refused
from tests.ledger.test_verification import tampered

WANTED = ["--dataset", "hr", "--epsilon", "1", "--delta", "1e-6"]


@pytest.fixture
def path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    made = str(tmp_path / "hr.ledger")
    assert answered(capsys, "ledger", "init", made, *WANTED).startswith("Created the ledger ")
    return made


def charge(path: str, key: str = "q", **scope: str) -> None:
    with Ledger.open(path) as ledger, ledger.charge(PureDP("0.1"), key=key, **scope) as made:
        made.seal(-7)


def test_what_is_shown_is_what_was_charged(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    charge(path)
    told = json.loads(answered(capsys, "ledger", "show", path, "--json"))
    rho, delta = told["budgets"]
    assert (rho["account"], rho["spent"], rho["cap"]) == ("rho", "2497919/500000000", "2435597/100000000")
    assert (delta["account"], delta["cap"]) == ("delta", "0")
    assert (told["rows"], told["unfinished"]) == (4, 0)
    printed = answered(capsys, "ledger", "show", path)
    assert "hr       rho        0.02435597   0.004995838   0.019360132" in printed
    assert "promises ApproximateDP(1, '1e-06') for everything answered about hr" in printed


@pytest.mark.parametrize("rule", ["zcdp", "basic", "gaussian", "renyi"])
def test_every_rule_can_be_chosen(rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = str(tmp_path / rule)
    order = ["--order", "64", "--black-box", "1e-9"] if rule == "renyi" else []
    answered(capsys, "ledger", "init", made, *WANTED, "--rule", rule, *order)
    assert "promises ApproximateDP(1, '1e-06')" in answered(capsys, "ledger", "show", made)


def test_plans_parts_windows_and_analysts(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = str(tmp_path / "plan")
    answered(capsys, "ledger", "init", plan, "--dataset", "hr", "--slot", "0.1=10", "--slot", "0.5,1e-9=2")
    assert "composition of 12 slots" in answered(capsys, "ledger", "show", plan)
    assert json.loads(answered(capsys, "ledger", "plan", plan, "--epsilon", "0.1", "--json"))["times"] == 12
    answered(capsys, "ledger", "budget", path, *WANTED, "--analyst", "ann")
    answered(capsys, "ledger", "budget", path, *WANTED, "--window", "3600")
    answered(capsys, "ledger", "budget", path, *WANTED, "--part", "n", "--part", "s", "--name", "parts")
    charge(path, analyst="ann")
    printed = answered(capsys, "ledger", "show", path)
    for name in ("hr/ann", "hr/3600s", "parts:n", "parts:s"):
        assert name in printed
    assert "in each stretch of 3,600 seconds" in printed


def test_a_plan_charges_nothing(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = answered(capsys, "ledger", "export", path)
    assert "It fits 4 times" in answered(capsys, "ledger", "plan", path, "--epsilon", "0.1")
    assert "It fits 2 times" in answered(capsys, "ledger", "plan", path, "--rho", "0.01")
    assert "It fits 2 times" in answered(capsys, "ledger", "plan", path, "--mu", "0.14")
    assert "It costs nothing" in answered(capsys, "ledger", "plan", path, "--epsilon", "0")
    assert "is left in 'hr'" in refused(capsys, "ledger", "plan", path, "--epsilon", "5")
    assert "of delta is asked" in refused(capsys, "ledger", "plan", path, "--epsilon", "0.1", "--delta", "1e-9")
    assert "--delta must stand beside --epsilon" in refused(
        capsys, "ledger", "plan", path, "--rho", "0.1", "--delta", "1e-9"
    )
    assert "be given but for two" in refused(capsys, "ledger", "plan", path)
    assert answered(capsys, "ledger", "export", path) == before


def test_grants_have_a_reason(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    answered(capsys, "ledger", "grant", path, "hr", "0.001", "--reason", "the board")
    answered(capsys, "ledger", "grant", path, "hr", "0.001", "--delta", "1e-9", "--reason", "the board again")
    printed = answered(capsys, "ledger", "show", path)
    assert "promises Approximately(ZeroConcentratedDP('0.02635597'), '1e-09')" in printed
    assert answered(capsys, "ledger", "export", path).count("hr: the board") == 2
    assert "--reason" in refused(capsys, "ledger", "grant", path, "hr", "1")
    assert "a reason must be text that is not empty" in refused(
        capsys, "ledger", "grant", path, "hr", "1", "--reason", " "
    )
    assert "a budget must be one of 'hr'" in refused(capsys, "ledger", "grant", path, "it", "1", "--reason", "x")


def test_verification_names_the_first_wrong_row(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    charge(path)
    anchor = str(tmp_path / "anchor")
    assert answered(capsys, "ledger", "verify", path, "--anchor", anchor).startswith("4 rows, 1 charges: all as")
    charge(path, "r")
    told = json.loads(answered(capsys, "ledger", "verify", path, "--anchor", anchor, "--json"))
    assert (told["whole"], told["rows"], told["anchor"]["number"]) == (True, 6, 6)
    assert json.loads(Path(anchor).read_text()) == told["anchor"]
    tampered(Path(path), "UPDATE entry SET answer = x'30' WHERE number = 4")
    assert refused(capsys, "ledger", "verify", path).endswith("Row 4 holds another answer than was sealed.")


def test_a_failed_verification_is_json_too(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    from indistinct import cli

    tampered(Path(path), "UPDATE entry SET time = 7 WHERE number = 2")
    assert cli.main(["ledger", "verify", path, "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told == {"whole": False, "row": 2, "reason": "Row 2 is not what its text says."}


def test_an_export_holds_everything(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    charge(path)
    lines = [json.loads(line) for line in answered(capsys, "ledger", "export", path, "--json").splitlines()]
    assert [json.loads(line["text"])["kind"] for line in lines] == ["ledger", "budget", "charge", "release"]
    assert lines[-1]["answer"] == "LTc="
    printed = answered(capsys, "ledger", "export", path).splitlines()
    assert len(printed) == 4
    assert printed[2].endswith('charge  q [["pure", "1/10"]]')


def test_receipts_are_checked_alone_and_against_the_ledger(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charge(path)
    file = tmp_path / "receipt"
    file.write_text(answered(capsys, "ledger", "receipt", path, "--key", "q"))
    printed = answered(capsys, "ledger", "receipt", str(file))
    assert "answer          -7" in printed
    assert "Nothing in this receipt was changed." in printed
    told = json.loads(answered(capsys, "ledger", "receipt", str(file), "--ledger", path, "--json"))
    assert (told["key"], told["answer"], told["in the ledger"]) == ("q", -7, True)
    other = str(tmp_path / "other")
    answered(capsys, "ledger", "init", other, *WANTED)
    assert "of another ledger" in refused(capsys, "ledger", "receipt", str(file), "--ledger", other)
    file.write_text(file.read_text().replace("q", "r"))
    assert "Row 3 of the receipt was changed" in refused(capsys, "ledger", "receipt", str(file))
    assert "cannot be read" in refused(capsys, "ledger", "receipt", str(tmp_path / "none"))
    file.write_bytes(b"\xff")
    assert "not a receipt" in refused(capsys, "ledger", "receipt", str(file))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--dataset", "hr"], "a budget must have both"),
        (["--dataset", "hr", "--epsilon", "1"], "a budget must have both"),
        (["--dataset", "hr", "--epsilon", "1", "--slot", "1=2"], "be a plan of slots or have an epsilon"),
        (["--dataset", "hr", "--slot", "1"], "a number of slots"),
        (["--dataset", "hr", "--epsilon", "nan", "--delta", "0"], "epsilon must be finite"),
        (["--dataset", "hr", "--epsilon", "-1", "--delta", "0"], "epsilon must lie in"),
        (["--epsilon", "1", "--delta", "0"], "--dataset"),
    ],
)
def test_budgets_not_well_put_create_nothing(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "hr.ledger"
    assert told in refused(capsys, "ledger", "init", str(made), *arguments)
    assert not made.exists()


def test_an_address_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "begins with postgresql://" in refused(capsys, "ledger", "show", "mysql://here")
    assert "cannot be created" in refused(capsys, "ledger", "init", "/no/such/folder/x", *WANTED)
