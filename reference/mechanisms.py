"""Makes reference/mechanisms.json: `python reference/mechanisms.py` (some minutes).

Exact epsilons of composed mechanisms, in up to 20 digits. Nothing of the library is used. delta is the inversion
integral of the summed loss's transform,

    delta(eps) = D + (1 - D) / (2 pi i) * integral over Re z = t of e^(K(z) - z eps) / (z (z + 1)) dz,

by the plain trapezoidal rule at 40 digits, with neither smoothing nor proof. Instead every value is computed again
with half the step and another t, which must agree, and the echoes that atoms make far out, which are left out, are
looked at: they cost the value at 1e-200 some of its digits. Poisson-sampled
Gaussian noise has its transform summed in the same way. Small deltas of equal randomised responses are summed outright
by make.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import mpmath
from flint import acb, arb, ctx
from mpmath import mpc, mpf

from reference import make

TABLE = Path(__file__).with_name("mechanisms.json")
NOTE = "The least epsilon at delta, made by reference/mechanisms.py apart from the library. All digits given hold."
DIGITS, AGREEING, WORKING = 20, 24, 40
LOWEST = 80

Transform = Callable[[mpc], mpc]
"""log E e^(z L), of all losses together."""
Entry = dict[str, str]


def in_ball(number: mpf) -> arb:
    """A number for arithmetic in balls, which sums of many terms use as it is fast: its radii are not relied on."""
    return arb(mpmath.nstr(number, WORKING + 5))


def out_of_ball(number: acb) -> mpc:
    return mpc(*(mpf(part.str(WORKING + 5, radius=False)) for part in (number.real, number.imag)))


def laplace(epsilon: str) -> Transform:
    e = mpf(epsilon)
    return lambda z: mpmath.log(((z + 1) * mpmath.exp(z * e) + z * mpmath.exp(-(z + 1) * e)) / (2 * z + 1))


def response(epsilon: str) -> Transform:
    e = mpf(epsilon)
    high = 1 / (1 + mpmath.exp(-e))
    return lambda z: mpmath.log(high * mpmath.exp(z * e) + (1 - high) * mpmath.exp(-z * e))


def gaussian(mu: str) -> Transform:
    square = mpf(mu) ** 2
    return lambda z: square * (z * z + z) / 2


def sampled_gaussian(sigma: str, rate: str, removing: bool, step: str = "0.1", reach: int = 16) -> Transform:
    """E over N(0, 1) of r^(z+1) when removing, of r^-z when adding, r = 1 - q + q e^((2 sigma x - 1) / (2 sigma^2))."""
    s, q, h = mpf(sigma), mpf(rate), mpf(step)
    far = reach + (int(1 / s) + 40 if removing else 0)  # under the tilt the mass moves right
    places = [n * h for n in range(-int(reach / h), int(far / h) + 1)]
    weights = [in_ball(h * mpmath.npdf(x)) for x in places]
    logs = [in_ball(mpmath.log(1 - q + q * mpmath.exp((2 * s * x - 1) / (2 * s * s)))) for x in places]

    def transform(z: mpc) -> mpc:
        power = acb(in_ball(z.real), in_ball(z.imag))
        power = power + 1 if removing else -power
        total = acb(0)
        for weight, log in zip(weights, logs, strict=True):
            total += weight * (power * log).exp()
        return out_of_ball(total.log())

    return transform


def progression(count: int) -> Transform:
    """Randomised responses of 0.005 + 0.095 i / count, i = 1 .. count, in balls, as they are many."""
    epsilons = [arb(5 * count + 95 * i) / (1000 * count) for i in range(1, count + 1)]
    lows = [1 / (1 + e.exp()) for e in epsilons]

    def transform(z: mpc) -> mpc:
        at = acb(in_ball(z.real), in_ball(z.imag))
        total = acb(0)
        for e, low in zip(epsilons, lows, strict=True):
            turned = (at * e).exp()
            total += ((1 - low) * turned + low / turned).log()
        return out_of_ball(total)

    return transform


def summed(parts: Sequence[tuple[Transform, int]]) -> Transform:
    return lambda z: mpmath.fsum(times * part(z) for part, times in parts)


class Contour:
    """K on one contour; every epsilon near the one it was laid out for costs one sum.

    The nodes end where the integrand is negligible, or begins to rise again: atoms make echoes of the main bell.
    """

    def __init__(self, transform: Transform, tilt: mpf, fineness: int) -> None:
        at_zero = transform(mpc(tilt)).real
        width = 1 / mpmath.sqrt(mpmath.diff(lambda t: transform(mpc(t)).real, tilt, 2, h=mpf("1e-10")) + tilt**-2)
        self.tilt, self.step = tilt, width / (6 * fineness)
        self.nodes = [(mpc(tilt), transform(mpc(tilt)))]
        lowest = at_zero
        while lowest > at_zero - LOWEST:
            z = mpc(tilt, len(self.nodes) * self.step)
            height = transform(z)
            if height.real > lowest and height.real < at_zero - 20:
                break
            lowest = min(lowest, height.real)
            self.nodes.append((z, height))
        end = self.nodes[-1][0].imag
        beyond = max(transform(mpc(tilt, end * (1 + mpf(n) / 5))).real for n in range(100))
        self.echo = mpmath.exp(beyond - at_zero) * tilt * (tilt + 1) / (end * width)
        """How large what is beyond may be, relative to the main bell."""

    def delta(self, epsilon: mpf) -> mpf:
        terms = [mpmath.exp(height - z * epsilon) / (z * (z + 1)) for z, height in self.nodes]
        return self.step / mpmath.pi * (mpmath.fsum(term.real for term in terms) - terms[0].real / 2)

    def epsilon(self, delta: mpf, start: mpf) -> mpf:
        """Where log delta(epsilon), all but a straight line, has its value: by secants."""
        ends = (start, start * mpf("1.001"))
        tolerance = mpf(10) ** -(2 * AGREEING)
        return mpmath.findroot(lambda at: mpmath.log(self.delta(at) / delta), ends, solver="secant", tol=tolerance)


def epsilon_at(transform: Transform, pure_delta: mpf, start: float) -> tuple[mpf, int]:
    """The epsilon of a delta, once by each of two contours, and in how many digits it holds."""
    first, second = (
        Contour(transform, saddle(transform, mpf(start)) * shift, fineness)
        for fineness, shift in ((1, mpf(1)), (2, mpf("1.13")))
    )
    value, other = (contour.epsilon(pure_delta, mpf(start)) for contour in (first, second))
    doubt = max(first.echo, second.echo) / first.tilt / value + mpf(10) ** -AGREEING
    if abs(value - other) > doubt * value:
        raise ArithmeticError(f"two contours disagree: {value}, {other}")
    return value, min(DIGITS, int(-mpmath.log10(doubt)) - 1)


def saddle(transform: Transform, epsilon: mpf) -> mpf:
    def slope(t: mpf) -> mpf:
        return mpmath.diff(lambda s: transform(mpc(s)).real, t, h=mpf("1e-12")) - 1 / t - 1 / (1 + t) - epsilon

    low, high = mpf("1e-3"), mpf(1000)
    for _ in range(30):
        middle = mpmath.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


MIXED = [("laplace", "0.05", 500), ("gaussian", "0.025", 500), ("response", "0.05", 1000), ("response", "0.01", 200)]
LAPLACE = [("1e-6", 18.95), ("1e-12", 26.02), ("1e-50", 49.67), ("1e-100", 67.3), ("1e-200", 88.9)]
SAMPLED = [(10**3, 1.6625), (10**5, 14.3612), (10**7, 408.915)]
SMALL = ("1e-6", "1e-8", "1e-10", "1e-12", "1e-14", "1e-18", "1e-50", "1e-100")


def small_deltas() -> list[Entry]:
    return [
        entry(f"small-{times}", f"{times} x {epsilon}", delta, (make.equal_epsilon(epsilon, times, delta), DIGITS))
        for epsilon, times in (("0.1", 10**3), ("0.01", 10**5))
        for delta in SMALL
    ]


def laplaces() -> list[Entry]:
    parts = summed([(laplace("0.1"), 1000)])
    return [entry("laplace", "1000 x Laplace(10)", d, epsilon_at(parts, mpf(d), start)) for d, start in LAPLACE]


def mixed() -> list[Entry]:
    kinds: dict[str, Callable[[str], Transform]] = {"laplace": laplace, "gaussian": gaussian, "response": response}
    parts = summed([(kinds[kind](number), times) for kind, number, times in MIXED])
    disclosed = -mpmath.expm1(200 * mpmath.log1p(-mpf("1e-9")))
    pure = (mpf("1e-6") - disclosed) / (1 - disclosed)
    text = "500 x Laplace(20), 500 x Gaussian(40), 1000 x geometric 0.05, 200 x (0.01, 1e-9)"
    return [entry("mixed", text, "1e-6", epsilon_at(parts, pure, 11.17))]


def sampled() -> list[Entry]:
    """The worse direction is that of a record removed, here at every count."""
    one = sampled_gaussian("0.8", "0.004", removing=True)
    text = "{} x sampled Gaussian, sigma 0.8, rate 0.004"
    return [
        entry(f"sampled {k}", text.format(k), "1e-6", epsilon_at(summed([(one, k)]), mpf("1e-6"), near))
        for k, near in SAMPLED
    ]


def progressions() -> list[Entry]:
    """With a delta of 1e-10 each, at 1e-6 more than these together.

    Epsilons in progression have echoes at pi / spacing, beyond all nodes: they move the ninth digit for a thousand (see
    make.py, where these are summed outright), and none of the first twelve for a hundred thousand.
    """
    entries = []
    for count, near, holding in ((10**3, 10.12, 8), (10**5, 263.3848, 12)):
        delta = Fraction(1, 10**6) + count * Fraction(1, 10**10)
        hidden = (1 - mpf(10) ** -10) ** count
        pure = 1 - (1 - mpf(delta.numerator) / delta.denominator) / hidden
        value, digits = epsilon_at(progression(count), pure, near)
        text = f"(0.005 + 0.095 i/k, 1e-10), i = 1..k = {count}"
        name = f"{float(delta):.5g}".replace("e-0", "e-")
        entries.append(entry(f"progression-{count}", text, name, (value, min(digits, holding))))
    return entries


def entry(task: str, of: str, delta: str, known: tuple[mpf, int]) -> Entry:
    text = mpmath.nstr(*known)
    print(task, of, delta, text, flush=True)
    return {"task": task, "of": of, "delta": delta, "value": text}


if __name__ == "__main__":
    mpmath.mp.dps = WORKING
    ctx.dps = WORKING + 10
    everything = [*laplaces(), *mixed(), *sampled(), *progressions()]
    mpmath.mp.dps = make.WORKING
    everything += small_deltas()
    TABLE.write_text(json.dumps({"note": NOTE, "epsilon": everything}, indent=1) + "\n", encoding="utf-8")
