"""Data files that are made without a job of Spark: of a few rows that the driver knows, and as copies of others.

They are written before the commit that adds them, as Spark's are; what no commit adds is removed by VACUUM.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from windrow.store.delta.file_system import copy_file, write_file
from windrow.store.delta.footers import statistics_in, statistics_of
from windrow.store.delta.location import Location
from windrow.store.delta.log.commit_files import AddedFile

_AT_ONCE = 4
"""So many files are copied at once."""
_NULL = "__HIVE_DEFAULT_PARTITION__"
"""The folder of a partition whose value is null."""


def written(
    spark: SparkSession,
    location: Location,
    rows: Sequence[Mapping[str, Any]],
    schema: StructType,
    partition: Mapping[str, str | None] | None = None,
    is_counted: bool = False,
) -> AddedFile:
    """A file of these rows (`arrow_table`), in the folder of a partition; `is_counted`: with bounds of its columns."""
    buffer = io.BytesIO()
    pq.write_table(arrow_table(rows, schema), buffer, compression="snappy", coerce_timestamps="us")
    folders = [f"{name}={_NULL if value is None else value}" for name, value in (partition or {}).items()]
    path = "/".join([*folders, f"part-{uuid4()}.snappy.parquet"])
    content = buffer.getvalue()
    write_file(spark, f"{location.path}/{path}", content)
    stats = statistics_in(content, schema) if is_counted else json.dumps({"numRecords": len(rows)})
    return AddedFile(path, len(content), stats, partition or {})


def arrow_table(rows: Sequence[Mapping[str, Any]], schema: StructType) -> pa.Table:
    """The rows as a table of Arrow. Timestamps are microseconds; what a row has not is null."""
    return pa.Table.from_pylist(list(rows), schema=to_arrow_schema(schema, timezone="UTC"))


def copied(
    spark: SparkSession, source: Location, files: Sequence[AddedFile], target: Location, schema: StructType
) -> list[AddedFile]:
    """The files of a table once more, for one that has no partitions and these of its columns."""

    def one(file: AddedFile) -> AddedFile:
        name = f"part-{uuid4()}.snappy.parquet"
        copy_file(spark, f"{source.path}/{file.path}", f"{target.path}/{name}")
        stats = _of_columns(file.stats, schema.names)
        return AddedFile(name, file.size, stats or statistics_of(spark, f"{target.path}/{name}", file.size, schema), {})

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(one, files))


def _of_columns(stats: str | None, columns: Sequence[str]) -> str | None:
    """What Delta knows of a file, as far as it is about these columns; None where it is not about all of them."""
    found: dict[str, Any] = json.loads(stats or "{}")
    if not set(columns) <= found.get("nullCount", {}).keys():
        return None
    for name in ("minValues", "maxValues", "nullCount"):
        found[name] = {column: value for column, value in found.get(name, {}).items() if column in columns}
    return json.dumps(found)
