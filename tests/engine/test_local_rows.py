"""Rows of the driver as a frame: they stand in the plan, as they are, nulls too."""

from decimal import Decimal

from pyspark.sql import Row
from pyspark.sql.types import ArrayType, BinaryType, LongType, StringType, StructField, StructType

from windrow.engine.frames import local

STATE = StructType([StructField("count", LongType(), False), StructField("seen", ArrayType(StringType(), False))])
SCHEMA = StructType([StructField("key", StringType(), False), StructField("state", STATE, False)])


def plan_of(frame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_no_job_and_no_python_worker_make_them(spark) -> None:
    frame = local(spark, [("a", (1, ["x"]))], SCHEMA)
    assert plan_of(frame).startswith("LocalTableScan")
    assert frame.collect() == [Row(key="a", state=Row(count=1, seen=["x"]))]


def test_what_was_collected_goes_back_as_it_was(spark) -> None:
    query = """
        SELECT 'a' AS key, named_struct('at', timestamp '2024-03-31 02:30:00', 'day', date '2024-02-29') AS times,
               cast(1.10 AS decimal(38, 6)) AS decimal, map('x', 1D, 'y', double('NaN')) AS map, X'00FF' AS bytes,
               array(named_struct('n', -9223372036854775808), null) AS rows, -0.0D AS zero, null AS nothing"""
    frame = spark.sql(query)
    again = local(spark, frame.collect(), frame.schema)
    assert repr(again.collect()) == repr(frame.collect())
    assert again.first()["decimal"] == Decimal("1.100000") and isinstance(again.schema["bytes"].dataType, BinaryType)


def test_a_null_stays_one_where_the_schema_says_that_there_is_none(spark) -> None:
    """Rows of an earlier plan meet the schema of a later one, which may know more; Spark would believe it."""
    frame = local(spark, [(None, (None, [None])), ("b", None)], SCHEMA)
    assert frame.where("key IS NULL AND state.count IS NULL AND state.seen[0] IS NULL").count() == 1
    assert frame.where("state IS NULL").count() == 1


def test_no_rows_have_the_columns(spark) -> None:
    frame = local(spark, [], SCHEMA)
    assert frame.columns == ["key", "state"] and frame.schema["state"].dataType.simpleString() == STATE.simpleString()
    assert frame.collect() == []
