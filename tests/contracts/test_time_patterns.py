"""Times of a pattern are what it says in Spark, whatever the zone of the session, and as `windrow init` reads them."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from windrow.compile.sql.columns import col
from windrow.drivers.init.patterns import written
from windrow.engine.frames import select
from windrow.sources.times import micros
from windrow.spec.sources.time_columns import TimeColumn
from windrow.spec.times import parse_time

CASES = (
    ("dd.MM.yyyy HH:mm", "Europe/Berlin", {
        "29.03.2025 12:30": "2025-03-29T11:30:00Z", "30.03.2025 12:30": "2025-03-30T10:30:00Z",
        "30.03.2025 02:30": "2025-03-30T01:30:00Z", "26.10.2025 02:30": "2025-10-26T00:30:00Z",
        "30.03.2025 24:30": None, "31.02.2025 12:30": None, "1.3.2025 12:30": None, "30.03.2025": None, "": None,
        "30.03.2025 12:30:10": None, " 30.03.2025 12:30": None, "30.03.2025 12:30 Z": None, "soon": None,
    }),
    ("d.M.yyyy", "America/New_York", {"1.7.2025": "2025-07-01T04:00:00Z", "01.07.2025": "2025-07-01T04:00:00Z"}),
    ("M/d/yyyy h:mm a", "UTC", {
        "7/4/2025 12:05 AM": "2025-07-04T00:05:00Z", "7/4/2025 12:05 pm": "2025-07-04T12:05:00Z",
        "7/4/2025 1:05 PM": "2025-07-04T13:05:00Z", "7/4/2025 13:05 PM": None, "13/4/2025 1:05 PM": None,
    }),
    ("dd-MMM-yy, HH:mm[:ss[.SSS]]", "UTC", {
        "04-Jul-25, 10:00": "2025-07-04T10:00:00Z", "04-JUL-25, 10:00:01": "2025-07-04T10:00:01Z",
        "04-jul-25, 10:00:01.5": "2025-07-04T10:00:01.5Z", "04-Juli-25, 10:00": None,
    }),
    ("yyyy/MM/dd HH:mm:ss.SSSSSSSSS", "UTC", {
        "2025/07/04 10:00:00.123456789": "2025-07-04T10:00:00.123456Z",
        "2025/07/04 10:00:00.5": "2025-07-04T10:00:00.5Z",
        "2025/07/04 10:00:00": None,
    }),
    ("yyyyMMdd", "UTC", {"20250704": "2025-07-04T00:00:00Z", "2025074": None}),
    ("dd.MM.yyyy HH:mm XXX", None, {
        "04.07.2025 10:00 +02:00": "2025-07-04T08:00:00Z", "04.07.2025 10:00 Z": "2025-07-04T10:00:00Z",
        "04.07.2025 10:00": None,
    }),
    ("dd.MM.yyyy 'um' H 'Uhr'", "UTC", {"04.07.2025 um 9 Uhr": "2025-07-04T09:00:00Z", "04.07.2025 9": None}),
)  # fmt: skip


@pytest.mark.parametrize("session", ["UTC", "Asia/Kathmandu"])
@pytest.mark.parametrize(("pattern", "zone", "times"), CASES, ids=[case[0] for case in CASES])
def test_a_text_is_the_time_that_the_pattern_says(
    spark: SparkSession, session: str, pattern: str, zone: str | None, times: dict[str, str | None]
) -> None:
    rows = spark.createDataFrame([(text,) for text in [*times, None]], "at string")
    read = select(rows, {"at": col("at"), "micros": micros(TimeColumn("at", pattern, zone), "string")})
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", session)
    try:
        found = {row["at"]: row["micros"] for row in read.collect()}
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    assert found.pop(None) is None
    assert found == {text: None if at is None else parse_time(at) for text, at in times.items()}


@pytest.mark.parametrize(
    "texts",
    [
        ["01.02.2024 03:04", "31.12.2024 23:59", "31.02.2024 10:00", "01.01.2024 24:00"],
        ["1/31/2013 3:04 PM", "11/30/2013 12:00 AM", "2/30/2013 1:00 am", "2/3/2013 13:00 am"],
        ["2024/01/02 03:04:05.25", "2024/01/02 3:04", "2024/1/2 03:60", "2024/01/02 03:04:05"],
        ["12-Jan-24, 10:00", "1-FEB-24, 9:00", "1-Foo-24, 9:00", "30-Feb-24, 9:00"],
        ["01/02/99T10:00", "13/02/00T10:00"],
    ],
)
def test_init_and_spark_read_the_same(spark: SparkSession, texts: list[str]) -> None:
    found = written(texts, 0.5)
    assert found is not None
    rows = spark.createDataFrame([(text,) for text in texts], "at string")
    time = TimeColumn("at", found.pattern, "UTC")
    read = {row["at"]: row["micros"] for row in
            select(rows, {"at": col("at"), "micros": micros(time, "string")}).collect()}  # fmt: skip
    assert [read[text] for text in texts] == list(found.micros)


def test_the_time_of_day_is_behind_the_date(spark: SparkSession) -> None:
    texts = [
        ("01.02.2024", "10:00"),
        ("01.02.2024", None),
        (None, "10:00"),
        ("01.02.2024", "soon"),
        ("2024-02-01", "10:00"),
    ]
    rows = spark.createDataFrame(texts, "day string, clock string")
    for pattern, expected in (("dd.MM.yyyy HH:mm", 0), ("iso8601", 4)):
        time = TimeColumn("day", pattern, "UTC", "clock")
        found = [row["at"] for row in select(rows, {"at": micros(time, "string")}).collect()]
        assert found == [parse_time("2024-02-01T10:00:00Z") if place == expected else None for place in range(5)]
