"""Where parentheses must stand, so that Spark and sqlglot read the same tree from a text.

Spark's levels are those of its grammar (`SqlBaseParser.g4`). sqlglot differs in three places: it reads `|`, `^`, `&`
and `||` from left to right, `=` as weaker than `<`, and what follows `between` or `like` without comparisons. There
parentheses are written always, and a user's text that lacks them is refused.
"""

from __future__ import annotations

from typing import Protocol

OR, AND, NOT, PREDICATE, COMPARISON = 1, 2, 3, 4, 5
BIT_OR, BIT_XOR, BIT_AND, SUM, PRODUCT, SIGN, PRIMARY = 6, 7, 8, 9, 10, 11, 12

INFIX_LEVELS = {
    "or": OR, "and": AND,
    "like": PREDICATE, "not like": PREDICATE, "ilike": PREDICATE, "not ilike": PREDICATE,
    "rlike": PREDICATE, "not rlike": PREDICATE,
    "=": COMPARISON, "<>": COMPARISON, "<": COMPARISON, "<=": COMPARISON, ">": COMPARISON, ">=": COMPARISON,
    "<=>": COMPARISON,
    "|": BIT_OR, "^": BIT_XOR, "&": BIT_AND, "||": SUM, "+": SUM, "-": SUM,
    "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "div": PRODUCT,
}  # fmt: skip
"""How tightly an operator between two operands binds; a larger number binds more tightly."""

_CHAINS = {
    symbol: frozenset(chain)
    for chain in (["or"], ["and"], ["|"], ["^"], ["&"], ["||"], ["+", "-"], ["*", "/", "%", "div"])
    for symbol in chain
}
_LEFT_TO_RIGHT_IN_SQLGLOT = {"|", "^", "&", "||"}


class Node(Protocol):
    """What matters of a node here: how tightly it binds, and its operator (empty where it has none)."""

    @property
    def level(self) -> int: ...

    @property
    def symbol(self) -> str: ...


def stands_bare(child: Node, parent: Node, index: int) -> bool:
    """Whether the operand at `index` (0 is the first) needs no parentheses below `parent`."""
    if parent.symbol == "[]" and index == 1:
        return child.level > COMPARISON
    if parent.level == PRIMARY:
        return child.level == PRIMARY
    if parent.level == PREDICATE:
        return child.level > COMPARISON
    if parent.symbol == "not":
        return child.level >= NOT
    if index == 0 and child.level == parent.level < SIGN and child.symbol in _CHAINS.get(parent.symbol, ()):
        return True
    return child.level > parent.level and not {child.symbol, parent.symbol} <= _LEFT_TO_RIGHT_IN_SQLGLOT
