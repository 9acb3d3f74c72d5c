"""What was guessed of a CSV file, as plain values. Rule: docs/first-pipeline.md#what-is-guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression


def in_sql(name: str) -> str:
    """A column as an expression has it: in quotes where its name is a word of SQL, such as `end`."""
    try:
        is_plain = Expression.parse(name).columns == (name,)
    except SpecError:
        is_plain = False
    return name if is_plain else f"`{name}`"


@dataclass(frozen=True)
class Column:
    """A column: its name in the pipeline, that in the header, its type, and what of its values stands in the way.

    `number` is the expression by which its texts, with a decimal comma, become numbers.
    """

    name: str
    header: str
    kind: str
    note: str = ""
    number: str = ""


@dataclass(frozen=True)
class Time:
    """A column of times: its format, the zone of texts without an offset, why it was taken, and the time of day."""

    column: str
    format: str
    zone: str | None
    why: str
    time_of_day: str | None = None

    @property
    def names(self) -> str:
        """Its column, or that of the date and that of the time of day."""
        return self.column if self.time_of_day is None else f"{self.column} and {self.time_of_day}"


@dataclass(frozen=True)
class Key:
    """The column by which rows are grouped, and how many values it has."""

    column: str
    values: int


@dataclass(frozen=True)
class Lateness:
    """How far rows came behind later ones, in microseconds: what 99 percent of them do not exceed, and the most.

    `by_arrival`: in the order of arrival; else in that of the file, which is all that is known.
    """

    often: int
    most: int
    delay: int
    allowed: int
    by_arrival: bool


@dataclass(frozen=True)
class Guess:
    """A pipeline over one file. `size` is the length of its windows, `measures` the columns that are aggregated."""

    name: str
    path: str
    rows: int
    is_whole: bool
    has_header: bool
    separator: str
    columns: Sequence[Column]
    event_time: Time
    arrival: Time | None
    key: Key | None
    lateness: Lateness
    size: int
    measures: Sequence[str]
    first: int
    last: int
    without_time: int
    unreadable: int
    sample: Sequence[tuple[int, Mapping[str, Any]]]
    """Ten rows: event time and the columns that the stage uses."""

    @property
    def count(self) -> str:
        """The name of the aggregate that counts: no column has it."""
        taken = {column.name.lower() for column in self.columns}
        return next(name for name in ("events", "number", "counted", "events_counted") if name not in taken)

    def number(self, name: str) -> str:
        """The expression that has the numbers of a column."""
        return next(column.number or in_sql(name) for column in self.columns if column.name == name)

    @property
    def types(self) -> Mapping[str, str]:
        """The types of columns by name."""
        return {column.name: column.kind for column in self.columns}
