"""What Delta keeps of a data file (rows, least and greatest values, nulls), from the footer of the file itself.

Sources: "Per-file Statistics" of the Delta protocol; the statistics of column chunks in Parquet. To have Delta count
costs time for each row and column; what writes Parquet counts in any case.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from windrow.store.delta.file_system import hadoop, local_path

_TAIL = 1 << 16
_END = 8
"""The bytes behind a footer: its length, and what says that the file is Parquet."""
_LETTERS = 32
"""So much of a text is kept, as Delta does."""
_GREATEST = "\U0010ffff"


def are_counted(schema: StructType) -> bool:
    """Whether footers say of all these columns what Delta would."""
    return all(type(field.dataType) in _TEXTS or isinstance(field.dataType, BooleanType) for field in schema.fields)


def statistics_of(spark: SparkSession, path: str, size: int, schema: StructType) -> str:
    """What Delta keeps of the Parquet file at a path, as JSON, as far as it is about the columns of the schema.

    No more than the number of rows where some column has values, and the footer does not say which: a reader takes
    a column of which nothing is said for one without values, if something is said of others.
    """
    return _said(_metadata(spark, path, size), schema)


def statistics_in(content: bytes, schema: StructType) -> str:
    """The same of the Parquet file with this content."""
    return _said(pq.read_metadata(io.BytesIO(content)), schema)


def _said(metadata: Any, schema: StructType) -> str:
    rows = {"numRecords": metadata.num_rows}
    nulls, bounds = _nulls(metadata, schema), _all_bounds(metadata, schema)
    if nulls is None or bounds is None:
        return json.dumps(rows)
    return json.dumps({**rows, **bounds, "nullCount": nulls})


def nulls_and_bounds_of(spark: SparkSession, path: str, size: int, schema: StructType) -> str:
    """The same, where nulls count: without bounds if the footer does not say all. Raises ValueError without nulls."""
    metadata = _metadata(spark, path, size)
    nulls = _nulls(metadata, schema)
    if nulls is None:
        raise ValueError(f"{path} does not say how many values are null: Parquet was told to write no statistics")
    bounds = _all_bounds(metadata, schema) or {"minValues": {}, "maxValues": {}}
    return json.dumps({"numRecords": metadata.num_rows, **bounds, "nullCount": nulls})


def _nulls(metadata: Any, schema: StructType) -> dict[str, int] | None:
    """How many values are null in each column; None where the footer does not say so of all.

    A column that the file lacks is null in each row.
    """
    nulls: dict[str, int] = {}
    for field, found in _statistics(metadata, schema):
        is_of_others = not found and any(path.startswith(f"{field.name}.") for path in _chunks(metadata))
        if is_of_others or any(one is None or not one.has_null_count for one in found):
            return None
        nulls[field.name] = sum(one.null_count for one in found) if found else metadata.num_rows
    return nulls


def _all_bounds(metadata: Any, schema: StructType) -> dict[str, dict[str, Any]] | None:
    """The least and greatest values of all columns that have some; None where the footer does not say one of them."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    for field, found in _statistics(metadata, schema):
        known = [one for one in found if one is None or one.num_values]
        if isinstance(field.dataType, BooleanType) or not known:
            continue
        if not all(one is not None and one.has_min_max for one in known):
            return None
        bounds = _bounds(field.dataType, known)
        if bounds is None:
            return None
        least[field.name], greatest[field.name] = bounds
    return {"minValues": least, "maxValues": greatest}


def _statistics(metadata: Any, schema: StructType) -> Iterator[tuple[StructField, list[Any]]]:
    """Of each column, those of its chunks; None for a chunk that has none."""
    chunks = _chunks(metadata)
    for field in schema.fields:
        yield field, [chunk.statistics for chunk in chunks.get(field.name, ())]


def _metadata(spark: SparkSession, path: str, size: int) -> Any:
    local = local_path(spark, path)
    return pq.read_metadata(io.BytesIO(_footer(spark, path, size)) if local is None else local)


def _footer(spark: SparkSession, path: str, size: int) -> bytes:
    """The end of a Parquet file that has its footer, behind what stands at the beginning of one."""
    files, place = hadoop(spark, path)
    stream = files.open(place)
    try:
        tail = _from(spark, stream, max(size - _TAIL, 0))
        length = int.from_bytes(tail[-_END : -_END + 4], "little") + _END
        if length > len(tail):
            tail = _from(spark, stream, size - length)
    finally:
        stream.close()
    return b"PAR1" + tail


def _from(spark: SparkSession, stream: Any, position: int) -> bytes:
    java: Any = spark._jvm
    stream.seek(position)
    return bytes(java.org.apache.commons.io.IOUtils.toByteArray(stream))


def _chunks(metadata: Any) -> Mapping[str, Sequence[Any]]:
    """The column chunks of each column that has no others in it."""
    found: dict[str, list[Any]] = {}
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            chunk = row_group.column(index)
            found.setdefault(chunk.path_in_schema, []).append(chunk)
    return found


def _bounds(kind: DataType, found: Sequence[Any]) -> tuple[Any, Any] | None:
    """The least and greatest value as Delta writes them."""
    try:
        if isinstance(kind, TimestampType):  # of Python's times not all can be had
            least, greatest = min(one.min_raw for one in found), max(one.max_raw for one in found)
        else:  # a text that is none raises a ValueError
            least, greatest = min(one.min for one in found), max(one.max for one in found)
        low, high = _TEXTS[type(kind)]
        return low(least), high(greatest)
    except (OverflowError, ValueError):
        return None


def _time(micros: int) -> str:
    """To the millisecond before: Delta keeps no more, and readers know that the greatest time may be later than it."""
    at = _EPOCH + timedelta(milliseconds=micros // 1000)
    return at.strftime(f"{at.year:04}-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def _least_text(text: str) -> str:
    return text[:_LETTERS]


def _greatest_text(text: str) -> str:
    return text if len(text) <= _LETTERS else text[:_LETTERS] + _GREATEST


def _same(value: Any) -> Any:
    return value


def _finite(value: float) -> float:
    """JSON has no others. Where a column has one that is no number, it is the greatest, or no greatest is known."""
    if not math.isfinite(value):
        raise ValueError(value)
    return value


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXTS: Mapping[type[DataType], tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    ByteType: (_same, _same),
    ShortType: (_same, _same),
    IntegerType: (_same, _same),
    LongType: (_same, _same),
    DoubleType: (_finite, _finite),
    DateType: (date.isoformat, date.isoformat),
    TimestampType: (_time, _time),
    StringType: (_least_text, _greatest_text),
}
"""How a least and a greatest value are written, of the types for which a footer says all. Not so of decimal numbers,
which JSON would round."""
