"""Where an expression fails on a row, and its value with null there.

Rule: an operator or function fails where one of its arguments fails, or where its own attempt does. Only what Spark
would look at counts: `and` and `or` from left to right, `case`, `if`, `coalesce`, `nvl`, `ifnull` and `nvl2` fail where
a part fails that is reached. An argument that fails beside a null is a failure too, although Spark, which looks at the
null first, may not notice it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from windrow.spec.expressions.attempts import (
    FALSE,
    NULL,
    OPERATORS,
    TRUE,
    Attempt,
    all_of,
    any_of,
    cast,
    item,
    opposite,
    tried_cast,
)
from windrow.spec.expressions.functions import FUNCTIONS
from windrow.spec.expressions.tree import Call, Case, Cast, Column, Field, Infix, Is, Item, Literal, Prefix, Tree


@dataclass(frozen=True)
class Guarded:
    """A tree as a value that never fails, and the condition under which the tree fails (None: it cannot).

    `keeps_null` is whether the value is null wherever the tree fails; an `is null` above a failing part, for instance,
    does not keep it.
    """

    value: Tree
    failure: Tree | None
    keeps_null: bool = True

    @property
    def null_where_it_fails(self) -> Tree:
        """The value, null wherever the tree fails."""
        if self.failure is None or self.keeps_null:
            return self.value
        return Call("if", (self.failure, NULL, self.value))


def guarded(tree: Tree) -> Guarded:
    """The value and the failure of the tree.

    The value is as long as the tree, and the failure quadratic in its depth, but for `div`, a sign, `abs`, casts to
    timestamp and elements of arrays, which write their argument more than once.
    """
    match tree:
        case Column() | Literal():
            return Guarded(tree, None)
        case Infix(operator="and" | "or"):
            return _connective(tree)
        case Case():
            return _case(tree)
        case Call(name) if name in _BRANCHES:
            return _BRANCHES[name](tree)
        case _:
            return _strict(tree)


def _strict(tree: Tree) -> Guarded:
    parts = [guarded(child) for child in tree.children]
    values = tuple(part.value for part in parts)
    attempt = _attempt(tree, values)
    failure = any_of(*(part.failure for part in parts))
    keeps_null = failure is None or (_is_null_for_null(tree) and all(part.keeps_null for part in parts))
    return Guarded(attempt.value, any_of(failure, attempt.failure), keeps_null)


def _is_null_for_null(tree: Tree) -> bool:
    """Whether the value is null where any of the children is null."""
    match tree:
        case Infix(operator=operator):
            return operator != "<=>"
        case Call(name):
            return FUNCTIONS[name].null_for_null
        case _:
            return isinstance(tree, Prefix | Cast | Item | Field)


def _attempt(tree: Tree, values: tuple[Tree, ...]) -> Attempt:
    match tree:
        case Infix(operator=operator) if operator in OPERATORS:
            return OPERATORS[operator](values)
        case Prefix("-"):
            return opposite(values)
        case Cast(type=type, tries=False):
            return cast(type)(values)
        case Cast(type=type):
            return Attempt(tried_cast(values[0], type), None)
        case Item():
            return item(values)
        case Call(name) if (attempt := FUNCTIONS[name].attempt) is not None:
            return attempt(values)
        case _:
            return Attempt(tree.over(values), None)


def _connective(tree: Infix) -> Guarded:
    left, right = guarded(tree.left), guarded(tree.right)
    failure = left.failure
    if right.failure is not None:
        is_and = tree.operator == "and"
        reached = Call("coalesce", (left.value, TRUE if is_and else FALSE))  # a null leaves it to the right side
        failure = any_of(failure, all_of(reached if is_and else Prefix("not", reached), right.failure))
    return Guarded(tree.over((left.value, right.value)), failure, keeps_null=failure is None)


def _case(tree: Case) -> Guarded:
    operand = guarded(tree.operand) if tree.operand else None
    branches = [(guarded(condition), guarded(result)) for condition, result in tree.branches]
    default = guarded(tree.default) if tree.default else None
    parts = [operand, *(part for branch in branches for part in branch), default]
    value = tree.over(tuple(part.value for part in parts if part is not None))
    if operand is None:
        return _of_branches(value, branches, default)
    cases = [
        (Guarded(Infix(operand.value, "=", constant.value), constant.failure), result) for constant, result in branches
    ]
    return _of_branches(value, cases, default, operand.failure)


Branch = tuple[Guarded, Guarded]


def _of_branches(value: Tree, branches: list[Branch], default: Guarded | None, before: Tree | None = None) -> Guarded:
    """It fails where what is before fails, a condition on the way, or the first branch whose condition holds."""
    conditions = [condition for condition, _ in branches]
    results = [result for _, result in branches] + ([default] if default else [])
    certain = before is None and all(condition.failure is None for condition in conditions)
    failure = None
    if not (certain and all(result.failure is None for result in results)):
        cases = [case for branch in branches for case in _failures(*branch)]
        failure = Case(tuple(cases), (default.failure if default else None) or FALSE)
    return Guarded(value, any_of(before, failure), certain and all(result.keeps_null for result in results))


def _failures(condition: Guarded, result: Guarded) -> Iterator[tuple[Tree, Tree]]:
    if condition.failure is not None:
        yield condition.failure, TRUE
    yield condition.value, result.failure or FALSE


def _if(tree: Call) -> Guarded:
    condition, yes, no = map(guarded, tree.arguments)
    return _of_branches(tree.over((condition.value, yes.value, no.value)), [(condition, yes)], no)


def _nvl2(tree: Call) -> Guarded:
    first, given, null = map(guarded, tree.arguments)
    is_given = Guarded(Is(first.value, "not null"), first.failure)
    return _of_branches(tree.over((first.value, given.value, null.value)), [(is_given, given)], null)


def _first_given(tree: Call) -> Guarded:
    parts = [guarded(argument) for argument in tree.arguments]
    failure: Tree | None = None
    for part in reversed(parts):
        failure = any_of(part.failure, all_of(Is(part.value, "null"), failure) if failure is not None else None)
    keeps_null = all(part.failure is None for part in parts[:-1]) and parts[-1].keeps_null
    return Guarded(tree.over(tuple(part.value for part in parts)), failure, keeps_null)


_BRANCHES: dict[str, Callable[[Call], Guarded]] = {
    "if": _if,
    "nvl2": _nvl2,
    "coalesce": _first_given,
    "nvl": _first_given,
    "ifnull": _first_given,
}
