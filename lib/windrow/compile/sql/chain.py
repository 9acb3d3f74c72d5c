"""A chain of projections over one relation, as one nested SQL text.

One projection for each phase keeps plans linear: an expression that is used twice is computed once, in the projection
below. Handing the whole chain to Spark at once has it parsed and analysed once, where a frame for each projection is
analysed again at every step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from windrow.compile.sql.columns import Column, col, named, quoted

SOURCE = "\0rows\0"
"""Where the relation goes in the text: no name or constant has such letters, while a user's text may well say {rows}.
"""


@dataclass(frozen=True)
class Projection:
    """These columns, by their names; all of them read what was there before."""

    columns: Mapping[str, Column]

    def over(self, relation: str) -> str:
        wanted = ", ".join(
            quoted(name) if column.text == quoted(name) else named(name, column)
            for name, column in self.columns.items()
        )
        return f"SELECT {wanted} FROM {relation}"


@dataclass(frozen=True)
class Filter:
    """The rows for which a condition holds."""

    condition: Column

    def over(self, relation: str) -> str:
        return f"SELECT * FROM {relation} WHERE {self.condition.text}"


@dataclass(frozen=True)
class Chain:
    """The steps so far, and the columns that are there after them."""

    names: tuple[str, ...]
    steps: tuple[Projection | Filter, ...] = ()

    @classmethod
    def over(cls, names: Iterable[str]) -> Chain:
        """The start: a relation with these columns."""
        return cls(tuple(names))

    def with_columns(self, columns: Mapping[str, Column]) -> Chain:
        """All columns, and these; one of a name that is there takes its place."""
        if not columns:
            return self
        kept = {name: columns.get(name, col(name)) for name in self.names}
        return self.select({**kept, **columns})

    def select(self, columns: Mapping[str, Column]) -> Chain:
        """These columns only."""
        return Chain(tuple(columns), (*self.steps, Projection(columns)))

    def only(self, names: Iterable[str]) -> Chain:
        """The columns of these names only."""
        return self.select({name: col(name) for name in names})

    def where(self, condition: Column) -> Chain:
        """The rows for which the condition holds."""
        return replace(self, steps=(*self.steps, Filter(condition)))

    def pruned(self) -> Chain:
        """The same chain without the columns that nothing behind them reads."""
        needed, steps = set(self.names), list[Projection | Filter]()
        for step in reversed(self.steps):
            if isinstance(step, Filter):
                needed |= _names_in(step.condition)
            else:
                step = Projection({name: column for name, column in step.columns.items() if name in needed})
                needed = set().union(*map(_names_in, step.columns.values()))
            steps.append(step)
        return replace(self, steps=tuple(reversed(steps)))

    @property
    def sql(self) -> str:
        """The query over `{rows}`, for `spark.sql(..., rows=frame)`."""
        relation = text = SOURCE
        for step in self.steps:
            text = step.over(relation)
            relation = f"({text})"
        text = text if self.steps else f"SELECT * FROM {SOURCE}"
        return text.replace("{", "{{").replace("}", "}}").replace(SOURCE, "{rows}")


def _names_in(column: Column) -> set[str]:
    """The names that an expression may read; one in a text of the user's counts too."""
    return {name.replace("``", "`") for name in _NAME.findall(column.text)}


_NAME = re.compile(r"`((?:[^`]|``)+)`")
