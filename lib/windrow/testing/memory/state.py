"""What a stage keeps between ticks, held by the driver, and what each tick emitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructField, StructType

from windrow.compile.cells.at_end import in_arrays
from windrow.compile.columns import CELL, KEY, STATE, WINDOW_END, WINDOW_START
from windrow.compile.sql.columns import Column, bigint, col, struct
from windrow.compile.stage import CompiledStage
from windrow.engine.clocks.clock import StageClock
from windrow.engine.clocks.holds import least_hold
from windrow.engine.compiling.chain import pane_elements
from windrow.engine.frames import apply, local, over, with_column, with_plain_key
from windrow.engine.tick.statistics import LandedRows
from windrow.engine.tick.tick import TickPlan
from windrow.engine.tick.touched import Touched
from windrow.engine.windows.registry import strategy_of
from windrow.spec.times import saturating_add
from windrow.spec.triggers.firings import leaves_nothing
from windrow.store.journal.control import Control


@dataclass
class MemoryState:
    """Control rows, and the newest row of each cell. `transitions` and `dead_letters` are what ticks wrote.

    `is_read` says that other stages read the panes, so that they are kept as a frame too.
    """

    stage: CompiledStage
    is_read: bool = False
    ticks: list[Control] = field(default_factory=list)
    kept: dict[tuple[Any, ...], Row] = field(default_factory=dict)
    schema: StructType | None = None
    transitions: list[list[Row]] = field(default_factory=list)
    dead_letters: list[list[Row]] = field(default_factory=list)
    emitted: list[DataFrame | None] = field(default_factory=list)

    def last(self, spark: SparkSession, known: Control | None = None) -> Control | None:
        return self.ticks[-1] if self.ticks else None

    def controls(self, spark: SparkSession, after: int, until: int) -> dict[int, Control]:
        return {control.tick: control for control in self.ticks[after:until]}

    def cells(
        self,
        spark: SparkSession,
        wanted: Column | None,
        expired_end: int,
        touched: Touched | None = None,
        to_join: bool = False,
    ) -> DataFrame | None:
        self._forget(expired_end)
        if not self.kept or self.schema is None:
            return None
        cells = frame_of(spark, [*self.kept.values()], self.schema)
        if touched is not None:
            cells = touched.of(cells).select(*self.schema.names)
        return self._joinable(cells, self.schema[KEY]) if to_join and strategy_of(self.stage).joins_cells else cells

    @staticmethod
    def _joinable(cells: DataFrame, key: StructField) -> DataFrame:
        """The cells with a plain key: a struct that is never null is one again in the rows of the driver."""
        if isinstance(key.dataType, StructType) and not key.nullable:
            cells = with_column(cells, KEY, struct(**{name: col(KEY, name) for name in key.dataType.names}))
        return with_plain_key(cells)

    def wants_snapshot(self, spark: SparkSession, elements: int) -> bool:
        """Every other tick, so that both ways are used."""
        return len(self.ticks) % 2 == 0

    def commit(self, spark: SparkSession, control: Control, plan: TickPlan) -> Control:
        transitions = plan.transitions
        if transitions is not None and plan.has_one_pane:
            transitions = apply(in_arrays(over(transitions)), transitions)
        if plan.is_snapshot:
            self.kept.clear()
        collected = [] if transitions is None else transitions.collect()
        for row in collected:
            identity: tuple[Any, ...] = (row["key"], row[WINDOW_START], row[WINDOW_END])
            if strategy_of(self.stage).adds_up:  # none replaces another
                identity = (*identity, control.tick)
            self.kept.pop(identity, None)
            if row[STATE] is not None:
                self.kept[identity] = Row(row["key"], row[WINDOW_START], row[WINDOW_END], row[STATE])
        emitted = None
        if transitions is not None:
            fields = {one.name: one for one in transitions.schema.fields}
            self.schema = StructType([fields[name] for name in (*CELL, STATE)])
            if self.is_read:  # a frame costs Spark some time
                emitted = with_column(frame_of(spark, collected, transitions.schema), "tick", bigint(control.tick))
        self.ticks.append(control)
        self.transitions.append(collected)
        self.dead_letters.append(
            [row for frames in plan.dead_letters.values() for letters in frames for row in letters.collect()]
        )
        self.emitted.append(emitted)
        return control

    def _forget(self, expired_end: int) -> None:
        """Drop the bounds of expired windows that no element in time can meet any more."""
        horizon = saturating_add(expired_end, -strategy_of(self.stage).retention)
        self.kept = {identity: row for identity, row in self.kept.items() if identity[2] > horizon}


@dataclass(frozen=True)
class MemoryPanes:
    """The panes of a stage in memory as the log that another stage reads: one step a tick."""

    state: MemoryState

    @property
    def name(self) -> str:
        return self.state.stage.shown.name

    def last_step(self, spark: SparkSession) -> int:
        return len(self.state.ticks)

    def narrow(self, spark: SparkSession, after: int, until: int) -> DataFrame | None:
        return None

    def landed(self, spark: SparkSession, after: int, until: int) -> LandedRows | None:
        return None

    def has_rows(self, after: int, until: int) -> bool:
        return any(frame is not None for frame in self.state.emitted[after:until])

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        frames = [frame for frame in self.state.emitted[after:until] if frame is not None]
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.unionByName(frame)
        return pane_elements(self.state.stage, whole)

    def quarantined(self, spark: SparkSession) -> int:
        return 0

    def now_after(self, spark: SparkSession, tick: int) -> int:
        return self.state.ticks[tick - 1].clock.now

    def clock_after(self, spark: SparkSession, tick: int) -> StageClock:
        """The clock after the last tick: what reads the panes ticks behind it at once."""
        clock, stage = self.state.ticks[tick - 1].clock, self.state.stage.stage
        if leaves_nothing(stage):
            return clock.with_hold(None)
        return clock.with_hold(least_hold(stage, self.state.cells(spark, None, clock.expired_end)))


@dataclass
class MemoryLog:
    """The rows of a source that are added step by step; None where a step has none."""

    name: str
    steps: list[DataFrame | None] = field(default_factory=list)

    def last_step(self, spark: SparkSession) -> int:
        return len(self.steps)

    def narrow(self, spark: SparkSession, after: int, until: int) -> DataFrame | None:
        return None

    def landed(self, spark: SparkSession, after: int, until: int) -> LandedRows | None:
        return None

    def has_rows(self, after: int, until: int) -> bool:
        return any(frame is not None for frame in self.steps[after:until])

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        (frame,) = [frame for frame in self.steps[after:until] if frame is not None]
        return frame

    def quarantined(self, spark: SparkSession) -> int:
        return 0


def frame_of(spark: SparkSession, rows: list[Any], schema: StructType) -> DataFrame:
    """The driver's rows in one partition, so that nothing behind it needs a shuffle."""
    return local(spark, rows, schema).coalesce(1)
