"""Wrong arguments: one sentence that names the argument, the value and what is allowed; at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from indistinct import ApproximateDP, PureDP, compose
from indistinct.errors import IndistinctError, InvalidParameter

F = Fraction
NUMBER = 'be a number such as 0.1, "0.1" or "1/10"'
EXAMPLE = " For thirty uses of one guarantee: compose({PureDP('0.1'): 30})."

PROFILE = compose({PureDP(1): 2})


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    started = time.perf_counter()
    yield
    assert time.perf_counter() - started < 1


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no")


NOT_NUMBERS: list[tuple[object, str]] = [
    ("x", "'x'"),
    ("", "''"),
    ("0.1.2", "'0.1.2'"),
    ("1e", "'1e'"),
    ("0x10", "'0x10'"),
    ("١", "'١'"),
    ("1_000", "'1_000'"),
    (None, "None"),
    (True, "True"),
    (False, "False"),
    ([], "[]"),
    ((1,), "(1,)"),
    ({}, "{}"),
    (b"1", "b'1'"),
    (1j, "1j"),
    (np.array([1.0]), "array([1.])"),
    ("y" * 900, "'" + "y" * 56 + "..."),
    (Unprintable(), "a Unprintable too long to print"),
]
NOT_FINITE: list[tuple[object, str]] = [
    (float("nan"), "nan"),
    (float("inf"), "inf"),
    (-float("inf"), "-inf"),
    ("nan", "'nan'"),
    ("inf", "'inf'"),
    ("-Infinity", "'-Infinity'"),
    (Decimal("NaN"), "Decimal('NaN')"),
    (Decimal("sNaN"), "Decimal('sNaN')"),
    (Decimal("Infinity"), "Decimal('Infinity')"),
]
TOO_MUCH: list[tuple[object, str]] = [
    (-1, "-1"),
    (-0.1, "-0.1"),
    ("-1e-300", "'-1e-300'"),
    (F(-1, 7), "-1/7"),
    (Decimal(-1), "Decimal('-1')"),
    (10**400, "a whole number of 1,329 bits"),
    (-(10**400), "a whole number of 1,329 bits"),
    (1e300, "1e+300"),
    ("1e400", "'1e400'"),
]
UNREADABLE: list[tuple[object, str, str]] = [
    ("1e6000", "have an exponent of at most 5000", "'1e6000'"),
    ("1e-99999999999999", "have an exponent of at most 5000", "'1e-99999999999999'"),
    ("1/0", "not divide by zero", "'1/0'"),
    ("1" * 2000, "be text of at most 1000 characters", "'" + "1" * 56 + "..."),
]

PLACES: list[tuple[str, str, Callable[[object], object]]] = [
    ("epsilon", "lie in [0, 1000000000]", PureDP),
    ("epsilon", "lie in [0, 1000000000]", lambda value: ApproximateDP(value, 0)),
    ("delta", "lie in [0, 1]", lambda value: ApproximateDP(1, value)),
    ("times", "be a whole number from 0 to 1000000000000000", lambda value: compose({PureDP(1): value})),
    ("epsilon", "lie in [0, 1000000000000000000000000]", PROFILE.delta),
    ("delta", "lie in [0, 1]", PROFILE.epsilon),
]
NAMES = ["PureDP", "ApproximateDP, epsilon", "ApproximateDP, delta", "compose, times", "delta()", "epsilon()"]


@pytest.mark.parametrize(("name", "allowed", "use"), PLACES, ids=NAMES)
def test_every_argument_refuses_every_kind_of_nonsense(
    name: str, allowed: str, use: Callable[[object], object]
) -> None:
    cases = [
        *((value, NUMBER, shown) for value, shown in NOT_NUMBERS),
        *((value, "be finite", shown) for value, shown in NOT_FINITE),
        *((value, allowed, shown) for value, shown in TOO_MUCH),
        *UNREADABLE,
    ]
    for value, requirement, shown in cases:
        with pytest.raises(InvalidParameter) as raised:
            use(value)
        assert str(raised.value) == f"{name} must {requirement}, but is {shown}."
        assert (raised.value.name, raised.value.requirement) == (name, requirement)
        assert raised.value.value is value
        assert isinstance(raised.value, ValueError)
        assert isinstance(raised.value, IndistinctError)


@pytest.mark.parametrize("value", [1.0000000000000002, "1.0000000000000000000000000000001", 2, "3/2"])
def test_delta_above_one(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^delta must lie in \[0, 1\], but is "):
        ApproximateDP(1, value)
    with pytest.raises(InvalidParameter, match=r"^delta must lie in \[0, 1\], but is "):
        PROFILE.epsilon(value)


@pytest.mark.parametrize("value", [2.5, "1/2", "1e-400", F(1, 3), Decimal("0.5"), 10**15 + 1])
def test_times_that_are_not_whole_or_too_many(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^times must be a whole number from 0 to 1000000000000000, but is "):
        compose({PureDP(1): value})


@pytest.mark.parametrize("value", ["ln(1/2)", "ln(0)", "ln(-3)"])
def test_logarithms_below_zero(value: object) -> None:
    with pytest.raises(
        InvalidParameter, match=r"^epsilon must be the logarithm of a number that is at least 1, but is "
    ):
        PureDP(value)


@pytest.mark.parametrize("value", ["ln()", "ln(ln(3))", "ln(x)", "log(3)"])
def test_logarithms_of_nothing(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^epsilon must be a number"):
        PureDP(value)


@pytest.mark.parametrize("nothing", [[], {}, (), set()])
def test_an_empty_composition(nothing: object) -> None:
    with pytest.raises(InvalidParameter) as raised:
        compose(nothing)  # type: ignore[arg-type]  # that is the point
    assert str(raised.value) == f"things must hold at least one guarantee, but is {nothing!r}.{EXAMPLE}"


@pytest.mark.parametrize(
    "things", [None, 3, PureDP(1), PROFILE, 1.5, object, [[PureDP(1)]], [{}], [np.zeros(2)]], ids=repr
)
def test_what_is_no_collection_of_guarantees(things: object) -> None:
    with pytest.raises(InvalidParameter) as raised:
        compose(things)  # type: ignore[arg-type]  # that is the point
    assert str(raised.value).startswith(("things must be a mapping or an iterable of ", "a composed thing must be "))
    assert str(raised.value).endswith(EXAMPLE)


@pytest.mark.parametrize(
    "things", ["abc", [1], [None], {1: 2}, [PureDP(1), 0.1], [(PureDP(1), 3)], {"a": 1}, [PureDP], b"a"]
)
def test_what_is_no_guarantee(things: object) -> None:
    with pytest.raises(InvalidParameter) as raised:
        compose(things)  # type: ignore[arg-type]  # that is the point
    assert " must be a" in str(raised.value)
    assert str(raised.value).endswith(EXAMPLE)


def test_too_many_in_all() -> None:
    with pytest.raises(InvalidParameter) as raised:
        compose({PureDP(1): 10**15, PureDP(2): 1})
    assert str(raised.value) == "times must add up to at most 1000000000000000, but is 1000000000000001."
    with pytest.raises(InvalidParameter, match=r"^times must add up to at most 1000000000000000, but is "):
        compose({compose({PureDP(1): 10**15}): 10**15})
