"""The columns that a tree reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from windrow.spec.expressions.tree import Column, Tree


def walk(tree: Tree) -> Iterator[Tree]:
    """The nodes of the tree, each before its children, in the order of the text."""
    rest = [tree]
    while rest:
        node = rest.pop()
        yield node
        rest.extend(reversed(node.children))


def columns_of(tree: Tree) -> tuple[str, ...]:
    """The columns that the tree reads, in order of first appearance; names that differ in case only are one column."""
    names: dict[str, str] = {}
    for node in walk(tree):
        if isinstance(node, Column):
            names.setdefault(node.path[0].lower(), node.path[0])
    return tuple(names.values())


def renamed(tree: Tree, name: Callable[[str], str]) -> Tree:
    """The same tree over columns of other names."""
    if isinstance(tree, Column):
        return Column((name(tree.path[0]), *tree.path[1:]))
    return tree.over(tuple(renamed(child, name) for child in tree.children))


def is_constant(tree: Tree) -> bool:
    """Whether the tree reads no column."""
    return not any(isinstance(node, Column) for node in walk(tree))
