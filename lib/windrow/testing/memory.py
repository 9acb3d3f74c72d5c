"""A stage whose cells are held by the driver: small data, every tick looked at. For transcripts and laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructField, StructType

from windrow.compile.columns import CELL, STATE, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, bigint, col
from windrow.compile.stage import CompiledStage
from windrow.drivers.pipeline.rows import row_schema
from windrow.drivers.spark.session import small_session
from windrow.engine.clocks.clock import StageClock, TickTimes
from windrow.engine.clocks.holds import least_held
from windrow.engine.clocks.inputs import InputTime, met, partitions
from windrow.engine.compiling.chain import compile_over, in_band, pane_elements, rows_of
from windrow.engine.compiling.stage import InputRows, compile_inputs, compile_stage, with_assertion
from windrow.engine.frames import local, select, with_column
from windrow.engine.tick.admission import Held
from windrow.engine.tick.counters import Counters
from windrow.engine.tick.plan import plan_tick, survey_rows, tick_times
from windrow.engine.tick.statistics import Survey, summed
from windrow.engine.windows.registry import strategy_of
from windrow.spec.aggregates import Collect
from windrow.spec.expressions import Expression
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.graph import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.times import EARLIEST_EVENT_TIME, INFINITY, LATEST_EVENT_TIME, MINUS_INFINITY, saturating_add
from windrow.spec.transcripts.cases import Step, TranscriptElement
from windrow.spec.triggers.firings import leaves_nothing
from windrow.store.projections.schemas import struct_of


@dataclass(frozen=True)
class TickOutcome:
    """What came out of a tick, as the plain rows that transcripts compare. `survey` is what was counted of its rows."""

    panes: list[dict[str, Any]]
    dead: list[dict[str, Any]]
    survey: Counters
    watermark: int
    transitions: DataFrame | None
    """What the stages that read the stage take their elements from, if there are any."""


@dataclass
class MemoryStage:
    """A stage that ticks in memory. `rules` make the watermarks of its inputs, or they are given with every step.

    The only input of a stage has the name `ONLY`; `schema` is that of the rows of sources. `upstreams` are the stages
    that inputs read; they know that they are read.
    """

    spark: SparkSession
    schema: Schema
    stage: CompiledStage
    rules: Mapping[str, Watermark | None]
    upstreams: Mapping[str, MemoryStage] = field(default_factory=dict)
    is_read: bool = False
    clock: StageClock = field(default_factory=StageClock)
    tick: int = 0
    cells: dict[tuple[Any, ...], Row] = field(default_factory=dict)
    cell_schema: StructType | None = None

    def __post_init__(self) -> None:
        for upstream in self.upstreams.values():
            upstream.is_read = True

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
        empty = local(session, [], row_schema(schema))
        compiled = with_assertion(compile_stage(stage, empty, size, weight), rule, empty)
        return cls(session, schema, compiled, {ONLY: rule})

    @classmethod
    def behind(cls, upstream: MemoryStage, stage: Stage) -> MemoryStage:
        """The stage over the panes of another. Errors: SpecError where a type does not fit."""
        compiled = compile_over(upstream.spark, stage, upstream.stage)
        return cls(upstream.spark, upstream.schema, compiled, {ONLY: None}, {ONLY: upstream})

    @classmethod
    def of_inputs(
        cls,
        spark: SparkSession,
        stage: Stage,
        schema: Schema,
        rules: Mapping[str, Watermark | None],
        upstreams: Mapping[str, MemoryStage],
        size: Expression | None = None,
        weight: str | None = None,
    ) -> MemoryStage:
        """The stage over several inputs: stages, and elements of a source, all of that schema. Errors: SpecError."""
        session = next((one.spark for one in upstreams.values()), None) or small_session(spark)
        empty = local(session, [], row_schema(schema))
        given = {
            name: rows_of(session, stage, upstreams[name].stage)
            if name in upstreams
            else InputRows(empty, size, weight)
            for name in stage.inputs
        }
        compiled = compile_inputs(stage, given)
        parts = {
            name: part if name in upstreams else with_assertion(part, rules.get(name), empty)
            for name, part in compiled.inputs.items()
        }
        return cls(session, schema, replace(compiled, inputs=parts), rules, upstreams)

    def step(self, step: Step, outcomes: Mapping[str, TickOutcome] | None = None) -> TickOutcome:
        """One tick over the elements of sources, and over what the stages that are read have given, by their names."""
        now = self._now(step)
        rows: dict[str, DataFrame] = {}
        given: dict[str, int | None] = {}
        for name in self.stage.inputs or (ONLY,):
            upstream = self.upstreams.get(name)
            if upstream is not None:
                found = (outcomes or {})[upstream.stage.shown.name].transitions
                if found is not None:
                    rows[name] = pane_elements(upstream.stage, found)
                given[name], now = upstream.output_watermark, max(now, upstream.clock.now)
            else:
                elements = [(number, one) for number, one in enumerate(step.add) if (one.input or ONLY) == name]
                if elements:
                    rows[name] = self._rows(name, elements, now)
                given[name] = step.watermark
        out = self._tick(rows, now, given)
        out.dead[:0] = self._dead_at_landing(step, now)
        return out

    @property
    def output_watermark(self) -> int:
        """The output watermark after the last tick."""
        return self._holding().output_watermark

    def _holding(self) -> StageClock:
        """The clock with the output watermark that the open cells leave it, where the stage has a use for it."""
        stage = self.stage.stage
        if leaves_nothing(stage):
            return self.clock.with_held(None)
        is_wanted = stage.keeps_event_times or self.is_read
        return self.clock.with_held(least_held(stage, self._cells())) if is_wanted else self.clock

    def _tick(self, rows: Mapping[str, DataFrame], now: int, given: Mapping[str, int | None]) -> TickOutcome:
        held = Held(self.clock.expired_end)
        surveys = {name: survey_rows(self.stage.of_input(name), frame, held) for name, frame in rows.items()}
        times = self._times(surveys, now, given)
        inputs = {name: (frame, surveys[name]) for name, frame in rows.items()}
        plan = plan_tick(self.stage, inputs, self._cells(), times, held)
        panes: list[dict[str, Any]] = []
        dead: list[dict[str, Any]] = []
        transitions = None
        if plan.transitions is not None:
            panes, transitions = self._apply(plan.transitions, times)
        for letters in plan.dead:
            dead += [self._dead_row(row) for row in letters.collect()]
        self.clock, self.tick = times.after, times.tick
        return TickOutcome(panes, dead, plan.counters, times.after.watermark, transitions)

    def _times(self, surveys: Mapping[str, Survey], now: int, given: Mapping[str, int | None]) -> TickTimes:
        stage, number = self.stage.stage, self.tick + 1
        self.clock = self._holding()
        if strategy_of(self.stage).ends_by_cells:
            ends = [end for _, start, end, *_ in self.cells if start < end]
            self.clock = self.clock.seen({}, self.clock.now, max(ends, default=None))
        batch = summed(list(surveys.values()))
        clock = self.clock.seen(batch.greatest, now, batch.latest_end, batch.asserted)
        if self.stage.inputs:
            inputs = {
                name: InputTime(surveys.get(name, Survey()), self.rules.get(name), given[name], name in self.upstreams)
                for name in self.stage.inputs
            }
            after = met(clock, now, inputs, stage)
            return TickTimes(number, self.clock, after, partitions(after, inputs))
        rule, watermark = self.rules[ONLY], given[ONLY]
        if rule is not None:
            return tick_times(self.clock, clock, stage.watermark_over(rule), stage, number)
        if watermark is None:
            return TickTimes(number, self.clock, clock)
        if self.upstreams:
            return TickTimes(number, self.clock, in_band(stage, clock, watermark))
        return TickTimes(number, self.clock, clock.with_watermark(watermark, stage.allowed_lateness))

    def _now(self, step: Step) -> int:
        """Processing time of the step; where none is written, that of the step before, and the epoch at first."""
        if step.now is not None:
            return step.now
        return 0 if self.clock.now == MINUS_INFINITY else self.clock.now

    def _rows(self, name: str, elements: list[tuple[int, TranscriptElement]], now: int) -> DataFrame:
        schema = row_schema(self.schema)
        return self._frame([self._row(name, number, element, now, schema) for number, element in elements], schema)

    def _row(self, name: str, number: int, element: TranscriptElement, now: int, schema: StructType) -> tuple[Any, ...]:
        rule = self.rules.get(name)
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
        weight = self.stage.of_input(name).elements.weight
        if reason is None and weight is not None and element.columns.get(weight) not in (1, -1):
            reason = "bad_expression"
        values = [typed(element.columns.get(column), schema[column]) for column in self.schema]
        return (self.tick + 1, number, at, now, element.partition, None, reason, None, None, *values)

    def _cells(self) -> DataFrame | None:
        if not self.cells or self.cell_schema is None:
            return None
        return self._frame(list(self.cells.values()), self.cell_schema)

    def _apply(self, transitions: DataFrame, times: TickTimes) -> tuple[list[dict[str, Any]], DataFrame | None]:
        collected = transitions.collect()
        self._forget()
        fields = {f.name: f for f in transitions.schema.fields}
        self.cell_schema = StructType([fields[name] for name in (*CELL, STATE)])
        panes = []
        for row in collected:
            identity: tuple[Any, ...] = (row["key"], row[WINDOW_START], row[WINDOW_END])
            if strategy_of(self.stage).adds_up:  # none takes the place of another
                identity = (*identity, times.tick)
            self.cells.pop(identity, None)
            if row[STATE] is not None:
                self.cells[identity] = Row(row["key"], row[WINDOW_START], row[WINDOW_END], row[STATE])
            panes += [self._pane(row, pane, times) for pane in row["panes"] or []]
        return self._with_derived(panes), self._emitted(collected, transitions.schema, times.tick)

    def _emitted(self, transitions: list[Row], schema: StructType, tick: int) -> DataFrame | None:
        """What the stages that read this one take; None where none does, as a frame costs Spark some time."""
        return with_column(self._frame(transitions, schema), "tick", bigint(tick)) if self.is_read else None

    def _forget(self) -> None:
        """Drop the bounds of expired windows that no element in time can meet any more."""
        horizon = saturating_add(self.clock.expired_end, -self.stage.remembered)
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
        ordered = isinstance(value, list) and not isinstance(self.stage.stage.aggregates.get(name), Collect)
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
        """The driver's rows in one partition, so that nothing behind it needs a shuffle."""
        return local(self.spark, rows, schema).coalesce(1)

    def _dead_at_landing(self, step: Step, now: int) -> list[dict[str, Any]]:
        schema = row_schema(self.schema)
        own = [name for name in self.stage.inputs or (ONLY,) if name not in self.upstreams]
        dead = []
        for number, element in enumerate(step.add):
            name = element.input or ONLY
            row = self._row(name, number, element, now, schema) if name in own else None
            if row is not None and row[6] is not None:
                dead.append({**element.columns, "at": row[2], "partition": element.partition, "window": None,
                             "reason": row[6]})  # fmt: skip
        return dead

    def _dead_row(self, row: Row) -> dict[str, Any]:
        window = None if row[WINDOW_START] is None else (row[WINDOW_START], row[WINDOW_END])
        columns, partition = row["element"].asDict(), row[envelope.PARTITION]
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
