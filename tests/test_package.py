"""The package as a whole: what it costs to import, what it offers, what it says of itself."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import indistinct

ROOT = Path(__file__).parent.parent
MODULES = sorted(module.name for module in pkgutil.walk_packages(indistinct.__path__, "indistinct."))
HEAVY = {
    "argparse",
    "asyncio",
    "dataclasses",
    "decimal",
    "fractions",
    "inspect",
    "json",
    "sqlite3",
    "statistics",
}


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    ran = subprocess.run([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return ran.stdout


def test_import_is_light() -> None:
    code = "import sys; before = set(sys.modules); import indistinct; print(*set(sys.modules) - before)"
    loaded = fresh(code).split()
    assert [name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names] == ["indistinct"]
    assert not HEAVY & set(loaded)
    assert len(loaded) <= 40, loaded


@pytest.mark.parametrize("thing", ["PureDP('0.1')", "Laplace(scale=10)"])
def test_a_first_answer_does_not_wait_for_imports(thing: str) -> None:
    made = f"from indistinct import Laplace, PureDP, compose; profile = compose({{{thing}: 1000}})"
    code = f"import sys; {made}; before = set(sys.modules); profile.epsilon('1e-6'); print(*set(sys.modules) - before)"
    assert fresh(code).split() == []


def test_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert importlib.metadata.version("indistinct") == project["version"]
    assert getattr(indistinct, "__version__", project["version"]) == project["version"]


def test_public_names_resolve_in_a_fresh_interpreter() -> None:
    code = "import indistinct\nfor name in getattr(indistinct, '__all__', []): getattr(indistinct, name)"
    assert fresh(code) == ""


@pytest.mark.parametrize("name", getattr(indistinct, "__all__", []))
def test_public_name_is_listed_and_documented(name: str) -> None:
    assert name in dir(indistinct)
    value = getattr(indistinct, name)
    if isinstance(value, type) or callable(value):
        assert value.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        importlib.import_module("indistinct").no_such_name  # noqa: B018  # the access is the test


@pytest.mark.parametrize("name", MODULES)
def test_module_says_what_it_is_and_exports_what_it_has(name: str) -> None:
    if name.endswith("__main__"):
        pytest.skip("it would start the program")
    module = importlib.import_module(name)
    assert module.__doc__
    for exported in getattr(module, "__all__", []):
        assert hasattr(module, exported), exported


def test_types_are_shipped() -> None:
    assert (Path(indistinct.__path__[0]) / "py.typed").exists()
