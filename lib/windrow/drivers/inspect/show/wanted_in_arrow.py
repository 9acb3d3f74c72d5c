"""The rows that somebody wants to see, read without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.drivers.inspect.show.key_texts import stands_for, texts_of
from windrow.drivers.inspect.show.wanted import NULL, Found, Wanted
from windrow.store.reading.arrow import ArrowTable
from windrow.view.show import TIMES

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset  # type: ignore[import-untyped]

_TIME = pa.timestamp("us", tz="UTC")
_PLACE = "place of a row"
"""Its number among those that a scan gives. No column has this name: names have no spaces."""


def found(table: ArrowTable, wanted: Wanted) -> Found:
    """The rows of a stage's table. Errors: NotReadable where the table is not for `deltalake`."""
    rows = table.dataset
    condition = reduce(and_, _conditions(wanted, rows.schema), pc.scalar(True))
    places, total = _newest(rows, wanted, condition)
    chosen = rows.scanner(columns=list(wanted.columns), filter=condition).take(places)
    columns = [_values(name, chosen.column(name)) for name in wanted.columns]
    return list(zip(*columns, strict=True)), total


def _newest(rows: Dataset, wanted: Wanted, condition: pc.Expression) -> tuple[pa.Array, int]:
    """The places of the newest rows among those that a scan gives, and how many are wanted. It holds no more rows."""
    # structs, lists and maps have no order in Arrow
    order = [name for name in wanted.order if not pa.types.is_nested(rows.schema.field(name).type)]
    by, newest, total = [(name, "descending") for name in order], None, 0
    for part in _placed(rows, order, _keys_with_parts(wanted, rows.schema), condition):
        total += part.num_rows
        both = part if newest is None else pa.concat_tables([newest, part])
        newest = both.take(pc.sort_indices(both, by)[: wanted.limit])
    return pa.array([], pa.int64()) if newest is None else newest.column(_PLACE).combine_chunks(), total


def _placed(rows: Dataset, order: Sequence[str], keys: dict[str, str], condition: pc.Expression) -> Iterator[pa.Table]:
    """What rows are sorted by, with their places, of those whose keys with parts have these texts."""
    before = 0
    for batch in rows.scanner(columns=[*order, *keys], filter=condition).to_batches():
        part = pa.table({name: batch.column(name) for name in order})
        part = part.append_column(_PLACE, pa.array(range(before, before + batch.num_rows), pa.int64()))
        before += batch.num_rows
        for name, text in keys.items():
            column = batch.column(name)
            is_meant = pa.array([one == text for one in map(texts_of(column.type), column.to_pylist())], pa.bool_())
            part, batch = part.filter(is_meant), batch.filter(is_meant)
        yield part


def _keys_with_parts(wanted: Wanted, schema: pa.Schema) -> dict[str, str]:
    """The texts of keys that have fields or elements: Arrow compares no such values."""
    return {
        name: text for name, text in wanted.keys.items() if text != NULL and pa.types.is_nested(schema.field(name).type)
    }


def _conditions(wanted: Wanted, schema: pa.Schema) -> list[pc.Expression]:
    conditions = [
        stands_for(text, pc.field(name), schema.field(name).type)
        for name, text in wanted.keys.items()
        if name not in _keys_with_parts(wanted, schema)
    ]
    if wanted.at is not None:
        start, end = pc.field("window_start"), pc.field("window_end")
        time = pa.scalar(wanted.at, pa.int64()).cast(_TIME)
        conditions += [start.is_null() | (start <= time), end.is_null() | (end > time)]
    return conditions


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
