"""One append to a table that others append to as well."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from windrow.store.delta.location import READABLE, Location
from windrow.store.delta.transactions import CONFLICTS, Appender


def append_once(spark: SparkSession, location: Location, frame: DataFrame, name: str) -> None:
    """Append rows to a table, which is made where it is not there; `name` stands in its commit.

    Ours takes half the time of Delta's append, and fails where somebody writes at the same time: Delta appends then.
    """
    appender = Appender(spark, location.path)
    if appender.version >= 0 and appender.fits(frame):
        try:
            appender.write(frame)
            appender.commit(f"windrow-{name}", appender.version + 1, "")
            return
        except CONFLICTS:
            pass
    writer = frame.write.format("delta").mode("append")
    for option, value in READABLE.items():
        writer = writer.option(option, value)
    location.save(writer)
