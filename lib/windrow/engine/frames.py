"""Chains and column texts on data frames: the one place where text becomes a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.conversion import LocalDataToArrowConversion
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from windrow.compile.columns import KEY
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, col, named, quoted, struct


def over(frame: DataFrame) -> Chain:
    """A chain that starts with the columns of a frame."""
    return Chain.over(frame.columns)


def apply(chain: Chain, frame: DataFrame) -> DataFrame:
    """The chain's projections over the frame, parsed and analysed once."""
    return frame.sparkSession.sql(chain.sql, rows=frame) if chain.steps else frame


def where(frame: DataFrame, condition: Column) -> DataFrame:
    """The rows for which the condition is true."""
    return frame.where(condition.text)


def select(frame: DataFrame, columns: Mapping[str, Column]) -> DataFrame:
    """These columns only."""
    return frame.selectExpr(*[named(name, column) for name, column in columns.items()])


def with_column(frame: DataFrame, name: str, column: Column) -> DataFrame:
    """All columns, and this one."""
    return frame.withColumn(name, F.expr(column.text))


def joined(left: DataFrame, right: DataFrame, condition: Column, how: str) -> DataFrame:
    """Two frames, each under an alias, joined where the condition is true."""
    return left.join(right, F.expr(condition.text), how)


def literals(spark: SparkSession, rows: Sequence[Mapping[str, Column]]) -> DataFrame:
    """A few rows of literals, which Spark holds in the plan: no job is needed to make them."""
    values = ", ".join(f"({', '.join(column.text for column in row.values())})" for row in rows)
    names = ", ".join(map(quoted, rows[0]))
    return spark.sql(f"SELECT * FROM VALUES {values} AS rows({names})")


def local(spark: SparkSession, rows: Sequence[Any], schema: StructType) -> DataFrame:
    """The driver's rows, which Spark holds in the plan. From Python objects it would start a Python worker for them.

    They are tuples with a value for each column, which may be null, as parts of it may, whatever the schema says: what
    one plan makes is never null can be null in the rows of another. Errors: those of Arrow where a value does not fit.
    """
    schema = _nullable(schema)
    if not rows:
        return spark.createDataFrame(to_arrow_schema(schema, timezone="UTC").empty_table(), schema)
    return spark.createDataFrame(LocalDataToArrowConversion.convert(list(rows), schema, False), schema)


def _nullable(kind: Any) -> Any:
    if isinstance(kind, StructType):
        return StructType([StructField(field.name, _nullable(field.dataType)) for field in kind.fields])
    if isinstance(kind, ArrayType):
        return ArrayType(_nullable(kind.elementType))
    if isinstance(kind, MapType):
        return MapType(_nullable(kind.keyType), _nullable(kind.valueType))
    return kind


def struct_of(ddl: str) -> StructType:
    """The schema of a DDL text."""
    schema = StructType.fromDDL(ddl)
    assert isinstance(schema, StructType)
    return schema


def group(frame: DataFrame, by: Iterable[str], columns: Mapping[str, Column]) -> DataFrame:
    """One row for each group, or for all rows where there is no `by`."""
    names, aggregates = [*by], [F.expr(named(name, column)) for name, column in columns.items()]
    plain = PlainKey.of(frame) if KEY in names else _WHOLE
    if plain == _WHOLE:
        return frame.groupBy(*map(quoted, names)).agg(*aggregates)
    others = [name for name in names if name != KEY]
    keys = {**plain.columns, **{name: col(name) for name in others}}
    found = frame.groupBy(*[F.expr(named(name, column)) for name, column in keys.items()]).agg(*aggregates)
    return select(found, {name: plain.whole if name == KEY else col(name) for name in (*names, *columns)})


def in_small_partitions(frame: DataFrame, by: Iterable[str]) -> DataFrame:
    """Rows that are equal in these columns together, as `repartition` has them, but in many small partitions.

    What sorts them holds less at a time and finds most of it in the cache of the processor. `in_tasks` belongs behind.
    """
    partitions = _partitions(frame.sparkSession)
    number = partitions * max(1, _SMALL_PARTITIONS // partitions) if partitions > 1 else 1
    return frame.repartition(number, *map(quoted, by))


def in_tasks(frame: DataFrame) -> DataFrame:
    """The same rows in as many tasks as any other shuffle has, each of which takes pieces one after the other."""
    return frame.coalesce(_partitions(frame.sparkSession))


_SMALL_PARTITIONS = 64
"""So many partitions that Spark still writes a file for each at once."""


def _partitions(spark: SparkSession) -> int:
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)


@dataclass(frozen=True)
class PlainKey:
    """The key of a frame's rows as columns of its own, one for each field, and the key that is made of them again.

    Spark hashes, sorts and shuffles plain values faster than structs. A key that may be null itself, as one of a user's
    may, is its own column.
    """

    columns: Mapping[str, Column]
    whole: Column

    @classmethod
    def of(cls, frame: DataFrame) -> PlainKey:
        """That of a frame with such a column."""
        key = frame.schema[KEY]
        if key.nullable or not isinstance(key.dataType, StructType):
            return _WHOLE
        names = {f"_{KEY}_{index}": field.name for index, field in enumerate(key.dataType.fields)}
        columns = {plain: col(KEY, name) for plain, name in names.items()}
        return cls(columns, struct(**{name: col(plain) for plain, name in names.items()}))


_WHOLE = PlainKey({KEY: col(KEY)}, col(KEY))
