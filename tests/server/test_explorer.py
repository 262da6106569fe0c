"""What the explorer says, against the library, exact enumeration and its own printed program."""

from __future__ import annotations

import contextlib
import io
import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from indistinct import ApproximateDP, Gaussian, Geometric, Laplace, PoissonSubsampled, RandomizedResponse, compose
from indistinct.composition import compare
from indistinct.errors import InvalidParameter
from indistinct.regions import DiscretePair, Region
from indistinct.server.compositions import KINDS, Part, read_parts
from indistinct.server.explorer import curve, noise_of, numbers

GEOMETRIC = {"kind": "geometric", "epsilon": "0.1", "times": 30}
SURVEY = {"kind": "response", "epsilon": "ln(3)", "times": 3}


def said(asked: dict[str, Any], of: str) -> Any:
    return numbers(asked)[of]


@pytest.mark.parametrize(
    ("parts", "things"),
    [
        ([GEOMETRIC], {Geometric(epsilon="0.1"): 30}),
        ([{"kind": "laplace", "scale": "2.5", "times": 200}], {Laplace(scale="2.5"): 200}),
        ([{"kind": "gaussian", "sigma": "7", "times": 12}], {Gaussian(sigma=7): 12}),
        (
            [{"kind": "sampled", "sigma": "1", "rate": "0.01", "times": 100}],
            {PoissonSubsampled(Gaussian(sigma=1), "0.01"): 100},
        ),
        ([SURVEY], {RandomizedResponse("ln(3)"): 3}),
        ([GEOMETRIC, GEOMETRIC], {Geometric(epsilon="0.1"): 60}),
        (
            [{"kind": "guarantee", "epsilon": "1/3", "delta": "1e-8", "times": 9}, GEOMETRIC],
            {ApproximateDP("1/3", "1e-8"): 9, Geometric(epsilon="0.1"): 30},
        ),
    ],
)
def test_the_numbers_are_the_library_s(parts: list[dict[str, Any]], things: dict[Any, int]) -> None:
    profile = compose(things)
    answer: Any = numbers({"parts": parts, "delta": "1e-5"})
    assert answer["epsilon"]["text"] == f"{profile.epsilon('1e-5'):.6g}"
    assert answer["epsilon"]["value"] == profile.epsilon("1e-5").upper
    assert answer["theorems"][-1]["text"] == answer["epsilon"]["text"]
    assert answer["times"] == profile.times
    drawn: Any = curve({"parts": parts})
    assert len(drawn["knots"]) >= 6
    for knot in drawn["knots"]:
        if knot["asked"] == "epsilon":
            assert knot["epsilon"] == f"{profile.epsilon(knot['delta']['text']):.4g}"
    asked = [knot for knot in drawn["knots"] if knot["asked"] == "delta"]
    deltas = profile.deltas([knot["epsilon"] for knot in asked])
    assert [knot["delta"]["text"] for knot in asked] == [f"{delta:.4g}" for delta in deltas]


def test_the_theorems_are_those_of_compare() -> None:
    rows = said(
        {"parts": [{"kind": "guarantee", "epsilon": "0.1", "delta": "0.001", "times": 30}], "delta": "0.05"}, "theorems"
    )
    expected = compare({ApproximateDP("0.1", "0.001"): 30}, delta="0.05").rows
    assert [(row["theorem"], row["text"]) for row in rows[:-1]] == [
        (row.theorem, f"{row.value:.6g}") for row in expected
    ]
    assert rows[-1]["text"] == rows[-2]["text"]


@pytest.mark.parametrize("prior", ["1/2", "1/10", "7/10", "99/100"])
def test_no_guesser_is_right_more_often_and_one_is_as_often(prior: str) -> None:
    p = Fraction(prior)
    truth = {True: Fraction(3, 4), False: Fraction(1, 4)}
    right = Fraction(0)
    for outcome in product([True, False], repeat=3):
        present, absent = (math.prod(truth[told is yes] for told in outcome) for yes in (True, False))
        right += max(p * present, (1 - p) * absent)
    odds = said({"parts": [SURVEY], "prior": prior}, "odds")
    assert int(odds["right"]) == math.ceil(1000 * right)
    assert odds["share"] == pytest.approx(float(right), rel=1e-12)
    assert Fraction(odds["without"]) == 1000 * max(p, 1 - p)


def test_the_planted_fault_of_one_answer_forgotten_is_seen() -> None:
    fewer = said({"parts": [SURVEY | {"times": 2}]}, "odds")
    assert fewer["right"] != said({"parts": [SURVEY]}, "odds")["right"]


def test_beliefs_hold_the_true_posterior_of_a_survey() -> None:
    for prior in ("1/100", "1/2", "3/4"):
        answer: Any = numbers({"parts": [SURVEY | {"times": 1}], "prior": prior, "delta": "0"})
        p = Fraction(prior)
        yes, no = (p * odds / (p * odds + 1 - p) for odds in (Fraction(3), Fraction(1, 3)))
        belief = answer["belief"]
        assert belief["low"] <= no
        assert belief["high"] >= yes
        assert belief["high"] == pytest.approx(float(yes), rel=1e-9)
        assert belief["low"] == pytest.approx(float(no), rel=1e-9)
        assert Fraction(belief["lower"]) <= no
        assert Fraction(belief["upper"]) >= yes


