"""Values with their event times."""

from __future__ import annotations

from windrow.compile.aggregates.parts import Argument
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, when


def stamped(argument: Argument) -> Column:
    """The value behind its event time, so that values are compared by time first; null where there is none."""
    value = sql.struct(at=argument.event_time, value=argument.plain)
    return when(argument.column.is_not_null(), value)
