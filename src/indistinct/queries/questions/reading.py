"""From text to a parsed statement: clauses that sqlglot does not know are taken out first, in place.

What is taken out is replaced by as many blanks, so that every position in the statement is one in the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from indistinct.errors import InvalidParameter
from indistinct.queries.refusals import QueryRefused, Refuse

__all__ = ["Spoken", "TargetError", "is_storable", "position_of", "read_statement", "read_tree", "said_at"]

_DUCKDB = Dialect.get_or_raise("duckdb")
LONGEST = 100_000
DEEPEST = 100
_MOST_BRACKETS = 500
"""As one after the other they are nested as well, and take a time to read that grows with their square."""

_FIRST = {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM}
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_BEFORE_VALUES = {*_OPENING, TokenType.COMMA, TokenType.SELECT}
_OPTIONS = {
    "epsilon",
    "delta",
    "rho",
    "max_groups_contributed",
    "max_rows_contributed",
    "privacy_unit_column",
    "group_selection_strategy",
}


@dataclass(frozen=True, slots=True)
class TargetError:
    """The largest error that is wanted, and how surely."""

    error: Fraction
    level: Fraction


@dataclass(frozen=True, slots=True)
class Spoken:
    """A statement, and what its text asks beside it."""

    text: str
    statement: exp.Expression
    options: Mapping[str, str] = field(default_factory=dict)
    target: TargetError | None = None


def read_statement(text: str) -> Spoken:
    """Parses one statement; QueryRefused if it cannot be.

    >>> text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) COUNT(*) FROM t WITH ERROR 10 AT 95%"
    >>> spoken = read_statement(text)
    >>> spoken.options, float(spoken.target.error), float(spoken.target.level)
    ({'epsilon': '0.5'}, 10.0, 0.95)
    """
    _check_text(text)
    try:
        tokens = _DUCKDB.tokenize(text)
        _check_depth(text, tokens)
        _check_words(text, tokens)
        left, options = _without_options(text, tokens)
        left, target = _without_target(left, tokens)
        if left != text:
            tokens = _DUCKDB.tokenize(left)
        statements = [each for each in _DUCKDB.parser().parse(tokens, left) if each is not None]
    except SqlglotError as error:
        raise QueryRefused(
            text, _place_of(error, text), "This is not SQL that can be read.", "Check the spelling at the place marked."
        ) from None
    except RecursionError:
        raise QueryRefused(text, None, "The question is nested too deeply.") from None
    if len(statements) != 1:
        raise QueryRefused(text, None, "One question at a time is answered.", "Send each statement by itself.")
    statement = statements[0]
    if not isinstance(statement, exp.Expression):
        raise QueryRefused(text, None, "This is not a question.", "Write SELECT ... FROM ...")
    return Spoken(text, statement, options, target)


def read_tree(statement: exp.Expression) -> Spoken:
    """A statement that somebody has parsed; QueryRefused if its text could not be read."""
    try:
        text = statement.sql("duckdb")
    except RecursionError:
        raise QueryRefused("", None, "The question is nested too deeply.") from None
    _check_text(text)
    return Spoken(text, statement)


def position_of(node: object) -> tuple[int, int] | None:
    """Where a node stands in the text, from its first letter to behind its last."""
    if not isinstance(node, exp.Expression):
        return None
    starts, ends = [], []
    for each in node.walk():
        start, end = each.meta.get("start"), each.meta.get("end")
        if isinstance(start, int) and isinstance(end, int):
            starts.append(start)
            ends.append(end + 1)
    return (min(starts), max(ends)) if starts else None


def said_at(text: str, refuse: Refuse) -> QueryRefused:
    """The refusal of a node, with its place in the text."""
    node, place = refuse.node, position_of(refuse.node)
    while place is None and isinstance(node, exp.Expression) and node.parent is not None:
        node = node.parent
        place = position_of(node)
    if place is not None and isinstance(node, exp.Func) and "start" not in node.meta:
        named = re.search(r"[A-Za-z_]+\s*\(\s*$", text[: place[0]])
        place = (named.start() if named else place[0], place[1])
    return QueryRefused(text, place and _closed(text, *place), refuse.reason, refuse.repair)


def _closed(text: str, start: int, end: int) -> tuple[int, int]:
    """With the parentheses that were opened, for these are not part of a node's place."""
    missing = text[start:end].count("(") - text[start:end].count(")")
    for _ in range(missing):
        rest = text[end:].lstrip()
        if not rest.startswith(")"):
            break
        end = len(text) - len(rest) + 1
    return start, end


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise InvalidParameter("the question", text, "be text")
    if not text.strip():
        raise QueryRefused(text, None, "There is no question.", "Write SELECT ... FROM ...")
    if len(text) > LONGEST:
        raise QueryRefused("", None, f"The question has {len(text):,} characters; {LONGEST:,} are read.")
    if not is_storable(text):
        raise QueryRefused("", None, "The question holds a null character, or half of a character.")


def is_storable(text: str) -> bool:
    """Whether engines have such text: without null characters, and without halves of pairs of UTF-16."""
    return "\0" not in text and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text))


