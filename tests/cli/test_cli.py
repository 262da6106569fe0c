"""The command line: every option, both forms of output, and one sentence for every question not well put."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from indistinct import ApproximateDP, Bracket, PureDP, __version__, cli, compose
from indistinct.composition import Comparison, compare
from indistinct.composition.compose import Part

PROGRAM = str(Path(sys.executable).with_name("indistinct"))
THIRTY = ["--epsilon", "0.1", "--delta", "0.001", "--times", "30"]
ENORMOUS = "1" + "0" * 400


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints, which must succeed and have nothing to complain about."""
    assert cli.main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence with which a command is refused; nothing may be printed as an answer."""
    try:
        code = cli.main(arguments)
    except SystemExit as leaving:  # the parser itself leaves
        code = leaving.code if isinstance(leaving.code, int) else -1
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert "Traceback" not in captured.err
    (sentence,) = captured.err.splitlines()
    assert sentence.startswith("indistinct: ")
    return sentence


def run(command: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with stdout buffered as it is for users."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env={**inherited, **environment}
    )


# compose, as text


def test_a_comparison_and_what_it_means(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answered(capsys, "compose", *THIRTY, "--at-delta", "0.05")
    parts = {ApproximateDP("0.1", "0.001"): 30}
    table, meaning = printed.rsplit("\n\n", 1)
    assert table == str(compare(parts, delta="0.05"))
    epsilon = compose(parts).epsilon("0.05")
    assert meaning.startswith(f"Exact: epsilon lies between {epsilon.lower!r} and {epsilon.upper!r}. The upper end")


def test_delta_and_times_may_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answered(capsys, "compose", "--epsilon", "0.5", "--at-epsilon", "0.1")
    assert printed.startswith(str(compare([PureDP("0.5")], epsilon="0.1")))


def test_groups_are_opened_by_epsilon(capsys: pytest.CaptureFixture[str]) -> None:
    groups = [*THIRTY, "--epsilon", "ln(3)", "--times", "2", "--epsilon", "1/3", "--delta", "1e-9"]
    printed = answered(capsys, "compose", *groups, "--at-delta", "0.1")
    parts: dict[Part, int] = {ApproximateDP("0.1", "0.001"): 30, PureDP("ln(3)"): 2, ApproximateDP("1/3", "1e-9"): 1}
    assert printed.splitlines()[0] == "33 uses at delta = 0.1"
    assert f"{compose(parts).epsilon('0.1').upper!r}" in printed


def test_equal_groups_are_one(capsys: pytest.CaptureFixture[str]) -> None:
    twice = ["--epsilon", "0.1", "--times", "5", "--epsilon", "0.1", "--times", "7"]
    once = ["--epsilon", "1/10", "--times", "12"]
    assert answered(capsys, "compose", *twice, "--at-delta", "0.1") == answered(
        capsys, "compose", *once, "--at-delta", "0.1"
    )


def test_questions_are_answered_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--at-epsilon", "1", "--at-delta", "0.05", "--at-delta", "0.1", "--at-epsilon", "ln(2)"]
    printed = answered(capsys, "compose", *THIRTY, *asked)
    heads = [line for line in printed.splitlines() if line.startswith("30 uses at ")]
    assert heads == [f"30 uses at {each}" for each in ("delta = 0.05", "delta = 0.1", "epsilon = 1", "epsilon = ln(2)")]
    assert printed.count("Exact: ") == 4


def test_an_infinite_epsilon_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answered(capsys, "compose", *THIRTY, "--at-delta", "0.01")
    assert printed.count("infinite") == 5
    assert printed.endswith(
        "Epsilon is infinite: the mechanisms' own deltas already add up to 0.0295691, which is more than the delta "
        "asked for. Ask for 0.0296 or more.\n"
    )
    assert "Exact" not in answered(capsys, "compose", *THIRTY, "--at-delta", "0")
    assert "Exact" in answered(capsys, "compose", *THIRTY, "--at-delta", "0.0296")  # as it was told to ask


def test_a_wide_bracket_is_not_called_exact(capsys: pytest.CaptureFixture[str]) -> None:
    groups = [word for prime in range(2, 62) for word in ("--epsilon", repr((prime * 3 + 1) ** 0.5 / 50))]
    printed = answered(capsys, "compose", *groups, "--at-delta", "1e-6")
    optimal = compose([PureDP(repr((prime * 3 + 1) ** 0.5 / 50)) for prime in range(2, 62)]).epsilon("1e-6")
    assert ("Certified: epsilon lies" in printed) == (optimal.relative_width >= 1e-9)
    assert ("Exact: epsilon lies" in printed) == (optimal.relative_width < 1e-9)


# compose, as JSON


def brackets(comparison: Comparison) -> list[Bracket]:
    return [row.value for row in comparison.rows]


def test_json_holds_both_ends_of_every_bracket(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--at-delta", "0.05", "--at-epsilon", "1.5"]
    printed = answered(capsys, "compose", *THIRTY, "--epsilon", "ln(3)", *asked, "--json")
    found = json.loads(printed)
    parts: dict[Part, int] = {ApproximateDP("0.1", "0.001"): 30, PureDP("ln(3)"): 1}
    assert found["parts"] == [
        {"epsilon": "1/10", "delta": "1/1000", "times": 30},
        {"epsilon": "ln(3)", "delta": "0", "times": 1},
    ]
    expected = [compare(parts, delta="0.05"), compare(parts, epsilon="1.5")]
    for each, comparison in zip(found["comparisons"], expected, strict=True):
        assert (each["asked"], each["answer"]) == (comparison.asked, comparison.answer)
        assert [row["theorem"] for row in each["theorems"]] == [row.theorem for row in comparison.rows]
        assert [row["source"] for row in each["theorems"]] == [row.source for row in comparison.rows]
        assert [Bracket(row["lower"], row["upper"]) for row in each["theorems"]] == brackets(comparison)


def test_json_spells_infinity_out(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answered(capsys, "compose", *THIRTY, "--at-delta", "0.01", "--json")

    def forbidden(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    (comparison,) = json.loads(printed, parse_constant=forbidden)["comparisons"]
    assert {(row["lower"], row["upper"]) for row in comparison["theorems"]} == {("infinity", "infinity")}


# what is not well put

BAD = {
    "epsilon below 0": (["--epsilon", "-1"], r"epsilon must lie in \[0, 1000000000\], but is '-1'\."),
    "epsilon not a number": (["--epsilon", "nan"], r"epsilon must be finite, but is 'nan'\."),
    "epsilon infinite": (["--epsilon", "inf"], r"epsilon must be finite, but is 'inf'\."),
    "epsilon a word": (["--epsilon", "abc"], r"epsilon must be a number such as 0\.1, .* but is 'abc'\."),
    "epsilon nothing": (["--epsilon", ""], r"epsilon must be a number such as 0\.1, .* but is ''\."),
    "epsilon enormous": (["--epsilon", ENORMOUS], r"epsilon must lie in \[0, 1000000000\], but is '1000"),
    "epsilon 1e400": (["--epsilon", "1e400"], r"epsilon must lie in \[0, 1000000000\], but is '1e400'\."),
    "epsilon 1e999999999": (["--epsilon", "1e999999999"], r"epsilon must have an exponent of at most 5000"),
    "epsilon over 0": (["--epsilon", "1/0"], r"epsilon must not divide by zero, but is '1/0'\."),
    "epsilon logarithm below 0": (["--epsilon", "ln(0.5)"], r"epsilon must be the logarithm of a number that is at"),
    "epsilon too long": (["--epsilon", "1" * 2000], r"epsilon must be text of at most 1000 characters"),
    "delta above 1": (["--epsilon", "1", "--delta", "1.5"], r"delta must lie in \[0, 1\], but is '1\.5'\."),
    "delta below 0": (["--epsilon", "1", "--delta", "-0.5"], r"delta must lie in \[0, 1\], but is '-0\.5'\."),
    "times broken": (["--epsilon", "1", "--times", "2.5"], r"times must be a whole number from 0 to .* '2\.5'\."),
    "times below 0": (["--epsilon", "1", "--times", "-1"], r"times must be a whole number from 0 to .* '-1'\."),
    "times enormous": (["--epsilon", "1", "--times", ENORMOUS], r"times must be a whole number from 0 to .* '1000"),
    "times in all": (
        ["--epsilon", "1", "--times", "1e15", "--epsilon", "2", "--times", "1"],
        r"times must add up to at most 1000000000000000, but is 1000000000000001\.",
    ),
    "at delta above 1": (["--epsilon", "1", "--at-delta", "1.5"], r"delta must lie in \[0, 1\], but is '1\.5'\."),
    "at delta a word": (["--epsilon", "1", "--at-delta", "x"], r"delta must be a number such as"),
    "at epsilon below 0": (["--epsilon", "1", "--at-epsilon", "-1"], r"epsilon must lie in \[0, 1000000000\], but"),
}


@pytest.mark.parametrize(("arguments", "sentence"), BAD.values(), ids=BAD)
def test_bad_numbers(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    said = refused(capsys, "compose", *arguments, "--at-delta", "0.1")
    assert re.match("indistinct: " + sentence, said)
    assert len(said) < 250


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["compose", "--epsilon", "1"],
            "--at-delta or --at-epsilon must be given, but is 'neither'. Try --at-delta 1e-6.",
        ),
        (["compose", "--at-delta", "0.1"], "the following arguments are required: --epsilon"),
        (
            ["compose", "--delta", "0.1", "--epsilon", "1", "--at-delta", "0.1"],
            "--delta belongs to the --epsilon before",
        ),
        (["compose", "--times", "3", "--epsilon", "1", "--at-delta", "0.1"], "--times belongs to the --epsilon before"),
        (["compose", "--epsilon"], "argument --epsilon: expected one argument"),
        (["compose", "--eps", "1", "--at-delta", "0.1"], "the following arguments are required: --epsilon"),
        (["compose", *THIRTY, "--at-delta", "0.1", "--colour"], "unrecognized arguments: --colour"),
        ([], "the following arguments are required: COMMAND"),
        (["decompose"], "invalid choice: 'decompose'"),
        (["figures"], "the following arguments are required: --out"),
    ],
)
def test_bad_questions(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    assert sentence in refused(capsys, *arguments)


# figures


def test_figures_are_written_and_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "a" / "b"
    printed = answered(capsys, "figures", "--out", str(out))
    assert [Path(line) for line in printed.splitlines()] == sorted(
        out.iterdir(), key=lambda path: (path.stem, path.suffix == ".png")
    )
    assert len(list(out.iterdir())) == 6


def test_out_must_be_a_directory(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        said = refused(capsys, "figures", "--out", str(out))
        assert said.startswith("indistinct: the directory must be one that can be written to, but is")


def test_a_file_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "figure-1-privacy-region.svg").mkdir()  # stands in for a directory without permission
    assert "must be one that can be written to" in refused(capsys, "figures", "--out", str(tmp_path))


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError('not installed')")
    ran = run([PROGRAM, "figures", "--out", str(tmp_path / "out")], PYTHONPATH=str(tmp_path))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "indistinct: drawing needs an extra: install it with pip install 'indistinct[plot]'.\n"
    assert not (tmp_path / "out").exists()


# the program itself


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        cli.main(["--version"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out == f"indistinct {__version__}\n"


@pytest.mark.parametrize("command", [[PROGRAM], [sys.executable, "-m", "indistinct.cli"]], ids=["script", "module"])
def test_as_a_program(command: list[str]) -> None:
    ran = run([*command, "compose", *THIRTY, "--at-delta", "0.05"])
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(str(compare({ApproximateDP("0.1", "0.001"): 30}, delta="0.05")))
    ran = run([*command, "compose", "--epsilon", "-1", "--at-delta", "0.05"])
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "indistinct: epsilon must lie in [0, 1000000000], but is '-1'.\n"


def test_help_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for command in ([], ["compose"], ["figures"]):
        with pytest.raises(SystemExit) as leaving:
            cli.main([*command, "--help"])
        assert leaving.value.code == 0
        shown[" ".join(command)] = capsys.readouterr().out
    assert {"compose", "figures"} <= set(shown[""].split())
    options = {"--epsilon", "--delta", "--times", "--at-delta", "--at-epsilon", "--json"}
    assert options <= set(shown["compose"].replace("]", " ").split())
    assert "--out DIRECTORY" in shown["figures"]


@pytest.mark.parametrize("arguments", [["--help"], ["compose", "--help"], ["figures", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from indistinct.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    loaded = set(run([sys.executable, "-c", code, *arguments]).stderr.split())
    assert "indistinct.cli.parser" in loaded
    assert not loaded & {"numpy", "flint", "matplotlib", "indistinct.numbers", "indistinct.regions"}


@pytest.mark.parametrize("times", [1, 300], ids=["less than a buffer", "more than a buffer"])
def test_nobody_reads_to_the_end(times: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # what `| head -1` does once it has its line
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ran = subprocess.run(
        [PROGRAM, "compose", "--epsilon", "1", *["--at-epsilon", "0.1"] * times],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
        env=inherited,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("times", [1, 300], ids=["less than a buffer", "more than a buffer"])
def test_a_full_disk_is_no_verdict(times: int) -> None:
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [PROGRAM, "compose", "--epsilon", "1", *["--at-epsilon", "0.1"] * times],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            env=inherited,
        )
    assert ran.returncode == 2
    assert ran.stderr.startswith("indistinct: the output must be writable to its end, but it was not: ")
    assert len(ran.stderr.splitlines()) == 1


def test_a_command_that_is_ended_from_inside_did_not_succeed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("indistinct.cli.compose.run", ended)
    assert "so there is no answer" in refused(capsys, "compose", *THIRTY, "--at-delta", "0.05")


def test_an_interruption_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("indistinct.cli.compose.run", interrupted)
    assert cli.main(["compose", *THIRTY, "--at-delta", "0.05"]) == 130
    assert capsys.readouterr().err == ""


def test_a_fault_of_the_program_is_named_without_what_it_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(parsed: object) -> int:
        raise KeyError(f"Alice of {type(parsed).__name__}")

    monkeypatch.setattr("indistinct.cli._ran", fails)
    monkeypatch.delenv("INDISTINCT_TRACEBACK", raising=False)
    assert cli.main(["compose", *THIRTY, "--at-delta", "0.05"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    (sentence,) = printed.err.splitlines()
    assert "KeyError" in sentence
    assert "Alice" not in sentence
    monkeypatch.setenv("INDISTINCT_TRACEBACK", "1")
    with pytest.raises(KeyError, match="Alice"):
        cli.main(["compose", *THIRTY, "--at-delta", "0.05"])
