"""The rows of a Delta table that is read in place, as those of its source: from files, or from its change data feed.

Each row has a number that is the same whenever it is read again: within a Parquet file Spark counts the rows; changes
of a version come in no order, so theirs is a hash, and nobody counts the lines of a text file. Equal changes of a
version, or lines of a file, have the same one. They are of one step and have equal times, so whatever becomes of one
becomes of the others, and nobody has to tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from windrow.compile.elements.envelope import RAW, ROW
from windrow.compile.sql.columns import Column, Value, call, col, null
from windrow.engine.frames import select
from windrow.sources.delta import change_weight
from windrow.spec.sources.delta import WEIGHT, DeltaSource
from windrow.spec.sources.source import Source

FILE, VERSION = "_file", "_version"
"""The columns that say of which part of the table's log a row is: the path of its file, or the version of a change."""

_BITS = 40
"""So many bits of the number of a row are those of its number within its file."""


def file_rows(source: Source, delta: DeltaSource, rows: DataFrame) -> DataFrame:
    """The rows of files. `_row` is the number within the file."""
    columns = {name: col(name) for name in source.schema}
    columns |= {WEIGHT: Column("1")} if delta.is_feed else {}
    place = {FILE: col("_metadata", "file_path"), ROW: col("_metadata", "row_index")}
    return select(rows, {**columns, RAW: null("string"), **place})


def numbered(number: Column) -> Column:
    """The number of a row within a step, from that of its file there and that within the file."""
    return call("shiftleft", number.cast("bigint"), _BITS) + col(ROW)


def change_rows(source: Source, hashed: Sequence[str], changes: DataFrame) -> DataFrame:
    """The rows of a change data feed. `hashed` are the columns that told its rows apart when they landed."""
    columns = {name: col(name) for name in source.schema} | {WEIGHT: change_weight()}
    version = col("_commit_version")
    number = hash_of(source, hashed, [version, col("_change_type")])
    return select(changes, {**columns, RAW: null("string"), VERSION: version, ROW: number})


def hash_of(source: Source, columns: Sequence[str], also: Sequence[Value]) -> Column:
    """A number that tells rows apart which differ in one of these columns of the source, or in what else is given."""
    values = [*also]
    for name in columns:
        values += [_hashable(source, name), col(name).is_null()]
    return call("xxhash64", *values)


def _hashable(source: Source, name: str) -> Column:
    """Spark hashes no maps."""
    return call("to_json", col(name)) if "map<" in source.schema[name] else col(name)
