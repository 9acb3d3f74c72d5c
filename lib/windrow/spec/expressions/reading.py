"""From text to tree: sqlglot reads the grammar, and only what is known here comes through.

sqlglot sees keywords, signs and numbered stand-ins for names, functions and constants, never the text itself. A tree is
taken only if Spark reads the same one: where the two grammars differ the user must write parentheses, and every lexeme
of the text must be found again in the text of the tree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from windrow.spec.errors import SpecError
from windrow.spec.expressions.columns import is_constant
from windrow.spec.expressions.functions import check_arguments, function
from windrow.spec.expressions.lexemes import Kind, Lexeme, lexemes
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

MAX_CHARACTERS = 10_000
MAX_NESTING = 30
"""How deep parentheses, brackets and `case` may be nested; sqlglot needs about twenty frames of Python for each."""
MAX_DEPTH = 100
"""How long a branch of the tree may be; a chain of n operators is n long."""

_INFIX: dict[type[exp.Expr], str] = {
    exp.Or: "or", exp.And: "and",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "<=>",
    exp.BitwiseOr: "|", exp.BitwiseXor: "^", exp.BitwiseAnd: "&", exp.DPipe: "||",
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div",
    exp.Like: "like", exp.ILike: "ilike", exp.RegexpLike: "rlike",
}  # fmt: skip
_STAND_IN = re.compile("[xf][0-9]+")
_QUERY_WORDS = frozenset(["select", "from", "with", "union", "join", "lateral", "values", "over", "window", "distinct"])


def read(text: str) -> Tree:
    """The tree of one scalar expression. Errors: anything else."""
    found = _lexemes_within_limits(text)
    if not found:
        raise SpecError("", "must be an expression, not an empty text", hint="for instance: amount > 0")
    try:
        tree = _Reader(found).tree()
    except RecursionError:
        raise _too_deep() from None
    if _census(found) != _census(_lexemes_within_limits(tree.text)):
        raise SpecError("", "must be one scalar expression of Spark SQL; a part of it has no meaning there")
    return tree


def _lexemes_within_limits(text: str) -> list[Lexeme]:
    if len(text) > MAX_CHARACTERS:
        raise SpecError("", f"must not have more than {MAX_CHARACTERS} characters, with names in backticks")
    found = lexemes(text)
    _check_nesting(found)
    return found


def _too_deep() -> SpecError:
    hint = "a part of it can be a column of its own under `select`; `in (..)` replaces a chain of `or`"
    return SpecError(
        "", f"must not be nested deeper than {MAX_NESTING} levels or have chains of {MAX_DEPTH}", hint=hint
    )


def _check_nesting(found: list[Lexeme]) -> None:
    depth = prefixes = 0
    for lexeme in found:
        depth += lexeme.is_any("(", "[", "case") - lexeme.is_any(")", "]", "end")
        prefixes = prefixes + 1 if lexeme.is_any("not", "-", "~") else 0
        if depth > MAX_NESTING or prefixes > MAX_NESTING:
            raise _too_deep()


def _census(found: list[Lexeme]) -> Counter[tuple[Kind, str]]:
    """How often each lexeme occurs, but for parentheses; `a::t` is `cast(a as t)`."""
    counter = Counter((lexeme.kind, lexeme.value) for lexeme in found if not lexeme.is_any("(", ")"))
    casts = counter.pop((Kind.SIGN, "::"), 0)
    return counter + Counter({(Kind.FUNCTION, "cast"): casts, (Kind.KEYWORD, "as"): casts})


def _ambiguous() -> SpecError:
    return SpecError("", "must have more parentheses: without them it can be read in two ways", hint="(a = b) = c")


class _Reader:
    def __init__(self, found: list[Lexeme]) -> None:
        self._lexemes = found
        self._handlers: dict[type[exp.Expr], Callable[[exp.Expr, int], Tree]] = {
            exp.Column: self._column, exp.Dot: self._dot, exp.Null: self._null, exp.Boolean: self._boolean,
            exp.Not: self._not, exp.Neg: self._negative, exp.BitwiseNot: self._complement, exp.Is: self._is,
            exp.Between: self._between, exp.In: self._in, exp.Cast: self._cast, exp.TryCast: self._cast,
            exp.Anonymous: self._call, exp.Case: self._case, exp.Bracket: self._item,
            **dict.fromkeys(_INFIX, self._infix),
        }  # fmt: skip

    def tree(self) -> Tree:
        node = self._parsed()
        tree = self._read(node, 1)
        groups = sum(lexeme.is_any("(") - lexeme.is_any("in") for lexeme in self._lexemes)
        groups -= sum(lexeme.kind is Kind.FUNCTION for lexeme in self._lexemes)
        if sum(isinstance(inner, exp.Paren) for inner in node.walk()) != groups or self._has_sign_before_cast():
            raise _ambiguous()  # sqlglot puts in parentheses of its own where it sees a doubt
        return tree

    def _has_sign_before_cast(self) -> bool:
        """`-1::t` is (-1)::t for Spark and -(1::t) for sqlglot."""
        return any(
            sign.is_any("-") and literal.kind is Kind.LITERAL and cast.is_any("::")
            for sign, literal, cast in zip(self._lexemes, self._lexemes[1:], self._lexemes[2:], strict=False)
        )

    def _parsed(self) -> exp.Expr:
        try:
            node = sqlglot.parse_one(self._masked(), dialect="spark", into=exp.Condition)
        except ParseError as error:
            raise self._unreadable(error) from None
        except SqlglotError as error:
            raise SpecError("", f"must be one scalar expression of Spark SQL: {type(error).__name__}") from None
        return node

    def _masked(self) -> str:
        return " ".join(self._mask(place, lexeme) for place, lexeme in enumerate(self._lexemes))

    def _mask(self, place: int, lexeme: Lexeme) -> str:
        if lexeme.kind is Kind.FUNCTION and lexeme.value not in ("cast", "try_cast"):
            return f"f{place}"
        return f"x{place}" if lexeme.kind in (Kind.NAME, Kind.LITERAL) else lexeme.value.upper()

    def _unmasked(self, identifier: str) -> Lexeme:
        """The lexeme behind a stand-in; sqlglot takes some keywords for names, Spark need not."""
        if not _STAND_IN.fullmatch(identifier):
            raise self._broken(identifier.lower())
        return self._lexemes[int(identifier[1:])]

    def _unreadable(self, error: ParseError) -> SpecError:
        near = str(error.errors[0].get("highlight") or "its end") if error.errors else "its end"
        return self._broken(self._unmasked(near).source if _STAND_IN.fullmatch(near) else near.lower())

    def _broken(self, near: str) -> SpecError:
        hint = "a column named like a keyword is written in backticks: `end`"
        return self._refusal(f"must be one scalar expression of Spark SQL; it breaks at {near}", hint)

    def _refusal(self, rule: str, hint: str) -> SpecError:
        """The error, or a better one if the text looks like a query."""
        words = [lexeme.value.lower() for lexeme in self._lexemes if lexeme.kind in (Kind.NAME, Kind.FUNCTION)]
        if query := [word for word in words if word in _QUERY_WORDS]:
            rule = f"must be one scalar expression, without {query[0]}"
            hint = "no queries, windows or aggregates; a column of that name is written in backticks"
        return SpecError("", rule, hint=hint)

    def _read(self, node: exp.Expr, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise _too_deep()
        while type(node) is exp.Paren:
            node = node.this
        handler = self._handlers.get(type(node))
        if handler is None:
            raise self._refusal(f"must not have this: {_described(node)}", "an expression reads one row, by columns")
        return handler(node, depth)

    def _operands(self, parent: Tree, *nodes: exp.Expr) -> Tree:
        """The parent, if Spark would give it these operands too."""
        for place, (child, node) in enumerate(zip(parent.children, nodes, strict=False)):
            if type(node) is not exp.Paren and not stands_bare(child, parent, place):
                raise _ambiguous()
        return parent

    def _column(self, node: exp.Expr, depth: int) -> Tree:
        nodes = [part for part in map(node.args.get, ("catalog", "db", "table", "this")) if part is not None]
        if any(type(part) is not exp.Identifier for part in nodes):
            raise SpecError("", "must name its columns", hint="`*` is not an expression")
        parts = [self._unmasked(part.name) for part in nodes]
        if len(parts) == 1 and parts[0].literal is not None:
            return parts[0].literal
        if any(part.kind is not Kind.NAME for part in parts):
            raise SpecError("", "must name columns, and fields of a struct after a point")
        return Column(tuple(part.value for part in parts))

    def _dot(self, node: exp.Expr, depth: int) -> Tree:
        field = node.expression
        if type(field) is not exp.Identifier or self._unmasked(field.name).kind is not Kind.NAME:
            raise SpecError("", "must have the name of a field after a point", hint="functions have no prefix")
        operand, name = self._read(node.this, depth + 1), self._unmasked(field.name).value
        if isinstance(operand, Column):
            return Column((*operand.path, name))
        _check_has_parts(operand)
        return self._operands(Field(operand, name), node.this)

    def _null(self, node: exp.Expr, depth: int) -> Tree:
        return Literal("null")

    def _boolean(self, node: exp.Expr, depth: int) -> Tree:
        return Literal("true" if node.this else "false")

    def _infix(self, node: exp.Expr, depth: int) -> Tree:
        left, right = self._read(node.this, depth + 1), self._read(node.expression, depth + 1)
        operator = _INFIX[type(node)]
        if operator in ("like", "ilike", "rlike"):
            _check_pattern(operator, right)
        if operator == "||" and is_constant(left) and is_constant(right):
            raise SpecError("", "must read a column in ||", hint="a constant text is written as it is")
        if node.args.get("negate"):
            operator = f"not {operator}"
        return self._operands(Infix(left, operator, right), node.this, node.expression)

    def _not(self, node: exp.Expr, depth: int) -> Tree:
        operand = self._read(node.this, depth + 1)
        negated = _negated(operand)
        return negated if negated is not None else self._operands(Prefix("not", operand), node.this)

    def _negative(self, node: exp.Expr, depth: int) -> Tree:
        operand = self._read(node.this, depth + 1)
        if isinstance(operand, Literal) and operand.sql[0].isdigit():
            return Literal("-" + operand.sql, -operand.value if isinstance(operand.value, int) else None)
        return self._operands(Prefix("-", operand), node.this)

    def _complement(self, node: exp.Expr, depth: int) -> Tree:
        return self._operands(Prefix("~", self._read(node.this, depth + 1)), node.this)

    def _is(self, node: exp.Expr, depth: int) -> Tree:
        test = self._read(node.expression, depth + 1)
        if not isinstance(test, Literal) or test.sql not in ("null", "true", "false"):
            raise SpecError("", "must have null, true or false after `is`")
        return self._operands(Is(self._read(node.this, depth + 1), test.sql), node.this)

    def _between(self, node: exp.Expr, depth: int) -> Tree:
        nodes = (node.this, node.args["low"], node.args["high"])
        operand, low, high = (self._read(part, depth + 1) for part in nodes)
        return self._operands(Between(operand, low, high), *nodes)

    def _in(self, node: exp.Expr, depth: int) -> Tree:
        options = tuple(self._read(option, depth + 1) for option in node.expressions)
        if not options:
            raise SpecError("", "must have a list in parentheses after `in`", hint="a in (1, 2)")
        return self._operands(In(self._read(node.this, depth + 1), options), node.this)

    def _cast(self, node: exp.Expr, depth: int) -> Tree:
        type = node.args["to"].sql(dialect="spark").lower()
        return Cast(self._read(node.this, depth + 1), type, tries=bool(node.args.get("safe")))

    def _call(self, node: exp.Expr, depth: int) -> Tree:
        name = self._unmasked(node.name).value
        function(name)  # before the arguments: `count(*)` is about count
        arguments = tuple(self._read(argument, depth + 1) for argument in node.expressions)
        check_arguments(name, arguments)
        return Call(name, arguments)

    def _case(self, node: exp.Expr, depth: int) -> Tree:
        operand, default = (
            self._read(part, depth + 1) if part is not None else None
            for part in (node.args.get("this"), node.args.get("default"))
        )
        branches = tuple(
            (self._read(branch.this, depth + 1), self._read(branch.args["true"], depth + 1))
            for branch in node.args["ifs"]
        )
        return Case(branches, default, operand)

    def _item(self, node: exp.Expr, depth: int) -> Tree:
        if len(node.expressions) != 1:
            raise SpecError("", "must have one index in brackets")
        operand, index = self._read(node.this, depth + 1), self._read(node.expressions[0], depth + 1)
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
