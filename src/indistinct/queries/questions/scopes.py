"""Which columns a question can name, and whose rows they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from indistinct.queries.plans.expressions import Expression, Field
from indistinct.queries.plans.ranges import Range
from indistinct.queries.policy.terms import Key, Row
from indistinct.queries.refusals import Refuse

__all__ = ["Scope", "only"]


@dataclass(slots=True)
class Scope:
    """The relations of a FROM clause by their names in the question, each with its columns."""

    relations: dict[str, dict[str, Field]] = field(default_factory=dict)
    keys: dict[Field, tuple[Key, ...]] = field(default_factory=dict)
    """Public keys, of the columns that have them."""
    steps: dict[Field, Fraction] = field(default_factory=dict)
    """The owner's steps for sums, of the columns that have them."""
    totals: dict[Expression, Range] = field(default_factory=dict)
    """The owner's bounds of what a unit's rows in one group add up to, of the columns that have them."""
    unit: Field | Row | None = None
    """The column of the unit of privacy; None where everything is public."""
    units: set[Field] = field(default_factory=set)
    """All columns that hold the unit, where relations are joined on it."""

    def find(self, node: exp.Column) -> Field:
        """The column of that name; refused if there is none, or more than one."""
        only(node, "this", "table")
        identifier = node.this
        if not isinstance(identifier, exp.Identifier):
            raise Refuse(node, "This is not the name of a column.")
        name, wanted = identifier.name.casefold(), node.table.casefold()
        if wanted and wanted not in self.relations:
            raise Refuse(node, f"There is no table {node.table!r} in FROM.", _choice("It has", list(self.relations)))
        places = [self.relations[wanted]] if wanted else list(self.relations.values())
        found = [columns[name] for columns in places if name in columns]
        if not found:
            known = [column.called for columns in places for column in columns.values()]
            raise Refuse(node, f"There is no column {identifier.name!r}.", _choice("There are", known))
        if len(found) > 1:
            raise Refuse(
                node,
                f"{identifier.name!r} is a column of more than one table.",
                "Write the table's name and a dot before it.",
            )
        return found[0]


def only(node: exp.Expression, *known: str) -> None:
    """Refuses a node that says more than is understood: whatever is not read here must not be there."""
    for name, value in node.args.items():
        if name not in known and value not in (None, False, [], ()):
            place = value if isinstance(value, exp.Expression) else value[0] if isinstance(value, list) else node
            what = name.rstrip("_").upper().replace("_", " ")
            raise Refuse(
                place if isinstance(place, exp.Expression) else node, f"{what} is not understood here.", "Leave it out."
            )


def _choice(start: str, names: list[str]) -> str:
    return f"{start}: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}." if names else ""