def test_the_region_drawn_holds_the_exact_one_and_little_more() -> None:
    truth = {True: Fraction(3, 4), False: Fraction(1, 4)}
    outcomes = list(product([True, False], repeat=3))
    pair = DiscretePair(
        *([math.prod(truth[told is side] for told in outcome) for outcome in outcomes] for side in (True, False))
    )
    exact = Region.of(pair)
    drawn: Any = curve({"parts": [SURVEY]})["region"]
    lowest = dict(drawn)
    for x, y in exact.vertices:
        near = min(lowest, key=lambda each: abs(each - float(x)))
        assert abs(lowest[near] - float(y)) < 0.02
    assert Region.of_vertices([(Fraction(x), Fraction(y)) for x, y in drawn if x + y <= 1]).includes(
        Region.of_vertices([(x + Fraction(1, 10**9), y + Fraction(1, 10**9)) for x, y in exact.vertices[1:-1]])
    )


def test_the_program_that_is_copied_prints_the_number_shown() -> None:
    parts = [
        GEOMETRIC,
        {"kind": "laplace", "scale": "10", "times": 100},
        {"kind": "gaussian", "sigma": "5", "times": 2},
        {"kind": "sampled", "sigma": "1", "rate": "0.01", "times": 10},
        {"kind": "guarantee", "epsilon": "ln(3)", "delta": "1e-12", "times": 1},
    ]
    for some in (parts, [SURVEY]):
        answer: Any = numbers({"parts": some, "delta": "1e-7"})
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(answer["python"], {})  # noqa: S102  # that it runs is the point
        assert printed.getvalue().strip() == answer["epsilon"]["text"]


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "ln(3)", "1", "5"])
def test_the_noise_interval_of_a_count_is_the_least_that_holds(epsilon: str) -> None:
    if epsilon == "ln(3)":
        assert noise_of(Part("response", (epsilon,), 1)) is None
        return
    half = int(noise_of(Part("geometric", (epsilon,), 1)) or -1)
    a = math.exp(-float(epsilon))
    weights = {value: (1 - a) / (1 + a) * a ** abs(value) for value in range(-3000, 3001)}
    inside = sum(weight for value, weight in weights.items() if abs(value) <= half)
    assert inside >= 0.95 - 1e-9
    if half:
        assert inside - 2 * weights[half] < 0.95


def test_an_epsilon_that_no_delta_so_small_allows_is_infinite_and_says_why() -> None:
    answer: Any = numbers({"parts": [{"kind": "guarantee", "epsilon": "1", "delta": "0.01", "times": 30}]})
    assert answer["epsilon"] == {"text": "infinite", "value": None}
    assert answer["belief"]["upper"] == "1"
    assert answer["disclosure"]["text"] == "0.2603"


def test_the_least_and_the_loudest_are_answered_too() -> None:
    for part in (
        {"kind": "gaussian", "sigma": "0.1", "times": 1000},
        {"kind": "guarantee", "epsilon": "0", "delta": "0", "times": 1},
        {"kind": "geometric", "epsilon": "5", "times": 1000},
    ):
        assert numbers({"parts": [part]})["times"] == part["times"]
        drawn: Any = curve({"parts": [part]})
        assert drawn["region"][0][0] == 0
        assert drawn["region"][-1][1] == 0


@pytest.mark.parametrize(
    "asked",
    [
        None,
        [],
        {},
        {"parts": []},
        {"parts": [GEOMETRIC] * 9},
        {"parts": "geometric"},
        {"parts": [None]},
        {"parts": [{"kind": "honest"}]},
        {"parts": [{"kind": ["geometric"]}]},
        {"parts": [{"kind": "geometric", "epsilon": 0.1}]},
        {"parts": [GEOMETRIC | {"epsilon": "0"}]},
        {"parts": [GEOMETRIC | {"epsilon": "nan"}]},
        {"parts": [GEOMETRIC | {"epsilon": "<img>"}]},
        {"parts": [GEOMETRIC | {"epsilon": "1" * 41}]},
        {"parts": [GEOMETRIC | {"times": 0}]},
        {"parts": [GEOMETRIC | {"times": 1.5}]},
        {"parts": [GEOMETRIC | {"times": 100_001}]},
        {"parts": [GEOMETRIC | {"sigma": "1"}]},
        {"parts": [GEOMETRIC], "prior": "0"},
        {"parts": [GEOMETRIC], "prior": "1"},
        {"parts": [GEOMETRIC], "delta": "2"},
        {"parts": [GEOMETRIC], "delta": 1e-6},
        {"parts": [GEOMETRIC], "beyond": "1"},
        {"parts": [SURVEY, {"kind": "sampled", "sigma": "1", "rate": "0.1", "times": 1}]},
    ],
)
def test_bad_input_gets_one_sentence(asked: object) -> None:
    with pytest.raises(InvalidParameter, match=r"must .*\."):
        numbers(asked)


def test_every_step_of_every_slider_is_a_mechanism() -> None:
    for kind in KINDS:
        first = {parameter.name: parameter.first for parameter in kind.parameters}
        for parameter in kind.parameters:
            values = [float(step) for step in parameter.steps]
            assert values == sorted(values)
            for step in parameter.steps:
                assert read_parts([{"kind": kind.name, **first, parameter.name: step, "times": 1}])[0].thing
