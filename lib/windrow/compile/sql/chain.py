"""A chain of projections over one relation, as one nested SQL text.

One projection for each phase keeps plans linear: an expression that is used twice is computed once, in the projection
below. Handing the whole chain to Spark at once has it parsed and analysed once, where a frame for each projection is
analysed again at every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from windrow.compile.sql.columns import Column, col, named, quoted

SOURCE = "\0rows\0"
"""Where the relation goes in the text: no name or constant has such letters, while a user's text may well say {rows}.
"""


@dataclass(frozen=True)
class Chain:
    """The columns that are there after the projections so far, and their text."""

    names: tuple[str, ...]
    text: str | None = None

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
        wanted = ", ".join(
            quoted(name) if column.text == quoted(name) else named(name, column) for name, column in columns.items()
        )
        return Chain(tuple(columns), f"SELECT {wanted} FROM {self._relation()}")

    def only(self, names: Iterable[str]) -> Chain:
        """The columns of these names only."""
        return self.select({name: col(name) for name in names})

    def where(self, condition: Column) -> Chain:
        return replace(self, text=f"SELECT * FROM {self._relation()} WHERE {condition.text}")

    def _relation(self) -> str:
        return SOURCE if self.text is None else f"({self.text})"

    @property
    def sql(self) -> str:
        """The query over `{rows}`, for `spark.sql(..., rows=frame)`."""
        text = (self.text or f"SELECT * FROM {SOURCE}").replace("{", "{{").replace("}", "}}")
        return text.replace(SOURCE, "{rows}")
