"""The rows of a Delta table that is read in place, as those of its source: from files, or from its change data feed.

Each row has a number that is the same whenever it is read again: within a Parquet file Spark counts the rows; changes
of a version come in no order, so theirs is a hash, and nobody counts the lines of a text file. Equal changes of a
version, or lines of a file, have the same one. They are of one step and have equal times, so whatever becomes of one
becomes of the others, and nobody has to tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from windrow.compile.elements.envelope import RAW, ROW
from windrow.compile.elements.evolution import value_of
from windrow.compile.sql.columns import Column, Value, call, col, null
from windrow.engine.frames import select
from windrow.sources.delta import change_weight, columns_in
from windrow.spec.sources.delta import WEIGHT, DeltaSource
from windrow.spec.sources.source import Source

FILE, VERSION = "_file", "_version"
"""The columns that say of which part of the table's log a row is: the path of its file, or the version of a change."""

_BITS = 40
"""So many bits of the number of a row are those of its number within its file."""


def file_rows(source: Source, delta: DeltaSource, rows: DataFrame) -> DataFrame:
    """The rows of files. `_row` is the number within the file."""
    columns = columns_in(source, rows, also_others=True)
    columns |= {WEIGHT: Column("1")} if delta.is_feed else {}
    place = {FILE: col("_metadata", "file_path"), ROW: col("_metadata", "row_index")}
    return select(rows, {**columns, RAW: null("string"), **place})


def numbered(number: Column) -> Column:
    """The number of a row within a step, from that of its file there and that within the file."""
    return call("shiftleft", number.cast("bigint"), _BITS) + col(ROW)


def change_rows(source: Source, hashed: Mapping[str, str], changes: DataFrame) -> DataFrame:
    """The rows of a change data feed.

    `hashed` are the columns of the table that told its rows apart when they landed, with the types that they had.
    """
    columns = columns_in(source, changes, also_others=True) | {WEIGHT: change_weight()}
    version = col("_commit_version")
    have = {field.name: field.dataType.simpleString() for field in changes.schema.fields}
    values = {name: value_of(kind, _names(source, name), have) for name, kind in hashed.items()}
    number = hash_of(hashed, values, [version, col("_change_type")])
    return select(changes, {**columns, RAW: null("string"), VERSION: version, ROW: number})


def _names(source: Source, name: str) -> tuple[str, ...]:
    """The names that a column of the table may have by now."""
    column = source.rename.get(name, name)
    return (name, *(other for other in source.fields.names_of(column) if other != name))


def hash_of(types: Mapping[str, str], values: Mapping[str, Column], also: Sequence[Value]) -> Column:
    """A number that tells rows apart which differ in one of these columns, of these types, or in what else is given.

    It is the same whenever a row is read again, so `values` are of the types that they had when it landed.
    """
    found = [*also]
    for name, kind in types.items():
        found += [_hashable(kind, values[name]), values[name].is_null()]
    return call("xxhash64", *found)


def _hashable(kind: str, value: Column) -> Column:
    """Spark hashes no maps."""
    return call("to_json", value) if "map<" in kind else value
