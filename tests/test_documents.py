"""Every example of the documents is executed, and a wrong one is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import failures

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where the page's commands write, its Python reads
    reports = failures(str(page), page.read_text(encoding="utf-8"), tmp_path)
    assert not reports, "\n".join(reports)


def python(code: str) -> str:
    return f"Words.\n\n```python\n{code}\n```\n"


def test_a_right_example_passes_and_blocks_share_names(tmp_path: Path) -> None:
    page = python("total = 1") + python(">>> total += 1\n>>> total\n2") + python("assert total == 2")
    assert failures("page", page, tmp_path) == []


def test_a_wrong_answer_is_noticed_with_its_line(tmp_path: Path) -> None:
    (report,) = failures("page.md", python(">>> 1 + 1\n3"), tmp_path)
    assert 'File "page.md", line 4' in report
    assert "Got:\n    2" in report


def test_a_missing_error_is_noticed(tmp_path: Path) -> None:
    page = python(">>> int('1')\nTraceback (most recent call last):\nValueError: no")
    assert len(failures("page", page, tmp_path)) == 1


def test_a_program_that_fails_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        failures("page", python("assert 1 + 1 == 3"), tmp_path)


def test_a_wrong_output_of_a_command_is_noticed(tmp_path: Path) -> None:
    page = "```console\n$ make coffee\n$ indistinct --no-such-option\nall is well\n```\n"
    (report,) = failures("page.md", page, tmp_path)
    assert "$ indistinct --no-such-option" in report


def test_only_the_numbers_of_noisy_outputs_may_differ(tmp_path: Path) -> None:
    command = "$ indistinct policy check none.toml\n"
    said = "indistinct: the policy must be a file that can be read, but is 'none.toml'.\n"
    for words, count in ((said, 0), (said.replace("file", "5-file"), 1), (said.replace("file", "file of 10 rows"), 1)):
        assert len(failures("page.md", f"```console noisy\n{command}{words}```\n", tmp_path)) == count
    command = "$ indistinct compose --epsilon 1 --times 3 --at-delta 0 --json\n"
    printed = subprocess.run(
        [Path(sys.executable).with_name("indistinct"), *command.split()[2:]], capture_output=True, text=True, check=True
    ).stdout
    other = printed.replace("3.0", "-2,000.5")
    assert other != printed
    assert len(failures("page.md", f"```console noisy\n{command}{other}```\n", tmp_path)) == 0
    assert len(failures("page.md", f"```console\n{command}{other}```\n", tmp_path)) == 1


def test_other_blocks_are_left_alone(tmp_path: Path) -> None:
    assert failures("page", "```sh\nexit 1\n```\n```\n>>> 1\n2\n```\n", tmp_path) == []
