"""Numbers that can be relied on: exact input, proven brackets, ball arithmetic at one door."""

from indistinct.numbers.bracket import Bracket
from indistinct.numbers.logarithm import Epsilon, NaturalLog, ln
from indistinct.numbers.reading import read_count, read_delta, read_epsilon, read_number

__all__ = [
    "Bracket",
    "Epsilon",
    "NaturalLog",
    "ln",
    "read_count",
    "read_delta",
    "read_epsilon",
    "read_number",
]
