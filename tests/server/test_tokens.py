"""Tokens are hashed at rest, hold until they are revoked, and survive whoever writes at the same time."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from indistinct.errors import InvalidParameter
from indistinct.server.tokens import TokenBook


def test_a_token_is_known_until_it_is_revoked_in_whichever_process(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    book, other = TokenBook(path), TokenBook(path)
    assert other.check("indistinct_a_b") is None
    secret = book.issue("ada", "analyst")
    found = other.check(secret)
    assert found is not None
    assert (found.person, found.role) == ("ada", "analyst")
    other.revoke(found.name)
    assert book.check(secret) is None
    assert book.tokens()[0].revoked


def test_the_file_tells_no_secret_and_is_its_owner_s(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    secret = TokenBook(path).issue("ada", "owner")
    assert secret.split("_", 2)[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_other_text_is_a_token(tmp_path: Path) -> None:
    book = TokenBook(tmp_path / "tokens.json")
    secret, another = book.issue("ada", "analyst"), book.issue("bob", "owner")
    prefix, name, hidden = secret.split("_", 2)
    wrong = [
        "",
        "_",
        "__",
        secret[:-1],
        secret + "a",
        secret.upper(),
        f"other_{name}_{hidden}",
        f"{prefix}_{another.split('_')[1]}_{hidden}",
        f"{prefix}_{name}_",
        f"{prefix}__{hidden}",
        json.loads((tmp_path / "tokens.json").read_text())["held"][0]["hash"],
        "\ud800",
        "x" * 10**6,
    ]
    assert [book.check(text) for text in wrong] == [None] * len(wrong)
    assert book.check(secret) is not None


def test_tokens_issued_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    books = [TokenBook(tmp_path / "tokens.json") for _ in range(4)]
    secrets: list[str] = []

    def issue(book: TokenBook) -> None:
        secrets.extend(book.issue("ada", "analyst") for _ in range(5))

    threads = [threading.Thread(target=issue, args=(book,)) for book in books]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(books[0].tokens()) == 20
    assert all(books[3].check(secret) for secret in secrets)


@pytest.mark.parametrize(("person", "role"), [("ada", "god"), ("", "owner"), ("a\nb", "owner"), ("a" * 101, "owner")])
def test_bad_input_is_refused(tmp_path: Path, person: str, role: str) -> None:
    with pytest.raises(InvalidParameter):
        TokenBook(tmp_path / "tokens.json").issue(person, role)
    assert not (tmp_path / "tokens.json").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tokens": 2}', '{"tokens": 1, "held": [{"name": "a"}]}'])
def test_a_file_that_is_something_else_lets_nobody_in(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokens.json"
    path.write_text(text)
    with pytest.raises(InvalidParameter):
        TokenBook(path).check("indistinct_a_b")
    with pytest.raises(InvalidParameter):
        TokenBook(path).revoke("a")
    assert path.read_text() == text
    with pytest.raises(InvalidParameter, match="folder that exists"):
        TokenBook(tmp_path / "nowhere" / "tokens.json").issue("ada", "owner")
