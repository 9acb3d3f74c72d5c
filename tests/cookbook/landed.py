"""The rows of a recipe's files, as a source lands them: read and judged by the rules of the pages, in plain Python.

Rules: docs/pipeline-files.md#files, docs/semantics.md#where-every-row-is.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from windrow.spec.errors import SpecError
from windrow.spec.fields.reading import Named
from windrow.spec.fields.values import read_value
from windrow.spec.sources.files import FileFormat
from windrow.spec.sources.source import Source
from windrow.spec.sources.time_columns import TimeColumn, TimeFormat
from windrow.spec.times import SECOND, micros_of, parse_time
from windrow.spec.transcripts.steps import TranscriptElement

NOW = parse_time("2030-01-01")
"""When rows land that do not say themselves when they arrived."""

_UNITS = {TimeFormat.UNIX_S: SECOND, TimeFormat.UNIX_MS: 1000, TimeFormat.UNIX_US: 1}


@dataclass(frozen=True)
class Landed:
    """A row that has landed: what a stage sees of it, when it arrived, its file, and why it is dead if it is."""

    element: TranscriptElement
    arrival: int
    file: Path
    reason: str | None = None


def batches_of(source: Source, files: Sequence[Path]) -> Iterator[list[Landed]]:
    """The landing batches that a source makes of new files, in the order of their modification times."""
    assert source.files is not None, "the recipes read files"
    ordered = sorted(files, key=lambda path: (path.stat().st_mtime_ns, str(path)))
    most = source.files.max_files_per_batch
    for first in range(0, len(ordered), most):
        yield [row for path in ordered[first : first + most] for row in _rows(source, path)]


def files_of(source: Source) -> list[Path]:
    """The files that are there."""
    assert source.files is not None
    folder = Path(source.files.path)
    return sorted(folder.iterdir()) if folder.is_dir() else sorted(folder.parent.glob(folder.name))


def _rows(source: Source, path: Path) -> Iterator[Landed]:
    assert source.files is not None
    with path.open(encoding="utf-8", newline="") as lines:
        if source.files.format is FileFormat.JSON:
            objects = (json.loads(line) for line in lines if line.strip())
            yield from (_landed(source, path, given, lambda kind, value: read_value(kind, value)) for given in objects)
        else:
            yield from (_landed(source, path, given, _of_text) for given in csv.DictReader(lines))


def _landed(source: Source, path: Path, given: dict[str, Any], read: Any) -> Landed:
    try:
        columns = {name: read(kind, given.get(name)) for name, kind in source.schema.items()}
    except (SpecError, ValueError, InvalidOperation):
        return Landed(TranscriptElement(None, None, Named({})), NOW, path, "unreadable")
    columns |= {name: value for name, value in source.defaults.items() if columns[name] is None}
    arrival = NOW if source.arrival_time is None else _micros(source.arrival_time, columns)
    at = arrival if source.event_time is None else _micros(source.event_time, columns)
    partition = None if source.partition is None else columns[source.partition]
    element = TranscriptElement(at, None if partition is None else str(partition), Named(columns))
    return Landed(element, NOW if arrival is None else arrival, path, _why_dead(source, at, arrival))


def _why_dead(source: Source, at: int | None, arrival: int | None) -> str | None:
    if arrival is None or at is None:
        return "bad_timestamp"
    is_ahead = source.max_future is not None and at > arrival + source.max_future
    return "future_timestamp" if is_ahead else None


def _of_text(kind: str, text: str | None) -> Any:
    """A value of a CSV file; an empty one is null."""
    if text is None or text == "":
        return None
    if kind == "string":
        return text
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return int(text)
    if kind.startswith("decimal"):
        return Decimal(text)
    if kind == "boolean":
        return {"true": True, "false": False}[text.lower()]
    if kind in ("float", "double"):
        return float(text)
    return read_value(kind, text)


def _micros(column: TimeColumn, columns: dict[str, Any]) -> int | None:
    value = columns[column.column]
    if value is None:
        return None
    if column.format in _UNITS:
        return int(Decimal(value) * _UNITS[column.format])
    try:
        if column.zone is None or value.endswith("Z"):
            return parse_time(value) if _has_offset(value) else None
        moment = datetime.fromisoformat(value)
        return micros_of(moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(column.zone)))
    except (SpecError, ValueError):
        return None


def _has_offset(text: str) -> bool:
    return text.endswith("Z") or "+" in text[10:] or "-" in text[10:]
