"""All connectors, by the fields of a source that name them."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.spec.sources.connector import Connector
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.files import Files
from windrow.spec.sources.kafka import Kafka
from windrow.spec.sources.rate import Rate

CONNECTORS: Mapping[str, type[Connector]] = {one.NAME: one for one in (Files, Kafka, DeltaSource, Rate)}
"""A source has exactly one of them."""
