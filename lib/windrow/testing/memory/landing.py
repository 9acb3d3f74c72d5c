"""Elements that are given step by step land as the rows of a source do: with their envelope and their verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from windrow.compile.elements.envelope import ENVELOPE, EVENT_TIME, OFFSET, RAW, REASON
from windrow.drivers.pipeline.rows import row_schema
from windrow.engine.frames import local
from windrow.sources.verdicts import landed
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source
from windrow.spec.sources.time_columns import TimeColumn
from windrow.spec.sources.watermarks import UNBOUNDED, Watermark
from windrow.spec.transcripts.cases import TranscriptElement
from windrow.store.projections.creation import struct_of

_AT, _FROM = "_at", "_from"
"""The columns that hold the event time of an element, in microseconds, and its source partition."""


class LandedElement(NamedTuple):
    """An element, the reason why it is dead (or null), its event time, and its row as `raw` has it."""

    element: TranscriptElement
    reason: str | None
    event_time: int | None
    row: tuple[Any, ...]


@dataclass(frozen=True)
class Landing:
    """One input of a stage in memory: elements become rows of `source`, which have the columns of `schema`."""

    source: Source
    schema: Schema

    @classmethod
    def of(cls, schema: Schema, rule: Watermark | None, weight: str | None) -> Landing:
        """The landing of elements with these columns. A rule without `max_future` sets no bound here."""
        rule = Watermark(bounded_delay=0) if rule is None else rule
        source = Source(
            "elements",
            files=Files(path="elements", format="parquet"),
            schema=Schema([*schema.items(), (_AT, "bigint"), (_FROM, "string")]),
            event_time=None if rule.processing_time else TimeColumn(_AT, "unix_us"),
            watermark=rule if rule.max_future is not None else replace(rule, max_future=UNBOUNDED),
            partition=_FROM,
            weight=weight,
        )
        return cls(source, schema)

    def land(
        self, spark: SparkSession, elements: Iterable[TranscriptElement], step: int, now: int
    ) -> list[LandedElement]:
        """The elements of a landing step, which arrive now, in their order."""
        elements = list(elements)
        if not elements:
            return []
        kinds, envelope_kinds = struct_of(self.source.schema.ddl), row_schema(self.schema)
        given = [tuple(typed(one.columns.get(name), kinds[name]) for name in self.schema) for one in elements]
        read = StructType([*kinds.fields, envelope_kinds[OFFSET], envelope_kinds[RAW]])
        rows = [(*values, one.at, one.partition, "", None) for values, one in zip(given, elements, strict=True)]
        envelopes = landed(self.source, local(spark, rows, read), step, now).select(*ENVELOPE).collect()
        return [
            LandedElement(one, envelope[REASON], envelope[EVENT_TIME], (*envelope, *values))
            for one, envelope, values in zip(elements, envelopes, given, strict=True)
        ]


def typed(value: Any, column: StructField) -> Any:
    """A value of a YAML file as the type of its column wants it."""
    kind = column.dataType.simpleString()
    if value is None:
        return None
    if kind.startswith("decimal"):
        return Decimal(str(value))
    return float(value) if kind in ("double", "float") else value


def dead_rows(landed: Sequence[LandedElement]) -> list[dict[str, Any]]:
    """The elements that were dead when they landed, as transcripts compare them."""
    return [
        {**one.element.columns, "at": one.element.at, "partition": one.element.partition, "window": None,
         "reason": one.reason}
        for one in landed if one.reason is not None
    ]  # fmt: skip
