"""The one spelling of everything that is hashed, and the hash.

A row's text is JSON with sorted keys, no spaces and ASCII alone; numbers in it are whole, fractions are text. The hash
of a row is the SHA-256 of a tag, the hash of the row before, the row's number in 8 bytes and its text. What is kept
beside the text (an answer) enters by its own SHA-256, which the text contains. So one hash vouches for a row
and for all rows before it.
"""

from __future__ import annotations

import hashlib
import json

__all__ = ["GENESIS", "canonical", "digest", "fingerprint"]

GENESIS = bytes(32)
"""What stands where the hash of the row before the first would be."""

_TAG = b"indistinct ledger, format 1\n"
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> str:
    """The spelling; TypeError or ValueError where JSON has none.

    >>> canonical({"b": [1, None], "a": "é"})
    '{"a":"\\\\u00e9","b":[1,null]}'
    """
    return _ENCODER.encode(value)


def digest(previous: bytes, number: int, text: str) -> bytes:
    """The hash of a row.

    >>> digest(GENESIS, 1, "{}").hex()[:16]
    '2d834273bf2f38f4'
    """
    return hashlib.sha256(_TAG + previous + number.to_bytes(8, "big") + text.encode("utf-8", "surrogatepass")).digest()


def fingerprint(content: bytes) -> str:
    """The SHA-256 of something that is kept beside a row, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
