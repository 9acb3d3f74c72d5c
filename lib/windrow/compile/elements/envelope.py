"""The envelope: the columns that every row of `raw` has around the columns of its source.

A source's columns keep their names; those of the envelope begin with `_`, and no source column may have one of them.

| column | type | what |
|---|---|---|
| `_step` | bigint | the landing step; with `_row` the identity of the element |
| `_row` | bigint | the number of the row within its step |
| `_event_time` | bigint | microseconds; null where it could not be read |
| `_arrival_time` | bigint | microseconds |
| `_partition` | string | the source partition of the watermark |
| `_offset` | string | where the row was read: the path of its file, or its offset in the Kafka partition |
| `_reason` | string | why the row is dead, or null |
| `_rule` | string | what it broke, in words, or null |
| `_raw` | string | the text of a row that could not be read, or null |
"""

from __future__ import annotations

from windrow.compile.sql.columns import Column, col, lit, when
from windrow.spec.sources.source import ENVELOPE_NAMES

STEP = "_step"
ROW = "_row"
EVENT_TIME = "_event_time"
ARRIVAL_TIME = "_arrival_time"
PARTITION = "_partition"
OFFSET = "_offset"
REASON = "_reason"
RULE = "_rule"
RAW = "_raw"

QUARANTINED = "quarantined"
"""The reason of the rows of a file that was taken out after it had landed."""

FORGOTTEN = "forgotten"
"""The reason of the rows of a person who is forgotten."""
BEING_FORGOTTEN = "the person is being forgotten"
"""Their rule as long as they have their values."""
IS_FORGOTTEN = "the person was forgotten"
"""And when they have none any more."""

ENVELOPE = (STEP, ROW, EVENT_TIME, ARRIVAL_TIME, PARTITION, OFFSET, REASON, RULE, RAW)
assert ENVELOPE == ENVELOPE_NAMES


def has_to_go() -> Column:
    """Whether a row is being forgotten: it has its values yet."""
    return col(REASON).same(lit(FORGOTTEN)) & col(RULE).same(lit(BEING_FORGOTTEN))


def file_of() -> Column:
    """The file of a row; null where it was read from a log, so that its offset is a number."""
    return when(col(OFFSET).cast("bigint").is_null(), col(OFFSET))
