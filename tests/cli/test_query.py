"""indistinct query, with the real thing beneath: answers, refusals, the ledger, scripts and a terminal."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from indistinct import cli
from indistinct.cli.demo.questions import policy_text
from indistinct.cli.demo.visits import REGIONS, write_visits

DOCUMENTS = Path(__file__).parents[2] / "docs"
PROGRAM = str(Path(sys.executable).with_name("indistinct"))
COUNT = "SELECT COUNT(DISTINCT patient_id) AS patients FROM visits"
BY_REGION = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_visits(folder / "visits.parquet", 5000, 500)
    (folder / "policy.toml").write_text(policy_text("visits.parquet"), encoding="utf-8")
    return folder


@pytest.fixture
def options(made: Path, tmp_path: Path) -> list[str]:
    """A policy and a ledger of its own for each test."""
    return ["--policy", str(made / "policy.toml"), "--ledger", str(tmp_path / "visits.ledger")]


@pytest.fixture
def file(made: Path) -> str:
    return str(made / "visits.parquet")


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["query", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    try:
        code = cli.main(["query", *arguments])
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else -1
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


# one question


def test_a_table_with_intervals_and_receipt(capsys: pytest.CaptureFixture[str], file: str, options: list[str]) -> None:
    lines = asked(capsys, file, BY_REGION, *options).splitlines()
    assert lines[0].split() == ["region", "visits", "noise", "interval"]
    assert [line.split()[0] for line in lines[2:14]] == list(REGIONS)
    assert lines[14] == "12 rows; noise interval (95%, privacy noise only)"
    assert lines[15].startswith("cost: rho 0.00")
    assert lines[-1].startswith("left: rho 0.0")


def test_json_has_everything(capsys: pytest.CaptureFixture[str], file: str, options: list[str]) -> None:
    told = json.loads(asked(capsys, file, COUNT, *options, "--json"))
    ((patients,),) = told["rows"]
    ((low, high),) = told["intervals"]["columns"]["patients"]
    assert told["columns"] == ["patients"]
    assert low < patients < high
    assert abs(patients - 500) < 600  # 8 standard deviations and more
    assert set(told["receipt"]) == {"charge", "cost", "mechanisms", "bounds"}
    assert set(told["remaining"]) == {"rho", "delta"}


def test_the_same_question_again_is_free(capsys: pytest.CaptureFixture[str], file: str, options: list[str]) -> None:
    once = json.loads(asked(capsys, file, COUNT, *options, "--json"))
    again = json.loads(asked(capsys, file, COUNT, *options, "--json"))
    assert again["rows"] == once["rows"]
    assert again["remaining"] == once["remaining"]
    assert again["receipt"]["cost"] == {}


def test_csv_and_bars(capsys: pytest.CaptureFixture[str], file: str, options: list[str], tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(asked(capsys, file, BY_REGION, *options, "--csv"))))
    assert rows[0] == ["region", "visits", "visits at least", "visits at most"]
    assert len(rows) == 13
    assert all(float(low) < float(value) < float(high) for _, value, low, high in rows[1:])
    printed = asked(capsys, file, BY_REGION, *options, "--chart")
    assert printed.startswith("visits\nAshford")
    picture = tmp_path / "visits.png"
    assert f"Drawn: {picture}" in asked(capsys, file, BY_REGION, *options, f"--chart={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_median_by_itself_is_within_its_bounds_and_can_be_drawn(
    capsys: pytest.CaptureFixture[str], file: str, options: list[str]
) -> None:
    question = "SELECT ward, MEDIAN(waiting_minutes) AS minutes FROM visits GROUP BY ward"
    assert re.search(r"^emergency +\d+ +0 to 240$", asked(capsys, file, question, *options), re.MULTILINE)
    assert asked(capsys, file, question, *options, "--chart").startswith("minutes\nemergency")


def test_explaining_and_rehearsing_cost_nothing(
    capsys: pytest.CaptureFixture[str], file: str, options: list[str]
) -> None:
    told = asked(capsys, file, BY_REGION, *options, "--explain")
    assert "cost: rho" in told
    assert "SELECT" in told
    assert "statement" in json.loads(asked(capsys, file, BY_REGION, *options, "--explain", "--json"))
    rehearsed = asked(capsys, file, BY_REGION, *options, "--rehearse")
    assert "A rehearsal on made-up rows: the numbers mean nothing." in rehearsed
    one, other = (json.loads(asked(capsys, file, BY_REGION, *options, "--rehearse", "--json")) for _ in range(2))
    assert one["rehearsal"] is True
    assert one["remaining"] == other["remaining"]
    paid = json.loads(asked(capsys, file, COUNT, *options, "--json"))
    spent = Fraction(one["remaining"]["rho"]) - Fraction(paid["remaining"]["rho"])
    assert 0 <= spent - Fraction(paid["receipt"]["cost"]["rho"]) < Fraction(1, 10**8)  # the ledger rounds up


def test_without_a_policy(capsys: pytest.CaptureFixture[str], file: str, tmp_path: Path) -> None:
    budget = ["--unit", "patient_id", "--epsilon", "1", "--delta", "1e-6", "--ledger", str(tmp_path / "ledger")]
    told = json.loads(asked(capsys, file, COUNT, *budget, "--groups", "2", "--rows", "3", "--json"))
    assert told["receipt"]["bounds"] == "unit: patient_id, which counts in at most 3 rows"
    (tmp_path / "rows.csv").write_text("x\n1\n2\n", encoding="utf-8")
    rows = ["SELECT COUNT(*) AS n FROM rows", "--unit-is-row", "--epsilon", "1"]
    assert (
        json.loads(asked(capsys, str(tmp_path / "rows.csv"), *rows, "--json"))["receipt"]["bounds"] == "unit: each row"
    )
    # the ledger beside the file knows the budget
    assert (tmp_path / "rows.csv.ledger").exists()
    asked(capsys, str(tmp_path / "rows.csv"), "SELECT COUNT(x) AS n FROM rows", "--unit-is-row")


def test_a_policy_with_a_public_table_and_analysts(
    capsys: pytest.CaptureFixture[str], made: Path, file: str, tmp_path: Path
) -> None:
    (tmp_path / "floors.csv").write_text("ward,floor\nemergency,0\nsurgery,1\nmaternity,1\n", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        (made / "policy.toml").read_text(encoding="utf-8")
        + '[tables.floors]\npublic = true\nsource = "floors.csv"\n[tables.floors.columns]\nward.type = "text"\n'
        + 'floor = { type = "integer", keys = [0, 1] }\n[analysts.ana]\nepsilon = 0.1\ndelta = 1e-7\n[analysts.ben]\n',
        encoding="utf-8",
    )
    options = ["--policy", str(tmp_path / "policy.toml"), "--ledger", str(tmp_path / "ledger")]
    joined = "SELECT floor, COUNT(*) AS visits FROM visits JOIN floors USING (ward) GROUP BY floor"
    told = json.loads(asked(capsys, file, joined, *options, "--analyst", "ben", "--json"))
    assert [floor for floor, _ in told["rows"]] == [0, 1]
    cheap = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rho=0.0001) {COUNT.removeprefix('SELECT ')}"
    alone = json.loads(asked(capsys, file, cheap, *options, "--analyst", "ana", "--json"))
    assert Fraction(alone["remaining"]["rho"]) < Fraction(told["remaining"]["rho"]) / 10  # hers is the smaller budget
    assert "analyst" in refused(capsys, file, COUNT, *options)


def test_the_budget_ends(capsys: pytest.CaptureFixture[str], file: str, options: list[str]) -> None:
    for turn in range(9):
        asked(capsys, file, f"{COUNT} WHERE waiting_minutes > {turn}", *options)
    half = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rho=0.002) {COUNT.removeprefix('SELECT ')}"
    asked(capsys, file, half, *options)
    sentence = refused(capsys, file, f"{half} WHERE cost > 1", *options)
    assert re.match(r"indistinct: .* of rho is asked, but .* is left", sentence)
    asked(capsys, file, f"{COUNT} WHERE waiting_minutes > 3", *options)  # what was answered stays


# what is refused


def test_refusals_mark_the_place(capsys: pytest.CaptureFixture[str], file: str, options: list[str]) -> None:
    first, *shown = refused(capsys, file, "SELECT MAX(cost) FROM visits", *options).splitlines()
    assert first.startswith("indistinct: ")
    assert "QUANTILE" in first
    text, marks = shown
    assert text == "  SELECT MAX(cost) FROM visits"
    assert "cost" in text[marks.index("^") : marks.rindex("^") + 1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], r"--unit must name the column that says whose row it is, but is None\. Say --unit-is-row"),
        (["--unit", "nobody", "--epsilon", "1"], r"unit must name a column of table 'visits', but is 'nobody'"),
        (["--unit", "patient_id"], r"epsilon must be given where there is no ledger yet"),
        (["--unit", "patient_id", "--epsilon", "-1"], r"epsilon must be positive"),
        (["--unit", "patient_id", "--epsilon", "1", "--rows", "0"], r"--rows must be a whole number from 1"),
        (["--policy", "none.toml"], r"the policy must be a file that can be read"),
        (
            ["--policy", "p.toml", "--epsilon", "1"],
            r"--epsilon must be left out",
        ),
        (["--unit", "u", "--chart", "a.txt"], r"--chart must be a file that ends in \.svg, \.png, \.pdf"),
        (["--unit", "u", "--policy", "p.toml"], r"indistinct: argument --policy: not allowed with"),
        (["--unit", "u", "--json", "--csv"], r"indistinct: argument --csv: not allowed with"),
    ],
)
def test_what_is_not_well_put(
    capsys: pytest.CaptureFixture[str], file: str, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    where = [] if "--policy" in arguments else ["--ledger", str(tmp_path / "ledger")]
    assert re.search(sentence, refused(capsys, file, COUNT, *arguments, *where))
    assert not (tmp_path / "ledger").exists()


def test_a_missing_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = [str(tmp_path / "none.parquet"), COUNT, "--unit", "patient_id", "--epsilon", "1"]
    assert "must be a file that exists" in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_hostile_do_no_harm(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = "SELECT range AS person, chr(27) || '[2J' || range % 2 AS \"a\u001b[31m\" FROM range(4000)"
    with duckdb.connect() as engine:
        engine.execute(f"COPY ({rows}) TO '{path}'")
    budget = ["--unit", "person", "--epsilon", "5", "--delta", "1e-3"]
    printed = asked(capsys, str(path), 'SELECT "a\u001b[31m", COUNT(*) FROM t GROUP BY 1', *budget)
    assert all(each.isprintable() for each in printed.split("\n"))
    assert "\\x1b[2J0" in printed


# scripts


def piped(file: str, options: list[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "query", file, *options], input=text, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_script(file: str, options: list[str]) -> None:
    ran = piped(file, options, f"{COUNT};\n\\history\n\\budget\n\\tables\n\\explain {COUNT}\n;\n{COUNT} -- again, free")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"1. {COUNT}\n   rho 0.00" in ran.stdout
    assert "Left: rho 0.02064 of 0.02294 (90%), delta 5e-07 of 5e-07 (100%)." in ran.stdout
    assert "visits\n  patient_id       integer" in ran.stdout
    assert ran.stdout.count("count of units: discrete Gaussian noise") == 3
    assert "cost: nothing" in ran.stdout


def test_a_script_ends_at_the_first_refusal(file: str, options: list[str]) -> None:
    ran = piped(file, options, f"{COUNT};\nSELECT MAX(cost) FROM visits;\n{BY_REGION};\n")
    assert ran.returncode == 2
    assert ran.stdout.startswith("patients")
    assert "region" not in ran.stdout
    assert ran.stderr.startswith("indistinct: ")


# somebody at a terminal


class Terminal:
    """The program on a pseudo-terminal, with somebody who waits for what they expect to see."""

    def __init__(self, arguments: list[str], state: Path) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "dumb", "COLUMNS": "200"}
        self.process = subprocess.Popen(
            [PROGRAM, "query", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            close_fds=True,
            start_new_session=True,
            preexec_fn=self._take_control,
        )
        os.close(theirs)
        self.seen = ""

    @staticmethod
    def _take_control() -> None:
        """Makes it the terminal from which Ctrl-C interrupts."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def sees(self, expected: str) -> str:
        """What is printed until the expected text has appeared; it is then forgotten."""
        end = time.monotonic() + 30
        while expected not in self.seen:
            ready, _, _ = select.select([self._ours], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{expected!r} is not in {self.seen!r}"
            try:
                self.seen += os.read(self._ours, 65536).decode()
            except OSError:
                raise AssertionError(f"ended with {self.seen!r}") from None
        before, _, self.seen = self.seen.partition(expected)
        return before

    def leaves(self) -> int:
        code = self.process.wait(30)
        os.close(self._ours)
        return code


@pytest.fixture
def terminal(file: str, options: list[str], tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal([file, *options], tmp_path / "state")
    yield opened
    opened.process.kill()
    opened.process.wait()


def test_a_conversation(terminal: Terminal, tmp_path: Path) -> None:
    terminal.sees("100% left> ")
    terminal.types("SELECT COUNT(DISTINCT patient_id) AS patients\n")
    terminal.sees("...> ")
    terminal.types("FROM visits;\n")
    terminal.sees("1 row; noise interval (95%, privacy noise only)")
    terminal.sees("90% left> ")
    terminal.types("SELECT MAX(cost) FROM visits;\n")
    terminal.sees("indistinct: ")
    terminal.sees("90% left> ")
    terminal.types("SELECT reas\t")  # completion
    terminal.sees("reason")
    time.sleep(0.5)  # Python does not notice Ctrl-C in the instant in which it handles another key
    terminal.types("\x03")  # Ctrl-C
    terminal.sees("Forgotten.")
    terminal.sees("90% left> ")
    terminal.types("\\quit\n")
    assert terminal.leaves() == 0
    history = tmp_path / "state" / "indistinct" / "history"
    assert "SELECT COUNT(DISTINCT patient_id) AS patients" in history.read_text(encoding="utf-8")
    assert history.stat().st_mode & 0o077 == 0


def test_the_end_of_a_conversation(terminal: Terminal) -> None:
    terminal.sees("100% left> ")
    terminal.types("SELECT COUNT(*)\n")
    terminal.sees("...> ")
    terminal.types("\x04")  # Ctrl-D
    assert terminal.leaves() == 0


# what it costs to start


@pytest.mark.parametrize("command", [["query"], ["policy", "check"], ["policy", "draft"], ["demo"]])
def test_every_option_is_documented(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command, "--help"])
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    pages = [(DOCUMENTS / name).read_text(encoding="utf-8") for name in ("command-line.md", "policy.md")]
    assert {
        option for option in options if f"`{option}" not in pages[0] and f" {option} " not in "".join(pages)
    } == set()


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom indistinct.cli.parser import make_parser\nmake_parser().format_help()\n"
        "print(*({'duckdb', 'sqlglot', 'numpy', 'matplotlib', 'flint', 'apsw', 'json'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) <= {"json"}
