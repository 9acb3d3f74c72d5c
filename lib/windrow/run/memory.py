"""A stage whose cells are held by the driver: small data, every tick looked at. For transcripts and laws."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructField, StructType

from windrow.compile import envelope
from windrow.compile.columns import CELL, STATE, WINDOW_END, WINDOW_START
from windrow.compile.sql import Column, bigint, col
from windrow.compile.stage import CompiledStage
from windrow.engine.batch import plan_tick, survey_rows, tick_times
from windrow.engine.chaining import compile_over, in_band, pane_elements
from windrow.engine.clock import StageClock, TickTimes
from windrow.engine.compiling import compile_stage, with_assertion
from windrow.engine.frames import select, with_column
from windrow.engine.held import Held
from windrow.engine.holds import least_held
from windrow.engine.survey import Survey
from windrow.run.rows import row_schema
from windrow.run.session import is_remote, small_session
from windrow.spec.aggregates import Collect
from windrow.spec.expressions import Expression
from windrow.spec.schemas import Schema
from windrow.spec.stages import Stage
from windrow.spec.times import EARLIEST_EVENT_TIME, INFINITY, LATEST_EVENT_TIME, MINUS_INFINITY, saturating_add
from windrow.spec.transcripts import Step, TranscriptElement
from windrow.spec.watermarks import Watermark
from windrow.store.schemas import struct_of


@dataclass(frozen=True)
class TickOutcome:
    """What came out of a tick, as the plain rows that transcripts compare."""

    panes: list[dict[str, Any]]
    dead: list[dict[str, Any]]
    survey: Survey
    watermark: int
    transitions: DataFrame | None
    """What the stages that read the stage take their elements from."""


@dataclass
class MemoryStage:
    """A stage that ticks in memory. `rule` makes its watermark, or it is given with every step."""

    spark: SparkSession
    schema: Schema | None
    stage: CompiledStage
    rule: Watermark | None
    clock: StageClock = field(default_factory=StageClock)
    tick: int = 0
    cells: dict[tuple[Any, int, int], Row] = field(default_factory=dict)
    cell_schema: StructType | None = None

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        stage: Stage,
        schema: Schema,
        rule: Watermark | None,
        size: Expression | None = None,
        weight: str | None = None,
    ) -> MemoryStage:
        """The stage over elements of that schema and size, with weights in a column.

        Errors: SpecError where a type does not fit.
        """
        session = small_session(spark)
        empty = session.createDataFrame([], row_schema(schema))
        compiled = compile_stage(stage, empty, size, weight)
        return cls(session, schema, with_assertion(compiled, rule, empty), rule)

    @classmethod
    def behind(cls, upstream: MemoryStage, stage: Stage) -> MemoryStage:
        """The stage over the panes of another. Errors: SpecError where a type does not fit."""
        return cls(upstream.spark, None, compile_over(upstream.spark, stage, upstream.stage), None)

    def step(self, step: Step) -> TickOutcome:
        """One tick over the elements of a source."""
        now = self._now(step)
        rows = self._rows(step, now) if step.add else None
        out = self._tick(rows, now, step.watermark)
        out.dead[:0] = self._dead_at_landing(step)
        return out

    def follow(self, upstream: MemoryStage, out: TickOutcome) -> TickOutcome:
        """One tick over what a tick of the stage that is read has given."""
        rows = None if out.transitions is None else pane_elements(upstream.stage, out.transitions)
        return self._tick(rows, upstream.clock.now, upstream.output_watermark)

    @property
    def output_watermark(self) -> int:
        """The output watermark after the last tick."""
        return self.clock.with_held(least_held(self.stage.stage, self._cells())).output_watermark

    def _tick(self, rows: DataFrame | None, now: int, watermark: int | None) -> TickOutcome:
        batch, times = self._begin(rows, now, watermark)
        plan = plan_tick(self.stage, rows, self._cells(), times, batch, Held(self.clock.expired_end))
        panes: list[dict[str, Any]] = []
        dead: list[dict[str, Any]] = []
        transitions = None
        if plan.transitions is not None:
            panes, transitions = self._apply(plan.transitions, times)
        for letters in plan.dead:
            dead += [self._dead_row(row) for row in letters.collect()]
        self.clock, self.tick = times.after, times.tick
        return TickOutcome(panes, dead, plan.survey, times.after.watermark, transitions)

    def _begin(self, rows: DataFrame | None, now: int, given: int | None) -> tuple[Survey, TickTimes]:
        batch = Survey()
        if rows is not None:
            batch = survey_rows(self.stage, rows, Held(self.clock.expired_end))
        self.clock = self.clock.with_held(least_held(self.stage.stage, self._cells()))
        if self.stage.windows.made_by_records:
            ends = [end for _, start, end in self.cells if start < end]
            self.clock = self.clock.seen({}, self.clock.now, max(ends, default=None))
        clock = self.clock.seen(batch.greatest, now, batch.latest_end, batch.asserted)
        if self.rule is not None:
            rule = self.stage.stage.watermark_over(self.rule)
            return batch, tick_times(self.clock, clock, rule, self.stage.stage, self.tick + 1)
        watermark = clock.watermark if given is None else given
        return batch, TickTimes(self.tick + 1, self.clock, in_band(self.stage.stage, clock, watermark))

    def _now(self, step: Step) -> int:
        """Processing time of the step; where none is written, that of the step before, and the epoch at first."""
        if step.now is not None:
            return step.now
        return 0 if self.clock.now == MINUS_INFINITY else self.clock.now

    def _rows(self, step: Step, now: int) -> DataFrame:
        assert self.schema is not None, "it reads a source"
        schema = row_schema(self.schema)
        tuples = [self._row(number, element, now, schema) for number, element in enumerate(step.add)]
        return self._frame(tuples, schema)

    def _row(self, number: int, element: TranscriptElement, now: int, schema: StructType) -> tuple[Any, ...]:
        rule = self.rule
        at = now if rule is not None and rule.processing_time else element.at
        readable = at is not None and EARLIEST_EVENT_TIME <= at <= LATEST_EVENT_TIME
        reason = None if readable else "bad_timestamp"
        if (
            readable
            and at is not None
            and rule is not None
            and rule.max_future is not None
            and at > now + rule.max_future
        ):
            reason = "future_timestamp"
        weight = self.stage.elements.weight
        if reason is None and weight is not None and element.columns.get(weight) not in (1, -1):
            reason = "bad_expression"
        values = [typed(element.columns.get(name), schema[name]) for name in self.schema or ()]
        return (self.tick + 1, number, at, now, element.partition, None, reason, None, None, *values)

    def _cells(self) -> DataFrame | None:
        if not self.cells or self.cell_schema is None:
            return None
        return self._frame(list(self.cells.values()), self.cell_schema)

    def _apply(self, transitions: DataFrame, times: TickTimes) -> tuple[list[dict[str, Any]], DataFrame]:
        collected = transitions.collect()
        self._forget()
        fields = {f.name: f for f in transitions.schema.fields}
        self.cell_schema = StructType([fields[name] for name in (*CELL, STATE)])
        panes = []
        for row in collected:
            identity = (row["key"], row[WINDOW_START], row[WINDOW_END])
            self.cells.pop(identity, None)
            if row[STATE] is not None:
                self.cells[identity] = Row(row["key"], row[WINDOW_START], row[WINDOW_END], row[STATE])
            panes += [self._pane(row, pane, times) for pane in row["panes"] or []]
        emitted = with_column(self._frame(collected, transitions.schema), "tick", bigint(times.tick))
        return self._with_derived(panes), emitted

    def _forget(self) -> None:
        """Drop the bounds of expired windows that no element in time can meet any more."""
        horizon = saturating_add(self.clock.expired_end, -self.stage.windows.remembered)
        self.cells = {identity: row for identity, row in self.cells.items() if identity[2] > horizon}

    def _pane(self, row: Row, pane: Row, times: TickTimes) -> dict[str, Any]:
        end = row[WINDOW_END]
        return {
            **{name: row["key"][name] for name in self.stage.stage.keys},
            **{name: self._value(name, value) for name, value in pane["result"].asDict(recursive=True).items()},
            "window": (row[WINDOW_START], end),
            "event_time": pane["event_time"] if self.stage.stage.keeps_event_times else _last_instant(end),
            "index": pane["pane_index"],
            **{name: pane[name] for name in _PANE},
        }

    def _value(self, name: str, value: Any) -> Any:
        """A list as a tuple, which is compared in its order, but for that of `collect`."""
        ordered = isinstance(value, list) and not isinstance(self.stage.stage.aggregates[name], Collect)
        return tuple(value) if ordered else value

    def _with_derived(self, panes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        derive = self.stage.stage.derive
        if not derive or not panes:
            return panes
        kinds = {name: self.stage.cells.value_types[f"v_{name}"] for name in self.stage.stage.aggregates}
        key = struct_of(f"k {self.stage.key_type}")["k"].dataType
        assert isinstance(key, StructType)
        kinds.update({name: key[name].dataType.simpleString() for name in self.stage.stage.keys})
        schema = ", ".join(["`number` int", *[f"`{name}` {kind}" for name, kind in kinds.items()]])
        rows = [(number, *[pane[name] for name in kinds]) for number, pane in enumerate(panes)]
        frame = self._frame(rows, struct_of(schema))
        values = {name: Column(expression.value_sql) for name, expression in derive.items()}
        for row in select(frame, {"number": col("number"), **values}).collect():
            panes[row["number"]].update({name: row[name] for name in derive})
        return panes

    def _frame(self, rows: list[Any], schema: StructType) -> DataFrame:
        """A frame of the driver's rows, which fit the schema: looking at each would take longer than the tick."""
        if is_remote(self.spark):  # it never looks
            return self.spark.createDataFrame(rows, schema)
        return self.spark.createDataFrame(rows, schema, verifySchema=False)

    def _dead_at_landing(self, step: Step) -> list[dict[str, Any]]:
        assert self.schema is not None, "it reads a source"
        now = self._now(step)
        schema = row_schema(self.schema)
        dead = []
        for number, element in enumerate(step.add):
            reason = self._row(number, element, now, schema)[6]
            if reason is not None:
                at = self._row(number, element, now, schema)[2]
                dead.append({**element.columns, "at": at, "partition": element.partition, "window": None,
                             "reason": reason})  # fmt: skip
        return dead

    def _dead_row(self, row: Row) -> dict[str, Any]:
        window = None if row[WINDOW_START] is None else (row[WINDOW_START], row[WINDOW_END])
        columns = {name: row["element"][name] for name in self.stage.elements.row_columns}
        partition = row[envelope.PARTITION]
        return {**columns, "at": row["event_time"], "partition": partition, "window": window, "reason": row["reason"]}


_PANE = ("timing", "on_time_index", "is_first", "is_last", "change", "weight", "trigger", "watermark_percentile")


def _last_instant(end: int) -> int | None:
    return None if end == INFINITY else end - 1


def typed(value: Any, column: StructField) -> Any:
    """A value of a YAML file as the type of its column wants it."""
    kind = column.dataType.simpleString()
    if value is None:
        return None
    if kind.startswith("decimal"):
        return Decimal(str(value))
    return float(value) if kind in ("double", "float") else value
