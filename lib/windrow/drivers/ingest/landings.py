"""How a source lands: copied by a query, or in place, where its rows can be read again where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.drivers.ingest.in_place.delta.origin import DeltaOrigin
from windrow.drivers.ingest.in_place.files.origin import FilesOrigin
from windrow.drivers.ingest.in_place.landing import LandingInPlace
from windrow.drivers.ingest.in_place.origin import Origin
from windrow.drivers.ingest.landing import Landing
from windrow.drivers.pipeline.rows import row_schema
from windrow.sources.verdicts import Rules
from windrow.spec.sources.connector import Connector
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source
from windrow.store.delta.location import Lake
from windrow.store.upstream.in_place import RawInPlace
from windrow.store.upstream.raw import Raw

AnyLanding = Landing | LandingInPlace


def raw_of(lake: Lake, source: Source, origin: Origin | None = None) -> Raw:
    """The raw log of a source, which holds its rows, or says where they are: there `origin` reads them."""
    if source.connector.is_in_place:
        return RawInPlace.over(lake, source, row_schema(source.columns), origin or _origin_of(source))
    return Raw.of(lake, source.name, source)


def raw_and_landing(
    spark: SparkSession, source: Source, lake: Lake, clock: Callable[[], int], rules: Rules
) -> tuple[Raw, AnyLanding]:
    """The raw log of a source, and what lands its rows into it, beside who reads that."""
    if not source.connector.is_in_place:
        return raw_of(lake, source), Landing(spark, source, lake, clock, rules)
    origin = _origin_of(source)
    raw = raw_of(lake, source, origin)
    assert isinstance(raw, RawInPlace)
    of_landing = replace(raw, log=raw_of(lake, source, origin).log)
    return raw, LandingInPlace(spark, source, of_landing, origin, clock, rules)


ORIGINS: Mapping[type[Connector], Callable[[Source], Origin]] = {Files: FilesOrigin, DeltaSource: DeltaOrigin}
"""By the class of the connector. A new one that can be read in place is a folder beside theirs, and a name here."""


def _origin_of(source: Source) -> Origin:
    return ORIGINS[type(source.connector)](source)
