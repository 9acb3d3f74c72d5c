"""The schema of raw rows: the envelope around the columns of a source."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import DataType, LongType, StringType, StructField, StructType

from windrow.compile.elements import envelope
from windrow.spec.fields.schemas import Schema
from windrow.store.projections.creation import struct_of

_KINDS: Mapping[str, DataType] = {
    envelope.STEP: LongType(), envelope.ROW: LongType(), envelope.EVENT_TIME: LongType(),
    envelope.ARRIVAL_TIME: LongType(), envelope.PARTITION: StringType(), envelope.OFFSET: StringType(),
    envelope.REASON: StringType(), envelope.RULE: StringType(), envelope.RAW: StringType(),
}  # fmt: skip


def row_schema(schema: Schema) -> StructType:
    """The columns of a raw row, in order."""
    fields = [StructField(name, _KINDS[name]) for name in envelope.ENVELOPE]
    return StructType([*fields, *(struct_of(schema.ddl).fields if schema else [])])
