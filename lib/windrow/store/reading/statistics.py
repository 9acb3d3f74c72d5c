"""What Delta knows of the files of a table, so that a question need not be asked of all of their rows.

Source: "Per-file Statistics" of the Delta protocol. A text is kept whole if it has fewer than 32 characters, and else
bounds of it; of a timestamp only the milliseconds are, so that it may be greater by less than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.spec.times import SECOND
from windrow.store.reading.tables import Condition

_PART = "partition."
_WHOLE = 32
_MILLISECOND = SECOND // 1000


@dataclass(frozen=True)
class ColumnStatistics:
    """Of one column, by files: how many rows there are and how many are null, and between what the others lie.

    A null says that nobody knows. `are_values`: such bounds are values of rows.
    """

    rows: pa.ChunkedArray
    nulls: pa.ChunkedArray
    least: pa.ChunkedArray
    greatest: pa.ChunkedArray
    are_values: bool = True

    @property
    def has_greatest(self) -> pa.ChunkedArray:
        """Whether it is known of a file which value is the greatest, and not only what none is greater than."""
        return pc.and_(pc.is_valid(self.greatest), self.are_values)

    @property
    def only(self) -> pa.ChunkedArray:
        """The text that all rows of a file have, but for those without one."""
        least, greatest = self.least.cast(pa.string()), self.greatest.cast(pa.string())
        is_only = pc.and_(pc.equal(least, greatest), pc.less(pc.utf8_length(least), _WHOLE))
        return pc.if_else(_known(is_only), least, None)

    def all_meet(self, one: Condition) -> pa.ChunkedArray:
        """Whether all rows of a file meet a condition on the column."""
        if one.holds == "is unknown":
            return _known(pc.equal(self.nulls, self.rows))
        return _known(pc.and_(pc.equal(self.nulls, 0), _ALL.get(one.holds, _never)(self, one.value)))

    def none_meets(self, one: Condition) -> pa.ChunkedArray:
        """Whether no row of a file meets it, as a null never does."""
        if one.holds == "is unknown":
            return _known(pc.equal(self.nulls, 0))
        return pc.or_(_known(_NONE.get(one.holds, _never)(self, one.value)), _known(pc.equal(self.nulls, self.rows)))


@dataclass(frozen=True)
class FileStatistics:
    """Of the files of a table, as the state of its log has them (`DeltaTable.get_add_actions`)."""

    files: pa.Table

    @property
    def paths(self) -> list[str]:
        found: list[str] = self.files.column("path").to_pylist()
        return found

    @property
    def rows(self) -> pa.ChunkedArray:
        return self.files.column("num_records")

    def partitions(self, schema: pa.Schema) -> Iterator[pc.Expression]:
        """What all rows of each file have in the columns by which the table is partitioned: the file lacks these."""
        names = [name.removeprefix(_PART) for name in self.files.column_names if name.startswith(_PART)]
        columns = [self.files.column(f"{_PART}{name}").cast(schema.field(name).type) for name in names]
        for number in range(len(self)):
            values = [(pc.field(name), column[number]) for name, column in zip(names, columns, strict=True)]
            are = [column == value if value.is_valid else column.is_null() for column, value in values]
            yield reduce(pc.Expression.__and__, are, pc.scalar(True))

    def __len__(self) -> int:
        return int(self.files.num_rows)

    def __getitem__(self, these: slice) -> FileStatistics:
        return FileStatistics(self.files[these])

    def where(self, holds: pa.ChunkedArray) -> FileStatistics:
        """Of those files alone."""
        return FileStatistics(self.files.filter(holds))

    def most_first(self, column: str) -> FileStatistics:
        """Those that may have the greatest values of a column first."""
        order = pc.array_sort_indices(self.of(column).greatest, order="descending", null_placement="at_start")
        return FileStatistics(self.files.take(order))

    def all_meet(self, conditions: Sequence[Condition]) -> pa.ChunkedArray:
        """Whether it is known that all rows of a file meet the conditions, and how many these are."""
        known = (self.of(one.column).all_meet(one) for one in conditions)
        return reduce(pc.and_, known, pc.is_valid(self.rows))

    def none_meets(self, conditions: Sequence[Condition]) -> pa.ChunkedArray:
        """Whether it is known that no row of a file meets the conditions."""
        known = (self.of(one.column).none_meets(one) for one in conditions)
        return reduce(pc.or_, known, _known(pc.equal(self.rows, 0)))

    def of(self, column: str) -> ColumnStatistics:
        part = f"{_PART}{column}"
        if part in self.files.column_names:
            values = self.files.column(part)
            return ColumnStatistics(self.rows, pc.if_else(pc.is_valid(values), 0, self.rows), values, values)
        least, greatest = self._said(f"min.{column}"), self._said(f"max.{column}")
        nulls = self._said(f"null_count.{column}").cast(pa.int64())
        if not pa.types.is_timestamp(least.type):
            return ColumnStatistics(self.rows, nulls, least, greatest, pa.types.is_integer(least.type))
        least, greatest = (one.cast(pa.timestamp("us", "UTC")).cast(pa.int64()) for one in (least, greatest))
        return ColumnStatistics(self.rows, nulls, least, pc.add(greatest, _MILLISECOND - 1), are_values=False)

    def _said(self, name: str) -> pa.ChunkedArray:
        if name in self.files.column_names:
            return self.files.column(name)
        return pa.chunked_array([pa.nulls(len(self.rows))])


def _known(holds: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(holds, False)


def _never(column: ColumnStatistics, value: Any) -> pa.ChunkedArray:
    return pa.chunked_array([pa.repeat(False, len(column.rows))])


def _is(column: ColumnStatistics, value: Any) -> pa.ChunkedArray:
    """Whether all values are that one; not of a text that may have been cut off."""
    is_whole = not (isinstance(value, str) and len(value) >= _WHOLE)
    return pc.and_(pc.and_(pc.equal(column.least, value), pc.equal(column.greatest, value)), is_whole)


def _is_not(column: ColumnStatistics, value: Any) -> pa.ChunkedArray:
    return pc.or_(pc.greater(column.least, value), pc.less(column.greatest, value))


_Rule = Callable[[ColumnStatistics, Any], pa.ChunkedArray]

_ALL: Mapping[str, _Rule] = {
    "=": _is,
    "!=": _is_not,
    ">": lambda column, value: pc.greater(column.least, value),
    ">=": lambda column, value: pc.greater_equal(column.least, value),
    "<": lambda column, value: pc.less(column.greatest, value),
    "<=": lambda column, value: pc.less_equal(column.greatest, value),
    "is known": lambda column, _: pc.is_valid(column.nulls),
}
"""Whether all values of a file meet a condition, if there are no nulls."""
_NONE: Mapping[str, _Rule] = {
    "=": _is_not,
    "!=": _is,
    ">": lambda column, value: pc.less_equal(column.greatest, value),
    ">=": lambda column, value: pc.less(column.greatest, value),
    "<": lambda column, value: pc.greater_equal(column.least, value),
    "<=": lambda column, value: pc.greater(column.least, value),
}
"""Whether none does."""
