"""Scalar expressions of Spark SQL that a user writes: read, checked against an allow-list, written from the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from windrow.spec.errors import SpecError
from windrow.spec.expressions.columns import columns_of, renamed
from windrow.spec.expressions.failure import guarded
from windrow.spec.expressions.parsing import too_deep
from windrow.spec.expressions.reading import read
from windrow.spec.expressions.tree import Tree

__all__ = ["Expression"]

MAX_WEIGHT = 50_000
"""How many nodes the guarded forms of an expression may have."""


@dataclass(frozen=True)
class Expression:
    """A Spark SQL scalar expression over the columns at hand; made with `parse`.

    `text` is made from the tree, never what came in, and is its identity and YAML form. `columns` are the top-level
    columns that it reads, in order of first appearance. Whoever uses it must check that they exist: Spark gives some
    names, such as `user`, a meaning of their own where there is no such column.

    Rules: docs/pipeline-files.md#expressions, docs/semantics.md#where-every-row-is.
    """

    text: str
    columns: tuple[str, ...] = field(compare=False)
    tree: Tree = field(compare=False, repr=False)

    @staticmethod
    def parse(text: str) -> Expression:
        """The expression that the text says.

        Errors: anything that is not one scalar expression of the allow-list: queries, window and aggregate functions,
        what reads the clock, the session, files or code, parameters, comments; too long, too deep, or read in two ways.
        """
        try:
            expression = _over(read(text))
            expression._check_size()
        except SpecError as error:
            raise error.within("", text) from None
        except RecursionError:
            raise too_deep().within("", text) from None
        return expression

    def _check_size(self) -> None:
        value, failure = self._guarded
        if value.weight + (failure.weight if failure else 0) > MAX_WEIGHT:
            hint = "a part of it can be a column of its own under `select`"
            raise SpecError("", "is too large when every step that can fail is guarded", hint=hint)

    @cached_property
    def _guarded(self) -> tuple[Tree, Tree | None]:
        guards = guarded(self.tree)
        return guards.null_where_it_fails, guards.failure

    @property
    def value_sql(self) -> str:
        """The value as SQL that raises on no row, with ANSI on or off: null where the evaluation fails."""
        return self._guarded[0].text

    @property
    def failure_sql(self) -> str | None:
        """The condition under which the evaluation fails, as SQL that is never null and never raises.

        None if it cannot fail. The rule is in `failure`.
        """
        failure = self._guarded[1]
        return None if failure is None else failure.text

    def rename(self, names: Mapping[str, str]) -> Expression:
        """The same over columns of other names; those that `names` does not have stay. Case does not matter."""
        by_name = {old.lower(): new for old, new in names.items()}
        return _over(renamed(self.tree, lambda name: by_name.get(name.lower(), name)))


def _over(tree: Tree) -> Expression:
    return Expression(tree.text, columns_of(tree), tree)