def _check_depth(text: str, tokens: list[Token]) -> None:
    depth = 0
    for token in tokens:
        if token.token_type in {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}:
            depth += 1
        elif token.token_type in {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}:
            depth -= 1
        if depth > DEEPEST:
            raise QueryRefused(text, (token.start, token.end + 1), "The question is nested too deeply.")
    if sum(token.token_type is TokenType.L_BRACKET for token in tokens) > _MOST_BRACKETS:
        raise QueryRefused("", None, "The question has too many brackets.")
    if len(tokens) > 20_000:
        raise QueryRefused("", None, "The question has too many words.")


def _check_words(text: str, tokens: list[Token]) -> None:
    """Refuses what the parser would pass over, or complain of elsewhere."""
    if tokens and tokens[0].token_type not in _FIRST:
        place = (tokens[0].start, tokens[0].end + 1)
        raise QueryRefused(text, place, "Only SELECT is answered.", "Write SELECT ... FROM ... GROUP BY ...")
    between: list[int] = []
    depth = 0
    for token, after in pairwise(tokens):
        kind, then = token.token_type, after.token_type
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if kind is TokenType.SEMICOLON and then is not TokenType.SEMICOLON:
            raise QueryRefused(text, None, "One question at a time is answered.", "Send each statement by itself.")
        lone = then is TokenType.COMMA and (kind in _BEFORE_VALUES or token.text.upper().endswith(" BY"))
        if lone or (kind is TokenType.COMMA and then in _CLOSING) or kind is then is TokenType.NUMBER:
            raise QueryRefused(text, (token.start, after.end + 1), "Something is missing here.")
        if kind is TokenType.BETWEEN:
            between.append(depth)
        elif kind is TokenType.AND and between and between[-1] == depth:
            between.pop()
        elif between and depth < between[-1]:
            break
    if between:
        raise QueryRefused(text, None, "BETWEEN is followed by two values with AND between them.")


def _without_options(text: str, tokens: list[Token]) -> tuple[str, dict[str, str]]:
    """BigQuery's SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...)."""
    for index in range(len(tokens) - 1):
        if _are(tokens, index, "DIFFERENTIAL_PRIVACY"):
            break
    else:
        return text, {}
    rest = tokens[index + 2 :]
    start, end, options = tokens[index].start, tokens[index + 1].end + 1, {}
    if rest and rest[0].text.upper() == "OPTIONS":
        closing = next((each for each in rest if each.token_type is TokenType.R_PAREN), None)
        if closing is None or len(rest) < 2 or rest[1].token_type is not TokenType.L_PAREN:
            raise QueryRefused(text, (rest[0].start, rest[0].end + 1), "OPTIONS needs its list in parentheses.")
        end = closing.end + 1
        options = _options(text, rest[1].end + 1, closing.start)
    return text[:start] + _blank(text[start:end]) + text[end:], options


def _are(tokens: list[Token], index: int, word: str) -> bool:
    """Whether WITH and the word stand there, and not text or quoted names."""
    first, second = tokens[index : index + 2]
    quoted = {TokenType.STRING, TokenType.IDENTIFIER}
    return first.token_type is TokenType.WITH and second.text.upper() == word and second.token_type not in quoted


def _options(text: str, start: int, end: int) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in text[start:end].split(","):
        name, equals, value = part.partition("=")
        key = name.strip().lower()
        if not equals or key not in _OPTIONS or key in options:
            raise QueryRefused(
                text,
                (start, end),
                f"OPTIONS does not know {part.strip()!r}.",
                "It takes " + ", ".join(sorted(_OPTIONS)) + ".",
            )
        options[key] = value.strip().strip("'\"`")
    return options


def _without_target(text: str, tokens: list[Token]) -> tuple[str, TargetError | None]:
    """WITH ERROR 10 AT 95%, at the end."""
    for index in range(len(tokens) - 1):
        if _are(tokens, index, "ERROR"):
            break
    else:
        return text, None
    start = tokens[index].start
    found = re.fullmatch(
        r"WITH\s+ERROR\s+([0-9.]{1,30})(?:\s+AT\s+([0-9.]{1,30})\s*%)?\s*;?\s*", text[start:], re.IGNORECASE
    )
    try:
        if found is None:
            raise ValueError
        error, level = Fraction(found[1]), Fraction(found[2] or "95") / 100
        if not (error > 0 and 0 < level < 1):
            raise ValueError
    except ValueError:
        raise QueryRefused(
            text, (start, len(text)), "The wanted error cannot be read.", "Write, at the end: WITH ERROR 10 AT 95%"
        ) from None
    return text[:start] + _blank(text[start:]), TargetError(error, level)


def _blank(text: str) -> str:
    return "".join(letter if letter == "\n" else " " for letter in text)


def _place_of(error: SqlglotError, text: str) -> tuple[int, int] | None:
    for told in getattr(error, "errors", []):
        line, column = told.get("line"), told.get("col")
        if isinstance(line, int) and isinstance(column, int):
            start = sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + max(column - 1, 0)
            return max(min(start, len(text) - 1) - len(told.get("highlight") or "") + 1, 0), min(
                start, len(text) - 1
            ) + 1
    return None
