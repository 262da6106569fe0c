"""Runs the examples of a Markdown page.

Every ```python block is executed, in the page's order and with one namespace per page, as a reader
would who follows along: a block with prompts is compared with the answers it shows, one without is
run as a program. In a ```console block the lines `$ indistinct ...` are run and their output
compared; other commands are the reader's business. In a ```console noisy block the output carries
noise: its numbers, and the lines and blanks that are as long as they are, are not compared.
"""

from __future__ import annotations

import decimal
import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(?P<language>\w+)(?P<manner>[^\n]*)\n(?P<code>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    code: str
    line: int
    noisy: bool = False


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page; `line` counts from 0 and is that of the block's first line."""
    for fence in _FENCE.finditer(text):
        noisy = fence["manner"].strip() == "noisy"
        yield Block(fence["language"], fence["code"], text.count("\n", 0, fence.start("code")), noisy)


def failures(page: str, text: str, directory: Path) -> list[str]:
    """What goes otherwise than the page says, one report for each example."""
    with decimal.localcontext():  # a page may set the precision that it works with
        return _failures(page, text, directory)


def _failures(page: str, text: str, directory: Path) -> list[str]:
    reports: list[str] = []
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(text):
        match block.language:
            case "python" if ">>>" in block.code:
                example = doctest.DocTestParser().get_doctest(block.code, namespace, page, page, block.line)
                doctest.DocTestRunner(optionflags=_FLAGS).run(example, out=reports.append, clear_globs=False)
                namespace = example.globs
            case "python":
                code = "\n" * block.line + block.code
                exec(compile(code, page, "exec"), namespace)  # noqa: S102  # the page's own example
            case "console":
                reports.extend(_console_failures(page, block, directory))
            case _:
                pass
    return reports


def _console_failures(page: str, block: Block, directory: Path) -> Iterator[str]:
    checker = doctest.OutputChecker()
    for step in _COMMAND.finditer(block.code):
        program, *arguments = shlex.split(step["command"])
        if program != "indistinct":
            continue
        ran = subprocess.run(
            [Path(sys.executable).with_name(program), *arguments],
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        wanted, printed = step["output"], ran.stdout
        if block.noisy:
            wanted, printed = _without_noise(wanted), _without_noise(printed)
        example = doctest.Example(step["command"], wanted)
        if not checker.check_output(example.want, printed, _FLAGS):
            difference = checker.output_difference(example, printed, _FLAGS)
            yield f"{page}, line {block.line + 1}: $ {step['command']}\n{difference}"


def _without_noise(text: str) -> str:
    """The words of an output alone: numbers are all the same, and so is what is drawn beside them."""
    text = re.sub(r"-?\d[\d,.]*(?:e-?\d+)?", "0", text)
    return re.sub(r"[ █├─┤-]+", " ", text)
