"""Where an expression fails on a row, and its value with null there.

Rule: an operator or function fails where one of its arguments fails, or where its own attempt does. Only what Spark
would look at counts: `and` and `or` from left to right, `case`, `if`, `coalesce`, `nvl`, `ifnull` and `nvl2` fail where
a part fails that is reached. An argument that fails beside a null is a failure too, although Spark, which looks at the
null first, may not notice it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windrow.spec.expressions.attempts import (
    FALSE,
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
from windrow.spec.expressions.tree import Call, Case, Cast, Column, Infix, Is, Item, Literal, Prefix, Tree


@dataclass(frozen=True)
class Guarded:
    """A tree as a value that never fails, null where the tree fails, and that condition (None: it cannot fail)."""

    value: Tree
    failure: Tree | None


def guarded(tree: Tree) -> Guarded:
    """The value and the failure of the tree. Their size is at most quadratic in its depth but for `div`, `-`, `abs`,
    `pmod`, casts to timestamp and elements of arrays, which write their argument twice.
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
    return Guarded(attempt.value, any_of(*(part.failure for part in parts), attempt.failure))


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
    return Guarded(tree.over((left.value, right.value)), failure)


def _case(tree: Case) -> Guarded:
    operand = guarded(tree.operand) if tree.operand else None
    branches = [(guarded(condition), guarded(result)) for condition, result in tree.branches]
    default = guarded(tree.default) if tree.default else None
    parts = [operand, *(part for branch in branches for part in branch), default]
    value = tree.over(tuple(part.value for part in parts if part is not None))
    reached = [(condition if operand is None else _equal(operand, condition), result) for condition, result in branches]
    return Guarded(value, any_of(operand.failure if operand else None, _of_branches(reached, default)))


def _equal(operand: Guarded, value: Guarded) -> Guarded:
    return Guarded(Infix(operand.value, "=", value.value), value.failure)


def _of_branches(branches: list[tuple[Guarded, Guarded]], default: Guarded | None) -> Tree | None:
    """The failure of the first branch whose condition holds, or of a condition on the way to it."""
    parts = [part for branch in branches for part in branch] + ([default] if default else [])
    if all(part.failure is None for part in parts):
        return None
    cases: list[tuple[Tree, Tree]] = []
    for condition, result in branches:
        if condition.failure is not None:
            cases.append((condition.failure, TRUE))
        cases.append((condition.value, result.failure or FALSE))
    return Case(tuple(cases), (default.failure if default else None) or FALSE)


def _if(tree: Call) -> Guarded:
    condition, yes, no = map(guarded, tree.arguments)
    return Guarded(tree.over((condition.value, yes.value, no.value)), _of_branches([(condition, yes)], no))


def _nvl2(tree: Call) -> Guarded:
    first, given, null = map(guarded, tree.arguments)
    is_given = Guarded(Is(first.value, "not null"), first.failure)
    return Guarded(tree.over((first.value, given.value, null.value)), _of_branches([(is_given, given)], null))


def _first_given(tree: Call) -> Guarded:
    parts = [guarded(argument) for argument in tree.arguments]
    failure: Tree | None = None
    for part in reversed(parts):
        failure = any_of(part.failure, all_of(Is(part.value, "null"), failure) if failure is not None else None)
    return Guarded(tree.over(tuple(part.value for part in parts)), failure)


_BRANCHES: dict[str, Callable[[Call], Guarded]] = {
    "if": _if,
    "nvl2": _nvl2,
    "coalesce": _first_given,
    "nvl": _first_given,
    "ifnull": _first_given,
}
