"""Makes reference/composition.json: `python reference/make.py` (a quarter of an hour).

Exact values of optimal composition, in 30 digits. Nothing of the library is used, and no formula of it: no
tilting, no transform, no rounding of epsilons. The two laws of the composed randomised responses are
summed outright, A = P(loss > x) under one hypothesis and B under the other, so that delta = A - e^epsilon B,
at 80 digits, of which the difference costs a few. Between two neighbouring losses this is also solved for
epsilon. How the laws are found depends on the case:

- equal epsilons: binomial, each term from its neighbour, the first by log-gamma;
- different epsilons on a lattice: every coefficient of the product polynomial, in balls, no term negative;
- forty arbitrary epsilons: all 2^40 outcomes, as pairs of 2^20 and 2^20 sorted losses.

`hom` and `het` hold delta at the epsilon `at`; `epsilon` holds the least epsilon at a delta. The entries
`laplace` and `mixed` are not of this kind, and are kept as they are in the file: contour integrals of the
loss's moment generating function at 30 digits, in 20 digits.

Contour integrals over a part of the line are not good enough for an arithmetic progression of epsilons: it
resonates far out. That cost an earlier edition of `het` its digits after the eighth.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import mpmath
from flint import arb, arb_poly, ctx, fmpq, fmpz
from mpmath import mpf

TABLE = Path(__file__).with_name("composition.json")
NOTE = (
    "Exact values to test against, made by reference/make.py apart from the library. hom, het, laplace, mixed: "
    "delta at epsilon `at`. epsilon: the least epsilon at delta. All digits given hold."
)
DIGITS = 30
WORKING = 80

mpmath.mp.dps = WORKING
Entry = dict[str, str | int]


# Equal mechanisms.


def tails(epsilon: mpf, times: int, first: int) -> tuple[mpf, mpf]:
    """A and B: the chances of at least `first` high answers, under either hypothesis."""
    high = 1 / (1 + mpmath.exp(-epsilon))
    log_choose = mpmath.loggamma(times + 1) - mpmath.loggamma(first + 1) - mpmath.loggamma(times - first + 1)
    term = mpmath.exp(log_choose + first * mpmath.log(high) + (times - first) * mpmath.log(1 - high))
    ratio = high / (1 - high)
    back = mpmath.exp(-(2 * first - times) * epsilon)  # the likelihood ratio at this index
    shrink = mpmath.exp(-2 * epsilon)
    above, below = mpf(0), mpf(0)
    for i in range(first, times + 1):
        above += term
        below += term * back
        if i > times * high and term < above * mpf(10) ** (10 - WORKING):
            break
        term *= ratio * (times - i) / (i + 1)
        back *= shrink
    return above, below


def equal_delta(epsilon: str, times: int, delta: str, at: str) -> mpf:
    """delta at an epsilon, of k copies: loss (2i - k) epsilon with i binomial."""
    first = math.floor((Fraction(at) / Fraction(epsilon) + times) / 2) + 1
    disclosed = -mpmath.expm1(times * mpmath.log1p(-mpf(delta)))
    if first > times:
        return disclosed
    above, below = tails(mpf(epsilon), times, first)
    return disclosed + (1 - disclosed) * (above - mpmath.exp(mpf(at)) * below)


def equal_epsilon(epsilon: str, times: int, target: str, delta: str = "0") -> mpf:
    """The least epsilon at a delta, of k copies."""
    step = mpf(epsilon)
    disclosed = -mpmath.expm1(times * mpmath.log1p(-mpf(delta)))
    pure = (mpf(target) - disclosed) / (1 - disclosed)

    def excess(first: int) -> mpf:
        """delta at the loss just below `first`, less what is wanted."""
        above, below = tails(step, times, first)
        return above - mpmath.exp((2 * (first - 1) - times) * step) * below - pure

    low, up = times // 2, times  # the excess is positive at low, or epsilon is 0; negative at up
    if excess(up) > 0:
        low = up
    while up - low > 1:
        middle = (low + up) // 2
        low, up = (middle, up) if excess(middle) > 0 else (low, middle)
    above, below = tails(step, times, low)
    return mpmath.log((above - pure) / below)


# Different mechanisms on a lattice.


@dataclass(frozen=True)
class Lattice:
    """Randomised responses of epsilons multiple * spacing, one each, in two halves."""

    spacing: Fraction
    multiples: tuple[int, ...]

    def factor(self, multiple: int) -> arb_poly:
        """The law of one response: 0 or `multiple` steps."""
        high = 1 / (1 + (-multiple * arb(as_fmpq(self.spacing))).exp())
        return arb_poly([1 - high, *[0] * (multiple - 1), high])

    def law(self, multiples: Sequence[int]) -> list[arb]:
        """The law of the number of steps; its mirror image is the law under the other hypothesis."""
        factors = [self.factor(multiple) for multiple in multiples]
        while len(factors) > 1:
            factors = [math.prod(factors[i : i + 2], start=arb_poly([1])) for i in range(0, len(factors), 2)]
        return list(factors[0].coeffs())

    @cached_property
    def halves(self) -> tuple[list[arb], list[arb], list[arb], list[arb]]:
        """The first half's law under both hypotheses; of the second, sums from each number of steps on."""
        ctx.prec = 128
        half = len(self.multiples) // 2
        first, second = self.law(self.multiples[:half]), self.law(self.multiples[half:])
        return (
            first,
            first[::-1],
            list(accumulate(reversed(second), initial=arb(0)))[::-1],
            list(accumulate(second, initial=arb(0)))[::-1],
        )

    def tails(self, epsilon: Fraction) -> tuple[arb, arb]:
        """A and B: the chances of a loss above epsilon, under either hypothesis."""
        one, other, one_tails, other_tails = self.halves
        most = len(one_tails) - 1
        steps = math.floor((epsilon / self.spacing + sum(self.multiples)) / 2) + 1
        above = below = arb(0)
        for i, (p, q) in enumerate(zip(one, other, strict=True)):
            needed = min(max(steps - i, 0), most)
            above += p * one_tails[needed]
            below += q * other_tails[needed]
        return above, below

    def delta(self, epsilon: Fraction) -> str:
        above, below = self.tails(epsilon)
        return digits_of(above - arb(as_fmpq(epsilon)).exp() * below)

    def epsilon(self, delta: str) -> str:
        """Newton from the left on a convex, decreasing function of e^epsilon, until it stays."""
        target, epsilon = arb(as_fmpq(Fraction(delta))), Fraction(0)
        while True:
            above, below = self.tails(epsilon)
            following = ((above - target) / below).log()
            if abs(following - arb(as_fmpq(epsilon))) < arb(2) ** -100:
                return digits_of(following)
            mantissa, exponent = following.mid().man_exp()
            epsilon = int(mantissa) * Fraction(2) ** int(exponent)


