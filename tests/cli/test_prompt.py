"""The prompt: statements end where SQL says, commands do what they say, and nothing typed by accident is asked."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.cli.completion import COMMANDS, Completer
from indistinct.cli.prompt import Desk, converse, read_script
from indistinct.cli.statements import split_statements
from indistinct.cli.terminal import history_file
from indistinct.errors import IndistinctError, InvalidParameter

DOCUMENT = Path(__file__).parents[2] / "docs" / "command-line.md"


class Asked:
    """A desk that remembers what reached it; a statement with 'refuse' in it is refused."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self.left = 3
        noted = self.noted
        self.desk = Desk(
            ask=noted("ask"),
            explain=noted("explain"),
            rehearse=noted("rehearse"),
            history=lambda: "the history",
            budget=lambda: "the budget",
            tables=lambda: "the tables",
            left=lambda: f"{self.left} left",
        )

    def noted(self, manner: str) -> Callable[[str], str]:
        def note(text: str) -> str:
            self.heard.append((manner, text))
            if "refuse" in text:
                raise IndistinctError("That is refused.")
            if "interrupt" in text:
                raise KeyboardInterrupt
            self.left -= manner == "ask"
            return f"{manner}: {text}"

        return note


def script(text: str) -> Asked:
    asked = Asked()
    read_script(asked.desk, io.StringIO(text))
    return asked


def typed(lines: Iterable[str | type[BaseException]], asked: Asked) -> list[str]:
    """The prompts that somebody sees who types these lines."""
    prompts: list[str] = []
    waiting = iter([*lines, EOFError])

    def read(prompt: str) -> str:
        prompts.append(prompt)
        line = next(waiting)
        if isinstance(line, type):
            raise line
        return line

    converse(asked.desk, read)
    return prompts


# where statements end


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("", [], ""),
        ("SELECT 1", [], "SELECT 1"),
        ("SELECT 1;", ["SELECT 1"], ""),
        (" a ; b;c", ["a", "b"], "c"),
        ("SELECT ';';", ["SELECT ';'"], ""),
        ("SELECT 'it''s; fine';", ["SELECT 'it''s; fine'"], ""),
        ('SELECT "a;""b";', ['SELECT "a;""b"'], ""),
        ("SELECT `a;b`;", ["SELECT `a;b`"], ""),
        ("a -- it's; one\n;", ["a -- it's; one"], ""),
        ("a /* ; ' */ ;", ["a /* ; ' */"], ""),
        ("a - b / c * d;", ["a - b / c * d"], ""),
        ("-- nothing;\n;", [], ""),
        (";;;", [], ""),
        ("'open; ", [], "'open; "),
        ("/* open; ", [], "/* open; "),
        ("'", [], "'"),
    ],
)
def test_statements_end_where_sql_says(text: str, statements: list[str], rest: str) -> None:
    assert split_statements(text) == (statements, rest)


PIECES = st.sampled_from(["SELECT", " ", "\n", "'", '"', "`", "--", "/*", "*/", ";", "''", "-", "/", "x"])


def naive(text: str) -> list[str]:
    """The same by one letter after the other."""
    found, mode, current, at = [], "", "", 0
    while at < len(text):
        two = text[at : at + 2]
        if mode == "" and two in ("--", "/*"):
            mode, current, at = two, current + two, at + 2
            continue
        if mode == "/*" and two == "*/":
            mode, current, at = "", current + two, at + 2
            continue
        letter = text[at]
        at += 1
        if mode == "" and letter == ";":
            found.append(current.strip())
            current = ""
            continue
        if mode == "" and letter in "'\"`":
            mode = letter
        elif (mode == letter and letter in "'\"`") or (mode == "--" and letter == "\n"):
            mode = ""
        current += letter
    return [*found, current]


@given(st.lists(PIECES, max_size=25).map("".join))
def test_statements_end_as_they_do_letter_by_letter(text: str) -> None:
    statements, rest = split_statements(text)
    *complete, open_one = naive(text)
    assert rest == open_one
    assert set(statements) <= set(complete)
    for each in complete:  # what is left out is empty but for remarks
        assert each in statements or not each or each.startswith(("--", "/*"))


@given(st.lists(PIECES, max_size=25).map("".join), st.integers(0, 100))
def test_what_is_left_over_goes_on(text: str, at: int) -> None:
    first, rest = split_statements(text[:at])
    if rest.endswith(("-", "/", "*")):  # half of a mark: lines end elsewhere
        return
    second, _ = split_statements(rest + text[at:])
    assert first + second == split_statements(text)[0]


# completion


