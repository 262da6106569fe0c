"""How additive mechanisms answer: the value is checked and brought onto its lattice, and only then is noise drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.lattice import Lattice
from indistinct.mechanisms.values import (
    add,
    all_whole,
    array_off_lattice,
    array_onto_lattice,
    is_array,
    is_whole,
    off_lattice,
    onto_lattice,
    read_array,
    read_whole,
    whole_array,
    within_64_bits,
)
from indistinct.noise.draws import Drawn, Shape
from indistinct.noise.given import Said, as_given

__all__ = ["MOST_REVEALING", "Sampler", "on_lattice", "on_whole_numbers", "refuse_many", "size_of"]

MOST_REVEALING = 40
"""Of a step of the noise's law: beyond, the noise would be 0 but once in 2^57, and the answer all but exact."""


class Sampler(Protocol):
    """What draws whole noise."""

    def draw(self) -> int:
        """One."""
        ...

    def draws(self, shape: Shape) -> Drawn:
        """Many."""
        ...

    @property
    def wide(self) -> bool:
        """Whether many are Python's whole numbers, as those of 64 bits may not suffice; by its scale alone."""
        ...


def on_whole_numbers(noise: Sampler, value: Any) -> Any:
    """Whole numbers with noise: 64-bit integers in arrays, Python's own for noise that is too wide for them."""
    if type(value) is int:
        return value + noise.draw()
    if is_array(value):
        values = whole_array(value)
        return add(values, noise.draws(values.shape), wide=noise.wide)
    return read_whole(value) + noise.draw()


def on_lattice(plan: Callable[[int, bool], tuple[Lattice, Sampler]], value: Any) -> Any:
    """Numbers brought onto the lattice for their kind, with noise: floats, but whole numbers if all of them were."""
    if is_array(value):
        array = read_array(value)
        whole = all_whole(array)
        lattice, noise = plan(max(array.size, 1), whole)
        steps = add(array_onto_lattice(array, lattice.exponent), noise.draws(array.shape), wide=noise.wide)
        if whole and lattice.exponent >= 0:
            return _coarse(steps, lattice.exponent, wide=noise.wide or array.dtype == np.uint64)
        return array_off_lattice(steps, lattice.exponent)
    whole = is_whole(value)
    lattice, noise = plan(1, whole)
    step = onto_lattice(value, lattice.exponent) + noise.draw()
    return step << lattice.exponent if whole and lattice.exponent >= 0 else off_lattice(step, lattice.exponent)


def _coarse(steps: Drawn, exponent: int, *, wide: bool) -> Drawn:
    """Steps of a lattice of whole numbers as these: of 64 bits, the nearest where one does not fit, unless `wide`."""
    if exponent == 0:
        return steps
    exact = np.asarray(steps.astype(object) * 2**exponent)
    return exact if wide else within_64_bits(exact, 2**exponent)


def size_of(value: Any) -> int:
    """How many numbers a value is."""
    return int(as_given("the value", value).size) if is_array(value) else 1


def refuse_many(value: Any, *, disjoint: bool, instead: str) -> None:
    """Refuses several numbers that one person may change together, where the claim is about one."""
    if not disjoint and is_array(value) and size_of(value) != 1:
        raise InvalidParameter("the value", Said(f"{size_of(value)} numbers"), "be one number", instead=instead)
