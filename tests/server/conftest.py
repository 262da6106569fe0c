"""A real Chromium, and the explorer's server to look at with it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from indistinct.server.local import ExplorerServer

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(slots=True)
class Watched:
    """A page, with whatever it complained of and whatever it asked of another host."""

    page: Page
    origin: str
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """From now on."""
        self.page.on(
            "console",
            lambda said: self.complaints.append(said.text) if said.type in {"error", "warning"} else None,
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._asked(request))

    def _asked(self, request: Request) -> None:
        if request.url.startswith("data:"):
            return
        address = urlsplit(request.url)
        if f"{address.scheme}://{address.netloc}" != self.origin:
            self.foreign.append(request.url)

    def check(self) -> None:
        """Nothing was wrong, and nobody else was asked."""
        assert self.complaints == []
        assert self.foreign == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the session, with a profile of its own that is thrown away."""
    found = subprocess.run([ROOT / "scripts" / "chromium"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found.stdout.splitlines()[0], args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def explorer() -> Iterator[str]:
    """The address of a running explorer."""
    with ExplorerServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.address
        server.shutdown()
        thread.join()
