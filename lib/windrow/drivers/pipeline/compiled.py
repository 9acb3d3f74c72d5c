"""Stages compiled against the rows of what they read: sources, and other stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.stage import CompiledStage
from windrow.drivers.pipeline.rows import row_schema
from windrow.engine.compiling.chain import compile_over, rows_of
from windrow.engine.compiling.stage import InputRows, compile_inputs, compile_stage, with_assertion
from windrow.spec.errors import SpecError
from windrow.spec.sources.source import Source
from windrow.spec.stages.graph import ONLY
from windrow.spec.stages.stage import Stage


def compiled_stage(spark: SparkSession, stage: Stage, read: Mapping[str, Source | CompiledStage]) -> CompiledStage:
    """A stage compiled against the rows of what its inputs read. Errors: SpecError where a type does not fit."""
    sources = {name: one for name, one in read.items() if isinstance(one, Source)}
    rows = {name: _rows_of_source(spark, source) for name, source in sources.items()}
    given = {name: rows[name] if isinstance(one, Source) else one for name, one in read.items()}
    compiled = compiled_over(spark, stage, given)
    parts = {name: _with_assertion(compiled.of_input(name), one, rows[name].rows) for name, one in sources.items()}
    return replace(compiled, inputs={**compiled.inputs, **parts}) if stage.inputs else parts.get(ONLY, compiled)


def compiled_over(spark: SparkSession, stage: Stage, read: Mapping[str, InputRows | CompiledStage]) -> CompiledStage:
    """A stage compiled against rows, or the panes of stages, by its inputs. Errors: SpecError as above."""
    if stage.inputs:
        rows = {n: one if isinstance(one, InputRows) else rows_of(spark, stage, one) for n, one in read.items()}
        return compile_inputs(stage, rows)
    upstream = read[ONLY]
    if isinstance(upstream, InputRows):
        return compile_stage(stage, upstream.rows, upstream.size, upstream.weight)
    return compile_over(spark, stage, upstream)


def _rows_of_source(spark: SparkSession, source: Source) -> InputRows:
    return InputRows(spark.createDataFrame([], row_schema(source.columns)), source.size, source.weight)


def _with_assertion(compiled: CompiledStage, source: Source, rows: DataFrame) -> CompiledStage:
    try:
        return with_assertion(compiled, source.watermark, rows)
    except SpecError as error:
        raise error.within(f"sources.{source.name}") from None
