"""TLS by files: a certificate made here, a client that checks it, and files that are wrong."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from indistinct import connect
from indistinct.errors import InvalidParameter
from indistinct.server.client import RemoteRefusal
from indistinct.server.running import Listening
from tests.server.programs import issue, made, run, running


def certificate(folder: Path, name: str, *more: str) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that vouches for itself, and its key."""
    made_here, key = folder / f"{name}.pem", folder / f"{name}.key"
    openssl = shutil.which("openssl")
    assert openssl is not None
    options = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-keyout", str(key), "-out", str(made_here), *options]
    subprocess.run([*command, *(more or ("-nodes",))], capture_output=True, check=True)
    return made_here, key


def test_a_client_that_knows_the_certificate_is_answered_and_another_is_not(tmp_path: Path) -> None:
    policy = made(tmp_path)
    token = issue(policy)
    public, key = certificate(tmp_path, "server")
    with running(policy, "--certificate", str(public), "--private-key", str(key)) as (url, _):
        assert url.startswith("https://127.0.0.1:")
        trusting = connect(url, token, context=ssl.create_default_context(cafile=str(public)))
        assert abs(trusting.sql("SELECT COUNT(*) FROM people", rho="0.001").rows[0][0] - 200) < 400
        with pytest.raises(RemoteRefusal, match="SSLCertVerificationError"):
            _ = connect(url, token).remaining
        other, _ = certificate(tmp_path, "other")
        with pytest.raises(RemoteRefusal, match="SSLCertVerificationError"):
            _ = connect(url, token, context=ssl.create_default_context(cafile=str(other))).remaining
        with pytest.raises(RemoteRefusal, match="cannot be reached"):
            _ = connect(url.replace("https", "http"), token, attempts=1).remaining
        assert trusting.remaining


def test_wrong_files_are_said_in_one_sentence_before_anything_is_opened(tmp_path: Path) -> None:
    policy = made(tmp_path)
    public, key = certificate(tmp_path, "server")
    _, other = certificate(tmp_path, "other")
    _, locked = certificate(tmp_path, "locked", "-passout", "pass:secret")
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("no certificate")
    for first, second in ((public, other), (public, locked), (public, nonsense), (nonsense, key), (key, public)):
        told = run("serve", policy, "--certificate", str(first), "--private-key", str(second))
        assert told.returncode == 2
        assert told.stderr.startswith("indistinct: certificate and private key must ")
        assert told.stderr.count("\n") == 1
    assert not (tmp_path / "people.csv.ledger").exists()
    with pytest.raises(InvalidParameter, match="private_key must be a file that exists"):
        Listening(certificate=public, private_key=tmp_path / "nowhere.key")
    with pytest.raises(InvalidParameter, match="be given together"):
        Listening(certificate=public)
    assert Listening(host="0.0.0.0", certificate=public, private_key=key).port == 8000  # noqa: S104  # with TLS
