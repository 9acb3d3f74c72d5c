"""All rows that a source has now, as they would land, without landing them: of files, in one read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import PARTITION
from windrow.compile.sql.columns import null
from windrow.engine.frames import with_column
from windrow.sources.files import listed, read_again
from windrow.sources.verdicts import Rules, landed
from windrow.spec.sources.connector import Connector
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source
from windrow.spec.times import LATEST_EVENT_TIME


def _files(spark: SparkSession, source: Source, files: Files) -> DataFrame | None:
    paths = listed(spark, source, files)
    return read_again(spark, source.fields, files, paths) if paths else None


READERS: Mapping[type[Connector], Callable[[SparkSession, Source, Any], DataFrame | None]] = {Files: _files}
"""Of the connectors that can be read so."""


def whole(spark: SparkSession, source: Source, rules: Rules = ()) -> DataFrame | None:
    """The rows of a source with their envelope and verdict, each with the arrival time that it says itself.

    None for a source whose rows say no arrival time, where there are none, and of a connector that has to land them. A
    file that cannot be read fails the read.
    """
    reader = READERS.get(type(source.connector))
    rows = None if reader is None or source.arrival_time is None else reader(spark, source, source.connector)
    if rows is None:
        return None
    return landed(source, with_column(rows, PARTITION, null("string")), 0, LATEST_EVENT_TIME, rules)
