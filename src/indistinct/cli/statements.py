"""Where one statement ends and the next begins: at a semicolon that is not inside quotes or a comment."""

from __future__ import annotations

import re

__all__ = ["split_statements"]

_PIECE = re.compile(
    r"""
      '[^']*(?:'|$)             # text: a doubled quote is two texts in a row, which splits at the same places
    | "[^"]*(?:"|$)             # a name
    | `[^`]*(?:`|$)             # a name, as BigQuery writes it
    | --[^\n]*(?:\n|$)          # a comment to the end of its line
    | /\*.*?(?:\*/|$)           # a comment
    | ;
    | [^'"`;/-]+ | [/-]
    """,
    re.VERBOSE | re.DOTALL,
)
_REMARK = re.compile(r"--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)


def split_statements(text: str) -> tuple[list[str], str]:
    """The statements that are complete, and what of the text is left over.

    >>> split_statements("SELECT ';'; SELECT 2")
    (["SELECT ';'"], ' SELECT 2')
    """
    statements, start = [], 0
    for piece in _PIECE.finditer(text):
        if piece[0] == ";":
            statement = text[start : piece.start()].strip()
            if _REMARK.sub("", statement).strip():
                statements.append(statement)
            start = piece.end()
    return statements, text[start:]
