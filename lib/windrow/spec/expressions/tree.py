"""The tree of an expression: what may stand in one, and how Spark writes it down.

Every node gives the text from which Spark reads exactly this tree. Names are always quoted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from windrow.spec.expressions.precedence import INFIX_LEVELS, NOT, PREDICATE, PRIMARY, SIGN, stands_bare


@dataclass(frozen=True)
class Tree:
    """A node. `children` are in the order of the text, `over` is the same node over other children.

    `weight` is the number of nodes, `depth` the length of the longest branch; `level` and `symbol` say how it binds.
    """

    PARTS: ClassVar[tuple[str, ...]] = ()
    """The fields that hold one child each, in the order of the text."""

    weight: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", 1 + sum(child.weight for child in self.children))
        object.__setattr__(self, "depth", 1 + max((child.depth for child in self.children), default=0))

    @property
    def level(self) -> int:
        return PRIMARY

    @property
    def symbol(self) -> str:
        return ""

    @property
    def children(self) -> tuple[Tree, ...]:
        return tuple(getattr(self, part) for part in self.PARTS)

    @property
    def text(self) -> str:
        raise NotImplementedError

    def over(self, children: tuple[Tree, ...]) -> Tree:
        parts: dict[str, Any] = dict(zip(self.PARTS, children, strict=True))
        return replace(self, **parts)

    def operand_text(self, index: int) -> str:
        """The text of a child, in parentheses where it needs them."""
        child = self.children[index]
        return child.text if stands_bare(child, self, index) else f"({child.text})"


@dataclass(frozen=True)
class Column(Tree):
    """A column, and then the fields of a struct: `path` has at least one name."""

    path: tuple[str, ...]

    @property
    def text(self) -> str:
        return ".".join(map(quoted, self.path))


@dataclass(frozen=True)
class Literal(Tree):
    """A constant. `sql` is its text; `value` is the text of a string, the value of a whole number, else None."""

    sql: str
    value: str | int | None = None

    @property
    def level(self) -> int:
        return SIGN if self.sql.startswith("-") else PRIMARY

    @property
    def text(self) -> str:
        return self.sql


@dataclass(frozen=True)
class Infix(Tree):
    """An operator between two operands."""

    PARTS = ("left", "right")

    left: Tree
    operator: str
    right: Tree

    @property
    def level(self) -> int:
        return INFIX_LEVELS[self.operator]

    @property
    def symbol(self) -> str:
        return self.operator

    @property
    def text(self) -> str:
        return f"{self.operand_text(0)} {self.operator} {self.operand_text(1)}"


@dataclass(frozen=True)
class Prefix(Tree):
    """`not`, `-` or `~` in front of its operand."""

    PARTS = ("operand",)

    operator: str
    operand: Tree

    @property
    def level(self) -> int:
        return NOT if self.operator == "not" else SIGN

    @property
    def symbol(self) -> str:
        return self.operator

    @property
    def text(self) -> str:
        return f"{self.operator}{' ' if self.operator == 'not' else ''}{self.operand_text(0)}"


@dataclass(frozen=True)
class Is(Tree):
    """`is null`, `is true` or `is false`, and the same with `not`; never null itself."""

    PARTS = ("operand",)

    operand: Tree
    test: str

    @property
    def level(self) -> int:
        return PREDICATE

    @property
    def text(self) -> str:
        return f"{self.operand_text(0)} is {self.test}"


@dataclass(frozen=True)
class Between(Tree):
    """`operand between low and high`, bounds included."""

    PARTS = ("operand", "low", "high")

    operand: Tree
    low: Tree
    high: Tree
    negated: bool = False

    @property
    def level(self) -> int:
        return PREDICATE

    @property
    def text(self) -> str:
        between = "not between" if self.negated else "between"
        return f"{self.operand_text(0)} {between} {self.operand_text(1)} and {self.operand_text(2)}"


@dataclass(frozen=True)
class In(Tree):
    """`operand in (options)`, with at least one option."""

    operand: Tree
    options: tuple[Tree, ...]
    negated: bool = False

    @property
    def level(self) -> int:
        return PREDICATE

    @property
    def children(self) -> tuple[Tree, ...]:
        return self.operand, *self.options

    @property
    def text(self) -> str:
        return f"{self.operand_text(0)} {'not in' if self.negated else 'in'} ({_listed(self.options)})"

    def over(self, children: tuple[Tree, ...]) -> In:
        return In(children[0], children[1:], self.negated)


@dataclass(frozen=True)
class Cast(Tree):
    """`cast(operand as type)`, or `try_cast`."""

    PARTS = ("operand",)

    operand: Tree
    type: str
    tries: bool = False

    @property
    def text(self) -> str:
        return f"{'try_cast' if self.tries else 'cast'}({self.operand.text} as {self.type})"


@dataclass(frozen=True)
class Call(Tree):
    """A function of the allow-list, or one that stands in for it; `name` is lower case."""

    name: str
    arguments: tuple[Tree, ...]

    @property
    def children(self) -> tuple[Tree, ...]:
        return self.arguments

    @property
    def text(self) -> str:
        return f"{self.name}({_listed(self.arguments)})"

    def over(self, children: tuple[Tree, ...]) -> Call:
        return Call(self.name, children)


@dataclass(frozen=True)
class Case(Tree):
    """`case [operand] when .. then .. [else default] end`."""

    branches: tuple[tuple[Tree, Tree], ...]
    default: Tree | None = None
    operand: Tree | None = None

    @property
    def children(self) -> tuple[Tree, ...]:
        parts = [self.operand, *(part for branch in self.branches for part in branch), self.default]
        return tuple(part for part in parts if part is not None)

    @property
    def text(self) -> str:
        operand = f" {self.operand.text}" if self.operand else ""
        branches = "".join(f" when {condition.text} then {result.text}" for condition, result in self.branches)
        default = f" else {self.default.text}" if self.default else ""
        return f"case{operand}{branches}{default} end"

    def over(self, children: tuple[Tree, ...]) -> Case:
        parts = iter(children)
        operand = next(parts) if self.operand else None
        branches = tuple((next(parts), next(parts)) for _ in self.branches)
        return Case(branches, next(parts, None), operand)


@dataclass(frozen=True)
class Item(Tree):
    """`operand[index]`: an element of an array, from 0 on, or the value of a map for a key."""

    PARTS = ("operand", "index")

    operand: Tree
    index: Tree

    @property
    def symbol(self) -> str:
        return "[]"

    @property
    def text(self) -> str:
        return f"{self.operand_text(0)}[{self.operand_text(1)}]"


@dataclass(frozen=True)
class Field(Tree):
    """`operand.name`: the field of a struct that is not a column."""

    PARTS = ("operand",)

    operand: Tree
    name: str

    @property
    def text(self) -> str:
        return f"{self.operand_text(0)}.{quoted(self.name)}"


def _listed(trees: tuple[Tree, ...]) -> str:
    return ", ".join(tree.text for tree in trees)


def quoted(name: str) -> str:
    """The name as Spark's quoted identifier."""
    return "`" + name.replace("`", "``") + "`"
