"""Every address, code, option and setting is in the documentation."""

from __future__ import annotations

import re
from typing import Any

from indistinct.cli.parser import make_parser
from indistinct.server.openapi import document
from indistinct.server.refusals import CODES
from indistinct.server.work import Limits
from tests.server.conftest import ROOT

SERVICE = (ROOT / "docs" / "service.md").read_text()


def test_every_code_is_documented_with_its_status() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", SERVICE, re.MULTILINE)
    listed = {code: int(status) for status, code in rows}
    assert listed == CODES


def test_every_address_is_documented() -> None:
    for path, methods in document(Limits())["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path.replace('{key}', 'KEY')}" in SERVICE


def test_every_option_is_documented() -> None:
    parser: Any = make_parser()
    commands = parser._actions[-1].choices  # noqa: SLF001  # argparse tells in no other way
    pages = SERVICE + (ROOT / "docs" / "command-line.md").read_text()
    for command in ("serve", "explore"):
        for action in commands[command]._actions:  # noqa: SLF001
            for option in action.option_strings:
                assert option in {"-h", "--help"} or f"`{option}" in pages, option
