"""The cells of a journal: what is open is in its snapshot and in the ticks behind it, the newest row of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import CELL, EXPIRED, KEY, STATE, WINDOW_END, WINDOW_START
from windrow.compile.panes.log_rows import CELLS, PANE, cell_identity
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, changing, col, lit, null, struct
from windrow.engine.frames import select, where, with_plain_key
from windrow.engine.newest import newest
from windrow.engine.tick.touched import Touched
from windrow.engine.windows.registry import strategy_of
from windrow.spec.stages.keys import LogColumn
from windrow.store.delta.log.retries import StepTaken

if TYPE_CHECKING:
    from windrow.store.journal.journal import Journal


def open_cells(
    journal: Journal,
    spark: SparkSession,
    wanted: Column | None,
    expired_end: int,
    until: int | None = None,
    shown: bool = True,
    touched: Touched | None = None,
    to_join: bool = False,
) -> DataFrame | None:
    """The cells that have not expired: snapshot and tail, the newest of each. None when there can be none.

    The newest of both is read: the table `cells`, or a tick that has written all open cells. `wanted` is a
    condition on a cell that may be pushed into the snapshot, and so may `touched`; the tail is united whole, and
    the newest picked before anything else is decided. Only the windows that end by `expired_end`, which have
    expired, are left out of both before: in the tail alone that would revive what the snapshot still has. `until`
    is the last tick that is looked at, if not the newest. `shown`: windows that have expired count as the newest of
    their cells; not so for slices, of which one may have the bounds of a window that was formed from it.
    """
    if journal.log.last(spark) is None:
        return None
    to_join = to_join and strategy_of(journal.stage).joins_cells
    in_table, in_log = journal.snapshot_tick(spark), journal.snapshot_in_log(spark, until)
    snapshot_tick = max(in_table, in_log)
    last = _newest_tick(journal, spark) if until is None else until
    forgotten_end = journal.forgotten_end(expired_end)
    tail = _as_cells(journal, journal.cell_rows(spark, snapshot_tick, last, forgotten_end))
    lives = col(WINDOW_END) > changing(forgotten_end, col("tick"))
    own = {name: col(name) for name in (*CELL, STATE, "tick")}
    if strategy_of(journal.stage).adds_up:
        return _added_up(journal, spark, snapshot_tick, tail, lives if wanted is None else lives & wanted)
    if not shown:
        tail = where(tail, ~col(EXPIRED))
    rows = select(where(tail, lives), {**own, _ENDED: col(STATE).is_null()})
    if snapshot_tick > 0:
        if in_log > in_table:
            known = journal.cell_rows(spark, in_log - 1, in_log, forgotten_end)
        else:
            known = journal.snapshot_rows(spark)
        snapshot = where(_as_cells(journal, known), lives & col(STATE).is_not_null())
        if wanted is not None:
            snapshot = where(snapshot, wanted)
        if touched is not None:
            snapshot = touched.of(snapshot)
        if last <= snapshot_tick:  # it has each cell once
            snapshot = select(snapshot, own)
            return with_plain_key(snapshot) if to_join else snapshot
        rows = select(snapshot, {**own, _ENDED: lit(False)}).unionByName(rows)
    state = {name: kind for name, (kind, _) in journal.stage.cells.state.items()}
    return _newest(rows, state, to_join)


def has_cells(journal: Journal, spark: SparkSession, among: Callable[[DataFrame], DataFrame]) -> bool:
    """Whether some cells are among those, which may have been replaced since; a look that groups nothing."""
    if journal.log.last(spark) is None:
        return False
    snapshot_tick = journal.snapshot_tick(spark)
    state = {STATE: col(LogColumn.STATE)}
    newest = journal.rows(spark, snapshot_tick, _newest_tick(journal, spark), CELLS, PANE)
    rows = select(newest, state)
    if snapshot_tick > 0:
        rows = rows.unionByName(select(journal.snapshot_rows(spark), state))
    return not among(where(rows, col(STATE).is_not_null())).isEmpty()


def compact(journal: Journal, spark: SparkSession, tick: int, expired_end: int) -> None:
    """Write a snapshot as of a tick: all cells that are open after it, in one version.

    Where another writer has compacted meanwhile, its snapshot stays: it is made of the same journal.
    """
    cells = open_cells(journal, spark, None, expired_end, tick)
    if cells is None or journal.snapshot_tick(spark) >= tick:
        return
    stage = journal.stage
    cells = strategy_of(stage).compacted(cells)
    keys = {name: col(KEY, name) for name in stage.shown.keys}
    bounds = {name: as_timestamp(col(name)) for name in (WINDOW_START, WINDOW_END)}
    own = {
        **{name: null("boolean") for name in (LogColumn.NOT_LAST, LogColumn.ENDED)},
        LogColumn.STATE: col(STATE),
        LogColumn.BUCKET: stage.windows.bucket(col(WINDOW_START)),
        "tick": col("tick"),
    }
    with suppress(StepTaken):
        journal.snapshot.replace(select(cells, {**keys, **bounds, **own}), tick, {}, (LogColumn.BUCKET,))


def _newest_tick(journal: Journal, spark: SparkSession) -> int:
    last = journal.log.last(spark)
    return 0 if last is None else last.step


def _added_up(journal: Journal, spark: SparkSession, snapshot_tick: int, tail: DataFrame, wanted: Column) -> DataFrame:
    """The cells that are wanted, of snapshot and tail: the rows of one are parts, and none replaces another.

    So the snapshot is read as it was when the tail began behind it, even if somebody compacts meanwhile. Windows
    that have fired are rows of the journal too; they have no state.
    """
    own = {name: col(name) for name in (*CELL, STATE, "tick")}
    rows = select(where(tail, wanted & col(STATE).is_not_null()), own)
    if snapshot_tick == 0:
        return rows
    return select(where(_as_cells(journal, journal.snapshot_rows(spark)), wanted), own).unionByName(rows)


def _as_cells(journal: Journal, rows: DataFrame) -> DataFrame:
    """The last row of each transition, or those of a snapshot, with `key`, bounds in microseconds and `state`."""
    identity = cell_identity(journal.stage.shown)
    ended = {EXPIRED: col(LogColumn.ENDED).is_not_null()}
    own = {STATE: col(LogColumn.STATE), "bucket": col(LogColumn.BUCKET), "tick": col("tick")}
    return select(where(rows, col(LogColumn.NOT_LAST).is_null()), {**identity, **ended, **own})


def _newest(rows: DataFrame, state: Mapping[str, str], to_join: bool) -> DataFrame:
    """The newest transition of each cell that has not expired: `key`, bounds, `state`, `tick`. `state` names its types.

    A field of the state has its number for a name meanwhile: those of users may be anything. `to_join`: so that they
    can be joined without being shuffled again.
    """
    fields = {f"_{index}": (col(STATE, name), kind) for index, (name, kind) in enumerate(state.items())}
    picked = newest(rows, CELL, "tick", {_ENDED: (col(_ENDED), "boolean"), **fields}, to_join)
    whole = struct(**{name: col(f"_{index}") for index, name in enumerate(state)})
    others = {name: col(name) for name in picked.columns if name not in fields and name != _ENDED}
    kept = {**others, STATE: whole}
    return select(where(picked, ~col(_ENDED)), kept)


_ENDED = "_ended"
"""Whether nothing of a cell is known any more."""
