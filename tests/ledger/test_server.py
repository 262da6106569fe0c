"""The server of the tests: it comes and goes, and takes nothing with it but its own directory."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from tests.ledger.conftest import SCRIPT, NewAddress


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=120, check=False)


def programs() -> set[str]:
    """PostgreSQL's programs, wherever Debian has put them."""
    return {str(found) for found in Path("/usr/lib/postgresql").glob("*/bin/*")}


def test_a_server_that_stops_takes_its_directory_and_nothing_else(new_database: NewAddress) -> None:
    assert new_database()  # PostgreSQL is installed by now
    before = programs()
    directory, address = script("start", str(os.getpid())).stdout.split()
    assert Path(directory, "data").is_dir()
    assert directory in address
    assert script("stop", directory).returncode == 0
    assert not Path(directory).exists()
    assert programs() == before


def test_a_server_stops_when_its_user_is_gone(new_database: NewAddress) -> None:
    assert new_database()
    before = programs()
    with subprocess.Popen(["/bin/sleep", "600"]) as user:
        directory, _ = script("start", str(user.pid)).stdout.split()
        user.kill()
    deadline = time.monotonic() + 30
    while Path(directory).exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(directory).exists()
    assert programs() == before


def test_other_directories_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for other in (str(tmp_path), "/tmp/indistinct-postgres.a/../x", "/tmp/indistinct-postgres."):  # noqa: S108
        refused = script("stop", other)
        assert refused.returncode == 1
        assert "nothing is removed" in refused.stderr
    assert (tmp_path / "data").is_dir()
