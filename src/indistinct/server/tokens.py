"""Tokens: who may ask, in which role; kept as hashes, compared in constant time, revoked at once.

A token is `indistinct_NAME_SECRET`, where the name is public and the secret has 256 random bits, so that one plain
hash of it is as good as a slow one. The file holds JSON:

    {"tokens": 1, "held": [{"name": ..., "person": ..., "role": ..., "hash": ..., "revoked": false}, ...]}

It is replaced as a whole, under a lock, and readable by its owner only. A running server reads it again whenever it
has changed, so what is revoked is refused from the next request on.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock

from indistinct.errors import InvalidParameter

__all__ = ["ROLES", "Token", "TokenBook"]

ROLES = ("owner", "analyst", "auditor")
_PREFIX = "indistinct"
_LONGEST_PERSON = 100
_LONGEST_TOKEN = 200


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token: everything but its secret."""

    name: str
    person: str
    role: str
    hash: str
    revoked: bool = False


class TokenBook:
    """The tokens in a file, which need not exist before the first is issued.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     book = TokenBook(Path(folder, "tokens.json"))
    ...     secret = book.issue("ada", "analyst")
    ...     found, unknown = book.check(secret), book.check(secret + "x")
    ...     book.revoke(found.name)
    ...     (found.person, found.role, unknown, book.check(secret))
    ('ada', 'analyst', None, None)
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = Lock()
        self._seen: tuple[int, int, int] | None = None
        self._held: dict[str, Token] = {}

    def issue(self, person: str, role: str) -> str:
        """A new token, which is shown this once."""
        if role not in ROLES:
            raise InvalidParameter("role", role, f"be one of {', '.join(ROLES)}")
        if not 0 < len(person) <= _LONGEST_PERSON or not person.isprintable():
            raise InvalidParameter("person", person, f"be a printable name of at most {_LONGEST_PERSON} characters")
        name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        with self._changing() as held:
            held[name] = Token(name, person, role, _hash(secret))
        return f"{_PREFIX}_{name}_{secret}"

    def revoke(self, name: str) -> None:
        """Refuses a token from now on."""
        with self._changing() as held:
            if name not in held:
                raise InvalidParameter("token", name, "be the name of a token that was issued")
            held[name] = replace(held[name], revoked=True)

    def tokens(self) -> list[Token]:
        """All of them, in the order of their issue."""
        with self._lock:
            return list(self._fresh().values())

    def check(self, text: str) -> Token | None:
        """Whose token this is, if it holds."""
        parts = text.split("_", 2) if len(text) <= _LONGEST_TOKEN else []
        prefix, name, secret = parts if len(parts) == 3 else ("", "", "")
        with self._lock:
            found = self._fresh().get(name)
        same = hmac.compare_digest(_hash(secret), found.hash if found else _hash(""))
        return found if found and same and prefix == _PREFIX and not found.revoked else None

    def _fresh(self) -> dict[str, Token]:
        """What is in the file, read again if it has changed; a file that cannot be understood is an error."""
        try:
            state = self._path.stat()
        except FileNotFoundError:
            self._seen, self._held = None, {}
            return self._held
        seen = state.st_mtime_ns, state.st_size, state.st_ino
        if seen != self._seen:
            self._held = _read(self._path)
            self._seen = seen
        return self._held

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        """What is in the file, to be changed: written when the block is left, one process after the other."""
        if not self._path.parent.is_dir():
            raise InvalidParameter("the file of tokens", str(self._path), "be in a folder that exists")
        with self._lock, Path(f"{self._path}.lock").open("w", encoding="utf-8") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            held = dict(self._fresh())
            yield held
            told = json.dumps({"tokens": 1, "held": [asdict(token) for token in held.values()]}, indent=1)
            handle, temporary = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")  # mode 600
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(told)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(self._path)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> dict[str, Token]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["tokens"] != 1:
            raise InvalidParameter("the format of the file of tokens", told["tokens"], "be 1")
        return {each["name"]: Token(**each) for each in told["held"]}
    except (ValueError, KeyError, TypeError, OSError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter("the file of tokens", str(path), "be one that `indistinct token` wrote") from None
