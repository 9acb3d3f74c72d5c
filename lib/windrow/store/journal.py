"""The journal of a stage: one tick is one commit, and nothing else is the truth.

| column | what |
|---|---|
| `kind` | `cell`, `dead_letter` or `control` (partition) |
| `bucket` | a coarse part of window time (partition) |
| `tick`, `generation` | the step, and which rebuild of the stage it belongs to |
| `key`, `window_start`, `window_end` | the cell; bounds in bigint microseconds |
| `state` | the cell after the tick, null when it has expired |
| `panes` | what the tick emitted for the cell, withdrawals first |
| `expired`, `opened` | whether the cell ended or began with this tick |
| `dead` | a dead letter |
| `control` | the control row as JSON |
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.compile import envelope
from windrow.compile.cells import EXPIRED, STATE
from windrow.compile.columns import CELL, WINDOW_END, WINDOW_START
from windrow.compile.stage import CompiledStage
from windrow.store.control import Control
from windrow.store.location import Lake, Location
from windrow.store.steps import StepLog

PARTITIONS = ("kind", "bucket")


@dataclass
class Journal:
    """The journal of one generation of a stage, and the base into which it is folded."""

    stage: CompiledStage
    generation: int
    log: StepLog
    base: StepLog
    _base_step: int | None = field(default=None, repr=False)

    @classmethod
    def of(cls, lake: Lake, stage: CompiledStage, generation: int) -> Journal:
        name = stage.stage.name
        journal, cells = lake.table(name, f"journal/{generation}"), lake.table(name, f"cells/{generation}")
        return cls(
            stage,
            generation,
            StepLog(journal, f"windrow-journal-{name}-{generation}"),
            StepLog(cells, f"windrow-cells-{name}-{generation}"),
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
        row = self.location.read(spark).where((F.col("kind") == "control") & (F.col("tick") == tick)).first()
        assert row is not None
        return Control.from_json(row["control"])

    def commit(
        self, spark: SparkSession, control: Control, transitions: DataFrame | None, dead: list[DataFrame]
    ) -> None:
        """Write a tick. Errors: StepTaken where another writer has written it."""
        rows = spark.range(1, numPartitions=1).select(
            F.lit("control").alias("kind"), F.lit(None).cast("bigint").alias("bucket"),
            F.lit(control.to_json()).alias("control"),
        )  # fmt: skip
        if transitions is not None:
            bucket = self.stage.windows.bucket(F.col(WINDOW_START))
            cells = transitions.select(F.lit("cell").alias("kind"), bucket.alias("bucket"), *transitions.columns)
            rows = cells.unionByName(rows, allowMissingColumns=True)
        for letters in dead:
            rows = rows.unionByName(self._dead_rows(letters), allowMissingColumns=True)
        rows = rows.withColumns(
            {"tick": F.lit(control.tick).cast("bigint"), "generation": F.lit(self.generation)}
        )
        if not self.location.exists(spark):
            rows = self.empty(spark).unionByName(rows, allowMissingColumns=True)
        self.log.append(rows, control.tick, {"kind": control.kind}, PARTITIONS)

    def _dead_rows(self, letters: DataFrame) -> DataFrame:
        bucket = self.stage.windows.bucket(F.col(WINDOW_START))
        source = [name for name in letters.columns if not name.startswith("_") and name not in _LETTER]
        dead = F.struct(
            F.col("reason"),
            F.col("event_time"),
            F.to_json(F.struct(*source)).alias("element"),
            F.lit(self.stage.stage.from_).alias("source"),
            F.col(envelope.PARTITION).alias("partition"),
            F.col(envelope.OFFSET).alias("offset"),
            F.col(envelope.ARRIVAL_TIME).alias("arrived_at"),
            F.col(envelope.STEP).alias("step"),
            F.col(envelope.ROW).alias("row"),
        )
        return letters.select(
            F.lit("dead_letter").alias("kind"), bucket.alias("bucket"), WINDOW_START, WINDOW_END, dead.alias("dead")
        )

    def empty(self, spark: SparkSession) -> DataFrame:
        """No rows, with every column of the journal and its type."""
        return spark.createDataFrame([], self.schema)  # type: ignore[no-untyped-call, unused-ignore]

    @property
    def schema(self) -> str:
        """The columns of the journal as a DDL text."""
        cells = self.stage.cells
        state = ", ".join(f"`{name}`: {kind}" for name, (kind, _) in cells.state.items())
        result = ", ".join(f"`{name.removeprefix('v_')}`: {kind}" for name, kind in cells.value_types.items())
        return (
            "kind string, bucket bigint, tick bigint, generation int, "
            f"`key` {self.key_type}, window_start bigint, window_end bigint, state struct<{state}>, "
            "panes array<struct<change: string, weight: int, timing: string, pane_index: int, on_time_index: int, "
            "is_first: boolean, is_last: boolean, `trigger`: string, watermark_percentile: int, "
            f"result: struct<{result}>>>, "
            "expired boolean, opened boolean, "
            "dead struct<reason: string, event_time: bigint, element: string, source: string, `partition`: string, "
            "`offset`: string, arrived_at: bigint, step: bigint, `row`: bigint>, control string"
        )

    @property
    def key_type(self) -> str:
        return self.stage.key_type

    # ---------------------------------------------------------------- cells

    def cells(self, spark: SparkSession, wanted: Column | None) -> DataFrame | None:
        """The cells that have not expired: base and tail, the newest of each. None when there can be none.

        `wanted` is a condition on a cell that may be pushed into the base; the tail is united whole, and the newest
        picked before anything else is decided.
        """
        if not self.location.exists(spark):
            return None
        base_step = self.base_step(spark)
        columns = [*CELL, STATE, EXPIRED, "tick"]
        tail = self.location.read(spark).where((F.col("kind") == "cell") & (F.col("tick") > base_step)).select(columns)
        if base_step == 0:
            rows = tail
        else:
            base = self.base.location.read(spark)
            if wanted is not None:
                base = base.where(wanted)
            rows = base.select(*CELL, STATE, F.lit(False).alias(EXPIRED), "tick").unionByName(tail)
        return newest(rows, list(self.stage.cells.state))

    def base_step(self, spark: SparkSession) -> int:
        """The tick that the base is made up to; 0 without one. An older value than the true one does no harm."""
        if self._base_step is None:
            commit = self.base.last(spark)
            self._base_step = 0 if commit is None else commit.step
        return self._base_step

    def fold(self, spark: SparkSession, tick: int) -> None:
        """Make the base up to a tick: all cells that are open after it, in one version."""
        cells = self.cells(spark, None)
        if cells is None or self.base_step(spark) >= tick:
            return
        bucket = self.stage.windows.bucket(F.col(WINDOW_START))
        self.base.replace(cells.select(*CELL, STATE, "tick", bucket.alias("bucket")), tick, {}, ("bucket",))
        self._base_step = tick


def newest(rows: DataFrame, state: list[str]) -> DataFrame:
    """The newest transition of each cell that has not expired: `key`, bounds, `state`, `tick`."""
    fields = {name: F.max_by(F.col(f"{STATE}.{name}"), F.col("tick")).alias(f"_{i}") for i, name in enumerate(state)}
    picked = rows.groupBy(*CELL).agg(
        F.max_by(EXPIRED, "tick").alias(EXPIRED), *fields.values(), F.max("tick").alias("tick")
    )
    struct = F.struct(*[F.col(f"_{index}").alias(name) for index, name in enumerate(state)])
    return picked.where(~F.col(EXPIRED)).select(*CELL, struct.alias(STATE), "tick")


_LETTER = ("reason", "event_time", WINDOW_START, WINDOW_END)
