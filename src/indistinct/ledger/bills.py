"""What is asked to be charged, and of whom: checked once, and spelled once, however often it is asked for.

The text of a row is what `canonical` makes of it, put together from pieces that were spelled before; only the
key, the time and the sums are new each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from indistinct.composition import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from indistinct.errors import InvalidParameter
from indistinct.ledger.canonical import canonical, fingerprint
from indistinct.ledger.costs import Asked, read_cost

__all__ = ["Bill", "Bills", "check_key", "check_text", "names_of_parts", "request_of"]

_LONGEST_KEY = 200
_MOST = 1024
_Scope = tuple[int, str | None, str | None, tuple[str, ...] | None]
_UNCHANGING = (ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP)


@dataclass(frozen=True, slots=True, eq=False)
class Bill:
    """A cost and its scopes."""

    asked: Asked
    dataset: str | None
    analyst: str | None
    parts: tuple[str, ...]
    spelled: tuple[str, str, str, str]
    """A row's text before its balances, its key, and its request; and what a request is hashed with."""

    @classmethod
    def of(cls, asked: Asked, dataset: str | None, analyst: str | None, parts: tuple[str, ...]) -> Bill:
        """The bill, with its pieces of text."""
        cost, named, whose = canonical(asked.encoded), canonical(dataset), canonical(analyst)
        pieces = (
            f'{{"analyst":{whose},"asked":{cost},"balances":[',
            f'],"dataset":{named},"key":',
            f'","parts":{canonical(parts)},"request":"',
            f",{cost},{named},{whose},{canonical(sorted(parts))}]",
        )
        return cls(asked, dataset, analyst, parts, pieces)

    def request(self, spelled: str = "[null]") -> str:
        """The fingerprint of a request for this, of which the caller's own part is spelled already."""
        return fingerprint(f"[{spelled}{self.spelled[3]}".encode())

    def text(self, kind: str, balances: str, key: str, request: str, time: int) -> str:
        """The text of a row that deducts it.

        >>> bill = Bill.of(read_cost(PureDP("0.1")), None, "ann", ())
        >>> bill.text("reserve", "", "q", "00", 7) == canonical(
        ...     {"kind": "reserve", "key": "q", "time": 7, "request": "00", "dataset": None, "analyst": "ann",
        ...      "parts": (), "asked": bill.asked.encoded, "balances": []})
        True
        """
        before, named, about, _ = self.spelled
        return f'{before}{balances}{named}{canonical(key)},"kind":"{kind}{about}{request}","time":{time}}}'


class Bills:
    """Makes bills, and knows those that were asked for lately."""

    def __init__(self) -> None:
        self._known: dict[_Scope, tuple[object, Bill, str]] = {}

    def read(self, cost: object, dataset: str | None, analyst: str | None, parts: Sequence[str]) -> tuple[Bill, str]:
        """The bill, and the fingerprint of a request that says nothing more."""
        # What is no text is not found, and refused below. A known cost is kept, so nothing else has its identity.
        scope = id(cost), dataset, analyst, parts if isinstance(parts, tuple) else None
        lasting = type(cost) in _UNCHANGING and scope[3] is not None
        with suppress(TypeError):
            if lasting and scope in self._known:
                _, bill, plain = self._known[scope]
                return bill, plain
        asked = read_cost(cost)
        for name, value in {"a dataset": dataset, "an analyst": analyst}.items():
            if value is not None:
                check_text(name, value)
        bill = Bill.of(asked, dataset, analyst, names_of_parts(parts))
        plain = bill.request()
        if lasting:
            if len(self._known) >= _MOST:
                self._known = {}
            self._known[scope] = cost, bill, plain
        return bill, plain


def check_key(key: object) -> None:
    """Refuses what cannot name a question."""
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise InvalidParameter("a key", key, f"be printable text of at most {_LONGEST_KEY} characters")


def check_text(name: str, value: object) -> None:
    """Refuses what is no text, or says nothing."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidParameter(name, value, "be text that is not empty")


def names_of_parts(parts: object) -> tuple[str, ...]:
    """Names of parts, as they were given."""
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise InvalidParameter("parts", parts, "be a sequence of names")
    chosen = tuple(parts)
    for part in chosen:
        check_text("a part", part)
    return chosen


def request_of(request: object) -> str:
    """A caller's own part of a request, spelled."""
    if isinstance(request, bytes):
        return canonical({"bytes": fingerprint(request)})
    try:
        return canonical([request])
    except (TypeError, ValueError):
        raise InvalidParameter("a request", type(request), "be bytes or a value of JSON") from None
