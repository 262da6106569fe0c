"""How deeply a question is nested, which bounds the work and the memory of everything that is done with it."""

from __future__ import annotations

from sqlglot import exp

from indistinct.queries.questions.scopes import only
from indistinct.queries.refusals import Refuse

__all__ = ["check_depth", "joined_parts"]

_DEEPEST = 100


def check_depth(statement: exp.Expression) -> None:
    """Refuses a question that is too deeply nested; AND and OR between many conditions do not nest."""
    nodes = [(statement, 1)]
    while nodes:
        node, depth = nodes.pop()
        if depth > _DEEPEST:
            raise Refuse(node, "The question is nested too deeply.", "Give a part of it a name in a sub-query in FROM.")
        for each in node.iter_expressions():
            chained = isinstance(node, exp.And | exp.Or) and type(each) is type(node)
            nodes.append((each, depth if chained else depth + 1))


def joined_parts(node: exp.And | exp.Or) -> list[exp.Expression]:
    """The conditions between which AND stands, or OR, in their order."""
    parts: list[exp.Expression] = []
    left: list[exp.Expression] = [node]
    while left:
        each = left.pop()
        if type(each) is not type(node):
            parts.append(each)
            continue
        only(each, "this", "expression")
        for side in ("expression", "this"):
            if not isinstance(each.args.get(side), exp.Expression):
                raise Refuse(each, "A condition is missing.")
            left.append(each.args[side])
    return parts
