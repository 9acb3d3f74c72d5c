"""Sources: where elements come from, what their times are, and how their watermark is made.

Rule: SEMANTICS sections 8 and 9; the grammar is in the pipeline reference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields import Kind, Spec, of
from windrow.spec.kinds import FLAG, NAME, POSITIVE_INTEGER, TEXT, ZONE, choice, nested
from windrow.spec.schemas import SCHEMA, Schema
from windrow.spec.watermarks import Watermark


class FileFormat(StrEnum):
    """What the files of a source hold: JSON lines, CSV with or without a header, or Parquet."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


FILE_FORMAT = choice(FileFormat, {"jsonl": "json", "ndjson": "json", "jsonlines": "json"})

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def resolve_environment(text: str) -> str:
    """`${NAME}` and `${NAME:-default}` replaced, when a path or connector option is used and not before.

    The values never become part of a specification, so that no table, plan, log or fingerprint holds them.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match.groups()
        found = os.environ.get(name, default)
        if found is None:
            raise SpecError(f"${{{name}}}", "is not set in the environment", None, f"or write ${{{name}:-default}}")
        return found

    return _VARIABLE.sub(value, text)


@dataclass(frozen=True)
class Files(Spec):
    """Files under a path, each read once. A landing batch takes at most `max_files_per_batch` of them; the rest waits.

    `header`: whether CSV files begin with a line of column names.
    """

    YAML_HINTS = {"max_files_per_trigger": "max_files_per_batch", "dir": "path", "folder": "path"}

    path: str = field(metadata=of(TEXT))
    format: FileFormat = field(default=FileFormat.JSON, metadata=of(FILE_FORMAT))
    max_files_per_batch: int = field(default=1000, metadata=of(POSITIVE_INTEGER))
    header: bool = field(default=True, metadata=of(FLAG))


class TimeFormat(StrEnum):
    """How a time is written in its column; the unit of a number is stated, never guessed."""

    TIMESTAMP = "timestamp"
    ISO8601 = "iso8601"
    UNIX_S = "unix_s"
    UNIX_MS = "unix_ms"
    UNIX_US = "unix_us"
    UNIX_NS = "unix_ns"


TIME_FORMAT = choice(TimeFormat, {"iso": "iso8601", "iso_8601": "iso8601", "epoch": "unix_s", "unix": "unix_s"})


@dataclass(frozen=True)
class TimeColumn(Spec):
    """A column that holds a time. `zone` is that of strings and zone-less timestamps without an offset of their own."""

    column: str = field(metadata=of(NAME))
    format: TimeFormat = field(default=TimeFormat.TIMESTAMP, metadata=of(TIME_FORMAT))
    zone: str | None = field(default=None, metadata=of(ZONE))


def _read_event_time(value: Any) -> TimeColumn | None:
    if value == "now":
        return None
    if isinstance(value, str):
        raise SpecError("", "must be `now` or a mapping", value, f"for instance {{column: {value}, format: iso8601}}")
    return TimeColumn.from_mapping(value)


def _accept_event_time(value: Any) -> TimeColumn | None:
    if value is None or value == "now":
        return None
    accepted: TimeColumn = nested(TimeColumn).accept(value)
    return accepted


EVENT_TIME = Kind(_accept_event_time, _read_event_time, lambda column: "now" if column is None else column.to_mapping())


@dataclass(frozen=True)
class Source(Spec):
    """One input: a connector, the schema of its rows, and their times.

    `event_time` is a column, or None for the arrival time (`now` in YAML). `arrival_time` is a column, for a history
    that is replayed as it happened, or None for the clock at landing. `partition` is the column whose values are the
    source partitions of the watermark; without one there is a single partition. `quality` is the path of the file with
    the expectations on its rows.
    """

    YAML_LATER = frozenset({"kafka", "delta", "rate", "weight", "unknown"})

    name: str = field(metadata=of(NAME))
    files: Files = field(metadata=of(nested(Files)))
    schema: Schema = field(metadata=of(SCHEMA))
    event_time: TimeColumn | None = field(metadata=of(EVENT_TIME))
    watermark: Watermark = field(metadata=of(nested(Watermark)))
    arrival_time: TimeColumn | None = field(default=None, metadata=of(nested(TimeColumn)))
    partition: str | None = field(default=None, metadata=of(NAME))
    quality: str | None = field(default=None, metadata=of(TEXT))

    def validate(self) -> None:
        for place, column in self._time_columns().items():
            if column is not None:
                self.schema.require(column.column, f"{place}.column")
                self._check_type(place, column)
        if self.partition is not None:
            self.schema.require(self.partition, "partition")
        if self.watermark.processing_time and self.event_time is not None:
            raise SpecError("event_time", "must be `now` with a processing_time watermark", None, "event_time: now")

    def _time_columns(self) -> Mapping[str, TimeColumn | None]:
        return {"event_time": self.event_time, "arrival_time": self.arrival_time}

    def _check_type(self, place: str, column: TimeColumn) -> None:
        is_text = self.schema[column.column] == "string"
        is_time = self.schema[column.column] in ("timestamp", "timestamp_ntz", "date")
        wants_text, wants_time = column.format is TimeFormat.ISO8601, column.format is TimeFormat.TIMESTAMP
        if wants_text != is_text or wants_time != is_time:
            fits = "iso8601" if is_text else "timestamp" if is_time else "one of unix_s, unix_ms, unix_us, unix_ns"
            kind = self.schema[column.column]
            raise SpecError(
                f"{place}.format", f"does not fit the type of {column.column} ({kind})", str(column.format), fits
            )
