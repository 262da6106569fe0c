"""What can go wrong, and how it is said.

    IndistinctError
    ├── BudgetExceeded     a charge that does not fit into what is left of a privacy budget
    ├── DataUnavailable    the data cannot be read now; nothing was charged
    ├── InvalidParameter   an argument is not of the form it must have (also a ValueError)
    ├── LedgerError        a ledger cannot do what it was asked to
    │   ├── AnswerFailed       what was to be answered failed; it stays charged
    │   ├── KeyReused          a key that belongs to another request, or was voided
    │   ├── LedgerUnavailable  it cannot be read or written now: nothing was answered
    │   └── LedgerUntrusted    it is no ledger, was changed from outside, or is older than it should be
    ├── MissingExtra       a feature needs an optional package that is not installed
    └── InternalError      our own bug: a check inside the library failed

Every message is one sentence or two: what is wrong, with which value, and what to do instead.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

__all__ = [
    "AnswerFailed",
    "BudgetExceeded",
    "DataUnavailable",
    "IndistinctError",
    "InternalError",
    "InvalidParameter",
    "KeyReused",
    "LedgerError",
    "LedgerUnavailable",
    "LedgerUntrusted",
    "MissingExtra",
]

_LONGEST_VALUE = 60


class IndistinctError(Exception):
    """The root of every error that this library raises on purpose."""


class BudgetExceeded(IndistinctError):
    """A charge does not fit into what is left of a privacy budget; nothing was charged.

    >>> raise BudgetExceeded("3/10", "1/4", "hr", "epsilon")
    Traceback (most recent call last):
    ...
    indistinct.errors.BudgetExceeded: 3/10 of epsilon is asked, but 1/4 is left in 'hr'. Ask for less, or end here.
    """

    def __init__(self, asked: object, left: object, scope: str = "", currency: str = "") -> None:
        self.asked = asked
        self.left = left
        self.scope = scope
        self.currency = currency
        of, where = f" of {currency}" if currency else "", f" in {scope!r}" if scope else ""
        super().__init__(f"{_brief(asked)}{of} is asked, but {_brief(left)} is left{where}. Ask for less, or end here.")

    def __repr__(self) -> str:
        return f"BudgetExceeded(asked={_brief(self.asked)}, left={_brief(self.left)}, scope={self.scope!r})"

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return type(self), (self.asked, self.left, self.scope, self.currency)


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


class DataUnavailable(IndistinctError):
    """The data cannot be read now: a file is gone, or a database does not answer. Nothing was charged."""


class MissingExtra(IndistinctError, ImportError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f"{feature} needs an extra: install it with pip install 'indistinct[{extra}]'.")

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return type(self), (self.feature, self.extra)


class LedgerError(IndistinctError):
    """A ledger cannot do what it was asked to."""


class AnswerFailed(LedgerError):
    """What was to be answered failed. The charge stays, and the sentence is the same whatever the reason.

    A failure may depend on the data, so it counts as an answer: it is stored, and given again for the same key.
    """

    def __init__(self) -> None:
        super().__init__(
            "The question could not be answered. It stays charged. "
            "Ask another one, or this one anew: with a new key, or with fresh=True."
        )

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return type(self), ()


class KeyReused(LedgerError):
    """A key names one request for ever; nothing was charged."""


class LedgerUnavailable(LedgerError):
    """The ledger cannot be read or written now. Nothing was answered.

    Whether something was charged is told by asking again with the same key: it is never charged twice.
    """


class LedgerUntrusted(LedgerError):
    """The ledger is none, or was changed from outside, or is older than it should be; it is left alone.

    `row` is the number of the first row that is wrong, where there is one.
    """

    def __init__(self, reason: str, row: int | None = None) -> None:
        self.reason = reason
        self.row = row
        super().__init__(reason)

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return type(self), (self.reason, self.row)


class InternalError(IndistinctError):
    """A check inside the library failed: this is our bug, please report it."""


def shortened(value: object) -> str:
    """The value as text of bounded length, without ever building an enormous one.

    >>> shortened("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    >>> shortened(10**400)
    'a whole number of 1,329 bits'
    >>> shortened(Fraction(10**15))
    '1000000000000000'
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"a whole number of {value.bit_length():,} bits"
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:
        return f"a {type(value).__name__} too long to print"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def _brief(value: object) -> str:
    """An amount as text: an exact fraction while it is short, else its first digits."""
    try:
        text = str(value)
        return text if len(text) <= _LONGEST_VALUE else f"about {float(value):.12g}"  # type: ignore[arg-type]  # caught
    except (TypeError, ValueError, OverflowError):
        return shortened(value)
