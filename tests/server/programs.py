"""The service as a program: made ready, run, and killed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("indistinct")
POLICY = """
version = 1
budget = {epsilon = EPSILON, delta = 1e-6}
[tables.people]
source = "people.csv"
unit = "person"
columns.person.type = "integer"
columns.age = {type = "integer", low = 0, high = 120}
"""


def made(folder: Path, *, epsilon: str = "1") -> Path:
    """A policy, with a table of 200 people beside it."""
    (folder / "people.csv").write_text("person,age\n" + "".join(f"{i},{20 + i % 60}\n" for i in range(200)))
    (folder / "policy.toml").write_text(POLICY.replace("EPSILON", epsilon))
    return folder / "policy.toml"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


def without(age: int) -> str:
    return f"SELECT COUNT(*) FROM people WHERE age <> {age}"  # a number


def issue(policy: Path, person: str = "ada", role: str = "analyst") -> str:
    return run("token", "issue", person, "--role", role, "--policy", policy).stdout.strip()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@contextmanager
def running(
    policy: Path, *options: str, before: Callable[[], None] | None = None, port: int | None = None
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Where it serves, and the process; killed when the block is left."""
    command: list[str | Path] = [PROGRAM, "serve", policy, "--port", str(port or free_port()), "--tick", "0.005"]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            assert line.startswith("Serving people at"), (line, process.stderr.read())
            yield line.split()[-1].rstrip("."), process
        finally:
            process.kill()
