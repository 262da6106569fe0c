"""Makes the epsilons of reference/composition.json: `python reference/generate.py` (some minutes).

The least epsilon at a delta, after optimal composition of pure mechanisms, in 30 digits. Nothing of the
library is used, and no formula of it: the two laws of the composed randomised responses are summed
outright, A = P(loss > x) under one hypothesis and B under the other, and between two neighbouring losses
delta = A - e^epsilon B is solved for epsilon. What is summed depends on the case:

- equal epsilons: the binomial tail, each term from its neighbour, the first by log-gamma at 80 digits;
- different epsilons on the lattice of thousandths: every coefficient of the product polynomial, in balls;
- forty arbitrary epsilons: all 2^40 outcomes, as pairs of 2^20 and 2^20 sorted losses.

The other entries of the file are kept as they are: exact sums at 50 digits, or contour integrals of the
loss's moment generating function at 30 digits, of which the digits given all hold.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from pathlib import Path

import mpmath
from flint import arb, arb_poly, ctx, fmpq
from mpmath import mpf

TABLE = Path(__file__).with_name("composition.json")
DIGITS = 30


def equal(epsilon: str, times: int, delta: str) -> mpf:
    """k copies: loss (2i - k) epsilon with i binomial; the tail is summed from index i upwards."""
    step, target = mpf(epsilon), mpf(delta)
    high = 1 / (1 + mpmath.exp(-step))

    def tails(first: int) -> tuple[mpf, mpf]:
        log_choose = mpmath.loggamma(times + 1) - mpmath.loggamma(first + 1) - mpmath.loggamma(times - first + 1)
        term = mpmath.exp(log_choose + first * mpmath.log(high) + (times - first) * mpmath.log(1 - high))
        ratio = high / (1 - high)
        back = mpmath.exp(-(2 * first - times) * step)  # the likelihood ratio at this index
        shrink = mpmath.exp(-2 * step)
        above, below = mpf(0), mpf(0)
        for i in range(first, times + 1):
            above += term
            below += term * back
            if term < above * mpf(10) ** -70:
                break
            term *= ratio * (times - i) / (i + 1)
            back *= shrink
        return above, below

    def excess(first: int) -> mpf:
        """delta at the loss just below `first`, less the target."""
        above, below = tails(first)
        return above - mpmath.exp((2 * (first - 1) - times) * step) * below - target

    low, up = times // 2, times  # the excess is positive at low, or epsilon is 0; negative at up
    if excess(up) > 0:
        low = up
    while up - low > 1:
        middle = (low + up) // 2
        low, up = (middle, up) if excess(middle) > 0 else (low, middle)
    above, below = tails(low)
    return mpmath.log((above - target) / below)


def thousandths(count: int, deltas: list[str]) -> list[str]:
    """0.001, 0.002, ... once each: the coefficient of x^s is the probability that the high ones sum to s."""
    ctx.prec = 2000

    def factor(i: int) -> arb_poly:
        high = 1 / (1 + arb(fmpq(-i, 1000)).exp())
        return arb_poly([1 - high, *[0] * (i - 1), high])

    factors = [factor(i) for i in range(1, count + 1)]
    while len(factors) > 1:
        factors = [math.prod(factors[i : i + 2], start=arb_poly([1])) for i in range(0, len(factors), 2)]
    law = factors[0].coeffs()
    total = len(law) - 1
    answers = []
    for delta in deltas:
        target = arb(fmpq(1, 10 ** -int(delta.removeprefix("1e"))))
        above = below = arb(0)
        for s in range(total, -1, -1):  # outcomes with loss (2s - total)/1000, from the largest
            above += law[s]
            below += law[total - s]
            next_loss = arb(fmpq(2 * (s - 1) - total, 1000))
            if above - next_loss.exp() * below > target:
                answers.append(((above - target) / below).log().str(DIGITS, radius=False))
                break
    return answers


def arbitrary(epsilons: list[str], delta: str) -> mpf:
    """All outcomes, in two halves; float losses only decide the order, where ties contribute nothing."""

    def half(values: list[str]) -> list[tuple[float, mpf, mpf]]:
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


def entries() -> list[dict[str, str]]:
    found = []
    cases = [
        ("deltas", 10**6, ["1e-1", "1e-6", "1e-12", "1e-50", "1e-100", "1e-200", "1e-300"]),
        ("thousand", 10**3, ["1e-6"]),
        ("hundred-thousand", 10**5, ["1e-6", "1e-15"]),
        ("ten-million", 10**7, ["1e-300"]),
    ]
    for task, times, deltas in cases:
        for delta in deltas:
            value = mpmath.nstr(equal("0.1", times, delta), DIGITS)
            found.append({"task": task, "epsilons": f"{times} x 0.1", "delta": delta, "value": value})
            print(found[-1], flush=True)
    deltas = ["1e-6", "1e-100"]
    for delta, value in zip(deltas, thousandths(1000, deltas), strict=True):
        found.append({"task": "thousandths", "epsilons": "i/1000, i = 1..1000", "delta": delta, "value": value})
        print(found[-1], flush=True)
    decimals = [repr(math.sqrt(prime) / 100) for prime in primes(40)]
    value = mpmath.nstr(arbitrary(decimals, "1e-6"), DIGITS)
    text = "repr(sqrt(p)/100), as decimals, for the first 40 primes p"
    found.append({"task": "arbitrary", "epsilons": text, "delta": "1e-6", "value": value})
    print(found[-1], flush=True)
    return found


if __name__ == "__main__":
    mpmath.mp.dps = 80
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    table["epsilon"] = entries()
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
