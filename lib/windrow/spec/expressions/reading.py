"""From sqlglot's tree to ours: only what is known here comes through, and only as Spark would read it.

Where the two grammars differ the user must write parentheses, and every lexeme of the text must be found again in the
text of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from windrow.spec.errors import SpecError
from windrow.spec.expressions.columns import is_constant
from windrow.spec.expressions.functions import check_arguments, function
from windrow.spec.expressions.lexemes import Kind
from windrow.spec.expressions.parsing import MAX_DEPTH, Source, ambiguous, too_deep
from windrow.spec.expressions.patterns import check_like, check_regex
from windrow.spec.expressions.precedence import stands_bare
from windrow.spec.expressions.tree import (
    Between,
    Call,
    Case,
    Cast,
    Column,
    Field,
    In,
    Infix,
    Is,
    Item,
    Literal,
    Prefix,
    Tree,
)

_INFIX: dict[type[exp.Expr], str] = {
    exp.Or: "or", exp.And: "and",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "<=>",
    exp.BitwiseOr: "|", exp.BitwiseXor: "^", exp.BitwiseAnd: "&", exp.DPipe: "||",
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div",
    exp.Like: "like", exp.ILike: "ilike", exp.RegexpLike: "rlike",
}  # fmt: skip


def read(text: str) -> Tree:
    """The tree of one scalar expression. Errors: anything else."""
    source = Source(text)
    node = source.node()
    tree = _Reader(source).read(node, 1)
    source.check_parentheses(node)
    source.check_complete(tree.text)
    return tree


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._handlers: dict[type[exp.Expr], Callable[[exp.Expr, int], Tree]] = {
            exp.Column: self._column, exp.Dot: self._dot, exp.Null: self._null, exp.Boolean: self._boolean,
            exp.Not: self._not, exp.Neg: self._negative, exp.BitwiseNot: self._complement, exp.Is: self._is,
            exp.Between: self._between, exp.In: self._in, exp.Cast: self._cast, exp.TryCast: self._cast,
            exp.Anonymous: self._call, exp.Case: self._case, exp.Bracket: self._item,
            **dict.fromkeys(_INFIX, self._infix),
        }  # fmt: skip

    def read(self, node: exp.Expr, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise too_deep()
        while type(node) is exp.Paren:
            node = node.this
        handler = self._handlers.get(type(node))
        if handler is None:
            raise self._source.refusal(
                f"must not have this: {_described(node)}", "an expression reads one row, by columns"
            )
        return handler(node, depth)

    def _operands(self, parent: Tree, *nodes: exp.Expr) -> Tree:
        """The parent, if Spark would give it these operands too."""
        for index, (child, node) in enumerate(zip(parent.children, nodes, strict=False)):
            if type(node) is not exp.Paren and not stands_bare(child, parent, index):
                raise ambiguous()
        return parent

    def _column(self, node: exp.Expr, depth: int) -> Tree:
        nodes = [part for part in map(node.args.get, ("catalog", "db", "table", "this")) if part is not None]
        if any(type(part) is not exp.Identifier for part in nodes):
            raise SpecError("", "must name its columns", hint="`*` is not an expression")
        parts = [self._source.lexeme(part.name) for part in nodes]
        if len(parts) == 1 and parts[0].literal is not None:
            return parts[0].literal
        if any(part.kind is not Kind.NAME for part in parts):
            raise SpecError("", "must name columns, and fields of a struct after a point")
        return Column(tuple(part.value for part in parts))

    def _dot(self, node: exp.Expr, depth: int) -> Tree:
        field = node.expression
        if type(field) is not exp.Identifier or self._source.lexeme(field.name).kind is not Kind.NAME:
            raise SpecError("", "must have the name of a field after a point", hint="functions have no prefix")
        operand, name = self.read(node.this, depth + 1), self._source.lexeme(field.name).value
        if isinstance(operand, Column):
            return Column((*operand.path, name))
        _check_has_parts(operand)
        return self._operands(Field(operand, name), node.this)

    def _null(self, node: exp.Expr, depth: int) -> Tree:
        return Literal("null")

    def _boolean(self, node: exp.Expr, depth: int) -> Tree:
        return Literal("true" if node.this else "false")

    def _infix(self, node: exp.Expr, depth: int) -> Tree:
        left, right = self.read(node.this, depth + 1), self.read(node.expression, depth + 1)
        operator = _INFIX[type(node)]
        if operator in ("like", "ilike", "rlike"):
            _check_pattern(operator, right)
        if operator == "||" and is_constant(left) and is_constant(right):
            raise SpecError("", "must read a column in ||", hint="a constant text is written as it is")
        if node.args.get("negate"):
            operator = f"not {operator}"
        return self._operands(Infix(left, operator, right), node.this, node.expression)

    def _not(self, node: exp.Expr, depth: int) -> Tree:
        operand = self.read(node.this, depth + 1)
        negated = _negated(operand)
        return negated if negated is not None else self._operands(Prefix("not", operand), node.this)

    def _negative(self, node: exp.Expr, depth: int) -> Tree:
        operand = self.read(node.this, depth + 1)
        if isinstance(operand, Literal) and operand.sql[0].isdigit():
            return Literal("-" + operand.sql, -operand.value if isinstance(operand.value, int) else None)
        return self._operands(Prefix("-", operand), node.this)

    def _complement(self, node: exp.Expr, depth: int) -> Tree:
        return self._operands(Prefix("~", self.read(node.this, depth + 1)), node.this)

    def _is(self, node: exp.Expr, depth: int) -> Tree:
        test = self.read(node.expression, depth + 1)
        if not isinstance(test, Literal) or test.sql not in ("null", "true", "false"):
            raise SpecError("", "must have null, true or false after `is`")
        return self._operands(Is(self.read(node.this, depth + 1), test.sql), node.this)

    def _between(self, node: exp.Expr, depth: int) -> Tree:
        nodes = (node.this, node.args["low"], node.args["high"])
        operand, low, high = (self.read(part, depth + 1) for part in nodes)
        return self._operands(Between(operand, low, high), *nodes)

    def _in(self, node: exp.Expr, depth: int) -> Tree:
        options = tuple(self.read(option, depth + 1) for option in node.expressions)
        if not options:
            raise SpecError("", "must have a list in parentheses after `in`", hint="a in (1, 2)")
        return self._operands(In(self.read(node.this, depth + 1), options), node.this)

    def _cast(self, node: exp.Expr, depth: int) -> Tree:
        type = node.args["to"].sql(dialect="spark").lower()
        return Cast(self.read(node.this, depth + 1), type, tries=bool(node.args.get("safe")))

    def _call(self, node: exp.Expr, depth: int) -> Tree:
        name = self._source.lexeme(node.name).value
        function(name)  # before the arguments: `count(*)` is about count
        arguments = tuple(self.read(argument, depth + 1) for argument in node.expressions)
        check_arguments(name, arguments)
        return Call(name, arguments)

    def _case(self, node: exp.Expr, depth: int) -> Tree:
        operand, default = (
            self.read(part, depth + 1) if part is not None else None
            for part in (node.args.get("this"), node.args.get("default"))
        )
        branches = tuple(
            (self.read(branch.this, depth + 1), self.read(branch.args["true"], depth + 1))
            for branch in node.args["ifs"]
        )
        return Case(branches, default, operand)

    def _item(self, node: exp.Expr, depth: int) -> Tree:
        if len(node.expressions) != 1:
            raise SpecError("", "must have one index in brackets")
        operand, index = self.read(node.this, depth + 1), self.read(node.expressions[0], depth + 1)
        _check_has_parts(operand)
        return self._operands(Item(operand, index), node.this, node.expressions[0])


def _negated(tree: Tree) -> Tree | None:
    """`not in` for `in`, and so on, where Spark has a word for it."""
    match tree:
        case In(negated=False) | Between(negated=False):
            return replace(tree, negated=True)
        case Is(test="null" | "true" | "false"):
            return replace(tree, test=f"not {tree.test}")
        case Infix(operator="like" | "ilike" | "rlike"):
            return replace(tree, operator=f"not {tree.operator}")
        case _:
            return None


def _check_has_parts(operand: Tree) -> None:
    if isinstance(operand, Literal):
        raise SpecError("", f"must not have a field or an element of the constant {operand.sql}")


def _check_pattern(operator: str, pattern: Tree) -> None:
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise SpecError(
            "", f"must have a constant text after {operator}", hint="contains(a, b) looks for a column's text"
        )
    if operator == "rlike":
        check_regex(pattern.value)
    else:
        check_like(pattern.value)


def _described(node: exp.Expr) -> str:
    """The words of a node's class: `bitwise left shift`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()
