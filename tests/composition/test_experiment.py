"""The composition experiment: who may ask what, what is seen, and that nobody passes the composed region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from random import Random, SystemRandom
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import ApproximateDP, DiscretePair, PureDP, Region, compose, ln
from indistinct.composition import experiment
from indistinct.composition.adversaries import LikelihoodAdversary, Repeater, bobs, people
from indistinct.composition.allowance import Family, Request
from indistinct.composition.experiment import NO_COINS, Hypothesis, View, exact_power, run, runs_of, view_laws
from indistinct.composition.guarantees import Guarantee
from indistinct.composition.mechanism import (
    Database,
    FiniteMechanism,
    Query,
    four_point,
    geometric,
    randomized_response,
)
from indistinct.errors import InvalidParameter
from indistinct.regions import StochasticMap, dominating_pair
from tests.composition.seeds import seeded

LN2, LN3 = PureDP("ln(2)"), PureDP("ln(3)")
SURVEY = randomized_response("ln(3)")


@dataclass(frozen=True)
class Scripted:
    """Asks for what a list says, and decides as a function says."""

    requests: tuple[Request | None, ...]
    decide: Callable[[View], int] = field(default=lambda _: 0)
    coins: Mapping[Hashable, Fraction] = field(default_factory=lambda: NO_COINS)

    def request(self, view: View) -> Request | None:
        return self.requests[len(view.answers)]

    def guess(self, view: View) -> Hypothesis:
        return self.decide(view)  # type: ignore[return-value]  # what is tested


def asking(mechanism: object, database0: Database = (), database1: Database = ("Bob",)) -> Scripted:
    return Scripted((Request(database0, database1, people, mechanism),) * 9)  # type: ignore[arg-type]  # tests lie


# Who may ask what.


def test_a_mechanism_that_lies_about_its_epsilon_is_refused() -> None:
    liar = FiniteMechanism(LN2, SURVEY.table)
    with pytest.raises(InvalidParameter) as refusal:
        run(asking(liar), 1, 0, family=LN3)
    assert str(refusal.value) == (
        "a mechanism's guarantee must hold for its exact laws on the databases asked about, but is "
        "PureDP(ln(2)). At this epsilon they need a delta of 0.25."
    )
    with pytest.raises(InvalidParameter, match="must hold for its exact laws"):
        exact_power(asking(liar), 1, family=LN3)


def test_a_lie_in_the_last_place_is_refused() -> None:
    honest = four_point("0.1", "0.001")
    for claim in (ApproximateDP("0.09999999999999999", "0.001"), ApproximateDP("0.1", "0.000999999999999999")):
        with pytest.raises(InvalidParameter, match="must hold for its exact laws"):
            run(asking(FiniteMechanism(claim, honest.table)), 1, 0, family=ApproximateDP(1, 1))
    run(asking(honest), 1, 0, family=honest.guarantee)


def test_a_mechanism_outside_the_family_is_refused() -> None:
    with pytest.raises(InvalidParameter) as refusal:
        run(asking(SURVEY), 1, 0, family=LN2)
    assert str(refusal.value) == (
        "a mechanism's guarantee must imply one that the family has left (PureDP(ln(2))), but is PureDP(ln(3))."
    )


def test_a_mechanism_may_keep_more_than_the_family_asks_for() -> None:
    for family in (PureDP(2), ApproximateDP("ln(3)", "1/9"), ApproximateDP("ln(2)", "1/4"), ApproximateDP("ln(3)", 0)):
        assert len(run(asking(SURVEY), 2, 1, family=family).answers) == 2
    with pytest.raises(InvalidParameter, match="must imply"):
        run(asking(SURVEY), 1, 1, family=ApproximateDP("ln(2)", "0.2499999999"))


def test_databases_differ_in_one_person() -> None:
    counter = geometric("ln(3)", 4)
    for pair in ((("Ann",), ("Ann", "Bob")), (("Ann",), ("Bob",)), (("Ann",), ("Ann",))):
        assert len(run(asking(counter, *pair), 3, 0, family=LN3).answers) == 3
    for first, second in (((), ("Ann", "Bob")), (("Ann", "Ann"), ("Bob", "Bob"))):
        with pytest.raises(InvalidParameter, match="a request's databases must differ in at most one person"):
            run(asking(counter, first, second), 3, 0, family=LN3)


def test_a_request_is_made_of_hashable_parts() -> None:
    with pytest.raises(InvalidParameter, match="a request must be made of hashable parts"):
        run(asking(SURVEY, [], ["Bob"]), 1, 0, family=LN3)  # type: ignore[arg-type]  # lists are no tuples


def test_a_stock_is_used_up() -> None:
    strong, weak = Request((), ("Bob",), people, SURVEY), Request((), ("Bob",), people, randomized_response("ln(2)"))
    stock: Family = {LN2: 1, LN3: 1}
    for order in ((weak, strong), (strong, weak)):
        assert len(run(Scripted(order), 2, 0, family=stock).answers) == 2
    with pytest.raises(InvalidParameter, match=r"the family has left \(PureDP\(ln\(2\)\)\)"):
        run(Scripted((strong, strong)), 2, 0, family=stock)
    # A weaker mechanism uses up its own guarantee first, and then one that it implies.
    assert len(run(Scripted((weak, weak)), 2, 0, family=[LN3, LN2]).answers) == 2


@pytest.mark.parametrize("family", [[LN3] * 3, {LN3: 1}, [], {}])
def test_a_stock_is_for_so_many_requests(family: Family) -> None:
    with pytest.raises(InvalidParameter, match="times must be the number of guarantees in the family"):
        run(asking(SURVEY), 2, 0, family=family)


@pytest.mark.parametrize("family", ["ln(3)", 3, [3], {3: 2}, None])
def test_a_family_is_made_of_guarantees(family: Family) -> None:
    with pytest.raises(InvalidParameter, match="family must be a guarantee"):
        run(asking(SURVEY), 2, 0, family=family)


@pytest.mark.parametrize("hypothesis", [2, -1, None, "0"])
def test_a_hypothesis_is_0_or_1(hypothesis: Hypothesis) -> None:
    with pytest.raises(InvalidParameter, match="hypothesis must be 0 or 1"):
        run(asking(SURVEY), 1, hypothesis, family=LN3)


def test_a_guess_is_0_or_1() -> None:
    with pytest.raises(InvalidParameter, match="an adversary's guess must be 0 or 1, but is 2"):
        exact_power(replace(asking(SURVEY), decide=lambda _: 2), 1, family=LN3)


# What is seen.


@dataclass(frozen=True, eq=False)
class Recording:
    """A survey that remembers on which databases it was run."""

    databases: list[Database] = field(default_factory=list)
    guarantee: Guarantee = LN3

    def laws(self, query: Query, database0: Database, database1: Database) -> DiscretePair:
        return SURVEY.laws(query, database0, database1)

    def release(self, query: Query, database: Database, random: Random) -> Hashable:
        self.databases.append(database)
        return SURVEY.release(query, database, random)


@pytest.mark.parametrize("hypothesis", [0, 1])
def test_only_the_databases_of_the_hypothesis_are_used(hypothesis: Hypothesis) -> None:
    mechanism = Recording()
    run(asking(mechanism), 5, hypothesis, family=LN3)
    assert mechanism.databases == [((), ("Bob",))[hypothesis]] * 5


def test_an_adversary_may_stop() -> None:
    request = Request((), ("Bob",), people, SURVEY)
    adversary = Scripted((request, None))
    assert len(run(adversary, 5, 0, family=LN3).answers) == 1
    assert {len(view.answers) for view in views(view_laws(adversary, 5, family=LN3))} == {1}


def test_a_seed_repeats_a_run() -> None:
    first, again, other = (run(Repeater(SURVEY), 40, 0, family=LN3, random=seeded(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_the_operating_system_draws_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(SystemRandom):
        drawn = 0

        def randrange(self, *arguments: int) -> int:  # type: ignore[override]  # all that is called
            Counting.drawn += 1
            return super().randrange(*arguments)

    monkeypatch.setattr(experiment, "SystemRandom", Counting)
    run(Repeater(SURVEY), 7, 0, family=LN3)
    assert Counting.drawn == 8  # the coin, and seven answers


def views(laws: DiscretePair) -> list[View]:
    return [view for view in laws.outcomes if isinstance(view, View)]


def test_the_laws_of_a_view_are_products() -> None:
    laws = view_laws(Repeater(SURVEY), 3, family=LN3)
    assert len(laws) == 16
    for view, p, q in zip(views(laws), laws.null, laws.alternative, strict=True):
        ones = view.answers.count(1)
        assert p == Fraction(3 ** (3 - ones), 2 * 4**3)
        assert q == Fraction(3**ones, 2 * 4**3)


@pytest.mark.parametrize("hypothesis", [0, 1])
def test_runs_follow_the_laws_of_the_view(hypothesis: Hypothesis) -> None:
    """Dvoretzky, Kiefer, Wolfowitz, Massart at 1e-9 for every order of views; the seed is fixed."""
    adversary = LikelihoodAdversary("ln(3)", "1/5")
    family = ApproximateDP("ln(3)", "1/5")
    laws = view_laws(adversary, 2, family=family)
    source = runs_of(adversary, 2, hypothesis, family=family, random=seeded(5))
    seen = Counter(next(source) for _ in range(20_000))
    assert seen.keys() <= set(laws.outcomes)
    gap = total = 0.0
    for view, p, q in zip(views(laws), laws.null, laws.alternative, strict=True):
        total += seen[view] / 20_000 - float(q if hypothesis else p)
        gap = max(gap, abs(total))
    assert gap < 0.0232  # sqrt(ln(2e9) / 40000)


def test_coins_are_part_of_the_view() -> None:
    """A rejection rule that only tosses its coin: missed detection and false alarm add up to one."""
    coins: dict[Hashable, Fraction] = {"heads": Fraction(1, 3), "tails": Fraction(2, 3)}
    adversary = Scripted((None,), lambda view: int(view.coins == "heads"), coins)
    errors = exact_power(adversary, 1, family=LN3)
    assert (errors.missed_detection, errors.false_alarm) == (Fraction(2, 3), Fraction(1, 3))


def test_an_enumeration_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "_MOST_VIEWS", 64)
    assert len(view_laws(asking(SURVEY), 6, family=LN3)) == 64
    with pytest.raises(InvalidParameter, match="times must leave at most 64 views to enumerate, but is 7"):
        view_laws(asking(SURVEY), 7, family=LN3)


# The converse: no adversary passes the region of the composition.


@dataclass(frozen=True)
class Tree:
    """A random decision tree: what it asks, of whom, in which order, and what it decides, by its view.

    `stock` holds some mechanisms for each guarantee; a path uses every entry once at most.
    """

    stock: tuple[tuple[FiniteMechanism, ...], ...]
    seed: int
    coins: Mapping[Hashable, Fraction]

    def request(self, view: View) -> Request | None:
        left = list(self.stock)
        for asked in range(len(view.answers)):
            left.pop(self._pick("turn", view, asked) % len(left))
        asked = len(view.answers)
        if self._pick("stop", view, asked) % 8 == 0:
            return None
        mechanisms = left[self._pick("turn", view, asked) % len(left)]
        mechanism = mechanisms[self._pick("mechanism", view, asked) % len(mechanisms)]
        databases: list[Database] = [(), ("Bob",)]
        if self._pick("roles", view, asked) % 2:
            databases.reverse()
        return Request(databases[0], databases[1], bobs, mechanism)

    def guess(self, view: View) -> Hypothesis:
        return 1 if self._pick("guess", view, len(view.answers)) % 2 else 0

    def _pick(self, what: str, view: View, asked: int) -> int:
        return crc32(repr((self.seed, what, view.coins, view.answers[:asked])).encode()) >> 8


def private_mechanism(guarantee: Guarantee, rows: list[list[int]]) -> FiniteMechanism:
    """Any mechanism that keeps the guarantee is a map of the 4-point pair (KOV, Theorem 2.5)."""
    kernel = StochasticMap(
        {x: {y: Fraction(weight, sum(row)) for y, weight in enumerate(row)} for x, row in enumerate(rows)}, (0, 1, 2)
    )
    pair = kernel.apply(dominating_pair(guarantee.epsilon, guarantee.delta))
    laws = [dict(zip(pair.outcomes, law, strict=True)) for law in (pair.null, pair.alternative)]
    return FiniteMechanism(guarantee, {0: laws[0], 1: laws[1]})


guarantees = st.one_of(
    st.sampled_from([LN2, LN3, PureDP("ln(3/2)"), PureDP(0)]),
    st.builds(ApproximateDP, st.sampled_from([ln(2), ln(3), 0]), st.sampled_from(["1/10", "1/3"])),
)
rows = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any), min_size=4, max_size=4)
sharp = st.just([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, list[Guarantee]]:
    family = draw(st.lists(guarantees, min_size=1, max_size=4))
    stock = tuple(
        tuple(private_mechanism(each, kernel) for kernel in draw(st.lists(rows | sharp, min_size=1, max_size=2)))
        for each in family
    )
    heads = draw(st.sampled_from([Fraction(1), Fraction(1, 3)]))
    coins: dict[Hashable, Fraction] = {"heads": heads, "tails": 1 - heads}
    return Tree(stock, draw(st.integers(0, 2**32)), coins), family


def product_region(family: list[Guarantee]) -> Region:
    """The exact region of the composition: that of all 4-point pairs at once (KOV, section 5)."""
    return Region.of(reduce(DiscretePair.tensor, (dominating_pair(each.epsilon, each.delta) for each in family)))


@settings(deadline=None, max_examples=60)
@given(trees())
def test_no_adversary_passes_the_region_whatever_it_asks_and_however_it_decides(
    drawn: tuple[Tree, list[Guarantee]],
) -> None:
    adversary, family = drawn
    exact, certified = product_region(family), compose(family).region()
    assert certified.includes(exact)
    assert exact.includes(Region.of(view_laws(adversary, len(family), family=family)))
    errors = exact_power(adversary, len(family), family=family)
    assert exact.contains(errors.missed_detection, errors.false_alarm)
    assert certified.contains(errors.missed_detection, errors.false_alarm)


@pytest.mark.parametrize("family", [[LN3] * 4, [LN2, LN3, ApproximateDP("ln(3)", "1/10")]])
def test_a_region_that_forgets_a_use_is_passed(family: list[Guarantee]) -> None:
    """The test above can fail: each guarantee used at its sharpest fills the region, so it passes less."""
    sharpest = [private_mechanism(each, [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) for each in family]
    adversary = Scripted(tuple(Request((), ("Bob",), bobs, mechanism) for mechanism in sharpest))
    achieved = Region.of(view_laws(adversary, len(family), family=family))
    for forgotten in range(len(family)):
        fewer = family[:forgotten] + family[forgotten + 1 :]
        assert not product_region(fewer).includes(achieved)
        assert not compose(fewer).region().includes(achieved)
