"""indistinct explore, as a program and as a file."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from indistinct import cli
from indistinct.server.export import Grid, exported

PROGRAM = Path(sys.executable).with_name("indistinct")


def test_it_prints_its_address_and_answers_until_it_is_interrupted() -> None:
    command: list[str | Path] = [PROGRAM, "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            address = next(word for word in process.stdout.readline().split() if word.startswith("http://127.0.0.1:"))
            connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
            connection.request("GET", "/")
            assert b"What can anyone tell" in connection.getresponse().read()
            connection.close()
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
            assert process.stderr.read() == ""
        finally:
            process.kill()


def test_it_opens_the_browser_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("indistinct.server.local.ExplorerServer.serve_forever", interrupted)
    assert cli.main(["explore", "--no-browser"]) == 130
    assert opened == []
    assert cli.main(["explore"]) == 130
    assert len(opened) == 1


def test_it_writes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    grid = Grid({"geometric": {"epsilon": ("0.1",)}}, counts=(1,), deltas=("1e-6",), priors=("1/2",))
    text = exported(grid)
    monkeypatch.setattr("indistinct.server.export.exported", lambda: text)
    file = tmp_path / "explorer.html"
    assert cli.main(["explore", "--export", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--export", "/nowhere/at/all.html"], "the folder of the file must exist"),
        (["--export", "/"], "the file must be one that can be written to"),
        (["--port", "99999"], "port must lie in"),
        (["--port", "x"], "port must be a number"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indistinct.server.export.exported", lambda: "")
    assert cli.main(["explore", "--no-browser", *arguments]) == 2
    assert sentence in capsys.readouterr().err
