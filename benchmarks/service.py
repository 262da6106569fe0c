"""What HTTP costs over asking in the same process, and how many questions a second a server sustains.

    python benchmarks/service.py [--seconds 10] [--rate 50]

Everything is measured in one run, on one machine: the server is a process of its own, with a SQLite ledger on this
disk, and the table is small. The clock's tick is set to a millisecond, as it is a wait and no work; with the usual
one, answers leave 50 ms after their question. Each question is another one, so that each is charged, durably.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import indistinct
from indistinct.queries.policy.file import read_policy

PROGRAM = Path(sys.executable).with_name("indistinct")
POLICY = """
version = 1
budget = {epsilon = 1000, delta = 1e-6}
[tables.people]
source = "people.csv"
unit = "person"
columns.person.type = "integer"
columns.age = {type = "integer", low = 0, high = 120}
"""
PORT = 18_473
_numbers = count()


def question() -> dict[str, str]:
    return {"sql": f"SELECT COUNT(*) FROM people WHERE age <> {next(_numbers)}", "rho": "1e-6"}  # a number


class Client:
    """One connection that is kept."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, path: str = "/v1/ask") -> None:
        self._connection.request("POST", path, json.dumps(question()), self._headers)
        answer = self._connection.getresponse()
        told = answer.read()
        if answer.status != 200:
            raise SystemExit(f"refused: {told!r}")


def paced(work: Callable[[], object], rate: float, seconds: float) -> list[float]:
    """How long each of so many a second takes, in milliseconds."""
    found = []
    begun = time.perf_counter()
    for number in range(int(rate * seconds)):
        time.sleep(max(0.0, begun + number / rate - time.perf_counter()))
        start = time.perf_counter()
        work()
        found.append(1e3 * (time.perf_counter() - start))
    return found


def used_by(process: int) -> float:
    """Seconds of processors that a process has used, where the system tells."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sustained(url: str, token: str, path: str, server: int, seconds: float, clients: int = 8) -> tuple[float, float]:
    """How many a second, with several clients that each ask again at once; and the server's milliseconds for each."""
    done = [0] * clients
    until = time.perf_counter() + seconds

    def run(which: int) -> None:
        client = Client(url, token)
        while time.perf_counter() < until:
            client.ask(path)
            done[which] += 1

    threads = [threading.Thread(target=run, args=(which,)) for which in range(clients)]
    before = used_by(server)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / seconds, 1e3 * (used_by(server) - before) / sum(done)


def told(name: str, times: list[float]) -> tuple[float, float]:
    median, slow = statistics.median(times), statistics.quantiles(times, n=100)[98]
    print(f"{name:<34}{median:>10.2f}{slow:>10.2f}   milliseconds: median, 99th of 100")
    return median, slow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each measurement")
    parser.add_argument("--rate", type=float, default=50.0, help="questions a second, where they are paced")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder, "policy.toml")
        policy.write_text(POLICY)
        Path(folder, "people.csv").write_text("person,age\n" + "".join(f"{i},{20 + i % 60}\n" for i in range(1000)))
        issue = [PROGRAM, "token", "issue", "ada", "--policy", policy]
        token = subprocess.run(issue, capture_output=True, text=True, check=True).stdout.strip()
        with indistinct.open(policy=read_policy(policy), ledger=f"{folder}/local.ledger") as database:

            def local() -> None:
                asked = question()
                database.sql(asked["sql"], rho=asked["rho"])

            local()
            here = told("asked in this process", paced(local, arguments.rate, arguments.seconds))
        options = ["--port", str(PORT), "--tick", "0.001", "--rate", "100000", "--ledger", f"{folder}/served.ledger"]
        with subprocess.Popen([PROGRAM, "serve", policy, *options], stdout=subprocess.PIPE, text=True) as server:
            try:
                url = f"http://127.0.0.1:{PORT}"
                _ = indistinct.connect(url, token, attempts=8).remaining
                client = Client(url, token)
                client.ask()
                there = told("asked over HTTP", paced(client.ask, arguments.rate, arguments.seconds))
                print(f"{'overhead':<34}{there[0] - here[0]:>10.2f}{there[1] - here[1]:>10.2f}")
                for path in ("/v1/ask", "/v1/explain"):
                    rate, cost = sustained(url, token, path, server.pid, arguments.seconds)
                    print(f"{path + ', 8 clients':<34}{rate:>10.0f}{cost:>10.2f}   a second, and milliseconds of work")
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