def as_fmpq(value: Fraction) -> fmpq:
    return fmpq(fmpz(value.numerator), fmpz(value.denominator))


def digits_of(value: arb) -> str:
    """As many digits as are given elsewhere, all of which hold."""
    if value.rel_accuracy_bits() < DIGITS * math.log2(10):
        raise ArithmeticError(f"{value} is not known to {DIGITS} digits")
    return str(value.str(DIGITS, radius=False))


def progression(count: int) -> Lattice:
    """0.005 + 0.095 i / count for i = 1 .. count, on its coarsest lattice."""
    epsilons = [Fraction(5, 1000) + Fraction(95, 1000) * Fraction(i, count) for i in range(1, count + 1)]
    return on_lattice(epsilons)


def on_lattice(epsilons: Sequence[Fraction]) -> Lattice:
    denominator = math.lcm(*(epsilon.denominator for epsilon in epsilons))
    spacing = Fraction(math.gcd(*(int(epsilon * denominator) for epsilon in epsilons)), denominator)
    return Lattice(spacing, tuple(int(epsilon / spacing) for epsilon in epsilons))


# Arbitrary mechanisms.


def arbitrary(epsilons: Sequence[str], delta: str) -> mpf:
    """All outcomes, in two halves; float losses only decide the order, where ties contribute nothing."""

    def half(values: Iterable[str]) -> list[tuple[float, mpf, mpf]]:
        outcomes = [(mpf(0), mpf(1), mpf(1))]
        for value in map(mpf, values):
            high = 1 / (1 + mpmath.exp(-value))
            outcomes = [
                outcome
                for loss, one, other in outcomes
                for outcome in (
                    (loss + value, one * high, other * (1 - high)),
                    (loss - value, one * (1 - high), other * high),
                )
            ]
        return sorted((float(loss), one, other) for loss, one, other in outcomes)

    left, right = half(epsilons[::2]), half(epsilons[1::2])
    losses = [loss for loss, _, _ in right]
    ones, others = [mpf(0)], [mpf(0)]
    for _, one, other in reversed(right):  # sums over the largest losses
        ones.append(ones[-1] + one)
        others.append(others[-1] + other)

    epsilon = mpf(0)
    while True:  # Newton from the left on a convex, decreasing function of e^epsilon
        above = below = mpf(0)
        for loss, one, other in left:
            count = len(losses) - bisect_right(losses, float(epsilon) - loss)
            above += one * ones[count]
            below += other * others[count]
        following = mpmath.log((above - mpf(delta)) / below)
        if abs(following - epsilon) < mpf(10) ** -40:
            return following
        epsilon = following


def primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


# The table.

HOM = [
    ("0.1", "0.001", 30, "0"),
    ("0.1", "0.001", 30, "0.5"),
    ("0.1", "0.001", 30, "1"),
    ("0.1", "0", 1000, "15"),
    ("0.1", "0", 10**4, "300"),
    ("0.01", "0", 10**6, "70"),
    ("0.1", "0", 10**6, "8000"),
]
HET = [(20, "0.5"), (20, "1"), (100, "2"), (100, "4"), (1000, "5"), (1000, "12")]
EQUAL = [
    ("table", "0.1", 100, "1e-6"),
    ("table", "0.01", 1000, "1e-6"),
    ("table", "0.01", 100, "1e-9"),
    ("table", "0.01", 10**4, "1e-10"),
    ("table", "0.001", 10**6, "1e-12"),
    ("table", "0.001", 10**6, "1e-100"),
    *(("deltas", "0.1", 10**6, f"1e-{digits}") for digits in (1, 6, 12, 50, 100, 200, 300)),
    ("thousand", "0.1", 10**3, "1e-6"),
    ("hundred-thousand", "0.1", 10**5, "1e-6"),
    ("hundred-thousand", "0.1", 10**5, "1e-15"),
    ("ten-million", "0.1", 10**7, "1e-300"),
]
DISCLOSING = ["0.03", "0.04", "0.05", "0.1"]
PROGRESSIONS = [20, 100, 1000]


def hom(most: int) -> list[Entry]:
    """delta of equal mechanisms, of those that are used no more than so often."""
    return [
        {
            "epsilon": epsilon,
            "delta": delta,
            "times": times,
            "at": at,
            "value": mpmath.nstr(equal_delta(epsilon, times, delta, at), DIGITS),
        }
        for epsilon, delta, times, at in HOM
        if times <= most
    ]


def het(most: int) -> list[Entry]:
    """delta of an arithmetic progression of epsilons, of those no longer than so many."""
    lattices = {count: progression(count) for count in PROGRESSIONS if count <= most}
    return [
        {
            "epsilons": "0.005 + 0.095 i/k, i = 1..k",
            "k": count,
            "at": at,
            "value": lattices[count].delta(Fraction(at)),
        }
        for count, at in HET
        if count <= most
    ]


def equal_epsilons(most: int) -> list[Entry]:
    """epsilon of equal mechanisms, of those that are used no more than so often."""
    pure = [
        entry(task, f"{times} x {epsilon}", delta, mpmath.nstr(equal_epsilon(epsilon, times, delta), DIGITS))
        for task, epsilon, times, delta in EQUAL
        if times <= most
    ]
    return pure + [
        entry("table", "30 x (0.1, 0.001)", delta, mpmath.nstr(equal_epsilon("0.1", 30, delta, "0.001"), DIGITS))
        for delta in DISCLOSING
    ]


def progression_epsilons(most: int) -> list[Entry]:
    """epsilon at 1e-6 of an arithmetic progression of epsilons."""
    text = "0.005 + 0.095 i/{0}, i = 1..{0}"
    return [
        entry("progression", text.format(count), "1e-6", progression(count).epsilon("1e-6"))
        for count in PROGRESSIONS
        if count <= most
    ]


def slow_epsilons() -> list[Entry]:
    """epsilon where the law takes minutes."""
    thousandths = on_lattice([Fraction(i, 1000) for i in range(1, 1001)])
    decimals = [repr(math.sqrt(prime) / 100) for prime in primes(40)]
    text = "repr(sqrt(p)/100), as decimals, for the first 40 primes p"
    return [
        *(
            entry("thousandths", "i/1000, i = 1..1000", delta, thousandths.epsilon(delta))
            for delta in ("1e-6", "1e-100")
        ),
        entry("arbitrary", text, "1e-6", mpmath.nstr(arbitrary(decimals, "1e-6"), DIGITS)),
    ]


def entry(task: str, epsilons: str, delta: str, value: str) -> Entry:
    print(task, epsilons, delta, value, flush=True)
    return {"task": task, "epsilons": epsilons, "delta": delta, "value": value}


def table(kept: dict[str, list[Entry]]) -> dict[str, str | list[Entry]]:
    """The whole file; `kept` is the one before."""
    everything = 10**7
    return {
        "note": NOTE,
        "hom": hom(everything),
        "het": het(everything),
        "epsilon": [*equal_epsilons(everything), *progression_epsilons(everything), *slow_epsilons()],
        "laplace": kept["laplace"],
        "mixed": kept["mixed"],
    }


if __name__ == "__main__":
    made = table(json.loads(TABLE.read_text(encoding="utf-8")))
    TABLE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
