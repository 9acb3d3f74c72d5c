"""A stage over the panes of another one: what it is compiled against, and the watermark that comes with the panes.

Rule: docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import PANES
from windrow.compile.panes.elements import of_transitions
from windrow.compile.stage import CompiledStage
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.inherited import CompiledInherited
from windrow.engine.compiling.stage import InputRows
from windrow.engine.frames import apply, over
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY, saturating_add
from windrow.spec.windows.aligned import GlobalWindow


def with_windows_of(stage: Stage, upstreams: Sequence[CompiledStage]) -> Stage:
    """The stage; one that inherits the window of all time from all that it reads has that window itself."""
    inherits = stage.window.FOLLOWS_PANES
    if not inherits or not all(one.stage.window.IS_GLOBAL for one in upstreams):
        return stage
    return replace(stage, window=GlobalWindow())


def rows_of(spark: SparkSession, stage: Stage, upstream: CompiledStage) -> InputRows:
    """What an input of a stage is compiled against that reads another one."""
    schema = _transition_schema(upstream)
    rows = pane_elements(upstream, spark.createDataFrame([], schema))  # type: ignore[no-untyped-call, unused-ignore]
    weight = "weight" if emits_retractions(upstream.shown) else None
    inherits = stage.window.FOLLOWS_PANES
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


def in_band(stage: Stage, watermark: int) -> int:
    """The watermark that comes with the panes: the output watermark of the stage that is read, as this one needs it."""
    by = 0 if stage.element_time is None else stage.element_time.backward
    return watermark if watermark == MINUS_INFINITY else saturating_add(watermark, -by)
