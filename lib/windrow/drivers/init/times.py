"""Which columns hold times, and which of them say when something happened and when it arrived."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.drivers.init.table import ISO, OFFSET, Texts
from windrow.spec.errors import SpecError
from windrow.spec.times import SECOND, parse_time
from windrow.view.init.guess import Time

_EARLIEST = parse_time("1980-01-01")
_LATEST = parse_time("2100-01-01")
_UNITS = {"unix_s": SECOND, "unix_ms": 1000, "unix_us": 1}
_HAPPENED = ("event", "occur", "happen", "sent", "created", "depart", "pickup", "start", "timestamp", "time", "date",
             "at", "ts")  # fmt: skip
_ARRIVED = ("arriv", "receiv", "ingest", "landed", "loaded", "stored", "insert", "process")
_OFTEN = 0.95


@dataclass(frozen=True)
class Times:
    """A column of times: how it is written, and its values in microseconds, null where there is none."""

    column: str
    format: str
    zone: str | None
    micros: pa.Array

    @property
    def rank(self) -> int:
        """How much its name sounds like when something happened: the smaller, the more."""
        words = self.column.lower()
        found = [number for number, part in enumerate(_HAPPENED) if part in words]
        return min(found, default=len(_HAPPENED)) + (100 if self.sounds_like_arrival else 0)

    @property
    def sounds_like_arrival(self) -> bool:
        """Whether its name says that something arrived."""
        return any(part in self.column.lower() for part in _ARRIVED)

    def told(self, why: str) -> Time:
        """As it stands in a guess."""
        return Time(self.column, self.format, self.zone, why)


def times_in(texts: Texts) -> list[Times]:
    """The columns that hold times, in their order. A number is one if nearly all are between 1980 and 2100."""
    return [found for column in texts.columns for found in _times(texts, column.name, column.kind)]


def event_time_of(path: str, times: list[Times], rows: int) -> Times:
    """The column that says best when something happened. Errors: SpecError where none holds times."""
    if not times:
        hint = "ISO 8601 (2013-01-01T05:00:00Z), or seconds, milli- or microseconds since 1970"
        raise SpecError(f"{path}:", "must have a column of times", None, hint)
    return min(times, key=lambda one: (one.rank, one.micros.null_count > rows / 2))


def arrival_of(times: list[Times], event: Times) -> Times | None:
    """A column whose name says that rows arrived, and whose times are no earlier than the event; None without one."""
    for one in times:
        if one is event or not one.sounds_like_arrival:
            continue
        behind = pc.greater_equal(one.micros, event.micros).drop_null()
        if len(behind) and (pc.sum(behind).as_py() or 0) >= _OFTEN * len(behind):
            return one
    return None


def _times(texts: Texts, name: str, kind: str) -> Iterator[Times]:
    values = texts.of(name)
    known = values.drop_null()
    if kind == "bigint":
        number = values.cast(pa.int64()).combine_chunks()
        for unit, micros in _UNITS.items():
            low, high = _EARLIEST // micros, _LATEST // micros
            inside = pc.and_(pc.greater_equal(number, low), pc.less(number, high)).drop_null()
            if len(inside) and (pc.sum(inside).as_py() or 0) >= _OFTEN * len(inside):
                yield Times(name, unit, None, pc.multiply(number, micros))
                return
    elif kind == "string" and len(known):
        read = pc.match_substring_regex(known, f"{ISO}({OFFSET})?$")
        if (pc.sum(read).as_py() or 0) >= _OFTEN * len(known):
            with_offset = pc.match_substring_regex(known, f"{OFFSET}$") if _has_clock(known) else None
            all_say = with_offset is not None and pc.all(with_offset).as_py()
            micros = pa.array([_micros(value) for value in values.to_pylist()], pa.int64())
            yield Times(name, "iso8601", None if all_say else "UTC", micros)


def _has_clock(known: pa.ChunkedArray) -> bool:
    """Whether texts have a time of the day: `-01` at the end of a date alone is no offset."""
    return bool(pc.all(pc.match_substring_regex(known, r"\d{2}:\d{2}")).as_py())


def _micros(text: str | None) -> int | None:
    """The time of a text in microseconds; without an offset it is UTC. None for what is no time."""
    if text is None or not re.match(f"{ISO}({OFFSET})?$", text):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return parse_time(moment)
