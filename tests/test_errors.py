"""Every error says in a sentence what is wrong, with which value, and what to do."""

from __future__ import annotations

import inspect
import pickle

import pytest

from indistinct import errors
from indistinct.errors import IndistinctError, InternalError, InvalidParameter, MissingExtra, shortened


def test_one_root() -> None:
    classes = [value for _, value in inspect.getmembers(errors, inspect.isclass)]
    kinds = [kind for kind in classes if kind.__module__ == errors.__name__]
    assert set(errors.__all__) == {kind.__name__ for kind in kinds}
    assert all(issubclass(kind, IndistinctError) for kind in kinds)
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)


def test_invalid_parameter_is_a_value_error_with_its_parts() -> None:
    error = InvalidParameter("delta", 1.5, "lie in [0, 1]")
    assert isinstance(error, ValueError)
    assert (error.name, error.value, error.requirement, error.instead) == ("delta", 1.5, "lie in [0, 1]", "")
    assert str(error) == "delta must lie in [0, 1], but is 1.5."


def test_invalid_parameter_may_say_what_to_do() -> None:
    error = InvalidParameter("delta", 0, "be above 0", instead="Ask for epsilon at delta 1e-9.")
    assert str(error) == "delta must be above 0, but is 0. Ask for epsilon at delta 1e-9."


def test_missing_extra_says_how_to_install_it() -> None:
    error = MissingExtra("drawing figures", "plot")
    assert isinstance(error, ImportError)
    assert (error.feature, error.extra) == ("drawing figures", "plot")
    assert str(error) == "drawing figures needs an extra: install it with pip install 'indistinct[plot]'."


def test_internal_error_is_no_user_error() -> None:
    assert not issubclass(InternalError, ValueError)


def test_invalid_parameter_crosses_processes() -> None:
    error = pickle.loads(pickle.dumps(InvalidParameter("delta", 2, "lie in [0, 1]")))  # noqa: S301  # our own
    assert isinstance(error, InvalidParameter)
    assert str(error) == "delta must lie in [0, 1], but is 2."


def test_missing_extra_crosses_processes() -> None:
    error = pickle.loads(pickle.dumps(MissingExtra("drawing figures", "plot")))  # noqa: S301  # our own
    assert isinstance(error, MissingExtra)
    assert error.extra == "plot"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (True, "True"),
        (None, "None"),
        ("x" * 58, repr("x" * 58)),
        ("x" * 59, "'" + "x" * 56 + "..."),
        (2**256 - 1, repr(2**256 - 1)[:57] + "..."),
        (2**256, "a whole number of 257 bits"),
        pytest.param(-(10**5000), "a whole number of 16,610 bits", id="enormous"),
        ([10**5000], "a list too long to print"),
    ],
)
def test_shortened(value: object, text: str) -> None:
    assert shortened(value) == text
    assert len(shortened(value)) <= 60


def test_shortened_survives_a_value_that_cannot_be_shown() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise ValueError

    assert shortened(Silent()) == "a Silent too long to print"
