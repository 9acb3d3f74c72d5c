"""A stage compiled against the types of its rows, which Spark infers without reading any."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql.types import DoubleType, FloatType, StructType

from windrow.compile.aggregates import compile_aggregate, is_floating
from windrow.compile.cells import CellColumns
from windrow.compile.columns import EVENT_TIME, KEY
from windrow.compile.elements import CompiledElements, argument_name
from windrow.compile.having import PASSES, with_condition
from windrow.compile.sql import Column, col
from windrow.compile.stage import CompiledStage, extracted, partials
from windrow.compile.triggers import compile_trigger
from windrow.compile.windows import compile_windows
from windrow.engine.frames import apply, group, over, select
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.stages import Stage


def compile_stage(stage: Stage, rows: DataFrame) -> CompiledStage:
    """Compile a stage for rows with the columns of this frame. Errors: SpecError where a type does not fit."""
    elements = CompiledElements(stage)
    _check_conditions(elements, rows)
    sample = _elements(elements, rows)
    key_type = sample.schema[KEY].dataType
    assert isinstance(key_type, StructType)
    numbers = [f for f in key_type.fields if isinstance(f.dataType, FloatType | DoubleType)]
    elements = CompiledElements(stage, {f.name: f.dataType.simpleString() for f in numbers})
    kinds = {field.name: field.dataType for field in sample.schema.fields}
    aggregates = {}
    for name, aggregate in stage.aggregates.items():
        argument = argument_name(name)
        column = col(argument) if argument in kinds else None
        aggregates[name] = compile_aggregate(name, aggregate, column, kinds.get(argument), col(EVENT_TIME))
    grouped = group(sample, (), partials(aggregates))
    values = select(grouped, {f"v_{name}": column for name, column in extracted(aggregates).items()})
    _check_having(stage, sample, values)
    cells = CellColumns(stage, aggregates, compile_trigger(stage.trigger), _types(grouped), _types(values))
    floating = frozenset(f.name.removeprefix("v_") for f in values.schema.fields if is_floating(f.dataType))
    windows = compile_windows(stage.window)
    return CompiledStage(stage, elements, windows, aggregates, cells, key_type.simpleString(), floating)


def _elements(elements: CompiledElements, rows: DataFrame) -> DataFrame:
    return apply(elements.elements(elements.judged(over(rows))), rows)


def _types(frame: DataFrame) -> Mapping[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}


def _check_conditions(elements: CompiledElements, rows: DataFrame) -> None:
    """Refuse a condition that is not a boolean, what is no array or no time, with its place."""
    stage = elements.stage
    for name, expression in stage.explode.items():
        kind = _kind(expression, apply(_selected(stage, rows), rows))
        if not kind.startswith("array<"):
            raise SpecError(f"explode.{name}", "must be an array", kind, "for instance split(tags, ',')")
    selected = apply(elements.unfolded(over(rows)), rows)
    if stage.element_time is not None:
        kind = _kind(stage.element_time.of, selected)
        if kind != "timestamp":
            hint = "for instance timestamp_micros(sent), to_timestamp(sent)"
            raise SpecError("element_time.of", "must be a timestamp", kind, hint)
    conditions = {f"aggregates.{n}": a.expressions[0] for n, a in stage.aggregates.items() if a.NAME == "count_if"}
    if stage.where is not None:
        conditions["where"] = stage.where
    for place, expression in conditions.items():
        _require_condition(place, Column(expression.value_sql), selected)


def _require_condition(place: str, condition: Column, rows: DataFrame) -> None:
    kind = select(rows, {"condition": condition}).schema["condition"].dataType.simpleString()
    if kind not in ("boolean", "void"):
        raise SpecError(place, "must be a condition", kind, "for instance dep_delay > 15")


def _kind(expression: Expression, rows: DataFrame) -> str:
    return select(rows, {"value": Column(expression.value_sql)}).schema["value"].dataType.simpleString()


def _check_having(stage: Stage, elements: DataFrame, values: DataFrame) -> None:
    """Refuse a `having` that is not a boolean."""
    if stage.having is None:
        return
    panes = elements.select(KEY).crossJoin(values)
    _require_condition("having", col(PASSES), apply(with_condition(stage, stage.having, over(panes)), panes))


def _selected(stage: Stage, rows: DataFrame):  # type: ignore[no-untyped-def]
    chain = over(rows)
    for name, expression in stage.select.items():
        chain = chain.with_columns({name: Column(expression.value_sql)})
    return chain
