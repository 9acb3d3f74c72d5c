"""A tick as it would be some ticks later: its numbers are greater by these, its times later by as many paces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NUMBERS = frozenset({"tick", "step", "_step", "journal_step", "raw_step", "snapshot", "batch"})
"""The columns and notes that count ticks."""
_AGO, _AHEAD = 10**15, 10**16
"""Whole numbers between these are times, in microseconds since 1970: nothing else in the simulated lake is as large."""
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")
_BATCH = re.compile(r"batch-\d+")


@dataclass(frozen=True)
class Shift:
    """So many ticks later, each of them a pace (in microseconds) behind the one before."""

    ticks: int
    pace: int

    @property
    def micros(self) -> int:
        return self.ticks * self.pace

    def plain(self, value: Any, name: str = "") -> Any:
        """A value that JSON can hold, of the field `name`, with all that is in it."""
        if isinstance(value, Mapping):
            return {key: self.plain(one, "tick" if name == "offsets" else key) for key, one in value.items()}
        if isinstance(value, list):
            return [self.plain(one, name) for one in value]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return value
        if name in NUMBERS:
            return value + self.ticks
        return value + self.micros if _AGO < value < _AHEAD else value

    def _text(self, value: str) -> str:
        if not _ISO.fullmatch(value):
            return value
        later = datetime.fromisoformat(value) + timedelta(microseconds=self.micros)
        return later.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def repeated(rows: pa.Table, ticks: Sequence[int], pace: int) -> pa.Table:
    """The rows of one tick once for each of these numbers of ticks, so much later each time."""
    ahead = np.repeat(np.asarray(ticks, dtype=np.int64), rows.num_rows)
    whole = rows.take(np.tile(np.arange(rows.num_rows), len(ticks)))
    columns = [_later(whole.column(name).combine_chunks(), name, ahead, pace) for name in whole.column_names]
    return pa.table(columns, schema=rows.schema)


def _later(values: pa.Array, name: str, ahead: np.ndarray[Any, Any], pace: int) -> pa.Array:
    """The values of a column, each so many ticks later."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_struct(values.type):
        fields = [values.type.field(index) for index in range(values.type.num_fields)]
        inner = [_later(values.field(index), one.name, ahead, pace) for index, one in enumerate(fields)]
        return pa.StructArray.from_arrays(inner, fields=fields, mask=values.is_null())
    if pa.types.is_timestamp(values.type):
        micros = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
        return pc.add(micros, pa.array(ahead * pace)).cast(pa.timestamp("us", values.type.tz)).cast(values.type)
    if pa.types.is_int64(values.type):
        if name in NUMBERS:
            return pc.add(values, pa.array(ahead))
        is_time = pc.and_(pc.greater(values, _AGO), pc.less(values, _AHEAD))
        return pc.if_else(is_time, pc.add(values, pa.array(ahead * pace)), values)
    if name == "_control":
        return _texts(values, ahead, lambda text, later: _control(text, later, pace))
    if name == "_offset":
        return _texts(values, ahead, _path)
    return values


def _texts(values: pa.Array, ahead: np.ndarray[Any, Any], of: Callable[[str, int], str]) -> pa.Array:
    later = (
        None if text is None else of(text, ticks)
        for text, ticks in zip(values.to_pylist(), ahead.tolist(), strict=True)
    )
    return pa.array(list(later), values.type)


def _control(text: str, ticks: int, pace: int) -> str:
    return json.dumps(Shift(ticks, pace).plain(json.loads(text)))


def _path(text: str, ticks: int) -> str:
    """The path of the file that landed so many ticks later."""
    return _BATCH.sub(lambda found: _batch_later(found[0], ticks), text)


def _batch_later(name: str, ticks: int) -> str:
    return f"batch-{int(name.removeprefix('batch-')) + ticks:07}"
