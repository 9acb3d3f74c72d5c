"""Values as JSON."""

from __future__ import annotations

from windrow.compile.sql.columns import Column, call

_OPTIONS = call("map", "timeZone", "UTC", "ignoreNullFields", "true")


def as_json(row: Column) -> Column:
    """A struct as JSON, whatever the session says: without fields that are null, and times in UTC."""
    return call("to_json", row, _OPTIONS)
