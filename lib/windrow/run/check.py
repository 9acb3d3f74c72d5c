"""Transcripts on the real engine: each step of a case is one tick, and the panes that come out are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from windrow.compile import envelope
from windrow.compile.cells import EXPIRED, STATE
from windrow.compile.columns import CELL, WINDOW_END, WINDOW_START
from windrow.compile.stage import CompiledStage
from windrow.engine.batch import plan_tick, survey_rows, tick_times
from windrow.engine.clock import StageClock, TickTimes
from windrow.engine.compiling import compile_stage
from windrow.engine.survey import Survey
from windrow.run.matching import match_dead, match_panes
from windrow.run.rows import row_schema
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.times import INFINITY, format_time
from windrow.spec.transcripts import Case, Step, TranscriptElement


@dataclass(frozen=True)
class Outcome:
    """What became of a case: passed, or failed with messages that a person can read."""

    case: str
    messages: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.messages


def check_case(spark: SparkSession, case: Case) -> Outcome:
    """Run one case."""
    if case.rejects is not None:
        return Outcome(case.name, tuple(_check_refusal(case)))
    if case.refusal is not None:
        return Outcome(case.name, (f"cannot be built: {case.refusal}",))
    messages: list[str] = []
    try:
        memory = MemoryStage.of(spark, case)
    except SpecError as error:
        return Outcome(case.name, (f"cannot be built: {error}",))
    for number, step in enumerate(case.steps):
        messages += [f"step {number}: {message}" for message in memory.step(step)]
    return Outcome(case.name, tuple(messages))


def _check_refusal(case: Case) -> list[str]:
    if case.refusal is None:
        return [f"must be refused with {case.rejects!r}, and was built"]
    if isinstance(case.refusal, NotInThisVersion):
        return [f"cannot be built: {case.refusal}"]
    if str(case.rejects) not in str(case.refusal):
        return [f"must be refused with {case.rejects!r}, and was refused with: {case.refusal}"]
    return []


@dataclass
class MemoryStage:
    """A stage whose cells are held by the driver, for transcripts: small data, every tick looked at."""

    spark: SparkSession
    case: Case
    stage: CompiledStage
    clock: StageClock = field(default_factory=StageClock)
    tick: int = 0
    cells: dict[tuple[Any, int, int], Row] = field(default_factory=dict)
    cell_schema: StructType | None = None

    @classmethod
    def of(cls, spark: SparkSession, case: Case) -> MemoryStage:
        assert case.stage is not None
        empty = spark.createDataFrame([], row_schema(case.schema))
        return cls(spark, case, compile_stage(case.stage, empty))

    def step(self, step: Step) -> list[str]:
        """One tick, and what is wrong with what came out."""
        rows, batch, times = self._begin(step)
        frame = self._cells()
        plan = plan_tick(self.stage, rows, frame, times, batch)
        panes, dead = [], self._dead_at_landing(step)
        if plan.transitions is not None:
            panes = self._apply(plan.transitions, times)
        for letters in plan.dead:
            dead += [self._dead_row(row) for row in letters.collect()]
        self.clock, self.tick = times.after, times.tick
        return self._compare(step, panes, dead, batch)

    def _begin(self, step: Step) -> tuple[DataFrame | None, Survey, TickTimes]:
        now = self.clock.now if step.now is None else step.now
        rows = self._rows(step, now) if step.add else None
        batch = Survey()
        if rows is not None:
            batch = survey_rows(self.stage, rows, self.clock.expired_end)
        clock = self.clock.seen(batch.greatest, now, batch.latest_end)
        lateness = self.stage.stage.allowed_lateness
        if self.case.watermark_from is not None:
            return rows, batch, tick_times(self.clock, clock, self.case.watermark_from, lateness, self.tick + 1)
        watermark = clock.watermark if step.watermark is None else step.watermark
        return rows, batch, TickTimes(self.tick + 1, self.clock, clock.with_watermark(watermark, lateness))

    def _rows(self, step: Step, now: int) -> DataFrame:
        schema = row_schema(self.case.schema)
        tuples = [self._row(number, element, now, schema) for number, element in enumerate(step.add)]
        return self.spark.createDataFrame(tuples, schema, verifySchema=False)

    def _row(self, number: int, element: TranscriptElement, now: int, schema: StructType) -> tuple[Any, ...]:
        rule = self.case.watermark_from
        at = element.at
        if rule is not None and rule.processing_time:
            at = now
        reason = "bad_timestamp" if at is None else None
        if at is not None and rule is not None and rule.max_future is not None and at > now + rule.max_future:
            reason = "future_timestamp"
        columns = [typed(value, schema[name]) for name, value in element.columns.items()]
        return (self.tick + 1, number, at, now, element.partition, None, reason, None, None, *columns)

    def _cells(self) -> DataFrame | None:
        if not self.cells or self.cell_schema is None:
            return None
        return self.spark.createDataFrame(list(self.cells.values()), self.cell_schema, verifySchema=False)

    def _apply(self, transitions: DataFrame, times: TickTimes) -> list[dict[str, Any]]:
        collected = transitions.collect()
        fields = {f.name: f for f in transitions.schema.fields}
        self.cell_schema = StructType([fields[name] for name in (*CELL, STATE)])
        panes = []
        for row in collected:
            identity = (row["key"], row[WINDOW_START], row[WINDOW_END])
            self.cells.pop(identity, None)
            if not row[EXPIRED]:
                self.cells[identity] = Row(row["key"], row[WINDOW_START], row[WINDOW_END], row[STATE])
            panes += [self._pane(row, pane, times) for pane in row["panes"] or []]
        return self._with_derived(panes)

    def _pane(self, row: Row, pane: Row, times: TickTimes) -> dict[str, Any]:
        end = row[WINDOW_END]
        return {
            **{name: row["key"][name] for name in self.stage.stage.keys},
            **pane["result"].asDict(),
            "window": (row[WINDOW_START], end),
            "event_time": None if end == INFINITY else end - 1,
            "index": pane["pane_index"],
            **{name: pane[name] for name in _PANE},
        }

    def _with_derived(self, panes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        derive = self.stage.stage.derive
        if not derive or not panes:
            return panes
        kinds = {**self.stage.cells.value_types}
        inputs = [name for name in self.stage.stage.aggregates]
        schema = ", ".join(["`number` int", *[f"`{name}` {kinds[f'v_{name}']}" for name in inputs]])
        rows = [(number, *[pane[name] for name in inputs]) for number, pane in enumerate(panes)]
        frame = self.spark.createDataFrame(rows, schema, verifySchema=False)
        values = frame.select("number", *[F.expr(e.value_sql).alias(name) for name, e in derive.items()]).collect()
        for row in values:
            panes[row["number"]].update({name: row[name] for name in derive})
        return panes

    def _dead_at_landing(self, step: Step) -> list[dict[str, Any]]:
        now = self.clock.now if step.now is None else step.now
        schema = row_schema(self.case.schema)
        dead = []
        for number, element in enumerate(step.add):
            reason = self._row(number, element, now, schema)[6]
            if reason is not None:
                dead.append({**element.columns, "at": element.at, "partition": element.partition, "window": None,
                             "reason": reason})  # fmt: skip
        return dead

    def _dead_row(self, row: Row) -> dict[str, Any]:
        window = None if row[WINDOW_START] is None else (row[WINDOW_START], row[WINDOW_END])
        columns = {name: row[name] for name in self.case.schema}
        partition = row[envelope.PARTITION]
        return {**columns, "at": row["event_time"], "partition": partition, "window": window, "reason": row["reason"]}

    def _compare(
        self, step: Step, panes: list[dict[str, Any]], dead: list[dict[str, Any]], batch: Survey
    ) -> list[str]:
        messages = [] if step.expect is None else match_panes(step.expect, panes)
        messages += match_dead(step.dead, dead)
        if step.unassigned is not None and step.unassigned != batch.unassigned:
            messages.append(f"unassigned: expected {step.unassigned}, got {batch.unassigned}")
        if step.expect_watermark is not None and step.expect_watermark != self.clock.watermark:
            got, wanted = format_time(self.clock.watermark), format_time(step.expect_watermark)
            messages.append(f"watermark: expected {wanted}, got {got}")
        return messages


_PANE = ("timing", "on_time_index", "is_first", "is_last", "change", "weight", "trigger", "watermark_percentile")


def typed(value: Any, column: StructField) -> Any:
    """A value of a YAML file as the type of its column wants it."""
    kind = column.dataType.simpleString()
    if value is None:
        return None
    if kind.startswith("decimal"):
        from decimal import Decimal

        return Decimal(str(value))
    return float(value) if kind in ("double", "float") else value
