"""Stages compiled against the rows of what they read: sources, and other stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.stage import CompiledStage
from windrow.drivers.pipeline.rows import row_schema
from windrow.engine.compiling.chain import rows_of, with_windows_of
from windrow.engine.compiling.stage import InputRows, compile_stage, with_assertion
from windrow.spec.errors import SpecError
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage


def compiled_stage(spark: SparkSession, stage: Stage, read: Mapping[str, Source | CompiledStage]) -> CompiledStage:
    """A stage compiled against the rows of what its inputs read. Errors: SpecError where a type does not fit."""
    rows = {
        name: _rows_of_source(spark, one) if isinstance(one, Source) else rows_of(spark, stage, one)
        for name, one in read.items()
    }
    upstreams = [one for one in read.values() if not isinstance(one, Source)]
    compiled = compile_stage(with_windows_of(stage, upstreams), rows)
    inputs = {
        name: _with_assertion(compiled.of_input(name), one, rows[name].rows) if isinstance(one, Source) else
        compiled.of_input(name)
        for name, one in read.items()
    }  # fmt: skip
    return replace(compiled, inputs=inputs)


def _rows_of_source(spark: SparkSession, source: Source) -> InputRows:
    return InputRows(spark.createDataFrame([], row_schema(source.columns)), source.size, source.weight)


def _with_assertion(compiled: CompiledStage, source: Source, rows: DataFrame) -> CompiledStage:
    try:
        return with_assertion(compiled, source.watermark, rows)
    except SpecError as error:
        raise error.within(f"sources.{source.name}") from None
