"""Records as frames, and the windows that they make.

Rule: docs/semantics.md#record-windows.

A window is what a frame of records holds: the time before one of them, or the time behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.compile.cells.records import RECORD
from windrow.compile.columns import (
    CELL,
    ELEMENTS,
    EVENT_TIME,
    EXPIRED,
    KEY,
    OPENED,
    SLICE,
    STATE,
    WINDOW_END,
    WINDOW_START,
)
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import (
    Column,
    bigint,
    call,
    changing,
    coalesce,
    col,
    floor_to,
    lit,
    null,
    over_frame,
    when,
)
from windrow.compile.stage import CompiledStage
from windrow.compile.windows.records import CompiledRecords
from windrow.engine.frames import PlainKey, group, in_small_partitions, in_tasks, select, where, with_column
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.elements import PAIR
from windrow.spec.stages.inputs import ONLY
from windrow.spec.times import INFINITY, MINUS_INFINITY

EXPIRED_END = "_expired_end"
"""Windows that end at or before it had expired when the record came: it is in none of them, and makes none."""
CLOSED = "_closed_windows"
"""The bounds of windows that were closed when the record came, as an array: it is in none of them."""
RESTATED = "_taken_in"
"""Spans of starts, as an array: the windows there have the record all the same."""
SAID = (EXPIRED_END, CLOSED, RESTATED)
"""What records say in a batch of the windows that they are not in."""
SAID_IN_TICK = (EXPIRED_END,)
"""The same in a tick."""

SINCE = "_since"
"""The least watermark before a tick that brought an element of the record."""
_NEW = "_new"
"""Whether a row of records is of this tick."""
_BUCKET = "_bucket"
_BLOCK = "_block"
_FIRST = "_first"
_LAST = "_last"
"""The last record in the window that starts behind one, null where that is empty."""

WINDOWS_PER_BLOCK = 64
"""How long a block of time is. Two records in so many are in two blocks."""


def new_part(name: str) -> str:
    """The column of what the tick brings of a partial."""
    return f"n_{name}"


@dataclass(frozen=True)
class RecordFrames:
    """Frames of records: `key`, `_slice` (the time on the grid), partials, and what they say of windows (`SAID`)."""

    stage: CompiledStage
    function: CompiledRecords

    # ---------------------------------------------------------------- records

    def records(self, elements: DataFrame, watermark_before: int, said: tuple[str, ...] = SAID_IN_TICK) -> DataFrame:
        """Elements by key and time, but for those that no window could hold any more when they came."""
        sliced = with_column(elements, SLICE, self.function.slice_of(col(EVENT_TIME)))
        is_kept = ~self.function.is_lost(col(SLICE), col(EXPIRED_END))
        if RESTATED in said:
            is_kept = is_kept | (coalesce(call("size", col(RESTATED)), 0) > 0)
        rows = grouped(self.stage, where(sliced, is_kept), (KEY, SLICE, *said))
        return with_column(with_column(rows, SINCE, changing(watermark_before, col(SLICE))), _NEW, lit(True))

    def known(self, cells: DataFrame, new: DataFrame, expired_end: int) -> DataFrame:
        """The records of earlier ticks, of the keys that have new ones."""
        record = where(cells, col(STATE, RECORD).is_not_null())
        fields = {name: col(STATE, RECORD, name) for name in (ELEMENTS, SINCE, *self.stage.cells.tick_parts)}
        expired = changing(expired_end, col(WINDOW_START))
        own = {KEY: col(KEY), SLICE: col(WINDOW_START), EXPIRED_END: expired}
        rows = select(record, {**own, **fields, _NEW: lit(False)})
        return rows.join(new.select(KEY).distinct(), on=[KEY], how="left_semi")

    def transitions(self, known: DataFrame) -> DataFrame:
        """The transitions of the times that have new records: all that is known of each."""
        columns = self.stage.cells
        found = {**self.stage.merged_parts, SINCE: call("min", col(SINCE)), _NEW: call("bool_or", col(_NEW))}
        rows = where(group(known, (KEY, SLICE), found), col(_NEW))
        record = sql.struct(**{name: col(name) for name in (ELEMENTS, SINCE, *columns.tick_parts)})
        state = {name: null(kind) for name, (kind, _) in columns.state.items()}
        return select(rows, {
            KEY: col(KEY), WINDOW_START: col(SLICE), WINDOW_END: col(SLICE),
            EXPIRED: lit(False), OPENED: lit(False), STATE: sql.struct(**{**state, RECORD: record}),
        })  # fmt: skip

    # ---------------------------------------------------------------- windows

    def windows(self, known: DataFrame, expired_end: int) -> DataFrame:
        """Every window that the records make and that has not expired, with what it holds, in all and new in this tick.

        Where two records make one window it is that which ends at the later one.
        """
        merged_new = {new_part(n): c for n, c in self.stage.merged_parts_over(lambda name: col(new_part(name))).items()}
        found = {**self.stage.merged_parts, **merged_new, SINCE: call("min", col(SINCE))}
        frames = self._frames_of(known, found)
        if frames is None:
            return self.windows_as_said(known, SAID_IN_TICK)
        in_block = (*PlainKey.of(known).columns, _BLOCK)
        rows = self._in_blocks(known).repartition(*map(sql.quoted, in_block))
        records = group(rows, (*in_block, SLICE), self._in_all_and_new())
        made = self._made(known, records, frames, lit(True))
        return where(made, col(WINDOW_END) > changing(expired_end))

    def windows_of(self, elements: DataFrame) -> DataFrame | None:
        """Every window of elements that are all there are, from one sort; None where no frame can have an aggregate."""
        if ONLY not in self.stage.inputs:
            return None
        sliced = with_column(elements, SLICE, self.function.slice_of(col(EVENT_TIME)))
        frames = self._frames_of(sliced, self.stage.partials)
        if frames is None:
            return None
        in_block = self._in_block(sliced)
        is_first = coalesce(Column(f"lag({col(SLICE).text}) OVER ({in_block})") != col(SLICE), True)
        plain = PlainKey.of(sliced).columns
        rows = in_small_partitions(self._in_blocks(sliced), (*plain, _BLOCK))
        return in_tasks(self._made(sliced, rows, frames, is_first))

    def _frames_of(self, rows: DataFrame, found: Mapping[str, Column]) -> dict[str, tuple[Column, Column]] | None:
        """Aggregates over the window that ends at a row, and over that behind it; None where no frame can have one."""
        function, in_block = self.function, self._in_block(rows)
        before = f"{in_block} RANGE BETWEEN {function.difference}L PRECEDING AND CURRENT ROW"
        first, last = function.resolution, function.resolution + function.difference
        behind = f"{in_block} RANGE BETWEEN {first}L FOLLOWING AND {last}L FOLLOWING"
        wanted = {**found, _LAST: call("max", col(SLICE))}
        frames = {name: (over_frame(column, before), over_frame(column, behind)) for name, column in wanted.items()}
        known = {name: (one, other) for name, (one, other) in frames.items() if one is not None and other is not None}
        return known if len(known) == len(wanted) else None

    def _made(
        self, known: DataFrame, rows: DataFrame, frames: Mapping[str, tuple[Column, Column]], is_first: Column
    ) -> DataFrame:
        """The windows of rows in blocks; `is_first` says which of the rows at one time makes them."""
        function, key = self.function, PlainKey.of(known)
        keys = {name: col(name) for name in key.columns}
        columns = {**keys, _BLOCK: col(_BLOCK), SLICE: col(SLICE), _FIRST: is_first}
        for name, (before, behind) in frames.items():
            columns.update({f"e_{name}": before, f"b_{name}": behind})
        framed = where(select(rows, columns), col(_FIRST) & (col(_BLOCK) == _block_of(function, col(SLICE))))
        starts = call("explode", function.starts_of_own(col(f"b_{_LAST}")))
        framed = with_column(framed, WINDOW_START, starts)
        ends_there = col(WINDOW_START) <= col(SLICE)
        parts = {name: when(ends_there, col(f"e_{name}"), col(f"b_{name}")) for name in frames if name != _LAST}
        bounds = {WINDOW_START: col(WINDOW_START), WINDOW_END: col(WINDOW_START) + bigint(function.longest)}
        return select(framed, {KEY: key.whole, **bounds, **parts})

    def windows_as_said(self, known: DataFrame, said: tuple[str, ...]) -> DataFrame:
        """The same where records say themselves which windows they are not in, or no frame can have an aggregate.

        A window and the records in it are in one of two neighbouring buckets as long as the window.
        """
        function = self.function
        start = call("explode", function.starts(col(SLICE)))
        made = select(known, {name: col(name) for name in (KEY, SLICE, _NEW, *said)} | {WINDOW_START: start})
        made = with_column(made, WINDOW_END, col(WINDOW_START) + bigint(function.longest))
        came_lost = col(_NEW) & function.is_lost(col(SLICE), col(EXPIRED_END))
        is_open, is_back = _is_open(said), is_restated() if RESTATED in said else lit(False)
        makes = (is_open & ~came_lost) | is_back
        made = where(made, makes).select(*CELL).distinct()
        first = floor_to(col(WINDOW_START), function.longest, 0)
        made = with_column(made, _BUCKET, call("explode", sql.array(first, first + bigint(function.longest))))
        records = with_column(known, _BUCKET, floor_to(col(SLICE), function.longest, 0))
        pairs = made.join(records, on=[KEY, _BUCKET])
        holds = (col(SLICE) >= col(WINDOW_START)) & (col(SLICE) < col(WINDOW_END))
        return group(where(pairs, holds & (is_open | is_back)), CELL, self._in_all_and_new())

    def _in_all_and_new(self) -> dict[str, Column]:
        """The partials over records, in all and of those that are new."""
        return {
            **self.stage.merged_parts,
            **{new_part(name): column for name, column in self.stage.merged_parts_where(col(_NEW)).items()},
            SINCE: call("min", when(~col(_NEW), col(SINCE))),
        }

    def _in_blocks(self, known: DataFrame) -> DataFrame:
        """Records in blocks of time, and in the neighbours too whose frames reach them: a key is no task by itself."""
        length = bigint(self.function.longest)
        first, own, last = (
            _block_of(self.function, time) for time in (col(SLICE) - length, col(SLICE), col(SLICE) + length)
        )
        begins, ends = first != own, last != own
        blocks = sql.case(
            (begins & ends, sql.array(first, own, last)),
            (begins, sql.array(first, own)),
            (ends, sql.array(own, last)),
            otherwise=sql.array(own),
        )
        plain = PlainKey.of(known).columns
        others = {name: col(name) for name in known.columns if name != KEY}
        return select(known, {**plain, **others, _BLOCK: call("explode", blocks)})

    def _in_block(self, rows: DataFrame) -> str:
        by = ", ".join(map(sql.quoted, (*PlainKey.of(rows).columns, _BLOCK)))
        return f"PARTITION BY {by} ORDER BY {col(SLICE).text}"


def _block_of(function: CompiledRecords, time: Column) -> Column:
    return floor_to(time, min(WINDOWS_PER_BLOCK * function.longest, INFINITY // 4), 0)


# ---------------------------------------------------------------- what records say


def saying(rows: DataFrame, excluded: DataFrame) -> DataFrame:
    """Rows with what says which windows they are not in: those that had expired when they came, or were closed."""
    bounds = sql.struct(first=col(WINDOW_START), last=col(WINDOW_END))
    is_late = col("reason") == "late"
    found = group(
        excluded,
        PAIR[:2],
        {
            EXPIRED_END: call("max", when(is_late, col(EXPIRED_END))),
            CLOSED: call("array_sort", call("collect_set", when(~is_late, bounds))),
            RESTATED: call("first", col(RESTATED)),  # a row dies in one tick
        },
    )
    joined = rows.join(found, on=list(PAIR[:2]), how="left")
    return with_column(joined, EXPIRED_END, coalesce(col(EXPIRED_END), bigint(MINUS_INFINITY)))


def _is_open(said: tuple[str, ...]) -> Column:
    """Whether the window had neither expired nor was closed when the record came."""
    is_open = col(WINDOW_END) > col(EXPIRED_END)
    if CLOSED not in said:
        return is_open
    bounds = sql.struct(first=col(WINDOW_START), last=col(WINDOW_END))
    return is_open & ~coalesce(call("array_contains", col(CLOSED), bounds), lit(False))


def is_restated() -> Column:
    """Whether the window has the record all the same."""
    start = col(WINDOW_START)

    def holds(span: Column) -> Column:
        return (start >= Column(f"{span.text}.first")) & (start < Column(f"{span.text}.last"))

    return coalesce(sql.some(col(RESTATED), holds), lit(False))
