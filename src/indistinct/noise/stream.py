"""Real noises one at a time, drawn ahead of the questions they are for."""

from __future__ import annotations

from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.lazy_real import ROUNDING, LazyReal
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.standard import Kind, approximated

__all__ = ["NoiseStream"]

_BLOCK = 1024


class NoiseStream:
    """An endless supply of independent real noises; safe in threads and after fork, and empty in copies.

    >>> NoiseStream.laplace(scale=10).next().exceeds(10**6, 0)
    True
    """

    __slots__ = ("_ahead", "_source", "kind", "scale")

    def __init__(self, kind: Kind, scale: object, source: BitSource = SYSTEM) -> None:
        self.kind = kind
        self.scale: Scale = read_scale("scale", scale)
        self._source = source
        self._ahead: Ahead[tuple[int, float, float]] = Ahead()

    @classmethod
    def exponential(cls, scale: object = 1, source: BitSource = SYSTEM) -> NoiseStream:
        """Of density `e^(-x / scale) / scale` on the positive numbers."""
        return cls(Kind.EXPONENTIAL, scale, source)

    @classmethod
    def laplace(cls, scale: object = 1, source: BitSource = SYSTEM) -> NoiseStream:
        """Of density `e^(-|x| / scale) / (2 scale)`."""
        return cls(Kind.LAPLACE, scale, source)

    @classmethod
    def gumbel(cls, scale: object = 1, source: BitSource = SYSTEM) -> NoiseStream:
        """Of distribution function `e^(-e^(-x / scale))`."""
        return cls(Kind.GUMBEL, scale, source)

    def next(self) -> LazyReal:
        """A noise that was not given before."""
        word, approximation, error = self._ahead.take(self._drawn)
        return LazyReal(self.kind, self.scale, word, self._source, approximation, error)

    def _drawn(self) -> list[tuple[int, float, float]]:
        words = self._source.words(_BLOCK)
        noise, error = approximated(self.kind, words)
        scale = float(self.scale)
        error = error * (scale * (1 + ROUNDING))
        return list(zip(words.tolist(), (noise * scale).tolist(), error.tolist(), strict=True))

    def __reduce__(self) -> tuple[type[NoiseStream], tuple[Kind, Scale, BitSource]]:
        return NoiseStream, (self.kind, self.scale, self._source)
