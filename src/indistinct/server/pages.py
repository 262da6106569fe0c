"""The page's files, as they are sent: nothing is built, and nothing comes from another host."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["HEADERS", "PageFile", "page_files"]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Sent with every answer: only this origin, no inline script or style, no frame around the page."""

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the page."""

    name: str
    media_type: str
    content: bytes
    tag: str


@cache
def page_files() -> dict[str, PageFile]:
    """Every file of the page by its name.

    >>> sorted(page_files())[:4]
    ['ask.balance.js', 'ask.html', 'ask.js', 'belief.js']
    """
    found = {}
    for entry in files("indistinct.server").joinpath("page").iterdir():
        suffix = entry.name[entry.name.rfind(".") :]
        if suffix in _TYPES:
            content = entry.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
            found[entry.name] = PageFile(entry.name, f"{_TYPES[suffix]}; charset=utf-8", content, tag)
    return found
