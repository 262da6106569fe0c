"""How far an answer may be from the truth: a theorem's bound, and the exact value beside it."""

from __future__ import annotations

from dataclasses import dataclass

from indistinct.numbers import Bracket

__all__ = ["Accuracy"]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The error is at most `alpha`, except with probability `beta`.

    A mechanism's `accuracy(beta)` finds alpha, its `failure(alpha)` finds beta. What was found is rounded up; where
    its exact value is known as well, `exact` encloses it: the bound is the theorem's, `exact` shows what it gives away.

    >>> from indistinct import Bracket
    >>> print(Accuracy(29.957323, 0.05, "Dwork and Roth, Theorem 3.8", Bracket.exactly(29)))
    the error is at most 29.9573 except with probability 0.05 (Dwork and Roth, Theorem 3.8; exactly 29)
    """

    alpha: float
    beta: float
    theorem: str
    exact: Bracket | None = None

    def __str__(self) -> str:
        exactly = f"; exactly {self.exact:.6g}" if self.exact else ""
        return (
            f"the error is at most {self.alpha:.6g} except with probability {self.beta:.6g} ({self.theorem}{exactly})"
        )
