"""Windows that records make: those that end at one, and those that start behind one.

Rule: docs/semantics.md#record-windows.

Elements of a key at one time of the grid are one row. Those rows are kept as cells of their own, without length, as
long as a window may still arise that holds them. A window is what a frame of such rows holds: the time before one of
them, or the time behind it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.cells.state import RECORD
from windrow.compile.columns import (
    CELL,
    ELEMENTS,
    EVENT_TIME,
    EXPIRED,
    KEY,
    OPENED,
    PANES,
    SLICE,
    STATE,
    WINDOW_END,
    WINDOW_START,
)
from windrow.compile.elements import envelope
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
from windrow.compile.triggers.tree import TickClock
from windrow.compile.windows.records import CompiledRecords
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.tick.admission import Held
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.elements import PAIR, elements_of
from windrow.engine.tick.evaluated import due, no_state, state_of
from windrow.engine.tick.published import Made
from windrow.engine.tick.statistics import Survey
from windrow.engine.windows.assign import bounded
from windrow.engine.windows.closed import shut
from windrow.engine.windows.strategy import Evaluated, WindowStrategy
from windrow.spec.times import INFINITY, MINUS_INFINITY

_NEW = "_new"
"""Whether a row of records is of this tick."""
_SINCE = "_since"
_NUMBER_NEW = "_number_new"
_BUCKET = "_bucket"
EXPIRED_END = "_expired_end"
"""Windows that end at or before it had expired when the record came: it is in none of them, and makes none."""
CLOSED = "_closed_windows"
"""The bounds of windows that were closed when the record came, as an array: it is in none of them."""
TAKEN_IN = "_taken_in"
"""Spans of starts, as an array: the windows there have the record all the same."""
SAID = (EXPIRED_END, CLOSED, TAKEN_IN)
"""What records say in a batch of the windows that they are not in; in a tick it is the first of them alone."""


class Records(WindowStrategy):
    """A cell for each key and window, and one for each key and time that has a record."""

    depends_on_others = True
    ends_by_cells = True
    splits_late_rows = True

    @classmethod
    def fits(cls, stage: CompiledStage) -> bool:
        return stage.windows.made_by_records

    def pairs(self, elements: DataFrame, event_time: str) -> DataFrame:
        return bounded(self.stage.windows, elements, col(event_time))

    def combine(self, elements: DataFrame, held: Held) -> DataFrame:
        elements = with_column(elements, EXPIRED_END, bigint(MINUS_INFINITY))
        made = _framed(self.stage, _records(self.stage, elements, MINUS_INFINITY), MINUS_INFINITY)
        return made.select(*CELL, ELEMENTS, *self.stage.cells.tick_parts)

    def combine_without(self, rows: DataFrame, excluded: DataFrame) -> DataFrame:
        elements = elements_of(self.stage, _saying(rows, excluded), SAID)
        made = _windows(self.stage, _records(self.stage, elements, MINUS_INFINITY, SAID), SAID)
        return made.select(*CELL, ELEMENTS, *self.stage.cells.tick_parts)

    def evaluate(
        self, cells: DataFrame | None, elements: DataFrame | None, held: Held, times: TickTimes, clock: TickClock
    ) -> Evaluated:
        return Evaluated(*evaluated(self.stage, cells, elements, held.expired_end, clock))

    def closed_out(self, keyed: DataFrame, cells: DataFrame, held: Held) -> DataFrame:
        return closed_pairs(self.stage, keyed, shut(cells), held.expired_end)

    def has_elements(self, found: Survey) -> bool:
        """One that is late for its own window may be in others."""
        return found.counters.assigned > 0

    def held(self, expired_end: int, published: tuple[Made, ...], streams: bool) -> Held:
        """None knows which others its records make, so all windows up to the last that is published have expired."""
        ends = [expired_end] if streams else [MINUS_INFINITY]
        for one in published:
            last = self.stage.windows.greatest_start_before(one.last)
            if last is not None:
                ends.append(min(one.until, last[1]))
        return Held(max(ends))

    def why_not_streamed(self, published: tuple[Made, ...]) -> str | None:
        if any(one.until == INFINITY for one in published):
            return "cannot begin a stream of record windows behind a backfill that was asserted to be whole"
        return None

    def but_for(self, transitions: DataFrame, published: DataFrame) -> DataFrame:
        """Records stay: they make later windows."""
        is_record = coalesce(col(STATE, RECORD).is_not_null(), lit(False))
        return where(transitions, is_record).unionByName(super().but_for(where(transitions, ~is_record), published))

    def greatest_end(self, cells: DataFrame) -> int | None:
        found = group(_open(cells), (), {"end": call("max", col(WINDOW_END))}).collect()[0]["end"]
        return None if found is None else int(found)


def _saying(rows: DataFrame, excluded: DataFrame) -> DataFrame:
    """Rows with what says which windows they are not in: those that had expired when they came, or were closed."""
    bounds = sql.struct(first=col(WINDOW_START), last=col(WINDOW_END))
    is_late = col("reason") == "late"
    found = group(
        excluded,
        PAIR[:2],
        {
            EXPIRED_END: call("max", when(is_late, col(EXPIRED_END))),
            CLOSED: call("array_sort", call("collect_set", when(~is_late, bounds))),
            TAKEN_IN: call("first", col(TAKEN_IN)),  # a row dies in one tick
        },
    )
    joined = rows.join(found, on=list(PAIR[:2]), how="left")
    return with_column(joined, EXPIRED_END, coalesce(col(EXPIRED_END), bigint(MINUS_INFINITY)))


def _function(stage: CompiledStage) -> CompiledRecords:
    assert isinstance(stage.windows, CompiledRecords)
    return stage.windows


def evaluated(
    stage: CompiledStage, cells: DataFrame | None, elements: DataFrame | None, expired_end: int, clock: TickClock
) -> tuple[DataFrame, DataFrame | None]:
    """The windows that the tick evaluates, with their state, and the transitions of records."""
    if elements is None:
        assert cells is not None
        return due(stage, _open(cells), clock), None
    expired = changing(expired_end, col(EVENT_TIME))
    new = _records(stage, with_column(elements, EXPIRED_END, expired), clock.watermark_before)
    if cells is None:
        made = _framed(stage, new, expired_end)
        kept = {name: col(name) for name in (*CELL, ELEMENTS, *stage.cells.tick_parts)}
        return select(made, {**kept, **no_state(stage)}), _remembered(stage, new)
    known = new.unionByName(_known(stage, cells, new, expired_end))
    return _joined(stage, _open(cells), _framed(stage, known, expired_end), clock), _remembered(stage, known)


def _open(cells: DataFrame) -> DataFrame:
    return where(cells, col(STATE, RECORD).is_null())


def _records(
    stage: CompiledStage, elements: DataFrame, watermark_before: int, said: tuple[str, ...] = SAID[:1]
) -> DataFrame:
    """Elements by key and time, but for those that no window could hold any more when they came."""
    windows = _function(stage)
    sliced = with_column(elements, SLICE, windows.slice_of(col(EVENT_TIME)))
    is_kept = ~windows.is_lost(col(SLICE), col(EXPIRED_END))
    if TAKEN_IN in said:
        is_kept = is_kept | (coalesce(call("size", col(TAKEN_IN)), 0) > 0)
    rows = grouped(stage, where(sliced, is_kept), (KEY, SLICE, *said))
    return with_column(with_column(rows, _SINCE, changing(watermark_before, col(SLICE))), _NEW, lit(True))


def _known(stage: CompiledStage, cells: DataFrame, new: DataFrame, expired_end: int) -> DataFrame:
    """The records of earlier ticks, of the keys that have new ones."""
    record = where(cells, col(STATE, RECORD).is_not_null())
    fields = {name: col(STATE, RECORD, name) for name in (ELEMENTS, _SINCE, *stage.cells.tick_parts)}
    expired = changing(expired_end, col(WINDOW_START))
    own = {KEY: col(KEY), SLICE: col(WINDOW_START), EXPIRED_END: expired}
    rows = select(record, {**own, **fields, _NEW: lit(False)})
    return rows.join(new.select(KEY).distinct(), on=[KEY], how="left_semi")


def _framed(stage: CompiledStage, known: DataFrame, expired_end: int) -> DataFrame:
    """Every window that the records make and that has not expired, with what it holds, in all and new in this tick.

    Where two records make one window it is that which ends at the later one.
    """
    windows, merged = _function(stage), stage.merged
    merged_new = {_new(name): column for name, column in stage.merged_over(lambda name: col(_new(name))).items()}
    found = {**merged, **merged_new, _SINCE: call("min", col(_SINCE))}
    frames = {name: (_before(windows, column), _behind(windows, column)) for name, column in found.items()}
    if any(before is None or behind is None for before, behind in frames.values()):
        return _windows(stage, known, SAID[:1])
    at_once = {**merged, **{_new(name): column for name, column in stage.merged_where(col(_NEW)).items()}}
    at_once[_SINCE] = call("min", when(~col(_NEW), col(_SINCE)))
    rows = group(_in_blocks(windows, known), (KEY, _BLOCK, SLICE), at_once)
    last = _behind(windows, call("max", col(SLICE)))
    assert last is not None
    columns = {KEY: col(KEY), _BLOCK: col(_BLOCK), SLICE: col(SLICE), _LAST: last}
    for name, (before, behind) in frames.items():
        assert before is not None and behind is not None
        columns.update({f"e_{name}": before, f"b_{name}": behind})
    own = where(select(rows, columns), col(_BLOCK) == _block_of(windows, col(SLICE)))
    framed = with_column(own, WINDOW_START, call("explode", windows.starts_of_own(col(_LAST))))
    ends_there = col(WINDOW_START) <= col(SLICE)
    parts = {name: when(ends_there, col(f"e_{name}"), col(f"b_{name}")) for name in frames}
    bounds = {WINDOW_START: col(WINDOW_START), WINDOW_END: col(WINDOW_START) + bigint(windows.longest)}
    made = select(framed, {KEY: col(KEY), **bounds, **parts})
    return where(made, col(WINDOW_END) > changing(expired_end))


def _in_blocks(windows: CompiledRecords, known: DataFrame) -> DataFrame:
    """Records in blocks of time, and beside the neighbours too whose frames reach them: a key is no task by itself."""
    near = (col(SLICE) - bigint(windows.longest), col(SLICE), col(SLICE) + bigint(windows.longest))
    blocks = call("array_distinct", sql.array(*[_block_of(windows, time) for time in near]))
    return with_column(known, _BLOCK, call("explode", blocks)).repartition(col(KEY).text, col(_BLOCK).text)


def _block_of(windows: CompiledRecords, time: Column) -> Column:
    return floor_to(time, min(WINDOWS_PER_BLOCK * windows.longest, INFINITY // 4), 0)


def _before(windows: CompiledRecords, aggregate: Column) -> Column | None:
    """The aggregate over the window that ends at a row; None where it is none that a frame can have."""
    return over_frame(aggregate, f"{_IN_BLOCK} RANGE BETWEEN {windows.difference}L PRECEDING AND CURRENT ROW")


def _behind(windows: CompiledRecords, aggregate: Column) -> Column | None:
    """The aggregate over the window that starts behind a row, likewise."""
    first, last = windows.resolution, windows.resolution + windows.difference
    return over_frame(aggregate, f"{_IN_BLOCK} RANGE BETWEEN {first}L FOLLOWING AND {last}L FOLLOWING")


WINDOWS_PER_BLOCK = 64
"""How long a block of time is. Two records in so many are in two blocks."""

_BLOCK = "_block"
_IN_BLOCK = f"PARTITION BY {col(KEY).text}, {col(_BLOCK).text} ORDER BY {col(SLICE).text}"
_LAST = "_last"
"""The last record in the window that starts behind one, null where that is empty."""


def _windows(stage: CompiledStage, known: DataFrame, said: tuple[str, ...]) -> DataFrame:
    """The same where records say themselves which windows they are not in, or where no frame can have an aggregate.

    A window and the records in it are in one of two neighbouring buckets as long as the window.
    """
    windows = _function(stage)
    start = call("explode", windows.starts(col(SLICE)))
    made = select(known, {name: col(name) for name in (KEY, SLICE, _NEW, *said)} | {WINDOW_START: start})
    made = with_column(made, WINDOW_END, col(WINDOW_START) + bigint(windows.longest))
    came_lost = col(_NEW) & windows.is_lost(col(SLICE), col(EXPIRED_END))
    is_open, is_back = _is_open(said), is_taken_in() if TAKEN_IN in said else lit(False)
    makes = (is_open & ~came_lost) | is_back
    made = where(made, makes).select(*CELL).distinct()
    first = floor_to(col(WINDOW_START), windows.longest, 0)
    made = with_column(made, _BUCKET, call("explode", sql.array(first, first + bigint(windows.longest))))
    records = with_column(known, _BUCKET, floor_to(col(SLICE), windows.longest, 0))
    pairs = made.join(records, on=[KEY, _BUCKET])
    holds = (col(SLICE) >= col(WINDOW_START)) & (col(SLICE) < col(WINDOW_END))
    pairs = where(pairs, holds & (is_open | is_back))
    return group(pairs, CELL, {
        **stage.merged,
        **{_new(name): column for name, column in stage.merged_where(col(_NEW)).items()},
        _SINCE: call("min", when(~col(_NEW), col(_SINCE))),
    })  # fmt: skip


def _is_open(said: tuple[str, ...]) -> Column:
    """Whether the window had neither expired nor was closed when the record came."""
    is_open = col(WINDOW_END) > col(EXPIRED_END)
    if CLOSED not in said:
        return is_open
    bounds = sql.struct(first=col(WINDOW_START), last=col(WINDOW_END))
    return is_open & ~coalesce(call("array_contains", col(CLOSED), bounds), lit(False))


def is_taken_in() -> Column:
    """Whether the window has the record all the same."""
    start = col(WINDOW_START)

    def holds(span: Column) -> Column:
        return (start >= Column(f"{span.text}.first")) & (start < Column(f"{span.text}.last"))

    return coalesce(sql.some(col(TAKEN_IN), holds), lit(False))


def _new(name: str) -> str:
    return f"n_{name}"


def _joined(stage: CompiledStage, cells: DataFrame, made: DataFrame, clock: TickClock) -> DataFrame:
    """Windows with their cells. A window that was there gets what is new, one that arises all that it holds."""
    columns = stage.cells
    joined = made.join(cells, on=list(CELL), how="full")
    is_there = col(STATE).is_not_null()
    added = coalesce(when(is_there, col(_new(ELEMENTS)), col(ELEMENTS)), bigint(0))
    wanted = where(joined, (added > 0) | (is_there & columns.is_due(clock)))
    parts = {name: when(is_there, col(_new(name)), col(name)) for name in columns.tick_parts}
    state = state_of(stage)
    state["s_since"] = when(is_there, col(STATE, "since"), col(_SINCE))
    return select(wanted, {**{name: col(name) for name in CELL}, **state, ELEMENTS: added, **parts})


def _remembered(stage: CompiledStage, known: DataFrame) -> DataFrame:
    """The transitions of the times that have new records: all that is known of each."""
    columns = stage.cells
    found = {**stage.merged, _SINCE: call("min", col(_SINCE)), _NEW: call("bool_or", col(_NEW))}
    rows = where(group(known, (KEY, SLICE), found), col(_NEW))
    record = sql.struct(**{name: col(name) for name in (ELEMENTS, _SINCE, *columns.tick_parts)})
    state = {name: null(kind) for name, (kind, _) in columns.state.items()}
    return select(rows, {
        KEY: col(KEY), WINDOW_START: col(SLICE), WINDOW_END: col(SLICE),
        PANES: null(f"array<{columns.pane_type}>"), EXPIRED: lit(False), OPENED: lit(False),
        STATE: sql.struct(**{**state, RECORD: record}),
    })  # fmt: skip


def closed_pairs(stage: CompiledStage, keyed: DataFrame, closed: DataFrame, expired_end: int) -> DataFrame:
    """Judged rows, with `key`, once for each closed window that they fall in, with its bounds."""
    windows = _function(stage)
    rows = with_column(keyed, SLICE, windows.slice_of(col(envelope.EVENT_TIME)))
    pairs = rows.join(closed, on=[KEY])
    inside = (col(SLICE) >= col(WINDOW_START)) & (col(SLICE) < col(WINDOW_END))
    return where(pairs, inside & (col(WINDOW_END) > changing(expired_end, col(SLICE)))).drop(SLICE)
