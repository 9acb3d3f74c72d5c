"""A stage over the panes of another one: what it is compiled against, and the watermark that comes with the panes.

Rule: docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import PANES
from windrow.compile.panes.elements import of_transitions
from windrow.compile.stage import CompiledStage
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.inherited import CompiledInherited
from windrow.engine.clocks.clock import StageClock
from windrow.engine.compiling.stage import InputRows, compile_stage
from windrow.engine.frames import apply, over
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY, saturating_add
from windrow.spec.windows.aligned import GlobalWindow
from windrow.spec.windows.inherited import InheritedWindows


def compile_over(spark: SparkSession, stage: Stage, upstream: CompiledStage) -> CompiledStage:
    """Compile a stage that reads another. Errors: SpecError where a type does not fit."""
    given = rows_of(spark, stage, upstream)
    if isinstance(stage.window, InheritedWindows) and upstream.stage.window.IS_GLOBAL:
        stage = replace(stage, window=GlobalWindow())
    compiled = compile_stage(stage, given.rows, weight=given.weight, inherited=given.inherited)
    return replace(compiled, nets=given.nets)


def rows_of(spark: SparkSession, stage: Stage, upstream: CompiledStage) -> InputRows:
    """What a stage is compiled against that reads another one, or an input of it that does."""
    schema = _transition_schema(upstream)
    rows = pane_elements(upstream, spark.createDataFrame([], schema))  # type: ignore[no-untyped-call, unused-ignore]
    weight = "weight" if emits_retractions(upstream.shown) else None
    inherits = isinstance(stage.window, InheritedWindows)
    return InputRows(rows, None, weight, _inherited(stage, upstream.windows) if inherits else None, True)


def pane_elements(upstream: CompiledStage, transitions: DataFrame) -> DataFrame:
    """The panes that transitions (`key`, bounds, `panes`, `tick`) hold, as rows for the stages that read them."""
    return apply(of_transitions(upstream.shown, over(transitions)), transitions)


def _transition_schema(stage: CompiledStage) -> str:
    panes = f"{PANES} array<{stage.pane_type}>"
    return f"`key` {stage.key_type}, window_start bigint, window_end bigint, {panes}, tick bigint"


def _inherited(stage: Stage, windows: CompiledWindows) -> CompiledInherited:
    known = windows.of_panes
    return CompiledInherited(replace(known, is_moved=known.is_moved or stage.element_time is not None))


def in_band(stage: Stage, clock: StageClock, watermark: int) -> StageClock:
    """The clock with the watermark that came with the panes: the output watermark of the stage that is read."""
    by = 0 if stage.element_time is None else stage.element_time.backward
    own = watermark if watermark == MINUS_INFINITY else saturating_add(watermark, -by)
    return clock.with_watermark(own, stage.allowed_lateness)
