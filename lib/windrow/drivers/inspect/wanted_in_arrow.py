"""The rows that somebody wants to see, read without Spark."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.drivers.inspect.wanted import NULL, Found, Wanted
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import parse_time
from windrow.view.show import TIMES

_TIME = pa.timestamp("us", tz="UTC")


def found(pipeline: Pipeline, wanted: Wanted) -> Found:
    """The rows of a stage's table. Errors: SpecError where it cannot be read, and for a value that is none of a key."""
    rows = pipeline.table(wanted.stage.name).dataset(wanted.table)
    condition = reduce(and_, _conditions(wanted, rows.schema), pc.scalar(True))
    # structs, lists and maps have no order in Arrow
    order = [name for name in wanted.order if not pa.types.is_nested(rows.schema.field(name).type)]
    ordered = rows.to_table(columns=order, filter=condition)
    newest = pc.sort_indices(ordered, [(name, "descending") for name in order])[: wanted.limit]
    chosen = rows.scanner(columns=list(wanted.columns), filter=condition).take(newest)
    columns = [_values(name, chosen.column(name)) for name in wanted.columns]
    return list(zip(*columns, strict=True)), ordered.num_rows


def _conditions(wanted: Wanted, schema: pa.Schema) -> list[pc.Expression]:
    conditions = []
    for name, text in wanted.keys.items():
        key = pc.field(name)
        conditions.append(key.is_null() if text == NULL else key == _value(name, text, schema.field(name).type))
    if wanted.at is not None:
        start, end, time = pc.field("window_start"), pc.field("window_end"), _time(wanted.at, _TIME)
        conditions += [start.is_null() | (start <= time), end.is_null() | (end > time)]
    return conditions


def _value(name: str, text: str, kind: pa.DataType) -> pa.Scalar:
    try:
        return _time(parse_time(text), kind) if pa.types.is_timestamp(kind) else pa.scalar(text).cast(kind)
    except (SpecError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SpecError("--key", f"must give {name} a value of its type, {kind}", text) from error


def _time(micros: int, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(micros, pa.int64()).cast(kind)


def _values(name: str, column: pa.ChunkedArray) -> list[Any]:
    if name in TIMES:
        return list(column.cast(pa.int64()).to_pylist())
    return [_as_spark_has_it(value, column.type) for value in column.to_pylist()]


def _as_spark_has_it(value: Any, kind: pa.DataType) -> Any:
    """A struct as a tuple, a map as a dict, also inside of others."""
    if value is None or not pa.types.is_nested(kind):
        return value
    if pa.types.is_struct(kind):
        return tuple(_as_spark_has_it(value[field.name], field.type) for field in kind)
    if pa.types.is_map(kind):
        return {key: _as_spark_has_it(item, kind.item_type) for key, item in value}
    return [_as_spark_has_it(item, kind.value_type) for item in value]
