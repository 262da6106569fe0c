"""What is deployed, as far as it can be checked without an engine for containers and without being systemd.

The unit passes systemd's own check, and its command serves and stops. The container file is read line by line: what
it copies is there, its command serves; and in `make torture`, where packages may be fetched, its steps are done by hand
in a fresh environment. That an engine builds the same from them is not checked here.
"""

from __future__ import annotations

import http.client
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from indistinct import connect
from tests.ledger.counts import TORTURE
from tests.server.conftest import ROOT
from tests.server.programs import PROGRAM, free_port, issue, made

UNIT = (ROOT / "deployment" / "indistinct.service").read_text()
STEPS = [
    line
    for line in (ROOT / "deployment" / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]


def command_of_unit() -> list[str]:
    (command,) = re.findall(r"^ExecStart=(.*)$", UNIT.replace("\\\n", " "), re.MULTILINE)
    return shlex.split(command)


def command_of_container() -> list[str]:
    words = {step.split()[0]: step.partition(" ")[2] for step in STEPS}
    return [word.strip('"') for name in ("ENTRYPOINT", "CMD") for word in re.findall(r'"[^"]*"', words[name])]


def serve(command: list[str], program: Path, folder: Path) -> int:
    """Runs a deployed command with the folders that it names elsewhere; how it ended when it was told to stop."""
    policy = made(folder)
    token = issue(policy)
    (folder / "policy.toml.tokens").rename(folder / "tokens.json")
    moved = [re.sub(r"^/(etc|var/lib)/indistinct/", f"{folder}/", word) for word in command[1:]]
    port = free_port()
    line = [str(program), *moved, "--port", str(port)]
    environment = {"PATH": os.defpath}
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            told = process.stdout.readline()
            assert told.startswith("Serving people at"), process.stderr.read()
            database = connect(f"http://127.0.0.1:{port}", token, attempts=6)
            assert database.sql("SELECT COUNT(*) FROM people", rho="0.001").rows
            connection = http.client.HTTPConnection(urlsplit(database.url).netloc, timeout=20)
            connection.request("GET", "/health")
            assert connection.getresponse().status == 200
            connection.close()
            process.send_signal(signal.SIGTERM)
            ended = process.wait(20)
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()
    assert (folder / "budget.ledger").is_file()
    return ended


@pytest.mark.parametrize("command", [command_of_unit(), command_of_container()], ids=["unit", "container"])
def test_what_is_deployed_serves_and_stops(command: list[str], tmp_path: Path) -> None:
    assert command[0] == "/opt/indistinct/bin/indistinct"
    assert serve(command, PROGRAM, tmp_path) in {0, -signal.SIGTERM}  # both are clean to systemd


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    systemd = shutil.which("systemd-analyze")
    if systemd is None:
        pytest.skip("systemd is not here")
    here = tmp_path / "indistinct.service"

    def verified(text: str) -> tuple[int, str]:
        here.write_text(text.replace("/opt/indistinct/bin/indistinct", str(PROGRAM)))
        done = subprocess.run([systemd, "verify", "--man=no", str(here)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    assert verified(UNIT) == (0, "")
    assert verified(UNIT.replace("NoNewPrivileges", "NoNewPrivilege"))[1] != ""


def test_all_that_the_container_file_names_is_there() -> None:
    assert [step.split()[0] for step in STEPS if step.startswith("FROM")] == ["FROM", "FROM"]
    assert STEPS[0].endswith("AS build")
    assert "COPY --from=build /opt/indistinct /opt/indistinct" in STEPS
    assert STEPS.index("USER indistinct") > next(i for i, step in enumerate(STEPS) if step.startswith("RUN useradd"))
    version = re.search(r"python:(3\.\d+)-slim", STEPS[0])
    assert version is not None
    assert f"Python :: {version[1]}" in (ROOT / "pyproject.toml").read_text()
    left_out = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    for needed in ("src", "pyproject.toml", "README.md", "LICENSE"):  # by the build
        assert (ROOT / needed).exists()
        assert needed not in left_out


@pytest.mark.skipif(not TORTURE, reason="packages are fetched for this in `make torture` only")
def test_the_steps_of_the_container_file_make_a_program_that_serves(tmp_path: Path) -> None:
    source, made_there = tmp_path / "source", tmp_path / "opt"
    source.mkdir()
    for name in ("src", "docs", "reference", "examples"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, source)
    (step,) = [each.removeprefix("RUN ") for each in STEPS if each.startswith("RUN python -m venv")]
    step = step.replace("/opt/indistinct", str(made_there)).replace("/source", str(source))
    subprocess.run(step.replace("python -m", f"{sys.executable} -m", 1), shell=True, check=True)  # noqa: S602  # as in the file
    (tmp_path / "served").mkdir()
    assert serve(command_of_container(), made_there / "bin" / "indistinct", tmp_path / "served") in {0, -signal.SIGTERM}
