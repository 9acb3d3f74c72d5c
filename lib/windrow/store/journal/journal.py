"""The journal of a stage: one tick is one commit, and nothing else is the truth.

| column | what |
|---|---|
| `_kind` | `cell`, `pane`, `dead_letter` or `control` (partition) |
| `_bucket` | a coarse part of window time (partition) |
| keys, results and all other columns of `panes` | the cell, and what the tick emitted for it, withdrawals first |
| `tick` | the step |
| `_state` | the cell after the tick, null when it has expired (where windows merge, its bounds are still kept) |
| `_opened`, `_ended`, ... | true or null: whether the cell began or ended with this tick, and what else is counted |
| `_dead_letter` | a dead letter |
| `_control` | the control row as JSON |

A pane is written once, as people read it: the tables of panes are made of the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from windrow.compile.columns import CELL, EXPIRED, KEY, OPENED, PANES, STATE, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.log_rows import CELLS, FIRST, PANE, cell_identity, log_rows
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, bigint, call, changing, col, lit, null, struct, when
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import apply, group, local, over, select, where
from windrow.engine.newest import newest
from windrow.engine.tick.micro_batch import DeadLetters
from windrow.engine.windows.registry import strategy_of
from windrow.spec.errors import SpecError
from windrow.spec.stages.graph import reads_of
from windrow.spec.stages.keys import LogColumn
from windrow.spec.times import saturating_add
from windrow.store.delta.data_files import written
from windrow.store.delta.location import INDEXED, READABLE, Lake, Location
from windrow.store.delta.retries import StepTaken
from windrow.store.delta.step_log import Notes, StepLog
from windrow.store.delta.transactions import Append
from windrow.store.journal.control import CONTROL, DEAD_LETTER, Control, Stamp
from windrow.store.journal.counting import counted
from windrow.store.projections.creation import ensure_table, struct_of

PARTITIONS = (LogColumn.KIND, LogColumn.BUCKET)


@dataclass
class Journal:
    """The journal of one generation of a stage, and the snapshot into which it is compacted."""

    lake: Lake
    stage: CompiledStage
    generation: int
    log: StepLog
    snapshot: StepLog
    _schema: StructType | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, lake: Lake, stage: CompiledStage, generation: int) -> Journal:
        name = stage.stage.name
        return cls(
            lake,
            stage,
            generation,
            StepLog(*lake.journal(name, generation), folders=LogColumn.KIND),
            StepLog(*lake.cells(name, generation), indexed=0),
        )

    @property
    def location(self) -> Location:
        return self.log.location

    def last(self, spark: SparkSession) -> Control | None:
        """The control row of the newest tick, or None before the first."""
        commit = self.log.last(spark)
        if commit is None:
            return None
        return self.control(spark, commit.step)

    def control(self, spark: SparkSession, tick: int) -> Control:
        """The control row of a tick."""
        return self.controls(spark, tick - 1, tick)[tick]

    def controls(self, spark: SparkSession, after: int, until: int) -> dict[int, Control]:
        """The control rows of the ticks after < tick <= until. Raises SpecError for a journal of an earlier version."""
        rows = self.rows(spark, after, until, CONTROL).select("tick", LogColumn.CONTROL).collect()
        try:
            return {row["tick"]: Control.from_json(row[LogColumn.CONTROL]) for row in rows}
        except SpecError as error:
            raise error.within(f"stages.{self.stage.stage.name}") from None

    def stamp(self, spark: SparkSession, tick: int) -> Stamp:
        """What the commit of a tick says of it, without a job; of one that is far back, what its control row says."""
        commit = self.log.commit(spark, tick)
        found = None if commit is None else Stamp.from_notes(commit.notes)
        return found or Stamp.of(self.control(spark, tick))

    def commit(
        self, spark: SparkSession, control: Control, transitions: DataFrame | None, dead_letters: DeadLetters
    ) -> Control:
        """Write a tick, and give its control row as it was written, with what was counted of the rows on their way.

        Raises StepTaken where another writer has written it.
        """
        parts = [] if transitions is None else [self._transition_rows(transitions, control)]
        parts += [
            self._letter_rows(name, letters, control) for name, frames in dead_letters.items() for letters in frames
        ]
        ensure_table(spark, self.location, self.schema(spark), PARTITIONS, self._properties(spark))
        kept = [control]

        def fill(append: Append) -> Notes:
            if parts:
                union = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
                kept.append(counted(control, append.write(union)))
            row = {"tick": control.tick, LogColumn.CONTROL: kept[-1].to_json()}
            schema = StructType([self.schema(spark)[name] for name in row])
            folder = {LogColumn.KIND: CONTROL, LogColumn.BUCKET: None}
            append.add([written(spark, self.location, [row], schema, folder)])
            return Stamp.of(control).notes

        if not self.log.begun(spark, control.tick, fill):
            raise StepTaken(self.location.path, control.tick, None)
        return kept[-1]

    def _transition_rows(self, transitions: DataFrame, control: Control) -> DataFrame:
        bucket, clock = self.stage.windows.bucket(col(WINDOW_START)), control.clock
        rows = log_rows(self.stage.shown, over(transitions), bucket, control.tick, clock.watermark, clock.now)
        return apply(rows, transitions)

    def _letter_rows(self, name: str, letters: DataFrame, control: Control) -> DataFrame:
        dead_letter = struct(
            reason=col("reason"),
            event_time=col("event_time"),
            element=call("to_json", col("element")),
            source=lit(reads_of(self.stage.shown)[name]),
            partition=col(envelope.PARTITION),
            offset=col(envelope.OFFSET),
            arrived_at=col(envelope.ARRIVAL_TIME),
            step=col(envelope.STEP),
            row=col(envelope.ROW),
        )
        own = {
            **{name: null("boolean") for name in FIRST},
            WINDOW_START: as_timestamp(col(WINDOW_START)),
            WINDOW_END: as_timestamp(col(WINDOW_END)),
            "tick": changing(control.tick, col(envelope.STEP)),
            LogColumn.CLOSED: when(col("reason") == "closed", True),
            LogColumn.KIND: lit(DEAD_LETTER),
            LogColumn.BUCKET: self.stage.windows.bucket(col(WINDOW_START)),
            LogColumn.DEAD_LETTER: dead_letter,
        }
        return select(letters, own)

    def empty(self, spark: SparkSession) -> DataFrame:
        """No rows, with every column of the journal and its type."""
        return local(spark, [], self.schema(spark))

    def schema(self, spark: SparkSession) -> StructType:
        """The columns of the journal."""
        if self._schema is None:
            stage = self.stage
            cells = f"`key` {stage.key_type}, window_start bigint, window_end bigint, {STATE} {stage.cells.state_type}"
            kinds = f"{cells}, {PANES} array<{stage.pane_type}>, {EXPIRED} boolean, {OPENED} boolean"
            nothing = local(spark, [], struct_of(kinds))
            rows = apply(log_rows(stage.shown, over(nothing), bigint(0), 0, 0, 0), nothing)
            own = struct_of(f"{LogColumn.DEAD_LETTER} {_DEAD_LETTER}, {LogColumn.CONTROL} string")
            self._schema = StructType([*rows.schema.fields, *own.fields])
        return self._schema

    def _properties(self, spark: SparkSession) -> Mapping[str, str]:
        """Of the table: Delta counts in all columns that the tables of panes have, as their files are copied.

        `deltalake` takes a column of which a file says nothing for one that has no value, if it says something of
        others.
        """
        fields = self.schema(spark).fields
        before = next(index for index, one in enumerate(fields) if one.name == LogColumn.STATE)
        return {**READABLE, INDEXED: str(sum(_leaves(one.dataType) for one in fields[:before]))}

    def rows(self, spark: SparkSession, after: int, until: int, *kinds: str) -> DataFrame:
        """The rows of these kinds that the ticks after < tick <= until have written."""
        return self.log.rows(spark, after, until, "tick", kinds)

    # ---------------------------------------------------------------- cells

    def cells(
        self, spark: SparkSession, wanted: Column | None, expired_end: int, until: int | None = None, shown: bool = True
    ) -> DataFrame | None:
        """The cells that have not expired: snapshot and tail, the newest of each. None when there can be none.

        `wanted` is a condition on a cell that may be pushed into the snapshot; the tail is united whole, and the newest
        picked before anything else is decided. Only the windows that end by `expired_end`, which have expired, are left
        out of both before: in the tail alone that would revive what the snapshot still has. `until` is the last tick
        that is looked at, if not the newest. `shown`: windows that have expired count as the newest of their cells; not
        so for slices, of which one may have the bounds of a window that was formed from it.
        """
        if not self.location.exists(spark):
            return None
        snapshot_tick = self.snapshot_tick(spark)
        last = self.log.last(spark)
        head = 0 if last is None else last.step
        tail = self._as_cells(self.rows(spark, snapshot_tick, head if until is None else until, CELLS, PANE))
        lives = col(WINDOW_END) > changing(self._forgotten_end(expired_end), col("tick"))
        own = {name: col(name) for name in (*CELL, STATE, "tick")}
        if strategy_of(self.stage).adds_up:
            return self._added_up(spark, snapshot_tick, tail, lives if wanted is None else lives & wanted)
        if not shown:
            tail = where(tail, ~col(EXPIRED))
        rows = select(where(tail, lives), {**own, _ENDED: col(STATE).is_null()})
        if snapshot_tick > 0:
            snapshot = where(self._as_cells(self._snapshot_rows(spark)), lives)
            if wanted is not None:
                snapshot = where(snapshot, wanted)
            rows = select(snapshot, {**own, _ENDED: lit(False)}).unionByName(rows)
        return _newest(rows, {name: kind for name, (kind, _) in self.stage.cells.state.items()})

    def has_rows(self, spark: SparkSession, among: Callable[[DataFrame], DataFrame]) -> bool:
        """Whether some transitions are among those, which may have been replaced since; a look that groups nothing."""
        if not self.location.exists(spark):
            return False
        snapshot_tick, last = self.snapshot_tick(spark), self.log.last(spark)
        state = {STATE: col(LogColumn.STATE)}
        rows = select(self.rows(spark, snapshot_tick, 0 if last is None else last.step, CELLS, PANE), state)
        if snapshot_tick > 0:
            rows = rows.unionByName(select(self._snapshot_rows(spark), state))
        return not among(where(rows, col(STATE).is_not_null())).isEmpty()

    def _added_up(self, spark: SparkSession, snapshot_tick: int, tail: DataFrame, wanted: Column) -> DataFrame:
        """The cells that are wanted, of snapshot and tail: the rows of one are parts, and none replaces another.

        So the snapshot is read as it was when the tail began behind it, even if somebody compacts meanwhile. Windows
        that have fired are rows of the journal too; they have no state.
        """
        own = {name: col(name) for name in (*CELL, STATE, "tick")}
        rows = select(where(tail, wanted & col(STATE).is_not_null()), own)
        if snapshot_tick == 0:
            return rows
        return select(where(self._as_cells(self._snapshot_rows(spark)), wanted), own).unionByName(rows)

    def _as_cells(self, rows: DataFrame) -> DataFrame:
        """The last row of each transition, or those of a snapshot, with `key`, bounds in microseconds and `state`."""
        identity = cell_identity(self.stage.shown)
        ended = {EXPIRED: col(LogColumn.ENDED).is_not_null()}
        own = {STATE: col(LogColumn.STATE), "bucket": col(LogColumn.BUCKET), "tick": col("tick")}
        return select(where(rows, col(LogColumn.NOT_LAST).is_null()), {**identity, **ended, **own})

    def _forgotten_end(self, expired_end: int) -> int:
        """Windows that end at or before it have expired, and their bounds are no longer kept."""
        return saturating_add(expired_end, -strategy_of(self.stage).retention)

    def _snapshot_rows(self, spark: SparkSession) -> DataFrame:
        names = {*self.stage.shown.keys, WINDOW_START, WINDOW_END, *_OF_SNAPSHOT}
        schema = StructType([field for field in self.schema(spark).fields if field.name in names])
        return self.snapshot.newest_rows(spark, schema)

    def snapshot_tick(self, spark: SparkSession) -> int:
        """The tick that the snapshot is made up to; 0 without one."""
        commit = self.snapshot.last(spark)
        return 0 if commit is None else commit.step

    def compact(self, spark: SparkSession, tick: int, expired_end: int) -> None:
        """Write a snapshot as of a tick: all cells that are open after it, in one version.

        Where another writer has compacted meanwhile, its snapshot stays: it is made of the same journal.
        """
        cells = self.cells(spark, None, expired_end, tick)
        if cells is None or self.snapshot_tick(spark) >= tick:
            return
        cells = strategy_of(self.stage).compacted(cells)
        keys = {name: col(KEY, name) for name in self.stage.shown.keys}
        bounds = {name: as_timestamp(col(name)) for name in (WINDOW_START, WINDOW_END)}
        own = {
            **{name: null("boolean") for name in (LogColumn.NOT_LAST, LogColumn.ENDED)},
            LogColumn.STATE: col(STATE),
            LogColumn.BUCKET: self.stage.windows.bucket(col(WINDOW_START)),
            "tick": col("tick"),
        }
        with suppress(StepTaken):
            self.snapshot.replace(select(cells, {**keys, **bounds, **own}), tick, {}, (LogColumn.BUCKET,))

    # ---------------------------------------------------------------- what nobody needs any more

    def spent_buckets(self, spark: SparkSession, until: int, expired_end: int) -> list[int]:
        """The buckets of window time whose windows have expired and whose transitions are all of ticks <= until."""
        rows = where(self.location.read(spark), Column(_OF_TRANSITIONS))
        ends = {"end": call("max", cell_identity(self.stage.shown)[WINDOW_END]), "last": call("max", col("tick"))}
        found = group(rows, (LogColumn.BUCKET,), ends).collect()
        end = self._forgotten_end(expired_end)
        return sorted(row[LogColumn.BUCKET] for row in found if row["end"] <= end and row["last"] <= until)

    def drop(self, spark: SparkSession, buckets: list[int], until: int) -> None:
        """Take the transitions of whole buckets out, up to a tick: what comes into them meanwhile stays.

        Control rows and dead letters are kept for good.
        """
        wanted = ", ".join(str(bucket) for bucket in buckets)
        spent = f"{_OF_TRANSITIONS} AND {LogColumn.BUCKET} IN ({wanted}) AND tick <= {until}"
        self.location.table(spark).delete(spent)


def _newest(rows: DataFrame, state: Mapping[str, str]) -> DataFrame:
    """The newest transition of each cell that has not expired: `key`, bounds, `state`, `tick`. `state` names its types.

    A field of the state has its number for a name meanwhile: those of users may be anything.
    """
    fields = {f"_{index}": (col(STATE, name), kind) for index, (name, kind) in enumerate(state.items())}
    picked = newest(rows, CELL, "tick", {_ENDED: (col(_ENDED), "boolean"), **fields})
    whole = struct(**{name: col(f"_{index}") for index, name in enumerate(state)})
    kept = {**{name: col(name) for name in CELL}, STATE: whole, "tick": col("tick")}
    return select(where(picked, ~col(_ENDED)), kept)


def _leaves(kind: DataType) -> int:
    """The columns of a type, as Delta counts them."""
    return sum(_leaves(field.dataType) for field in kind.fields) if isinstance(kind, StructType) else 1


_OF_TRANSITIONS = f"{LogColumn.KIND} IN ('{CELLS}', '{PANE}')"
_OF_SNAPSHOT = (LogColumn.NOT_LAST, LogColumn.ENDED, LogColumn.STATE, LogColumn.BUCKET, "tick")
_DEAD_LETTER = (
    "struct<reason: string, event_time: bigint, element: string, source: string, `partition`: string, "
    "`offset`: string, arrived_at: bigint, step: bigint, `row`: bigint>"
)
_ENDED = "_ended"
"""Whether nothing of a cell is known any more."""
