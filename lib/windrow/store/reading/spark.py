"""Tables read with Spark, where only Hadoop can reach them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_
from typing import Any
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    DataType,
    DecimalType,
    FractionalType,
    MapType,
    NumericType,
    StructType,
    TimestampType,
)

from windrow.compile.sql.columns import Column, call, col, lit
from windrow.engine.frames import group, select, where
from windrow.spec.stages.keys import LogColumn
from windrow.store.delta.file_system import AT_ONCE, FileState, file_state
from windrow.store.delta.foreign import ForeignTable
from windrow.store.delta.location import Location
from windrow.store.delta.log.commits import Commit, is_step
from windrow.store.delta.log.steps import Steps
from windrow.store.reading.tables import NUMBER, Condition, Groups, Kind

_HOLDS: Mapping[str, Callable[[Column, Any], Column]] = {
    "=": lambda column, value: column == lit(value),
    "!=": lambda column, value: column != lit(value),
    ">": lambda column, value: column > lit(value),
    ">=": lambda column, value: column >= lit(value),
    "<": lambda column, value: column < lit(value),
    "<=": lambda column, value: column <= lit(value),
    "is known": lambda column, _: column.is_not_null(),
    "is unknown": lambda column, _: column.is_null(),
    "is no number": lambda column, _: column.rlike("[^0-9]"),
}


@dataclass(frozen=True)
class SparkTables:
    """The tables that a session can open. It is one of `working_session`."""

    spark: SparkSession

    @property
    def quote(self) -> str:
        return "`"

    def query(self, sql: str, tables: Mapping[str, SparkTable]) -> pa.Table:
        for name, table in tables.items():
            table.frame.createOrReplaceTempView(name)
        try:
            return self.spark.sql(sql).toArrow()
        finally:
            for name in tables:
                self.spark.catalog.dropTempView(name)

    def files(self, paths: Sequence[str]) -> list[FileState | None]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda path: file_state(self.spark, unquote(path)), paths))

    def open(self, location: Location) -> SparkTable | None:
        return SparkTable(self.spark, location) if location.exists(self.spark) else None


@dataclass(frozen=True)
class SparkTable:
    """A table: ask for its last step first, as its rows may be those of later ones. That it stays, once asked for."""

    spark: SparkSession
    location: Location

    @cached_property
    def frame(self) -> DataFrame:
        return self.location.read(self.spark)

    def last_step(self, log: str) -> int:
        return 0 if self._newest is None else self._newest.step

    def notes(self) -> Mapping[str, Any]:
        return {} if self._newest is None else self._newest.notes

    def stepped_at(self) -> int | None:
        if self._newest is None:
            return None
        made = where(self.location.table(self.spark).history(), col("version") == lit(self._newest.version))
        found = select(made, {"at": call("unix_micros", col("timestamp")), "said": col("userMetadata")}).collect()[0]
        return int(found["at"]) if is_step(found["said"]) else None

    def number_of_rows(self) -> int:
        return self.frame.count()

    def greatest(self, column: str, *conditions: Condition) -> int | None:
        (row,) = self.groups(Groups(greatest=(column,)), *conditions).to_pylist()
        found: int | None = row[column]
        return found

    def numbers(self, by: str | None, *conditions: Condition) -> Mapping[str | None, int]:
        groups = self.groups(Groups(() if by is None else (by,)), *conditions).to_pylist()
        return {None if by is None else row[by]: row[NUMBER] for row in groups}

    def version(self) -> int:
        return int(self.location.table(self.spark).history(1).collect()[0]["version"])

    def kinds(self) -> Mapping[str, Kind]:
        return {field.name: _kind(field.dataType) for field in self.frame.schema.fields}

    def types(self) -> Mapping[str, str]:
        return {name: kind.partition("<")[0] for name, kind in self.frame.dtypes}

    def properties(self) -> Mapping[str, str]:
        newest = self._foreign.newest()
        return {} if newest is None else newest.properties

    def oldest_commit(self) -> int:
        return self._foreign.oldest()

    def gone(self, paths: Sequence[str]) -> set[str]:
        return set(self._foreign.gone(paths))

    @cached_property
    def _log(self) -> Steps:
        return Steps(self.location, "", folders=LogColumn.KIND)

    @cached_property
    def _newest(self) -> Commit | None:
        """The commit of the newest step."""
        return self._log.last(self.spark)

    @cached_property
    def _foreign(self) -> ForeignTable:
        return ForeignTable(self.spark, self.location.path)

    def rows(self, columns: Sequence[str], *conditions: Condition) -> Iterator[pa.RecordBatch]:
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        wanted = {name: _plain(col(name), kinds[name]) for name in columns}
        yield from select(self._where(conditions), wanted).toArrow().to_batches()

    def newest_rows(self, columns: Sequence[str], kind: str, step: str) -> Iterator[pa.RecordBatch]:
        if self._newest is None:
            return
        newest = self._newest.step
        found = self._log.rows(self.spark, newest - 1, newest, step, (kind,))
        wanted = {name: _plain(col(name), found.schema[name].dataType) for name in columns}
        yield from select(found, wanted).toArrow().to_batches()

    def groups(self, wanted: Groups, *conditions: Condition) -> pa.Table:
        keys = {name: column for name in wanted.by for name, column in self._leaves(name)}
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        measured = {_of(name): _plain(col(name), kinds[name]).cast("bigint") for name in wanted.measures}
        rows = select(self._where(conditions), {**keys, **measured})
        aggregates = {NUMBER: call("count", 1)}
        aggregates |= {name: call("max", col(_of(name))) for name in wanted.greatest}
        aggregates |= {name: call("sum", col(_of(name))) for name in wanted.totals}
        return group(rows, tuple(keys), aggregates).toArrow()

    def _where(self, conditions: Sequence[Condition]) -> DataFrame:
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        found = [_HOLDS[one.holds](_plain(col(one.column), kinds[one.column]), one.value) for one in conditions]
        return where(self.frame, reduce(and_, found)) if found else self.frame

    def _leaves(self, name: str) -> Iterator[tuple[str, Column]]:
        for path, kind in _fields((name,), self.frame.schema[name].dataType):
            yield ".".join(path), _plain(col(*path), kind)


def _of(name: str) -> str:
    """The column from which a measure is made; a key may have the name of the measure."""
    return f"{name} to measure"


def _fields(path: tuple[str, ...], kind: DataType) -> Iterator[tuple[tuple[str, ...], DataType]]:
    if not isinstance(kind, StructType):
        yield path, kind
        return
    for field in kind.fields:
        yield from _fields((*path, field.name), field.dataType)


def _kind(kind: DataType) -> Kind:
    if isinstance(kind, FractionalType) and not isinstance(kind, DecimalType):
        return "floating"
    if isinstance(kind, NumericType):
        return "number"
    return "map" if isinstance(kind, MapType) else "other"


def _plain(column: Column, kind: DataType) -> Column:
    """Timestamps as microseconds."""
    return call("unix_micros", column) if isinstance(kind, TimestampType) else column
