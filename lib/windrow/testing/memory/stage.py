"""A stage that ticks in memory by the runner of the stream, and what comes out of each tick as plain rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql.types import StructType

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.sql.columns import Column, col
from windrow.compile.stage import CompiledStage
from windrow.drivers.pipeline.clocks import Clocks, ClocksOfStage, InputClocks
from windrow.drivers.pipeline.rows import row_schema
from windrow.drivers.pipeline.ticking import TickRunner
from windrow.drivers.spark.session import small_session
from windrow.engine.compiling.chain import rows_of, with_windows_of
from windrow.engine.compiling.stage import InputRows, compile_stage, with_assertion
from windrow.engine.frames import local, select
from windrow.spec.aggregates import Collect
from windrow.spec.expressions import Expression
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY
from windrow.spec.transcripts.cases import Step
from windrow.store.projections.creation import struct_of
from windrow.store.upstream.base import Upstream
from windrow.store.upstream.inputs import InputLogs
from windrow.testing.memory.clocks import ClocksAsGiven, ClocksByRule, Given
from windrow.testing.memory.landing import Landing, dead_rows
from windrow.testing.memory.state import MemoryLog, MemoryPanes, MemoryState, frame_of


@dataclass(frozen=True)
class TickOutcome:
    """What came out of a tick, as the plain rows that transcripts compare."""

    panes: list[dict[str, Any]]
    dead: list[dict[str, Any]]
    unassigned: int
    watermark: int


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
    state: MemoryState = field(init=False)
    runner: TickRunner = field(init=False)
    _given: Given = field(default_factory=lambda: Given(0))
    _logs: dict[str, MemoryLog] = field(default_factory=dict)
    _landings: dict[str, Landing] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = MemoryState(self.stage)
        logs: dict[str, Upstream] = {}
        clocks: dict[str, InputClocks] = {}
        for name in self.stage.inputs:
            logs[name], clocks[name] = self._input(name)
        clock = Clocks(self.stage.stage, clocks)
        self.runner = TickRunner(self.spark, self.stage, InputLogs(logs), clock, self.state)

    def _input(self, name: str) -> tuple[Upstream, InputClocks]:
        upstream, spec = self.upstreams.get(name), self.stage.stage
        if upstream is not None:
            upstream.state.is_read = upstream.runner.is_read = True
            panes = MemoryPanes(upstream.state)
            return panes, ClocksOfStage(self.spark, panes, spec, replays=False)
        log = self._logs[name] = MemoryLog(name)
        rule = self.rules.get(name)
        self._landings[name] = Landing.of(self.schema, rule, self.stage.of_input(name).elements.weight)
        if rule is None:
            return log, ClocksAsGiven(self._given)
        return log, ClocksByRule(name, rule, spec, given=self._given)

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        stage: Stage,
        schema: Schema,
        rule: Watermark | Mapping[str, Watermark] | None,
        size: Expression | None = None,
        weight: str | None = None,
        upstreams: Mapping[str, MemoryStage] | None = None,
    ) -> MemoryStage:
        """The stage over its inputs: stages, and elements of a source, of that schema and size, with weights.

        `rule` makes the watermark of the only input, or of each. Errors: SpecError where a type does not fit.
        """
        rules: Mapping[str, Watermark | None] = rule if isinstance(rule, Mapping) else {ONLY: rule}
        upstreams = upstreams or {}
        session = next((one.spark for one in upstreams.values()), None) or small_session(spark)
        empty = local(session, [], row_schema(schema))
        given = {
            name: rows_of(session, stage, upstreams[name].stage)
            if name in upstreams
            else InputRows(empty, size, weight)
            for name in by_input(stage)
        }
        compiled = compile_stage(with_windows_of(stage, [one.stage for one in upstreams.values()]), given)
        parts = {
            name: part if name in upstreams else with_assertion(part, rules.get(name), empty)
            for name, part in compiled.inputs.items()
        }
        return cls(session, schema, replace(compiled, inputs=parts), rules, upstreams)

    def step(self, step: Step) -> TickOutcome:
        """One tick over the elements of sources, and over what the stages that are read have emitted."""
        self._given.now = now = self._given.now if step.now is None else step.now
        self._given.watermark = step.watermark
        taken = {name: len(log.steps) for name, log in self._logs.items()}
        dead: list[dict[str, Any]] = []
        for name, log in self._logs.items():
            elements = [one for one in step.add if (one.input or ONLY) == name]
            landed = self._landings[name].land(self.spark, elements, len(log.steps) + 1, now)
            dead += dead_rows(landed)
            if landed or (step.watermark is not None and self.rules.get(name) is None):
                rows = [one.row for one in landed]
                log.steps.append(frame_of(self.spark, rows, row_schema(self.schema)) if rows else None)
        try:
            control = self.runner.advance(self.runner.upstream.head(self.spark)) or self.runner.pass_time(now)
        except Exception:
            for name, log in self._logs.items():  # as if it had not been given
                del log.steps[taken[name] :]
            raise
        if control is None:
            return TickOutcome([], dead, 0, self.runner.clock.watermark)
        panes = [self._pane(row, pane) for row in self.state.transitions[-1] for pane in row["panes"] or []]
        dead += [self._dead_letter(row) for row in self.state.dead_letters[-1]]
        return TickOutcome(self._with_derived(panes), dead, control.counters.unassigned, control.clock.watermark)

    def _pane(self, row: Row, pane: Row) -> dict[str, Any]:
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
        frame = frame_of(self.spark, rows, struct_of(schema))
        values = {name: Column(expression.value_sql) for name, expression in derive.items()}
        for row in select(frame, {"number": col("number"), **values}).collect():
            panes[row["number"]].update({name: row[name] for name in derive})
        return panes

    def _dead_letter(self, row: Row) -> dict[str, Any]:
        window = None if row[WINDOW_START] is None else (row[WINDOW_START], row[WINDOW_END])
        columns, partition = row["element"].asDict(), row[envelope.PARTITION]
        return {**columns, "at": row["event_time"], "partition": partition, "window": window, "reason": row["reason"]}


_PANE = ("timing", "on_time_index", "is_first", "is_last", "change", "weight", "trigger", "watermark_percentile")


def _last_instant(end: int) -> int | None:
    return None if end == INFINITY else end - 1
