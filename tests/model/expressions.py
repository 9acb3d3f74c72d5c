"""Expressions over one row, straight from the text: the tree that sqlglot reads, SQL's three-valued logic.

An expression that fails on a row raises `EvaluationFailed`. `and`, `or`, `case`, `if` and `coalesce` look no further
than they must, from left to right. What the model does not know is a NotImplementedError, never a wrong value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from tests.model import functions
from tests.model.arithmetic import EvaluationFailed, calculate, result_type
from tests.model.casts import cast
from tests.model.types import common, converted, is_numeric
from tests.model.values import normal, order
from windrow.spec.expressions import Expression
from windrow.spec.fields.schemas import column_type

__all__ = ["EvaluationFailed", "evaluate", "type_of"]

_ARITHMETIC = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div"}
_COMPARISONS = {
    exp.EQ: lambda a, b: a == b, exp.NEQ: lambda a, b: a != b, exp.LT: lambda a, b: order(a) < order(b),
    exp.LTE: lambda a, b: order(a) <= order(b), exp.GT: lambda a, b: order(a) > order(b),
    exp.GTE: lambda a, b: order(a) >= order(b),
}  # fmt: skip
_TRUTHS = (exp.And, exp.Or, exp.Not, exp.Is, exp.NullSafeEQ, exp.Between, exp.In, exp.Like, *_COMPARISONS)


def evaluate(expression: Expression, row: Mapping[str, Any], types: Mapping[str, str]) -> Any:
    """The value of an expression over a row whose columns have these types."""
    return normal(Evaluator(types, row).value(_tree(expression.text)))


def type_of(expression: Expression, types: Mapping[str, str]) -> str:
    """The type of an expression over columns of these types."""
    return Evaluator(types, {}).kind(_tree(expression.text))


@lru_cache(maxsize=4096)
def _tree(text: str) -> exp.Expression:
    return sqlglot.parse_one(text, dialect="spark")


class Evaluator:
    """Types and values of the nodes of a tree. Names of columns are the same in upper and lower case."""

    def __init__(self, types: Mapping[str, str], row: Mapping[str, Any]) -> None:
        self.types = {name.lower(): kind for name, kind in types.items()}
        self.row = {name.lower(): value for name, value in row.items()}

    # ---------------------------------------------------------------- types

    def kind(self, node: exp.Expression) -> str:
        """The type of a node."""
        if isinstance(node, exp.Column):
            return self.types[node.name.lower()]
        if functions.is_literal(node):
            return functions.literal_type(node)
        if isinstance(node, (*_TRUTHS, exp.Boolean)):
            return "boolean"
        if isinstance(node, exp.Null):
            return "void"
        if isinstance(node, exp.Paren | exp.Neg):
            return self.kind(node.this)
        if isinstance(node, exp.Cast):  # try_cast too
            return column_type(node.to.sql(dialect="spark"))
        if type(node) in _ARITHMETIC:
            return result_type(_ARITHMETIC[type(node)], *self._operand_kinds(node))
        if isinstance(node, exp.Case | exp.If | exp.Coalesce | exp.Greatest | exp.Least):
            return self._kind_of_any(_results(node))
        return functions.result_type(node, [self.kind(argument) for argument in functions.arguments(node)])

    def _operand_kinds(self, node: exp.Expression) -> tuple[str, str]:
        """The types of two operands; beside a decimal a whole literal is a decimal of just its digits."""
        sides = (node.this, node.expression)
        left, right = (self.kind(side) for side in sides)
        if "decimal" in left + right:
            return functions.tight(sides[0], left), functions.tight(sides[1], right)
        return left, right

    def _kind_of_any(self, nodes: Sequence[exp.Expression]) -> str:
        kind = "void"
        for node in nodes:
            kind = common(kind, self.kind(node))
        return kind

    # ---------------------------------------------------------------- values

    def value(self, node: exp.Expression) -> Any:
        """The value of a node, of its type."""
        if isinstance(node, exp.Column):
            return normal(self.row[node.name.lower()])
        if functions.is_literal(node):
            return functions.literal(node)
        if isinstance(node, exp.Boolean):
            return bool(node.this)
        if isinstance(node, exp.Null):
            return None
        if isinstance(node, exp.Paren):
            return self.value(node.this)
        if isinstance(node, exp.Neg):
            return calculate("-", 0, self.value(node.this), self.kind(node.this), self.kind(node.this))
        if type(node) in _ARITHMETIC:
            sides = (self.value(node.this), self.value(node.expression))
            return calculate(_ARITHMETIC[type(node)], *sides, *self._operand_kinds(node))
        if isinstance(node, _TRUTHS):
            return self._truth(node)
        if isinstance(node, exp.Cast):
            return self._cast(node)
        if isinstance(node, exp.Case | exp.If | exp.Coalesce):
            return converted(self._chosen(node), self.kind(node))
        if isinstance(node, exp.Greatest | exp.Least):
            values = [converted(self.value(child), self.kind(node)) for child in _results(node)]
            best = max if isinstance(node, exp.Greatest) else min
            return best((value for value in values if value is not None), key=order, default=None)
        arguments = functions.arguments(node)
        return functions.call(node, [self.value(one) for one in arguments], [self.kind(one) for one in arguments])

    def _cast(self, node: exp.Cast) -> Any:
        try:
            return cast(self.value(node.this), self.kind(node.this), self.kind(node))
        except EvaluationFailed:
            if node.args.get("safe"):  # only that tells `try_cast`: sqlglot has one node for both
                return None
            raise

    def _truth(self, node: exp.Expression) -> bool | None:
        match node:
            case exp.And():
                return self._connected(node, False)
            case exp.Or():
                return self._connected(node, True)
            case exp.Not():
                return _not(self.value(node.this))
            case exp.Is():
                return self.value(node.this) is self.value(node.expression)
            case exp.NullSafeEQ():
                return self._null_safe(node)
            case exp.Between():
                low = self._compared(exp.GTE, node.this, node.args["low"])
                return _and(low, self._compared(exp.LTE, node.this, node.args["high"]))
            case exp.In():
                return self._in(node)
            case exp.Like():
                found = functions.like(self.value(node.this), self.value(node.expression))
                return _not(found) if node.args.get("negate") else found
        return self._compared(type(node), node.this, node.expression)

    def _connected(self, node: exp.Expression, decisive: bool) -> bool | None:
        """`and` (false decides) and `or` (true decides)."""
        left = self.value(node.this)
        if left is decisive:
            return decisive
        right = self.value(node.expression)
        if right is decisive:
            return decisive
        return None if left is None or right is None else not decisive

    def _compared(self, comparison: type[exp.Expression], left: exp.Expression, right: exp.Expression) -> bool | None:
        one, other = self._alike(left, right)
        return None if one is None or other is None else bool(_COMPARISONS[comparison](one, other))

    def _alike(self, left: exp.Expression, right: exp.Expression) -> tuple[Any, Any]:
        """Two values of the type that both have in common."""
        kinds = self.kind(left), self.kind(right)
        kind = kinds[0] if "void" in kinds else common(*kinds)
        values = self.value(left), self.value(right)
        if is_numeric(kind) and "double" not in kind:
            return values
        return normal(converted(values[0], kind)), normal(converted(values[1], kind))

    def _null_safe(self, node: exp.Expression) -> bool:
        one, other = self._alike(node.this, node.expression)
        return (
            one is other if one is None or other is None else self._compared(exp.EQ, node.this, node.expression) is True
        )

    def _in(self, node: exp.In) -> bool | None:
        found = [self._compared(exp.EQ, node.this, option) for option in node.expressions]
        return True if True in found else None if None in found else False

    def _chosen(self, node: exp.Expression) -> Any:
        """The value of the branch that `case` or `if` takes; of `coalesce` the first that is not null."""
        if isinstance(node, exp.Coalesce):
            return next((value for value in map(self.value, _results(node)) if value is not None), None)
        branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
        for branch in branches:
            if self._holds(node, branch.this):
                return self.value(branch.args["true"])
        default = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
        return None if default is None else self.value(default)

    def _holds(self, node: exp.Expression, condition: exp.Expression) -> bool:
        if isinstance(node, exp.Case) and node.this is not None:
            return self._compared(exp.EQ, node.this, condition) is True
        return self.value(condition) is True


def _results(node: exp.Expression) -> list[exp.Expression]:
    """The nodes of which one is the value of `case`, `if`, `coalesce`, `greatest` or `least`."""
    if isinstance(node, exp.Case):
        results = [branch.args["true"] for branch in node.args["ifs"]] + [node.args.get("default")]
    elif isinstance(node, exp.If):
        results = [node.args["true"], node.args.get("false")]
    else:
        results = [node.this, *node.expressions]
    return [result for result in results if result is not None]


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True
