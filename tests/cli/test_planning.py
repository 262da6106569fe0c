"""indistinct calibrate and indistinct sgd: what they print, as text and as JSON, and what they refuse."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from indistinct import Gaussian, Laplace, PoissonSubsampled, compose, least_noise
from tests.cli.test_cli import answered, refused

SMALL = ["--epsilon", "1", "--delta", "1e-6"]
TRAINING = ["--rate", "0.004", "--delta", "1e-6"]
STEP = PoissonSubsampled(Gaussian(sigma="0.8"), "0.004")


def test_calibrate_prints_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answered(capsys, "calibrate", "gaussian", "--times", "1000", "--sensitivity", "2", *SMALL)
    plan = least_noise(Gaussian, sensitivity=2, times=1000, epsilon=1, delta="1e-6")
    assert printed == f"{plan}\n"


@pytest.mark.parametrize("kind", ["gaussian", "geometric", "pure", "laplace"])
def test_calibrate_as_json(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    found = json.loads(answered(capsys, "calibrate", kind, "--times", "1000", *SMALL, "--json"))
    assert found["unknown"] == {"gaussian": "sigma", "laplace": "scale"}.get(kind, "epsilon")
    assert (found["times"], found["epsilon"], found["delta"]) == (1000, "1", "1/1000000")
    assert found["spent delta"]["upper"] <= 1e-6
    assert abs(float(found["value"]) / found["proven insufficient"] - 1) < 1e-6
    assert found["theorems"]
    if kind == "laplace":
        assert compose({Laplace(scale=found["value"]): 1000}).delta(1).upper <= 1e-6


def test_sgd_gives_epsilon(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answered(capsys, "sgd", "--sigma", "0.8", "--steps", "10000", *TRAINING)
    epsilon = compose({STEP: 10_000}).epsilon("1e-6")
    assert printed.startswith(f"epsilon = {epsilon:.9g} at delta = 1e-6, for 10,000 steps at sampling rate 0.004")
    assert f"between {epsilon.lower!r} and {epsilon.upper!r}" in printed
    found = json.loads(answered(capsys, "sgd", "--sigma", "0.8", "--steps", "10000", *TRAINING, "--json"))
    assert (found["lower"], found["upper"]) == (epsilon.lower, epsilon.upper)
    # 4.0284360375 in the table of reference values.
    assert epsilon.lower <= 4.0284360375 <= epsilon.upper


def test_sgd_gives_sigma_rate_and_steps(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--epsilon", "4", "--delta", "1e-6"]
    long = ["--steps", "10000"]
    sigma = json.loads(answered(capsys, "sgd", *asked, *long, "--rate", "0.004", "--json"))
    assert sigma["answer"] == "sigma"
    assert 0.8 < Fraction(sigma["value"]) < 0.803
    rate = json.loads(answered(capsys, "sgd", *asked, *long, "--sigma", "0.8", "--json"))
    assert rate["answer"] == "rate"
    assert 0.0039 < Fraction(rate["value"]) < 0.004
    printed = answered(capsys, "sgd", *asked, "--sigma", "0.8", "--rate", "0.004")
    assert printed.startswith("9,858 uses fit under (4, 1e-06), at delta = 9.99879e-07; one more is proven not to.\n")
    assert printed.endswith("Poisson sampling and databases that differ by adding or removing a record.\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["calibrate", "laplace", "--epsilon", "-1", "--delta", "1e-6"], "epsilon must lie in"),
        (["calibrate", "laplace", "--epsilon", "1", "--delta", "2"], "delta must lie in [0, 1]"),
        (["calibrate", "laplace", "--epsilon", "1", "--delta", "1"], "delta must be below 1"),
        (["calibrate", "gaussian", "--epsilon", "1", "--delta", "0"], "be one that some sigma keeps"),
        (["calibrate", "laplace", *SMALL, "--times", "0"], "times must be a whole number from 1"),
        (["calibrate", "laplace", *SMALL, "--sensitivity", "x"], "sensitivity must be a number"),
        (["calibrate", "pure", *SMALL, "--sensitivity", "2"], "--sensitivity must be left out"),
        (["calibrate", "cauchy", *SMALL], "invalid choice: 'cauchy'"),
        (["calibrate", "laplace", "--epsilon", "1"], "required: --delta"),
        (["sgd", "--delta", "1e-6"], "must be given but for one, which is then found, but is 'none'"),
        (["sgd", "--delta", "1e-6", "--sigma", "1", "--rate", "1"], "must be given but for one"),
        (["sgd", *SMALL, "--sigma", "1", "--rate", "0.1", "--steps", "9"], "must be given but for one"),
        (["sgd", "--delta", "1e-6", "--sigma", "1", "--rate", "1.5", "--steps", "9"], "rate must lie in [0, 1]"),
        (["sgd", "--delta", "1e-6", "--sigma", "0", "--rate", "0.5", "--steps", "9"], "sigma must be above 0"),
        (["sgd", "--delta", "1e-6", "--sigma", "1", "--rate", "0.5", "--steps", "0.5"], "steps must be a whole"),
        (["sgd", *SMALL, "--rate", "0.5", "--steps", "0"], "times must be a whole number from 1"),
    ],
)
def test_bad_questions(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    assert sentence in refused(capsys, *arguments)
