"""The answers of a mechanism, gathered, and laid out in columns that statistics can look at.

Every answer becomes a row: a number or a string has one column, a tuple, list or array one for each place. A place
holds a number or something else, its *kind*: a string, true or false, not-a-number, or nothing where an answer is
shorter than others. Kinds are numbered as they appear, in both samples together, which tells nothing about either.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter

__all__ = ["Column", "Outputs", "gather", "last_bits"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_COLUMNS = 64
_ZERO_BIT = 2000.0
_EXACT = 2**53  # larger whole numbers are not all floats, and are told apart as they are
_NUMBERS = (int, float, Decimal, Fraction)
_RING = 2**38 * 720_720 * 5  # below 2^63; a multiple of 1 to 16, 100, 1000 and of the powers of two up to 2^42
_INSTEAD = "Return numbers, strings, or tuples, lists and arrays of these."


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One place of all answers: the number there, or not-a-number and the code of what is there instead."""

    name: str
    numbers: Floats
    kinds: Codes  # -1 where there is a number
    labels: tuple[Hashable, ...]
    has_floats: bool
    exact: tuple[Codes, NDArray[np.bool_]] | None = None
    """The whole numbers modulo a multiple of all small numbers, where floats do not hold them; and where they are."""
    texts: NDArray[Any] | None = None
    """As the answers are written, where they are not numbers alone."""

    @property
    def is_spelled(self) -> bool:
        """Whether there is more to how answers are written than whole numbers show."""
        return self.has_floats or self.texts is not None

    def part(self, rows: slice) -> Column:
        """The same of some of the answers."""
        exact = None if self.exact is None else (self.exact[0][rows], self.exact[1][rows])
        texts = None if self.texts is None else self.texts[rows]
        return Column(self.name, self.numbers[rows], self.kinds[rows], self.labels, self.has_floats, exact, texts)


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """So many answers: their columns, and for those of several columns a code for each whole answer."""

    columns: tuple[Column, ...]
    whole: Codes | None
    labels: tuple[Hashable, ...]

    def __len__(self) -> int:
        return len(self.columns[0].numbers)

    def part(self, rows: slice) -> Outputs:
        """Some of the answers."""
        whole = None if self.whole is None else self.whole[rows]
        return Outputs(tuple(column.part(rows) for column in self.columns), whole, self.labels)


class _Missing:
    """Stands where an answer has no such place."""

    def __repr__(self) -> str:
        return "nothing"


_MISSING = _Missing()


def gather(
    mechanism: Callable[..., Any], first: object, second: object, samples: int, *, batch: bool
) -> tuple[Outputs, Outputs]:
    """So many answers on each of two inputs."""
    answers = [_answers(mechanism, given, samples, batch=batch) for given in (first, second)]
    _check_answered(mechanism, answers)
    if all(isinstance(each, np.ndarray) and each.dtype.kind in "biuf" for each in answers):
        together = np.concatenate([np.asarray(each).reshape(samples, -1) for each in _alike(answers)])
        outputs = _from_array(together)
        types: list[Hashable] = [str(each.dtype) for each in answers for _ in range(samples)]
    else:
        outputs = _from_objects([*answers[0], *answers[1]])
        types = [_type(answer) for each in answers for answer in each]
    if len(set(types)) > 1:
        codes: dict[Hashable, int] = {}
        kinds = np.fromiter((codes.setdefault(each, len(codes)) for each in types), np.int64, len(types))
        column = Column("its type", np.full(len(types), np.nan), kinds, tuple(codes), has_floats=False)
        outputs = Outputs((*outputs.columns, column), outputs.whole, outputs.labels)
    return outputs.part(slice(0, samples)), outputs.part(slice(samples, None))


def _type(answer: Any) -> Hashable:
    """The type of an answer, and of what is in it: 5 and 5.0 are equal, but whoever sees them can tell them apart."""
    if isinstance(answer, np.ndarray):
        return "array", str(answer.dtype)
    if isinstance(answer, list | tuple):
        return type(answer).__name__, *map(_type, answer)
    return type(answer).__name__


