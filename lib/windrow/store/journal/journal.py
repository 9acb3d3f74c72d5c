"""The journal of a stage: one tick is one commit, and nothing else is the truth.

| column | what |
|---|---|
| `_kind` | `cell`, `pane`, `dead_letter` or `control` (partition) |
| `_bucket` | a coarse part of window time (partition) |
| keys, results and all other columns of `panes` | the cell, and what the tick emitted for it, retractions first |
| `tick` | the step |
| `_state` | the cell after the tick, null when it has expired (where windows merge, its bounds are still kept) |
| `_opened`, `_ended`, ... | true or null: whether the cell began or ended with this tick, and what else is counted |
| `_dead_letter` | a dead letter |
| `_control` | the control row as JSON |

A pane is written once, as people read it: the tables of panes are made of the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from windrow.compile.columns import EXPIRED, OPENED, PANES, STATE, WINDOW_END, WINDOW_START
from windrow.compile.panes.log_rows import CELLS, FIRST, PANE, cell_identity, log_rows, without_values
from windrow.compile.sql.columns import Column, bigint, call, col, null
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import apply, group, local, over, where
from windrow.engine.tick.tick import TickPlan
from windrow.engine.tick.touched import Touched
from windrow.engine.windows.registry import strategy_of
from windrow.spec.errors import SpecError
from windrow.spec.stages.keys import LogColumn
from windrow.spec.times import saturating_add
from windrow.store.delta.copy_on_write import Rewrite, rewrite
from windrow.store.delta.data_files import written
from windrow.store.delta.footers import are_counted
from windrow.store.delta.location import INDEXED, READABLE, REWRITES, Lake, Location
from windrow.store.delta.log.commits import Notes
from windrow.store.delta.log.retries import StepTaken
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender
from windrow.store.journal.cells import open_cells
from windrow.store.journal.constraints import Constraints
from windrow.store.journal.control import CONTROL, Control, Stamp
from windrow.store.journal.counting import all_changing, counted, may_live
from windrow.store.journal.letters import DEAD_LETTER_TYPE, letter_rows
from windrow.store.journal.sizes import has_far_more, is_snapshot_due
from windrow.store.journal.totals import total_notes
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
    constraints: Constraints
    _schema: StructType | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, lake: Lake, stage: CompiledStage, generation: int, constraints: Constraints | None = None) -> Journal:
        name = stage.stage.name
        return cls(
            lake,
            stage,
            generation,
            StepLog(*lake.journal(name, generation), folders=LogColumn.KIND),
            StepLog(*lake.cells(name, generation), indexed=0),
            constraints or Constraints(name),
        )

    @property
    def location(self) -> Location:
        return self.log.location

    def last(self, spark: SparkSession, known: Control | None = None) -> Control | None:
        """The control row of the newest tick, or None before the first; that which is `known` is not read again."""
        commit = self.log.last(spark)
        if commit is None:
            return None
        return known if known is not None and known.tick == commit.step else self.control(spark, commit.step)

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

    def commit(self, spark: SparkSession, control: Control, plan: TickPlan) -> Control:
        """Write a tick, and give its control row as it was written, with what was counted of the rows on their way.

        Raises StepTaken where another writer has written it, and ConstraintBroken.
        """
        return self._put(spark, control, [plan], plan.is_snapshot, lambda append: {})

    def forget(self, spark: SparkSession, control: Control, plans: Sequence[TickPlan], change: Rewrite) -> Control:
        """The same of a tick that also takes rows of earlier ones out; it has all open cells, where the windows allow.

        All of its panes change what is shown: each is in place of others of its window.
        """
        is_snapshot = strategy_of(self.stage).can_be_snapshot

        def taken_out(append: Appender) -> Notes:
            rewrite(append, self.location, change)
            return {REWRITES: True}

        return self._put(spark, control, plans, is_snapshot, taken_out)

    def _put(
        self,
        spark: SparkSession,
        control: Control,
        plans: Sequence[TickPlan],
        is_snapshot: bool,
        first: Callable[[Appender], Notes],
    ) -> Control:
        parts = [
            self._transition_rows(plan, plan.transitions, control) for plan in plans if plan.transitions is not None
        ]
        for name, frames in [item for plan in plans for item in plan.dead_letters.items()]:
            parts += [letter_rows(self.stage, name, letters, control) for letters in frames]
        if self.log.last(spark) is None:
            ensure_table(spark, self.location, self.schema(spark), PARTITIONS, self._properties(spark))
        kept = [control]

        def fill(append: Appender) -> Notes:
            notes = first(append)
            if parts:
                union = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
                made = counted(control, append.write(union), is_snapshot)
                kept.append(all_changing(made) if REWRITES in notes else made)
            row = {"tick": control.tick, LogColumn.CONTROL: kept[-1].to_json()}
            schema = StructType([self.schema(spark)[name] for name in row])
            folder = {LogColumn.KIND: CONTROL, LogColumn.BUCKET: None}
            append.add([written(spark, self.location, [row], schema, folder)])
            since = control.tick if is_snapshot else self.snapshot_in_log(spark)
            return {**Stamp.of(control).notes, SNAPSHOT: since, **total_notes(self, spark, kept[-1]), **notes}

        with self.constraints.checked():
            if not self.log.begun(spark, control.tick, fill):
                raise StepTaken(self.location.path, control.tick, None)
        return kept[-1]

    def _transition_rows(self, plan: TickPlan, transitions: DataFrame, control: Control) -> DataFrame:
        """The rows of transitions, with the columns in which they have values: files need not have all of a table's."""
        bucket, clock = self.stage.windows.bucket(col(WINDOW_START)), control.clock
        state = self.stage.cells.written
        times = (control.tick, clock.watermark, clock.now)
        rows = log_rows(self.stage.shown, state, over(transitions), bucket, *times, has_one=plan.has_one_pane)
        whole = self.constraints.over(apply(rows, transitions))
        if not plan.is_first:
            return whole
        keeps_state = strategy_of(self.stage).left_behind().text != null(self.stage.cells.state_type).text
        return whole.drop(*without_values(self.stage.shown, keeps_state))

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
            rows = apply(log_rows(stage.shown, tuple(stage.cells.state), over(nothing), bigint(0), 0, 0, 0), nothing)
            own = struct_of(f"{LogColumn.DEAD_LETTER} {DEAD_LETTER_TYPE}, {LogColumn.CONTROL} string")
            self._schema = StructType([*rows.schema.fields, *own.fields])
        return self._schema

    def _properties(self, spark: SparkSession) -> Mapping[str, str]:
        """Of the table: Delta counts in the columns by which a tick counts.

        In all that the tables of panes have, if the footers of files do not say of these what those tables need.
        """
        fields = self.schema(spark).fields
        before = next(index for index, one in enumerate(fields) if one.name == LogColumn.STATE)
        panes = StructType(fields[:before])
        counted = len(FIRST) if are_counted(panes) else _leaves(panes)
        return {**READABLE, INDEXED: str(counted), _PARTITIONS_IN_FILES: "false"}

    def rows(self, spark: SparkSession, after: int, until: int, *kinds: str) -> DataFrame:
        """The rows of these kinds that the ticks after < tick <= until have written."""
        return self.log.rows(spark, after, until, "tick", kinds)

    def cell_rows(self, spark: SparkSession, after: int, until: int, forgotten_end: int) -> DataFrame:
        """The rows of cells, likewise, but for files with nothing but windows that end at or before a time."""
        return self.log.rows(spark, after, until, "tick", (CELLS, PANE), lambda file: may_live(file, forgotten_end))

    def cells(
        self,
        spark: SparkSession,
        wanted: Column | None,
        expired_end: int,
        touched: Touched | None = None,
        until: int | None = None,
        shown: bool = True,
        to_join: bool = False,
    ) -> DataFrame | None:
        """The cells that have not expired; those at least that are `wanted`, and of these those that are `touched`.

        None when there can be none. Where the open cells are not many more than the elements, all are read. `to_join`:
        with the columns of a plain key, if the windows' strategy joins cells.
        """
        if touched is not None and not has_far_more(self, spark, touched.rows):
            touched = None
        return open_cells(self, spark, wanted, expired_end, until, shown, touched, to_join)

    def snapshot_tick(self, spark: SparkSession) -> int:
        """The tick that the snapshot is made up to; 0 without one."""
        commit = self.snapshot.last(spark)
        return 0 if commit is None else commit.step

    def snapshot_in_log(self, spark: SparkSession, until: int | None = None) -> int:
        """The newest tick, up to one, that has written all open cells; 0 without one.

        Raises SpecError where the commit of that one is gone.
        """
        commit = self.log.last(spark) if until is None else self.log.commit(spark, until)
        if until is not None and commit is None:
            raise SpecError("journal", f"has no commit of tick {until} any more", self.location.path)
        return 0 if commit is None else int(commit.notes.get(SNAPSHOT, 0))

    def ticks_behind_snapshot(self, spark: SparkSession, expired_end: int) -> tuple[int, int]:
        """How many ticks there are behind what has all open cells, and how many of them have some that may be read."""
        last = self.log.last(spark)
        if last is None:
            return 0, 0
        newest = max(self.snapshot_tick(spark), self.snapshot_in_log(spark))
        forgotten = self.forgotten_end(expired_end)
        files = (self.log.files(spark, tick - 1, tick) for tick in range(newest + 1, last.step + 1))
        read = sum(some is None or any(may_live(file, forgotten) for file in some) for some in files)
        return last.step - newest, read

    def wants_snapshot(self, spark: SparkSession, elements: int) -> bool:
        """Whether a tick with so many elements had better write all open cells.

        So it is where it reads as many rows, of elements and of the ticks behind the newest snapshot, as that has.
        """
        return is_snapshot_due(self, spark, elements)

    def snapshot_rows(self, spark: SparkSession) -> DataFrame:
        """The cells of the snapshot."""
        names = {*self.stage.shown.keys, WINDOW_START, WINDOW_END, *_OF_SNAPSHOT}
        schema = StructType([field for field in self.schema(spark).fields if field.name in names])
        return self.snapshot.newest_rows(spark, schema)

    def forgotten_end(self, expired_end: int) -> int:
        """Windows that end at or before it have expired, and their bounds are no longer kept."""
        return saturating_add(expired_end, -strategy_of(self.stage).retention)

    # ---------------------------------------------------------------- what nobody needs any more

    def spent_buckets(self, spark: SparkSession, until: int, expired_end: int) -> list[int]:
        """The buckets of window time whose windows have expired and whose transitions are all of ticks <= until."""
        rows = where(self.location.read(spark), Column(_OF_TRANSITIONS))
        ends = {"end": call("max", cell_identity(self.stage.shown)[WINDOW_END]), "last": call("max", col("tick"))}
        found = group(rows, (LogColumn.BUCKET,), ends).collect()
        end = self.forgotten_end(expired_end)
        return sorted(row[LogColumn.BUCKET] for row in found if row["end"] <= end and row["last"] <= until)

    def drop(self, spark: SparkSession, buckets: list[int], until: int) -> None:
        """Take the transitions of whole buckets out, up to a tick: what comes into them meanwhile stays.

        Control rows and dead letters are kept for good.
        """
        wanted = ", ".join(str(bucket) for bucket in buckets)
        spent = f"{_OF_TRANSITIONS} AND {LogColumn.BUCKET} IN ({wanted}) AND tick <= {until}"
        self.location.table(spark).delete(spent)


def _leaves(kind: DataType) -> int:
    """The columns of a type, as Delta counts them."""
    return sum(_leaves(field.dataType) for field in kind.fields) if isinstance(kind, StructType) else 1


_PARTITIONS_IN_FILES = "delta.writePartitionColumnsToParquet"
"""Whether a file repeats for each row what the name of its folder says."""

SNAPSHOT = "snapshot"
"""The note of a commit: the newest tick up to it that has written all open cells, so that none before it is read."""

_OF_TRANSITIONS = f"{LogColumn.KIND} IN ('{CELLS}', '{PANE}')"
_OF_SNAPSHOT = (LogColumn.NOT_LAST, LogColumn.ENDED, LogColumn.STATE, LogColumn.BUCKET, "tick")
