"""Chains and column texts on data frames: the one place where text becomes a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.conversion import LocalDataToArrowConversion
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DecimalType, MapType, StructField, StructType

from windrow.compile.columns import KEY
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, coalesce, col, named, quoted, struct, when


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


def group(frame: DataFrame, by: Iterable[str], columns: Mapping[str, Column], to_join: bool = False) -> DataFrame:
    """One row for each group, or for all rows where there is no `by`.

    `to_join`: with the columns of a `plain` key, by which they are grouped, so that a `full_join` need not shuffle them
    again.
    """
    names, aggregates = [*by], [F.expr(named(name, column)) for name, column in columns.items()]
    plain = _WHOLE
    if KEY in names:
        plain = PlainKey.without_nulls(frame) if to_join else PlainKey.of(frame)
    if plain == _WHOLE:
        return frame.groupBy(*map(quoted, names)).agg(*aggregates)
    others = [name for name in names if name != KEY]
    keys = {**plain.columns, **{name: col(name) for name in others}}
    found = frame.groupBy(*[F.expr(named(name, column)) for name, column in keys.items()]).agg(*aggregates)
    shown = {name: plain.whole if name == KEY else col(name) for name in (*names, *columns)}
    kept = {name: col(name) for name in plain.columns} if to_join else {}
    return select(found, {**shown, **kept})


def with_plain_key(frame: DataFrame) -> DataFrame:
    """The rows with the columns by which a `full_join` compares their keys."""
    own = {name: col(name) for name in frame.columns}
    return select(frame, {**own, **PlainKey.without_nulls(frame).added})


def full_join(left: DataFrame, right: DataFrame, by: Sequence[str]) -> DataFrame:
    """The rows of both, those together that are equal in these columns, of which one is the key.

    Both have the columns of a plain key, from `group` or `with_plain_key`.
    """
    plain = PlainKey.without_nulls(left)
    if _WHOLE in (plain, PlainKey.without_nulls(right)):
        return left.join(right, on=[*by], how="full")
    names = [*plain.columns, *(name for name in by if name != KEY)]
    joined = left.drop(KEY).join(right.drop(KEY), on=names, how="full")
    return with_column(joined, KEY, plain.whole).drop(*plain.columns)


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

    @classmethod
    def without_nulls(cls, frame: DataFrame) -> PlainKey:
        """That of a frame with such a column, each field as two: a value that is never null, and whether it is one.

        Rows are grouped and joined by the same columns then: null equals null in a group, but not in a join.
        """
        key = frame.schema[KEY]
        if key.nullable or not isinstance(key.dataType, StructType):
            return _WHOLE
        columns, whole = {}, {}
        for index, field in enumerate(key.dataType.fields):
            kind = field.dataType.simpleString()
            if kind not in _SOME and not isinstance(field.dataType, DecimalType):
                return _WHOLE
            value, is_null = f"_{KEY}_{index}", f"_{KEY}_{index}_is_null"
            columns[value] = coalesce(col(KEY, field.name), Column(_SOME.get(kind, f"CAST(0 AS {kind})")))
            columns[is_null] = col(KEY, field.name).is_null()
            whole[field.name] = when(~col(is_null), col(value))
        return cls(columns, struct(**whole))

    @property
    def added(self) -> Mapping[str, Column]:
        """The columns beside the key."""
        return {name: column for name, column in self.columns.items() if name != KEY}


_SOME = {
    **{kind: f"CAST(0 AS {kind})" for kind in ("tinyint", "smallint", "int", "bigint", "float", "double")},
    "boolean": "false", "string": "''", "date": "DATE'1970-01-01'", "timestamp": "timestamp_micros(0)",
}  # fmt: skip
"""A value of each type, to stand for null."""


_WHOLE = PlainKey({KEY: col(KEY)}, col(KEY))