@dataclass(frozen=True, slots=True)
class Raised:
    """The answer of a call that raised: the type of the exception, and not its text."""

    module: str
    name: str

    @classmethod
    def by(cls, error: Exception) -> Raised:
        """What an exception tells."""
        return cls(type(error).__module__, type(error).__qualname__)

    def __repr__(self) -> str:
        return f"raising {self.name}"


def _answers(mechanism: Callable[..., Any], given: object, samples: int, *, batch: bool) -> Any:
    if not batch:
        return [_asked(mechanism, given) for _ in range(samples)]
    answers = _asked(mechanism, given, samples)
    if isinstance(answers, Raised):
        raise InvalidParameter(
            "the mechanism",
            mechanism,
            "answer on both inputs",
            instead=f"On {given!r:.60} it raised {answers.name}. Without batch that counts as an answer.",
        )
    try:
        count = len(answers)
    except TypeError:
        count = None
    if count != samples:
        found = "what has no size" if count is None else count
        raise InvalidParameter(
            "the mechanism",
            mechanism,
            f"give {samples} answers when asked for so many, not {found}",
        )
    return answers


def _asked(mechanism: Callable[..., Any], *given: object) -> Any:
    """An answer. An exception is one, as whoever asks can see it; the end of the program is none."""
    try:
        return mechanism(*given)
    except Exception as error:  # whatever it is, it tells the inputs apart
        return Raised.by(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InvalidParameter(
            "the mechanism",
            mechanism,
            "answer and not end the program",
            instead=f"On {given[0]!r:.60} it raised {type(error).__name__}.",
        ) from error


def _check_answered(mechanism: Callable[..., Any], answers: list[Any]) -> None:
    """Refuses a function that raises the same on every call: it tells nothing, and is most likely a mistake."""
    if any(isinstance(each, np.ndarray) for each in answers):
        return
    first = answers[0][0]
    if isinstance(first, Raised) and all(answer == first for each in answers for answer in each):
        calls = f"Each of its {sum(map(len, answers)):,} calls raised {first.name}."
        raise InvalidParameter("the mechanism", mechanism, "answer at least once", instead=calls)


def _alike(arrays: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
    if arrays[0].shape[1:] != arrays[1].shape[1:]:
        raise InvalidParameter(
            "the shape of an answer", arrays[1].shape[1:], f"be the same on both inputs, {arrays[0].shape[1:]}"
        )
    return arrays


def _from_array(rows: NDArray[Any]) -> Outputs:
    """Of numbers alone, without looking at any of them in Python."""
    names = _names(rows.shape[1])
    columns = [_column(name, rows[:, at]) for at, name in enumerate(names)]
    if rows.shape[1] == 1:
        return Outputs((columns[0],), None, ())
    if rows.shape[1] > _MOST_COLUMNS:
        columns.append(_column("the sum", rows.sum(axis=1)))
    whole, labels = None, tuple[Hashable, ...]()
    sample = np.ascontiguousarray(rows[:: max(len(rows) // 4096, 1)])
    if len(np.unique(sample, axis=0)) < len(sample) / 2:
        values, whole = np.unique(rows, axis=0, return_inverse=True)
        labels = tuple(tuple(row) for row in values.tolist())
    return Outputs(tuple(columns), None if whole is None else whole.ravel().astype(np.int64), labels)


def _column(name: str, values: NDArray[Any]) -> Column:
    numbers = values.astype(np.float64)
    kinds = np.where(np.isnan(numbers), 0, -1).astype(np.int64)
    exact = None
    if values.dtype.kind in "iu" and len(values) and max(abs(int(values.max())), abs(int(values.min()))) > _EXACT:
        exact = (values % _RING).astype(np.int64), np.ones(len(values), dtype=bool)
    return Column(name, numbers, kinds, ("not a number",), values.dtype.kind == "f", exact)


def _from_objects(answers: list[Any]) -> Outputs:
    plain = [_plain(answer) for answer in answers]
    kinds = set(map(type, plain))
    if kinds <= {int, float, bool} and not any(type(each) is int and abs(each) > _EXACT for each in plain):
        return _from_array(np.array(plain, dtype=float if float in kinds else object).reshape(len(plain), 1))
    labels: dict[Hashable, int] = {}
    try:
        whole = np.fromiter((labels.setdefault(answer, len(labels)) for answer in plain), np.int64, len(plain))
    except TypeError as error:
        raise InvalidParameter("an answer", plain[0], "be hashable", instead=f"{_INSTEAD} ({error})") from error
    if tuple not in kinds:
        return Outputs((_mixed("the answer", plain),), whole, tuple(labels))
    rows = [answer if isinstance(answer, tuple) else (answer,) for answer in plain]
    places = list(zip_longest(*rows, fillvalue=_MISSING))
    columns = [_mixed(name, place) for name, place in zip(_names(len(places)), places, strict=False)]
    return Outputs(tuple(columns) or (_mixed("the answer", plain),), whole, tuple(labels))


def _plain(answer: Any) -> Any:
    """Lists and arrays as tuples, numbers of NumPy as Python's."""
    if type(answer) in _PLAIN:
        return answer
    if isinstance(answer, np.generic | np.ndarray):
        answer = answer.tolist()
    if isinstance(answer, list | tuple):
        return tuple(map(_plain, answer))
    _check_comparable(answer)
    return answer


def _check_comparable(answer: Any) -> None:
    """Refuses what is equal to itself alone: every answer would be another, and nothing could be told by them."""
    if isinstance(answer, Iterator):
        raise InvalidParameter("an answer", answer, "be a value, and not an iterator of values", instead=_INSTEAD)
    equal: object = type(answer).__eq__
    if equal is object.__eq__ and not isinstance(answer, type | Enum) and answer is not Ellipsis:
        raise InvalidParameter("an answer", answer, "be comparable to others by its value", instead=_INSTEAD)


_PLAIN = {int, float, bool, str, type(None), Raised}


def _mixed(name: str, values: Sequence[Any]) -> Column:
    """A column of anything: numbers are told from all else, and true and false are no numbers."""
    labels: dict[Hashable, int] = {}
    numbers = np.full(len(values), np.nan)
    kinds = np.full(len(values), -1, dtype=np.int64)
    has_floats = False
    whole, valid = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=bool)
    for at, value in enumerate(values):
        if type(value) is int:
            whole[at], valid[at] = value % _RING, True
        if isinstance(value, _NUMBERS) and not isinstance(value, bool) and value == value:
            numbers[at] = _as_float(value)
            has_floats = has_floats or isinstance(value, float)
        else:
            label = "not a number" if isinstance(value, float) else value
            kinds[at] = labels.setdefault(label, len(labels))
    large = valid.any() and not (np.abs(numbers[valid]) <= _EXACT).all()
    told = not set(map(type, values)) <= {int, float, bool, type(None), _Missing, Raised}
    texts = np.array([_spelled(value) for value in values], dtype=object) if told else None
    return Column(name, numbers, kinds, tuple(labels), has_floats, (whole, valid) if large else None, texts)


def _spelled(value: Any) -> str:
    try:
        return value if isinstance(value, str) else repr(value)
    except ValueError:  # a whole number of thousands of digits
        return hex(value)


def _as_float(value: float | Decimal | Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _names(count: int) -> list[str]:
    return ["the answer"] if count == 1 else [f"place {at + 1}" for at in range(min(count, _MOST_COLUMNS))]


def last_bits(numbers: Floats) -> Floats:
    """The largest k such that the number is a multiple of 2^k; 2000 for zero, for infinities and for no number.

    >>> last_bits(np.array([1.0, 0.75, 12.0, 0.0]))
    array([   0.,   -2.,    2., 2000.])
    """
    finite = np.isfinite(numbers) & (numbers != 0)
    mantissa, exponent = np.frexp(np.where(finite, numbers, 1.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    _, size = np.frexp((whole & -whole).astype(np.float64))
    return np.where(finite, (exponent - 53 + size - 1).astype(np.float64), _ZERO_BIT)
