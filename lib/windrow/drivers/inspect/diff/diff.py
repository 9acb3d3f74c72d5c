"""On which windows two lakes of a pipeline differ, or two generations of a stage, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]

from windrow.drivers.inspect.diff.comparison import HERE, THERE, Comparison, Value
from windrow.drivers.inspect.diff.sides import Side, identity_of, made_by, shown_by
from windrow.drivers.inspect.look import look
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.store.reading.tables import Tables
from windrow.view.diff import ColumnDiffers, Diff, WindowDiffers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = 20
"""How many windows are named."""


def diff(
    pipeline: Pipeline,
    spark: SparkSession | None = None,
    against: str | None = None,
    generation: int | None = None,
    stage: str | None = None,
    start: int | None = None,
    end: int | None = None,
) -> list[Diff]:
    """Compare what the lake shows with another lake, or with a generation of the same lake, stage by stage.

    Windows that start in [start, end) are compared, in microseconds, by their values: floating-point numbers may be
    apart by 1e-9 of the larger one, sketches and maps are not compared. The tables are read by `deltalake`; the session
    is for a lake that it cannot read. Raises SpecError where a stage has not run, or has other keys there.
    """
    if (against is None) == (generation is None):
        rule = "is missing" if against is None else "does not go with --generation"
        raise SpecError("--against", rule, against, "another lake, or --generation N: another generation in this one")
    stages = [pipeline.stage(stage)] if stage is not None else pipeline.stages

    def found(tables: Tables) -> list[Diff]:
        return [_diff(tables, pipeline.lake, one, against, generation, (start, end)) for one in stages]

    return look(pipeline, spark, found)


def _diff(
    tables: Tables,
    lake: str,
    stage: Stage,
    against: str | None,
    generation: int | None,
    span: tuple[int | None, int | None],
) -> Diff:
    here = shown_by(tables, lake, stage, HERE)
    if against is not None:
        there = shown_by(tables, against, stage, THERE)
    else:
        assert generation is not None
        there = made_by(tables, lake, stage, generation, THERE)
    return compared(tables, stage, here, there, span)


def compared(tables: Tables, stage: Stage, here: Side, there: Side, span: tuple[int | None, int | None]) -> Diff:
    """The windows of a stage that start in the span, as the two sides have them. Raises SpecError for other keys."""
    values, others = _values(stage, here, there)
    comparison = Comparison(here, there, tables.quote, identity_of(stage), values, *span)
    opened = {HERE: here.table, THERE: there.table}
    (found,) = tables.query(comparison.summary(), opened).to_pylist()
    columns = [
        ColumnDiffers(value.name, found[f"number_{index}"], found[f"greatest_{index}"])
        for index, value in enumerate(values)
        if found[f"number_{index}"]
    ]
    is_any = found["only_here"] or found["only_there"] or found["different"]
    rows = _plain(tables.query(comparison.first(FIRST), opened)) if is_any else []
    return Diff(
        stage=stage.name, here=here.words, there=there.words, windows=found["windows"], only_here=found["only_here"],
        only_there=found["only_there"], different=found["different"], columns=columns,
        differing=[_differing(stage, comparison, row) for row in rows], not_compared=others,
    )  # fmt: skip


def _values(stage: Stage, here: Side, there: Side) -> tuple[list[Value], list[str]]:
    """The results that are compared, and those that are not. Raises SpecError where there are other keys."""
    ours, theirs = here.table.kinds(), there.table.kinds()
    lacking = [name for name in identity_of(stage) if name not in ours or name not in theirs]
    if lacking:
        rule = f"has other keys in {there.words if lacking[0] in ours else here.words}: there is none of this name"
        raise SpecError(f"stages.{stage.name}", rule, lacking[0])
    sketches = {name for name, aggregate in stage.aggregates.items() if aggregate.IS_SKETCH}
    names = [name for name in stage.result_columns if name not in stage.row_identity]
    compared = [
        Value(name, ours[name])
        for name in names
        if name in ours and name in theirs and name not in sketches and ours[name] != "map"
    ]
    known = {value.name for value in compared}
    return compared, [name for name in names if name not in known]


def _differing(stage: Stage, comparison: Comparison, row: Mapping[str, Any]) -> WindowDiffers:
    identity = {name: row[f"i{index}"] for index, name in enumerate(comparison.identity)}
    sides = {
        side: {value.name: row[f"{side}{index}"] for index, value in enumerate(comparison.values)} for side in "ht"
    }
    return WindowDiffers(
        key={name: identity[name] for name in (*stage.keys, *stage.row_identity)},
        window_start=identity["window_start"], window_end=identity["window_end"],
        here=sides["h"] if row["is_here"] else None, there=sides["t"] if row["is_there"] else None,
    )  # fmt: skip


def _plain(rows: pa.Table) -> list[dict[str, Any]]:
    """Times as microseconds: a window may begin before the years that Python's times know."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            rows = rows.set_column(index, field.name, rows.column(index).cast(pa.int64()))
    found: list[dict[str, Any]] = rows.to_pylist()
    return found
