"""What can go wrong, and how it is said.

    IndistinctError
    ├── InvalidParameter   an argument is not of the form it must have (also a ValueError)
    ├── MissingExtra       a feature needs an optional package that is not installed
    └── InternalError      our own bug: a check inside the library failed

Every message is one sentence or two: what is wrong, with which value, and what to do instead.
"""

from __future__ import annotations

from functools import partial

__all__ = ["IndistinctError", "InternalError", "InvalidParameter", "MissingExtra"]

_LONGEST_VALUE = 60


class IndistinctError(Exception):
    """The root of every error that this library raises on purpose."""


class InvalidParameter(IndistinctError, ValueError):
    """An argument is not of the form it must have.

    >>> raise InvalidParameter("delta", 1.5, "lie in [0, 1]")
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: delta must lie in [0, 1], but is 1.5.
    """

    def __init__(self, name: str, value: object, requirement: str, *, instead: str = "") -> None:
        self.name = name
        self.value = value
        self.requirement = requirement
        self.instead = instead
        sentence = f"{name} must {requirement}, but is {shortened(value)}."
        super().__init__(f"{sentence} {instead}" if instead else sentence)

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return partial(type(self), instead=self.instead), (self.name, self.value, self.requirement)


class MissingExtra(IndistinctError, ImportError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f"{feature} needs an extra: install it with pip install 'indistinct[{extra}]'.")

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return type(self), (self.feature, self.extra)


class InternalError(IndistinctError):
    """A check inside the library failed: this is our bug, please report it."""


def shortened(value: object) -> str:
    """The value as text of bounded length, without ever building an enormous one.

    >>> shortened("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    >>> shortened(10**400)
    'a whole number of 1,329 bits'
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"a whole number of {value.bit_length():,} bits"
    try:
        text = repr(value)
    except ValueError:
        return f"a {type(value).__name__} too long to print"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."
