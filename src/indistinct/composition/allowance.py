"""What an adversary may ask for: requests, and the guarantees that they use up.

The family of a composition experiment is a fixed stock of guarantees. Every request uses up one of them,
and the order may depend on what has been seen: each guarantee's 4-point pair can be drawn beforehand, and
a request is answered from the pair whose turn it is (KOV, section 5.2), so the composed region does not
depend on the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.guarantees import ApproximateDP, Guarantee, PureDP
from indistinct.composition.mechanism import Database, Mechanism, Query
from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_count
from indistinct.regions import DiscretePair, Region, implied_delta, satisfies

__all__ = ["Allowance", "Family", "Request", "are_neighbours"]

Family = Guarantee | Mapping[Guarantee, int] | Sequence[Guarantee]
"""One guarantee for every request, or the stock of them, as `compose` takes it."""

_FORM = "be a guarantee such as PureDP('0.1'), a sequence of them, or a mapping to how often each is used"


@dataclass(frozen=True, slots=True)
class Request:
    """What an adversary asks for: (D0, D1, q, M) in KOV's section 3."""

    database0: Database
    database1: Database
    query: Query
    mechanism: Mechanism


def are_neighbours(first: Database, second: Database) -> bool:
    """Whether two databases differ in at most one person: a row added, removed or changed.

    >>> are_neighbours(("Ann", "Bob"), ("Ann",)), are_neighbours(("Ann",), ("Bob",))
    (True, True)
    >>> are_neighbours(("Ann", "Bob"), ())
    False
    """
    rows, others = Counter(first), Counter(second)
    return (rows - others).total() <= 1 and (others - rows).total() <= 1


class Allowance:
    """What is left of the stock at one point of an experiment.

    `after` checks a request and says what is left after it. Every request is checked once and remembered,
    so that thousands of runs cost a look-up each.
    """

    __slots__ = ("_checked", "_following", "_known", "left")

    def __init__(
        self,
        left: tuple[tuple[Guarantee, int], ...],
        checked: dict[Request, DiscretePair],
        known: dict[tuple[tuple[Guarantee, int], ...], Allowance],
    ) -> None:
        self.left = left
        self._checked = checked
        self._known = known
        self._following: dict[Request, Allowance] = {}

    @classmethod
    def of(cls, family: Family, times: object) -> Allowance:
        """The whole stock, for exactly so many requests."""
        count = read_count("times", times)
        stock: Counter[Guarantee] = Counter()
        match family:
            case PureDP() | ApproximateDP():
                stock[family] = count
            case Mapping():
                for guarantee, uses in family.items():
                    stock[guarantee] += read_count("how often a guarantee is used", uses)
            case Sequence():
                stock.update(family)
            case _:
                raise InvalidParameter("family", family, _FORM)
        for guarantee in stock:
            if not isinstance(guarantee, PureDP | ApproximateDP):
                raise InvalidParameter("family", family, _FORM)
        if stock.total() != count:
            raise InvalidParameter("times", times, f"be the number of guarantees in the family, {stock.total()}")
        return cls(tuple(item for item in stock.items() if item[1]), {}, {})

    def after(self, request: Request) -> Allowance:
        """What is left once the request is granted; an InvalidParameter says why it is not."""
        try:
            return self._following[request]
        except KeyError:
            pass
        except TypeError:
            raise InvalidParameter("a request", request, "be made of hashable parts, databases of tuples") from None
        if request not in self._checked:
            self._checked[request] = _checked_laws(request)
        left = self._without(self._used_by(request.mechanism.guarantee))
        following = self._known.setdefault(left, Allowance(left, self._checked, self._known))
        self._following[request] = following
        return following

    def laws(self, request: Request) -> DiscretePair:
        """The exact laws of a request that was granted."""
        return self._checked[request]

    def _used_by(self, declared: Guarantee) -> Guarantee:
        """The guarantee that a mechanism uses up: its own if there is one left, else one that it implies."""
        guarantees = [guarantee for guarantee, _ in self.left]
        if declared in guarantees:
            return declared
        for guarantee in guarantees:
            if _implies(declared, guarantee):
                return guarantee
        stock = ", ".join(repr(guarantee) for guarantee in guarantees) or "nothing"
        raise InvalidParameter("a mechanism's guarantee", declared, f"imply one that the family has left ({stock})")

    def _without(self, used: Guarantee) -> tuple[tuple[Guarantee, int], ...]:
        counts = ((guarantee, count - (guarantee == used)) for guarantee, count in self.left)
        return tuple(item for item in counts if item[1])


def _checked_laws(request: Request) -> DiscretePair:
    """The exact laws of a request, once it is certain that they keep what the mechanism declares."""
    databases = request.database0, request.database1
    if not are_neighbours(*databases):
        raise InvalidParameter("a request's databases", databases, "differ in at most one person")
    declared = request.mechanism.guarantee
    laws = request.mechanism.laws(request.query, *databases)
    if not satisfies(laws, declared.epsilon, declared.delta):
        least = Region.of(laws).profile().delta(declared.epsilon)
        raise InvalidParameter(
            "a mechanism's guarantee",
            declared,
            "hold for its exact laws on the databases asked about",
            instead=f"At this epsilon they need a delta of {least:.4g}.",
        )
    return laws


def _implies(declared: Guarantee, allowed: Guarantee) -> bool:
    """Whether everything that keeps the first keeps the second (KOV, Remark A.1)."""
    needed = implied_delta(declared.epsilon, declared.delta, allowed.epsilon)
    return (needed if isinstance(needed, Fraction) else Fraction(needed.upper)) <= allowed.delta
