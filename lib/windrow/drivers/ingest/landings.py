"""How a source lands: copied by a query, or in place, where it is a log already."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from windrow.drivers.ingest.in_place.landing import LandingInPlace
from windrow.drivers.ingest.in_place.rows import reader_of
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.pipeline.rows import row_schema
from windrow.sources.verdicts import Rules
from windrow.spec.sources.source import Source
from windrow.store.delta.location import Lake
from windrow.store.upstream.in_place import RawInPlace
from windrow.store.upstream.raw import Raw

AnyLanding = Landing | LandingInPlace


def raw_of(lake: Lake, source: Source) -> Raw:
    """The raw log of a source, which holds its rows, or says where they are."""
    schema = row_schema(source.columns)
    if source.connector.is_in_place:
        return RawInPlace.over(lake, source.name, schema, reader_of(source))
    return Raw.of(lake, source.name, schema)


def landing_of(
    spark: SparkSession, source: Source, lake: Lake, raw: Raw, clock: Callable[[], int], rules: Rules
) -> AnyLanding:
    """What lands a source into its raw log."""
    if isinstance(raw, RawInPlace):
        return LandingInPlace(spark, source, raw, clock, rules)
    return Landing(spark, source, lake, clock, rules)
