"""indistinct token: who may ask a service, and in which role."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indistinct.server.tokens import TokenBook

__all__ = ["issue", "listed", "revoke"]


def issue(arguments: argparse.Namespace) -> None:
    """Prints a new token, this once."""
    print(_book(arguments).issue(arguments.person, arguments.role))


def revoke(arguments: argparse.Namespace) -> None:
    """Refuses a token from now on."""
    _book(arguments).revoke(arguments.token)


def listed(arguments: argparse.Namespace) -> None:
    """Prints every token's name, person, role and whether it holds; never a secret."""
    tokens = _book(arguments).tokens()
    if arguments.json:
        told = [{name: getattr(each, name) for name in ("name", "person", "role", "revoked")} for each in tokens]
        print(json.dumps(told, indent=2))
        return
    for each in tokens:
        print(f"{each.name}  {each.role:<8}  {'revoked' if each.revoked else 'holds':<8}  {each.person}")


def _book(arguments: argparse.Namespace) -> TokenBook:
    from indistinct.server.tokens import TokenBook

    return TokenBook(arguments.tokens or f"{arguments.policy}.tokens")
