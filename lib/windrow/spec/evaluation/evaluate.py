"""The value of an expression over one row, from its tree: SQL's logic of three values, and what fails.

`and`, `or`, `case`, `if`, `coalesce` and the like look no further than they must, from left to right. What is not known
here raises NotEvaluated, and is never a wrong value. Rule: docs/pipeline-files.md#expressions.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from windrow.spec.evaluation.arithmetic import OPERATORS, calculate, result_kind
from windrow.spec.evaluation.casts import cast
from windrow.spec.evaluation.functions import known
from windrow.spec.evaluation.kinds import Failed, NotEvaluated, common, converted
from windrow.spec.evaluation.literals import literal, tight
from windrow.spec.expressions import Expression
from windrow.spec.expressions.tree import Between, Call, Case, Cast, Column, In, Infix, Is, Literal, Prefix, Tree

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_LIKE = {"like": 0, "ilike": re.IGNORECASE}
_FIRST = ("coalesce", "nvl", "ifnull")
_BEST = ("greatest", "least")
_TESTS = ("isnull", "isnotnull", "equal_null")


@dataclass(frozen=True)
class Evaluator:
    """Values over rows whose columns have these types, by name, whatever its case. A timestamp is microseconds."""

    kinds: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", {name.lower(): kind for name, kind in self.kinds.items()})

    def evaluate(self, expression: Expression, row: Mapping[str, Any]) -> Any:
        """The value. Raises Failed where it fails on the row, NotEvaluated where only Spark knows."""
        return normal(_OverRow(self, {name.lower(): value for name, value in row.items()}).value(expression.tree))

    def kind_of(self, expression: Expression) -> str:
        """The type of the value. Raises NotEvaluated."""
        return self.kind(expression.tree)

    def kind(self, tree: Tree) -> str:
        """The type of a node."""
        match tree:
            case Column(path=(name,)):
                if name.lower() not in self.kinds:
                    raise NotEvaluated(f"the column {name}")
                return self.kinds[name.lower()]
            case Literal():
                return literal(tree)[0]
            case Infix(operator=sign) if sign in OPERATORS:
                return result_kind(sign, *self.operand_kinds(tree))
            case Infix(operator="||"):
                return known("concat").kind([self.kind(tree.left), self.kind(tree.right)])
            case Infix(operator="|" | "^" | "&"):
                raise NotEvaluated(tree.text)
            case Infix() | Is() | Between() | In() | Prefix(operator="not"):
                return "boolean"
            case Prefix(operator="-"):
                return self.kind(tree.operand)
            case Cast():
                return tree.type.replace(" ", "")
            case Case():
                return self._kind_of_any([*(result for _, result in tree.branches), *_given(tree.default)])
            case Call(name=name) if name in (*_FIRST, *_BEST):
                return self._kind_of_any(tree.arguments)
            case Call(name="if" | "nvl2"):
                return self._kind_of_any(tree.arguments[1:])
            case Call(name="nullif"):
                return self.kind(tree.arguments[0])
            case Call(name=name) if name in _TESTS:
                return "boolean"
            case Call(name=name):
                return known(name).kind([self.kind(argument) for argument in tree.arguments])
        raise NotEvaluated(tree.text)

    def operand_kinds(self, tree: Infix) -> tuple[str, str]:
        """The types of two operands; a whole constant beside a decimal is one of just its digits."""
        left, right = self.kind(tree.left), self.kind(tree.right)
        if "decimal" in left + right:
            return tight(tree.left, left), tight(tree.right, right)
        return left, right

    def _kind_of_any(self, trees: Iterable[Tree]) -> str:
        kind = "void"
        for tree in trees:
            kind = common(kind, self.kind(tree))
        return kind


@dataclass(frozen=True)
class _OverRow:
    """The values of nodes over one row, whose names are in lower case."""

    types: Evaluator
    row: Mapping[str, Any]

    def value(self, tree: Tree) -> Any:
        match tree:
            case Column(path=(name,)):
                if name.lower() not in self.row:
                    raise NotEvaluated(f"the column {name}")
                return normal(self.row[name.lower()])
            case Literal():
                return literal(tree)[1]
            case Infix():
                return self._infix(tree)
            case Prefix(operator="not"):
                return _not(self.value(tree.operand))
            case Prefix(operator="-"):
                kind = self.types.kind(tree.operand)
                return calculate("-", 0, self.value(tree.operand), (kind, kind))
            case Is():
                return self._is(tree)
            case Between():
                low = self._compared(">=", tree.operand, tree.low)
                found = _both(low, self._compared("<=", tree.operand, tree.high))
                return _not(found) if tree.negated else found
            case In():
                return self._in(tree)
            case Cast():
                return self._cast(tree)
            case Case():
                return converted(self._case(tree), self.types.kind(tree))
            case Call():
                return self._call(tree)
        raise NotEvaluated(tree.text)

    def _infix(self, tree: Infix) -> Any:
        sign = tree.operator
        if sign in OPERATORS:
            values = self.value(tree.left), self.value(tree.right)
            return calculate(sign, *values, self.types.operand_kinds(tree))
        if sign in ("and", "or"):
            return self._connected(tree, decisive=sign == "or")
        if sign in _COMPARISONS:
            return self._compared(sign, tree.left, tree.right)
        if sign == "<=>":
            return self._same(tree.left, tree.right)
        if sign == "||":
            return self._known("concat", (tree.left, tree.right))
        name = sign.removeprefix("not ")
        if name not in _LIKE:
            raise NotEvaluated(tree.text)
        found = _like(self.value(tree.left), self.value(tree.right), _LIKE[name])
        return found if name == sign else _not(found)

    def _connected(self, tree: Infix, decisive: bool) -> bool | None:
        """`and`, where false decides, and `or`, where true does."""
        left: bool | None = self.value(tree.left)
        if left is decisive:
            return decisive
        right: bool | None = self.value(tree.right)
        if right is decisive:
            return decisive
        return None if left is None or right is None else not decisive

    def _alike(self, left: Tree, right: Tree) -> tuple[Any, Any]:
        """Two values, of the type that both have in common."""
        kinds = self.types.kind(left), self.types.kind(right)
        kind = common(*kinds)
        if kind not in _ORDERED and not kind.startswith("decimal"):
            raise NotEvaluated(f"a comparison of {kind}")
        values = [normal(cast(self.value(one), of, kind) if kind == "timestamp" else self.value(one))
                  for one, of in zip((left, right), kinds, strict=True)]  # fmt: skip
        if kind == "double":
            values = [normal(converted(value, kind)) for value in values]
        return values[0], values[1]

    def _compared(self, sign: str, left: Tree, right: Tree) -> bool | None:
        one, other = self._alike(left, right)
        return None if one is None or other is None else _COMPARISONS[sign](order(one), order(other))

    def _same(self, left: Tree, right: Tree) -> bool:
        one, other = self._alike(left, right)
        return one is other if one is None or other is None else bool(order(one) == order(other))

    def _is(self, tree: Is) -> bool:
        value, test = self.value(tree.operand), tree.test.removeprefix("not ")
        holds = value is None if test == "null" else value is (test == "true")
        return holds if test == tree.test else not holds

    def _in(self, tree: In) -> bool | None:
        found = [self._compared("=", tree.operand, option) for option in tree.options]
        holds = True if True in found else None if None in found else False
        return _not(holds) if tree.negated else holds

    def _cast(self, tree: Cast) -> Any:
        try:
            return cast(self.value(tree.operand), self.types.kind(tree.operand), self.types.kind(tree))
        except Failed:
            if tree.tries:
                return None
            raise

    def _case(self, tree: Case) -> Any:
        for condition, result in tree.branches:
            holds = self.value(condition) if tree.operand is None else self._compared("=", tree.operand, condition)
            if holds is True:
                return self.value(result)
        return None if tree.default is None else self.value(tree.default)

    def _call(self, tree: Call) -> Any:
        arguments, name = tree.arguments, tree.name
        if name in _FIRST:
            values = (self.value(argument) for argument in arguments)
            return converted(next((value for value in values if value is not None), None), self.types.kind(tree))
        if name in _BEST:
            kind = self.types.kind(tree)
            present = [v for v in (converted(self.value(one), kind) for one in arguments) if v is not None]
            return (max if name == "greatest" else min)(present, key=order, default=None)
        match name:
            case "if":
                chosen = arguments[1] if self.value(arguments[0]) is True else arguments[2]
            case "nvl2":
                chosen = arguments[2] if self.value(arguments[0]) is None else arguments[1]
            case "nullif":
                return None if self._compared("=", *arguments) is True else self.value(arguments[0])
            case "isnull" | "isnotnull":
                return (self.value(arguments[0]) is None) is (name == "isnull")
            case "equal_null":
                return self._same(*arguments)
            case _:
                return self._known(name, arguments)
        return converted(self.value(chosen), self.types.kind(tree))

    def _known(self, name: str, arguments: Sequence[Tree]) -> Any:
        function, kinds = known(name), [self.types.kind(argument) for argument in arguments]
        function.kind(kinds)
        values = [self.value(argument) for argument in arguments]
        return None if None in values else function.value(values, kinds)


_ORDERED = frozenset({"void", "boolean", "string", "date", "timestamp", "interval", "tinyint", "smallint", "int",
                      "bigint", "float", "double"})  # fmt: skip


def normal(value: Any) -> Any:
    """The value that stands for all that SQL takes to be equal to it: -0.0 is 0.0, and there is one NaN."""
    if isinstance(value, float):
        return math.nan if math.isnan(value) else value + 0.0
    return value


def order(value: Any) -> Any:
    """A key to sort by, and to compare: NaN is equal to itself, and the largest number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return (True, 0) if value != value else (False, value)


def _given(tree: Tree | None) -> list[Tree]:
    return [] if tree is None else [tree]


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _both(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _like(text: str | None, pattern: str | None, flags: int) -> bool | None:
    """% is any text, _ any one character; a backslash takes the next one as it is."""
    if text is None or pattern is None:
        return None
    if flags and not (text + pattern).isascii():
        raise NotEvaluated(f"the case of {text!r}")
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    regex = "".join({"%": ".*", "_": "."}.get(part, re.escape(part.removeprefix("\\"))) for part in parts)
    return re.fullmatch(regex, text, re.DOTALL | flags) is not None
