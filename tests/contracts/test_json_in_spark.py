"""Rows as JSON are the same in every session."""

from __future__ import annotations

from pyspark.sql import SparkSession

from windrow.compile.sql.columns import call, lit, null
from windrow.compile.sql.json import as_json
from windrow.engine.frames import local, select, struct_of

SETTINGS = {"spark.sql.jsonGenerator.ignoreNullFields": "false", "spark.sql.session.timeZone": "Asia/Tokyo"}


def test_what_the_session_says_of_json_is_not_heard(spark: SparkSession) -> None:
    session = spark.newSession()
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    row = call("named_struct", "a", lit(1), "b", null("string"), "at", call("timestamp_micros", lit(0)))
    made = select(local(session, [(0,)], struct_of("x bigint")), {"made": as_json(row)})
    assert made.collect()[0]["made"] == '{"a":1,"at":"1970-01-01T00:00:00.000Z"}'