def test_names_and_words_are_completed() -> None:
    complete = Completer(["region", "reason", "Revenue", "two words"])
    assert complete.endings("re") == ["Revenue", "reason", "region"]
    assert complete.endings("RE") == ["Revenue", "reason", "region"]
    assert complete.endings("gr") == ["group"]
    assert complete.endings("GR") == ["GROUP"]
    assert complete.endings("two") == ['"two words"']
    assert complete.endings('"tw') == ['"two words"']
    assert complete.endings("nothing like it") == []
    found = [complete("se", state) for state in range(3)]
    assert found == ["select", None, None]


def test_commands_are_completed_where_a_line_begins() -> None:
    assert Completer([]).endings("\\") == list(COMMANDS)
    assert Completer([], lambda: "SELECT \\e").endings("\\e") == []
    assert Completer([], lambda: "\\e").endings("\\e") == ["\\explain"]


# scripts


def test_a_script_is_answered_statement_by_statement(capsys: pytest.CaptureFixture[str]) -> None:
    asked = script("SELECT 1; SELECT\n  2;\n-- a remark\nSELECT 3")
    assert asked.heard == [("ask", "SELECT 1"), ("ask", "SELECT\n  2"), ("ask", "-- a remark\nSELECT 3")]
    assert capsys.readouterr().out == "ask: SELECT 1\nask: SELECT\n  2\nask: -- a remark\nSELECT 3\n"


def test_the_first_refusal_ends_a_script() -> None:
    asked = Asked()
    with pytest.raises(IndistinctError, match="refused"):
        read_script(asked.desk, io.StringIO("a; refuse; b;"))
    assert [text for _, text in asked.heard] == ["a", "refuse"]


def test_commands_of_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    asked = script("\\history\n\\budget\n  \\tables\n\\explain SELECT\n 1; SELECT 2;\n\\rehearse\n\\quit\nSELECT 3;")
    assert asked.heard == [("explain", "SELECT\n 1"), ("ask", "SELECT 2"), ("rehearse", "SELECT 2")]
    assert capsys.readouterr().out.startswith(
        "the history\nthe budget\nthe tables\nexplain: SELECT\n 1\nask: SELECT 2\n"
    )


def test_a_backslash_inside_a_statement_is_no_command() -> None:
    assert script("SELECT '\n\\quit\n';").heard == [("ask", "SELECT '\n\\quit\n'")]


@pytest.mark.parametrize("line", ["\\nonsense", "\\explain", "\\history of it", "\\"])
def test_unknown_commands_are_refused(line: str) -> None:
    with pytest.raises(InvalidParameter):
        script(line)


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    script("\\help")
    printed = capsys.readouterr().out
    assert all(f"{command} " in printed for command in COMMANDS)


def test_every_command_is_documented() -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    assert [command for command in COMMANDS if f"`{command}`" not in page] == []


# conversations


def test_the_budget_is_in_the_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked()
    assert typed(["SELECT", "1;", "\\explain SELECT 2;", "", "SELECT 3;"], asked) == [
        "3 left> ",
        "...> ",
        "2 left> ",
        "2 left> ",
        "2 left> ",
        "1 left> ",
    ]
    assert asked.heard == [("ask", "SELECT\n1"), ("explain", "SELECT 2"), ("ask", "SELECT 3")]
    assert "ask: SELECT 3" in capsys.readouterr().out


def test_a_refusal_is_told_and_the_conversation_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked()
    typed(["refuse; SELECT 1;", "\\nonsense", "SELECT 2;"], asked)
    assert [text for _, text in asked.heard] == ["refuse", "SELECT 2"]
    captured = capsys.readouterr()
    assert captured.err.splitlines()[0] == "indistinct: That is refused."
    assert captured.err.splitlines()[1].startswith("indistinct: a command must be one of")


def test_an_interruption_forgets_what_was_typed_or_asked(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked()
    prompts = typed(["\\explain SELECT", KeyboardInterrupt, "SELECT 2;", "interrupt;", "SELECT 3;"], asked)
    assert prompts == ["3 left> ", "...> ", "3 left> ", "2 left> ", "2 left> ", "1 left> "]
    assert asked.heard == [("ask", "SELECT 2"), ("ask", "interrupt"), ("ask", "SELECT 3")]
    assert capsys.readouterr().out.count("What was charged stays charged.") == 2


def test_the_end_of_input_asks_nothing_more() -> None:
    asked = Asked()
    typed(["SELECT 1"], asked)
    assert asked.heard == []


def test_history_is_kept_where_the_system_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "indistinct" / "history"
