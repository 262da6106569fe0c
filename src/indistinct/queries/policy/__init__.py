"""What the owner of the data decides, as objects and as a file."""

from indistinct.queries.policy.file import parse_policy, read_policy, read_policy_file
from indistinct.queries.policy.terms import (
    MOST_KEYS,
    ROW,
    Analyst,
    Budget,
    Column,
    ColumnType,
    Contribution,
    Key,
    Number,
    Policy,
    PrivateTable,
    PublicTable,
    Row,
    Table,
)

__all__ = [
    "MOST_KEYS",
    "ROW",
    "Analyst",
    "Budget",
    "Column",
    "ColumnType",
    "Contribution",
    "Key",
    "Number",
    "Policy",
    "PrivateTable",
    "PublicTable",
    "Row",
    "Table",
    "parse_policy",
    "read_policy",
    "read_policy_file",
]
