"""The journal of a stage: one tick is one commit, and nothing else is the truth.

| column | what |
|---|---|
| `kind` | `cell`, `dead_letter` or `control` (partition) |
| `bucket` | a coarse part of window time (partition) |
| `tick`, `generation` | the step, and which rebuild of the stage it belongs to |
| `key`, `window_start`, `window_end` | the cell; bounds in bigint microseconds |
| `state` | the cell after the tick, null when it has expired (where windows merge, its bounds are still kept) |
| `panes` | what the tick emitted for the cell, withdrawals first |
| `expired`, `opened` | whether the cell ended or began with this tick |
| `dead_letter` | a dead letter |
| `control` | the control row as JSON |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import CELL, EXPIRED, STATE, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, bigint, call, changing, col, lit, null, struct
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import group, literals, local, select, where, with_column
from windrow.engine.newest import newest
from windrow.engine.tick.micro_batch import DeadLetters
from windrow.engine.windows.registry import strategy_of
from windrow.spec.errors import SpecError
from windrow.spec.stages.graph import reads_of
from windrow.spec.times import saturating_add
from windrow.store.delta.location import Lake, Location
from windrow.store.delta.retries import StepTaken
from windrow.store.delta.step_log import StepLog
from windrow.store.journal.control import Control, Stamp
from windrow.store.projections.creation import struct_of

PARTITIONS = ("kind", "bucket")


@dataclass
class Journal:
    """The journal of one generation of a stage, and the snapshot into which it is compacted."""

    lake: Lake
    stage: CompiledStage
    generation: int
    log: StepLog
    snapshot: StepLog

    @classmethod
    def of(cls, lake: Lake, stage: CompiledStage, generation: int) -> Journal:
        name = stage.stage.name
        return cls(
            lake,
            stage,
            generation,
            StepLog(*lake.journal(name, generation), indexed=1),
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
        rows = self.rows(spark, after, until, "control").select("tick", "control").collect()
        try:
            return {row["tick"]: Control.from_json(row["control"]) for row in rows}
        except SpecError as error:
            raise error.within(f"stages.{self.stage.stage.name}") from None

    def stamp(self, spark: SparkSession, tick: int) -> Stamp:
        """What the commit of a tick says of it, without a job; of one that is far back, what its control row says."""
        commit = self.log.commit(spark, tick)
        found = None if commit is None else Stamp.from_notes(commit.notes)
        return found or Stamp.of(self.control(spark, tick))

    def commit(
        self, spark: SparkSession, control: Control, transitions: DataFrame | None, dead_letters: DeadLetters
    ) -> None:
        """Write a tick. Errors: StepTaken where another writer has written it."""
        own = {"kind": lit("control"), "bucket": null("bigint"), "control": lit(control.to_json())}
        stamp = {"tick": bigint(control.tick), "generation": lit(self.generation)}
        parts = [literals(spark, [{**own, **stamp}])]
        parts += [
            self._letter_rows(name, letters, control) for name, frames in dead_letters.items() for letters in frames
        ]
        if transitions is not None:
            parts.insert(0, self._cell_rows(transitions, control))
        if len(parts) == 1 or not self.location.exists(spark):
            parts.insert(0, self.empty(spark))
        union = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
        self.log.append(union, control.tick, Stamp.of(control).notes, PARTITIONS)

    def _cell_rows(self, transitions: DataFrame, control: Control) -> DataFrame:
        own = {name: col(name) for name in transitions.columns}
        bucket = self.stage.windows.bucket(col(WINDOW_START))
        return select(transitions, {"kind": lit("cell"), "bucket": bucket, **own, **self._stamp(control, WINDOW_START)})

    def _stamp(self, control: Control, row: str) -> dict[str, Column]:
        """`tick` and `generation`, for rows whose column `row` is never null."""
        return {"tick": changing(control.tick, col(row)), "generation": lit(self.generation)}

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
        bounds = {WINDOW_START: col(WINDOW_START), WINDOW_END: col(WINDOW_END)}
        bucket = self.stage.windows.bucket(col(WINDOW_START))
        own = {"kind": lit("dead_letter"), "bucket": bucket, **bounds, "dead_letter": dead_letter}
        return select(letters, {**own, **self._stamp(control, envelope.STEP)})

    def empty(self, spark: SparkSession) -> DataFrame:
        """No rows, with every column of the journal and its type."""
        return local(spark, [], struct_of(self.schema))

    @property
    def schema(self) -> str:
        """The columns of the journal as a DDL text."""
        cells = self.stage.cells
        return (
            "kind string, bucket bigint, tick bigint, generation int, "
            f"`key` {self.stage.key_type}, window_start bigint, window_end bigint, state {cells.state_type}, "
            f"panes array<{self.stage.pane_type}>, expired boolean, opened boolean, "
            "dead_letter struct<reason: string, event_time: bigint, element: string, source: string, "
            "`partition`: string, `offset`: string, arrived_at: bigint, step: bigint, `row`: bigint>, control string"
        )

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
        tail = self.rows(spark, snapshot_tick, head if until is None else until, "cell")
        lives = col(WINDOW_END) > changing(self._forgotten_end(expired_end))
        own = {name: col(name) for name in (*CELL, STATE, "tick")}
        if strategy_of(self.stage).adds_up:
            return self._added_up(spark, snapshot_tick, tail, lives if wanted is None else lives & wanted)
        if not shown:
            tail = where(tail, ~col(EXPIRED))
        rows = select(where(tail, lives), {**own, _ENDED: col(STATE).is_null()})
        if snapshot_tick > 0:
            snapshot = where(self._snapshot_rows(spark), lives)
            if wanted is not None:
                snapshot = where(snapshot, wanted)
            rows = select(snapshot, {**own, _ENDED: lit(False)}).unionByName(rows)
        return _newest(rows, {name: kind for name, (kind, _) in self.stage.cells.state.items()})

    def has_rows(self, spark: SparkSession, among: Callable[[DataFrame], DataFrame]) -> bool:
        """Whether some transitions are among those, which may have been replaced since; a look that groups nothing."""
        if not self.location.exists(spark):
            return False
        snapshot_tick, last = self.snapshot_tick(spark), self.log.last(spark)
        rows = select(self.rows(spark, snapshot_tick, 0 if last is None else last.step, "cell"), {STATE: col(STATE)})
        if snapshot_tick > 0:
            rows = rows.unionByName(select(self._snapshot_rows(spark), {STATE: col(STATE)}))
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
        return select(where(self._snapshot_rows(spark), wanted), own).unionByName(rows)

    def _forgotten_end(self, expired_end: int) -> int:
        """Windows that end at or before it have expired, and their bounds are no longer kept."""
        return saturating_add(expired_end, -strategy_of(self.stage).retention)

    def _snapshot_rows(self, spark: SparkSession) -> DataFrame:
        own = f"`key` {self.stage.key_type}, window_start bigint, window_end bigint"
        kinds = f"{own}, state {self.stage.cells.state_type}, tick bigint, bucket bigint"
        return self.snapshot.newest_rows(spark, struct_of(kinds))

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
        bucket = self.stage.windows.bucket(col(WINDOW_START))
        with suppress(StepTaken):
            self.snapshot.replace(with_column(cells, "bucket", bucket), tick, {}, ("bucket",))

    # ---------------------------------------------------------------- what nobody needs any more

    def spent_buckets(self, spark: SparkSession, until: int, expired_end: int) -> list[int]:
        """The buckets of window time whose windows have expired and whose transitions are all of ticks <= until."""
        cells = where(self.location.read(spark), col("kind") == "cell")
        ends = {"end": call("max", col(WINDOW_END)), "last": call("max", col("tick"))}
        found = group(cells, ("bucket",), ends).collect()
        end = self._forgotten_end(expired_end)
        return sorted(row["bucket"] for row in found if row["end"] <= end and row["last"] <= until)

    def drop(self, spark: SparkSession, buckets: list[int], until: int) -> None:
        """Take the transitions of whole buckets out, up to a tick: what comes into them meanwhile stays.

        Control rows and dead letters are kept for good.
        """
        wanted = ", ".join(str(bucket) for bucket in buckets)
        self.location.table(spark).delete(f"kind = 'cell' AND bucket IN ({wanted}) AND tick <= {until}")


def _newest(rows: DataFrame, state: Mapping[str, str]) -> DataFrame:
    """The newest transition of each cell that has not expired: `key`, bounds, `state`, `tick`. `state` names its types.

    A field of the state has its number for a name meanwhile: those of users may be anything.
    """
    fields = {f"_{index}": (col(STATE, name), kind) for index, (name, kind) in enumerate(state.items())}
    picked = newest(rows, CELL, "tick", {_ENDED: (col(_ENDED), "boolean"), **fields})
    whole = struct(**{name: col(f"_{index}") for index, name in enumerate(state)})
    kept = {**{name: col(name) for name in CELL}, STATE: whole, "tick": col("tick")}
    return select(where(picked, ~col(_ENDED)), kept)


_ENDED = "_ended"
"""Whether nothing of a cell is known any more."""
