"""From sqlglot's tree to our own expressions: node by node, with types; what is not named here is refused."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from indistinct.queries.plans.expressions import Apply, Constant, Expression, Operation
from indistinct.queries.policy.terms import ColumnType
from indistinct.queries.questions.literals import (
    TIMES,
    alike,
    as_number,
    constant,
    number_in,
    plain,
    shown,
    time_constant,
    typed,
    unified,
    wider,
)
from indistinct.queries.questions.nesting import joined_parts
from indistinct.queries.questions.scopes import Scope, only
from indistinct.queries.refusals import Refuse

__all__ = ["clamped", "read_condition", "read_scalar"]

_ARITHMETIC: dict[type[exp.Expression], Operation] = {
    exp.Add: Operation.ADD,
    exp.Sub: Operation.SUBTRACT,
    exp.Mul: Operation.MULTIPLY,
    exp.Div: Operation.DIVIDE,
}
_COMPARISONS: dict[type[exp.Expression], tuple[Operation, bool]] = {
    exp.EQ: (Operation.EQUAL, False),
    exp.NEQ: (Operation.UNEQUAL, False),
    exp.LT: (Operation.LESS, False),
    exp.LTE: (Operation.LESS_OR_EQUAL, False),
    exp.GT: (Operation.LESS, True),
    exp.GTE: (Operation.LESS_OR_EQUAL, True),
}
_OF_NUMBERS: dict[type[exp.Expression], Operation] = {
    exp.Abs: Operation.ABSOLUTE,
    exp.Floor: Operation.FLOOR,
    exp.Ceil: Operation.CEILING,
}
_OF_TEXT: dict[type[exp.Expression], tuple[Operation, ColumnType]] = {
    exp.Lower: (Operation.LOWER, "text"),
    exp.Upper: (Operation.UPPER, "text"),
    exp.Length: (Operation.LENGTH, "integer"),
    exp.Trim: (Operation.TRIM, "text"),
}
_OF_TIMES: dict[type[exp.Expression], Operation] = {
    exp.Year: Operation.YEAR,
    exp.Month: Operation.MONTH,
    exp.Day: Operation.DAY,
    exp.DayOfMonth: Operation.DAY,
    exp.Hour: Operation.HOUR,
}


def read_condition(node: exp.Expression, scope: Scope) -> Expression:
    """A condition on a row."""
    condition = read_scalar(node, scope)
    if condition.type != "boolean":
        raise Refuse(
            node, f"A condition is needed here, but this is of type {condition.type}.", "Compare it with something."
        )
    return condition


def read_scalar(node: exp.Expression | None, scope: Scope) -> Expression:  # noqa: C901  # one branch for each kind
    """An expression of one row; refused unless every part of it is known to be total and deterministic."""
    if node is None:
        raise Refuse(node, "An argument is missing.")
    match node:
        case exp.Paren():
            only(node, "this")
            return read_scalar(node.this, scope)
        case exp.Column():
            return scope.find(node)
        case exp.Literal() | exp.Null() | exp.Boolean():
            return constant(node)
        case exp.Neg():
            only(node, "this")
            value = read_scalar(node.this, scope)
            if isinstance(value, Constant) and isinstance(value.value, int | Fraction):
                return Constant(-value.value, value.type)
            return Apply(Operation.SUBTRACT, (Constant(0, "integer"), as_number(node, value)), "real")
        case exp.And() | exp.Or():
            return _joined(node, scope)
        case exp.Not():
            only(node, "this")
            return Apply(Operation.NOT, (read_condition(node.this, scope),), "boolean")
    if type(node) in _ARITHMETIC:
        only(node, "this", "expression", "typed", "safe")
        pair = [as_number(each, read_scalar(each, scope)) for each in (node.this, node.expression)]
        return Apply(_ARITHMETIC[type(node)], tuple(pair), "real")
    if type(node) in _COMPARISONS:
        only(node, "this", "expression")
        return _comparison(node, scope)
    return _function(node, scope)


def _joined(node: exp.And | exp.Or, scope: Scope) -> Expression:
    """Conditions with AND, or OR, between them: in pairs of pairs, so that many are not deeply nested."""
    operation = Operation.AND if isinstance(node, exp.And) else Operation.OR
    conditions = [read_condition(each, scope) for each in joined_parts(node)]
    while len(conditions) > 1:
        pairs = [tuple(conditions[place : place + 2]) for place in range(0, len(conditions), 2)]
        conditions = [pair[0] if len(pair) == 1 else Apply(operation, pair, "boolean") for pair in pairs]
    return conditions[0]


def _function(node: exp.Expression, scope: Scope) -> Expression:  # noqa: C901  # one branch for each function
    kind = type(node)
    if kind in _OF_NUMBERS:
        only(node, "this")
        return Apply(_OF_NUMBERS[kind], (as_number(node, read_scalar(node.this, scope)),), "real")
    if kind in _OF_TEXT:
        only(node, "this")
        operation, result = _OF_TEXT[kind]
        return Apply(operation, (typed(node, read_scalar(node.this, scope), frozenset({"text"})),), result)
    if kind in _OF_TIMES:
        only(node, "this")
        return _part_of_time(node, _OF_TIMES[kind], read_scalar(_bare(node.this), scope))
    match node:
        case exp.Extract():
            only(node, "this", "expression")
            named = {"YEAR": Operation.YEAR, "MONTH": Operation.MONTH, "DAY": Operation.DAY, "HOUR": Operation.HOUR}
            part = node.this.name.upper()
            if part not in named:
                raise Refuse(node, f"EXTRACT({part}) is not understood.", "YEAR, MONTH, DAY and HOUR are.")
            return _part_of_time(node, named[part], read_scalar(node.expression, scope))
        case exp.In():
            only(node, "this", "expressions", "query")
            value = read_scalar(node.this, scope)
            members = tuple(alike(each, value, read_scalar(each, scope)) for each in node.expressions)
            if (
                node.args.get("query") is not None
                or not members
                or not all(isinstance(each, Constant) for each in members)
            ):
                raise Refuse(node, "IN is followed by a list of values.", "Join a public table to look values up.")
            return Apply(Operation.IN, (value, *members), "boolean")
        case exp.Between():
            only(node, "this", "low", "high")
            value = read_scalar(node.this, scope)
            low, high = (alike(each, value, read_scalar(each, scope)) for each in (node.args["low"], node.args["high"]))
            sides = (
                Apply(Operation.LESS_OR_EQUAL, (low, value), "boolean"),
                Apply(Operation.LESS_OR_EQUAL, (value, high), "boolean"),
            )
            return Apply(Operation.AND, sides, "boolean")
        case exp.Is():
            only(node, "this", "expression")
            return _is(node, scope)
        case exp.Like():
            only(node, "this", "expression")
            return _like(node, scope)
        case exp.Case() | exp.If():
            return _case(node, scope)
        case exp.Coalesce():
            only(node, "this", "expressions", "is_nvl", "is_null")
            return unified(
                node, Operation.COALESCE, [read_scalar(each, scope) for each in (node.this, *node.expressions)]
            )
        case exp.Nullif():
            only(node, "this", "expression")
            value = read_scalar(node.this, scope)
            other = alike(node, value, read_scalar(node.expression, scope))
            return Apply(Operation.NULL_IF, (value, other), value.type)
        case exp.Least() | exp.Greatest():
            only(node, "this", "expressions", "ignore_nulls")
            values = [as_number(each, read_scalar(each, scope)) for each in (node.this, *node.expressions)]
            extreme = Operation.LEAST if isinstance(node, exp.Least) else Operation.GREATEST
            return Apply(extreme, tuple(values), wider(values))
        case exp.Mod():
            only(node, "this", "expression")
            value, divisor = as_number(node, read_scalar(node.this, scope)), read_scalar(_bare(node.expression), scope)
            if (
                value.type != "integer"
                or not isinstance(divisor, Constant)
                or type(divisor.value) is not int
                or not 0 < divisor.value < 2**31
            ):
                raise Refuse(node, "The remainder is of a whole number by a positive whole number that is written out.")
            return Apply(Operation.MODULO, (value, divisor), "integer")
        case exp.DPipe() | exp.Concat():
            parts = node.expressions if isinstance(node, exp.Concat) else [node.this, node.expression]
            only(node, "this", "expression", "expressions", "safe", "coalesce")
            texts = [typed(each, read_scalar(each, scope), frozenset({"text"})) for each in parts]
            return Apply(Operation.CONCATENATE, tuple(texts), "text")
        case exp.Substring():
            only(node, "this", "start", "length", "zero_start")
            return _substring(node, scope)
        case exp.Cast() | exp.TryCast():
            return _cast(node, scope)
        case exp.WidthBucket():
            only(node, "this", "min_value", "max_value", "num_buckets")
            return _bucket(node, scope)
        case exp.Anonymous() if node.name.upper() == "CLAMP":
            return _clamp(node, scope)
    raise Refuse(node, _unknown(node), "See the page on queries for what is.")


def clamped(value: Expression, low: Fraction, high: Fraction) -> Expression:
    """CLAMP(value, low, high)."""
    bounds = [Constant(plain(each), "integer" if each.denominator == 1 else "real") for each in (low, high)]
    kind: ColumnType = (
        "integer" if value.type == "integer" and all(each.type == "integer" for each in bounds) else "real"
    )
    return Apply(Operation.GREATEST, (Apply(Operation.LEAST, (value, bounds[1]), kind), bounds[0]), kind)


def _clamp(node: exp.Anonymous, scope: Scope) -> Expression:
    only(node, "this", "expressions")
    if len(node.expressions) != 3:
        raise Refuse(node, "CLAMP takes a value, the lowest and the highest.", "Write CLAMP(amount, 0, 100).")
    value = as_number(node, read_scalar(node.expressions[0], scope))
    low, high = (number_in(each, "A bound of CLAMP") for each in node.expressions[1:])
    if not low < high:
        raise Refuse(
            node,
            "CLAMP takes the lower bound first.",
            f"Write CLAMP(..., {shown(high)}, {shown(low)})." if low > high else "",
        )
    return clamped(value, low, high)


def _bucket(node: exp.WidthBucket, scope: Scope) -> Expression:
    value = as_number(node, read_scalar(node.this, scope))
    low, high, number = (
        number_in(node.args.get(name) or node, "What WIDTH_BUCKET divides")
        for name in ("min_value", "max_value", "num_buckets")
    )
    if not low < high or number.denominator != 1 or not 1 <= number <= 100_000:
        raise Refuse(
            node,
            "WIDTH_BUCKET takes a value, the lowest, the highest, and the number of buckets.",
            "Write WIDTH_BUCKET(age, 0, 100, 20).",
        )
    bounds = (Constant(plain(low), "real"), Constant(plain(high), "real"), Constant(int(number), "integer"))
    return Apply(Operation.BUCKET, (value, *bounds), "integer")


def _comparison(node: exp.Expression, scope: Scope) -> Expression:
    operation, swapped = _COMPARISONS[type(node)]
    left, right = (read_scalar(each, scope) for each in (node.this, node.args["expression"]))
    if isinstance(left, Constant) and not isinstance(right, Constant):
        left = alike(node.this, right, left)
    else:
        right = alike(node.args["expression"], left, right)
    return Apply(operation, (right, left) if swapped else (left, right), "boolean")


def _is(node: exp.Is, scope: Scope) -> Expression:
    value = read_scalar(node.this, scope)
    match node.expression:
        case exp.Null():
            return Apply(Operation.IS_NULL, (value,), "boolean")
        case exp.Boolean() as wanted if value.type == "boolean":
            told = Apply(Operation.COALESCE, (value, Constant(not wanted.this, "boolean")), "boolean")
            return told if wanted.this else Apply(Operation.NOT, (told,), "boolean")
    raise Refuse(node, "IS is followed by NULL, TRUE or FALSE.")


def _like(node: exp.Like, scope: Scope) -> Expression:
    value = typed(node, read_scalar(node.this, scope), frozenset({"text"}))
    pattern = read_scalar(node.expression, scope)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str) or "\\" in pattern.value:
        raise Refuse(node, "LIKE takes a pattern that is written out, without backslashes.")
    return Apply(Operation.LIKE, (value, pattern), "boolean")


def _case(node: exp.Case | exp.If, scope: Scope) -> Expression:
    only(node, "this", "ifs", "default", "true", "false")
    branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
    conditions, values = [], []
    for branch in branches:
        condition = branch.this
        if isinstance(node, exp.Case) and node.this is not None:
            condition = exp.EQ(this=node.this.copy(), expression=condition.copy())
        conditions.append(read_condition(condition, scope))
        values.append(read_scalar(branch.args["true"], scope))
    otherwise = node.args.get("false" if isinstance(node, exp.If) else "default")
    values.append(read_scalar(otherwise, scope) if otherwise is not None else Constant(None, "text"))
    told = unified(node, Operation.COALESCE, values)
    parts = [each for pair in zip(conditions, told.arguments, strict=False) for each in pair]
    return Apply(Operation.CASE, (*parts, told.arguments[-1]), told.type)


def _substring(node: exp.Substring, scope: Scope) -> Expression:
    value = typed(node, read_scalar(node.this, scope), frozenset({"text"}))
    numbers = [
        number_in(node.args[name], "A place in SUBSTRING")
        for name in ("start", "length")
        if node.args.get(name) is not None
    ]
    if not numbers or not all(each.denominator == 1 and 0 < each < 10**6 for each in numbers):
        raise Refuse(node, "SUBSTRING takes a first place, from 1, and a length.")
    return Apply(Operation.SUBSTRING, (value, *(Constant(int(each), "integer") for each in numbers)), "text")


def _part_of_time(node: exp.Expression, operation: Operation, value: Expression) -> Expression:
    kinds: frozenset[ColumnType] = frozenset({"timestamp"}) if operation is Operation.HOUR else TIMES
    return Apply(operation, (typed(node, value, kinds),), "integer")


def _cast(node: exp.Cast, scope: Scope) -> Expression:
    only(node, "this", "to", "safe", "_type")
    kind = node.to.this
    wanted: ColumnType | None = None
    if kind in exp.DataType.INTEGER_TYPES:
        wanted = "integer"
    elif kind in exp.DataType.REAL_TYPES:
        wanted = "real"
    elif kind in exp.DataType.TEXT_TYPES:
        wanted = "text"
    elif kind == exp.DType.DATE:
        wanted = "date"
    elif kind == exp.DType.TIMESTAMP and isinstance(node.this, exp.Literal):
        return time_constant(node, str(node.this.this), "timestamp")
    value = read_scalar(node.this, scope)
    if wanted == value.type:
        return value
    if wanted == "date" and isinstance(value, Constant) and isinstance(value.value, str):
        return time_constant(node, value.value, "date")
    possible: dict[ColumnType, tuple[Operation, frozenset[ColumnType]]] = {
        "real": (Operation.TO_REAL, frozenset({"integer", "text", "boolean"})),
        "integer": (Operation.TO_INTEGER, frozenset({"real", "text", "boolean"})),
        "text": (Operation.TO_TEXT, frozenset({"integer", "date", "boolean"})),
        "date": (Operation.TO_DATE, frozenset({"timestamp", "text"})),
    }
    if wanted is None or value.type not in possible[wanted][1]:
        raise Refuse(node, f"A value of type {value.type} cannot be cast to {node.to.sql()}.")
    return Apply(possible[wanted][0], (value,), wanted)


def _bare(node: exp.Expression) -> exp.Expression:
    """sqlglot wraps some arguments in casts of its own making."""
    if isinstance(node, exp.TsOrDsToDate):
        inner = node.this
        return inner if isinstance(inner, exp.Expression) else node
    return node


def _unknown(node: exp.Expression) -> str:
    match node:
        case exp.Window():
            return "Window functions are not answered privately."
        case exp.Subquery() | exp.Select() | exp.Exists():
            return "A sub-query may stand in FROM only."
        case exp.Star():
            return "* would show rows."
        case exp.AggFunc():
            return f"An aggregate cannot stand here: {node.key.upper()}."
        case exp.Rand() | exp.CurrentTimestamp() | exp.CurrentDate() | exp.CurrentTime():
            return "A question must mean the same whenever it is asked."
        case exp.Anonymous():
            return f"The function {node.name.upper()} is not understood."
        case exp.Placeholder() | exp.Parameter():
            return "Parameters are not filled in."
    return f"{node.key.upper()} is not understood."
