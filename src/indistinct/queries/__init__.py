"""Private tables: SQL in, private answers out."""

from indistinct.queries.answers.answer import Answer, Receipt
from indistinct.queries.answers.explanation import Explanation
from indistinct.queries.database import PrivateDatabase
from indistinct.queries.fluent import Question
from indistinct.queries.opening import open  # noqa: A004  # said as indistinct.open
from indistinct.queries.policy import (
    ROW,
    Analyst,
    Budget,
    Column,
    Contribution,
    Policy,
    PrivateTable,
    PublicTable,
)
from indistinct.queries.refusals import QueryRefused

__all__ = [
    "ROW",
    "Analyst",
    "Answer",
    "Budget",
    "Column",
    "Contribution",
    "Explanation",
    "Policy",
    "PrivateDatabase",
    "PrivateTable",
    "PublicTable",
    "QueryRefused",
    "Question",
    "Receipt",
    "open",
]
