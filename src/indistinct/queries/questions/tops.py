"""TOP_K(product, 10): the most frequent values of a column, as a question about its groups.

It becomes SELECT product ... GROUP BY product ORDER BY COUNT(DISTINCT unit) DESC LIMIT 10, so that groups, keys and
bounds are read as those of every other question; that only the order is shown may make it cheaper.
"""

from __future__ import annotations

from sqlglot import exp

from indistinct.queries.questions.literals import number_in
from indistinct.queries.questions.scopes import only
from indistinct.queries.refusals import Refuse

__all__ = ["MOST_VALUES", "read_top"]

MOST_VALUES = 1000


def read_top(select: exp.Select) -> tuple[exp.Select, int | None]:
    """The same question without TOP_K, and how many values are wanted; None where it does not say TOP_K."""
    found = [node for item in select.expressions for node in item.walk() if _is_top(node)]
    if not found:
        return select, None
    item = select.expressions[0]
    node = item.this if isinstance(item, exp.Alias) else item
    if len(select.expressions) != 1 or node is not found[0]:
        raise Refuse(found[0], "TOP_K stands alone in SELECT.", "Ask for the counts with GROUP BY and ORDER BY.")
    for clause in ("group", "having", "order", "limit", "offset"):
        if select.args.get(clause) is not None:
            raise Refuse(select.args[clause], f"TOP_K takes no {clause.upper()}.", "Leave it out.")
    column, wanted = _parts(node)
    number = number_in(wanted, "The number of values of TOP_K")
    if number.denominator != 1 or not 1 <= number <= MOST_VALUES:
        raise Refuse(wanted, f"TOP_K takes a whole number from 1 to {MOST_VALUES:,}.")
    name = item.alias if isinstance(item, exp.Alias) else node.sql("duckdb").lower()
    asked = select.copy()
    shown = exp.Alias(this=column.copy(), alias=exp.Identifier(this=name, quoted=True))
    asked.set("expressions", [shown])
    asked.set("group", exp.Group(expressions=[column.copy()]))
    return asked, int(number)


def _is_top(node: exp.Expression) -> bool:
    return isinstance(node, exp.ApproxTopK) or (isinstance(node, exp.Anonymous) and node.name.upper() == "TOP_K")


def _parts(node: exp.Expression) -> tuple[exp.Expression, exp.Expression]:
    if isinstance(node, exp.ApproxTopK):
        only(node, "this", "expression")
        parts = [node.this, node.args.get("expression")]
    else:
        parts = list(node.expressions)
    if len(parts) != 2 or parts[1] is None:
        raise Refuse(node, "TOP_K takes a column and how many values are wanted.", "Write TOP_K(product, 10).")
    return parts[0], parts[1]
