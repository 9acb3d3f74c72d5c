"""Which columns hold times, and which of them say when something happened and when it arrived."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.drivers.init.patterns import written
from windrow.drivers.init.table import ISO, OFFSET, Texts
from windrow.drivers.init.words import words_of
from windrow.spec.errors import SpecError
from windrow.spec.times import DAY, SECOND, parse_time
from windrow.view.init.guess import Time

_EARLIEST = parse_time("1980-01-01")
_LATEST = parse_time("2100-01-01")
_UNITS = {"unix_s": SECOND, "unix_ms": 1000, "unix_us": 1}
_HAPPENED = ("event", "occur", "happen", "sent", "created", "depart", "pickup", "start", "timestamp", "time", "zeit",
             "date", "datum", "at", "ts")  # fmt: skip
_WHOLE_WORDS = frozenset({"datum", "at", "ts"})
"""Those that are within words which say nothing of time: `status` and `Geburtsdatum`."""
_WRITTEN_OTHERWISE = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?$"
"""Dates that are read as texts."""
_TIME_OF_DAY = r"^\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?( [AaPp][Mm])?$"
_ARRIVED = ("arriv", "receiv", "ingest", "landed", "loaded", "stored", "insert", "process", "eingang", "eingegang",
            "empfang")  # fmt: skip
_OFTEN = 0.95


@dataclass(frozen=True)
class Times:
    """A column of times: how it is written, its values in microseconds, null where there is none, and a doubt.

    `time_of_day` is the column with the time of day, where this one has only dates.
    """

    column: str
    format: str
    zone: str | None
    micros: pa.Array
    doubt: str = ""
    time_of_day: str | None = None

    @property
    def rank(self) -> int:
        """How much its name sounds like when something happened: the smaller, the more."""
        name, words = self.column.lower(), words_of(self.column)
        found = [
            number
            for number, part in enumerate(_HAPPENED)
            if part in words or (part in name and part not in _WHOLE_WORDS)
        ]
        return min(found, default=len(_HAPPENED)) + (100 if self.sounds_like_arrival else 0)

    @property
    def says_nothing(self) -> bool:
        """Whether nothing in its name is about time."""
        return self.rank == len(_HAPPENED)

    @property
    def says_time(self) -> bool:
        """Whether its texts have a time of day."""
        return "m" in self.format if self.format != "iso8601" else not self.has_no_clock

    @property
    def has_no_clock(self) -> bool:
        """Whether all of its times are midnights."""
        known = self.micros.drop_null()
        return bool(pc.all(pc.equal(pc.subtract(known, pc.multiply(pc.divide(known, DAY), DAY)), 0)).as_py())

    @property
    def sounds_like_arrival(self) -> bool:
        """Whether its name says that something arrived."""
        return any(part in self.column.lower() for part in _ARRIVED)

    def told(self, why: str) -> Time:
        """As it stands in a guess."""
        return Time(
            self.column, self.format, self.zone, f"{why}; {self.doubt}" if self.doubt else why, self.time_of_day
        )


def times_in(texts: Texts) -> list[Times]:
    """The columns that hold times, in their order. A number is one if nearly all are between 1980 and 2100."""
    found = [found for column in texts.columns for found in _times(texts, column.name, column.kind)]
    return [_with_time_of_day(texts, one) for one in found]


def event_time_of(path: str, texts: Texts, times: list[Times]) -> Times:
    """The column that says best when something happened.

    Errors: SpecError where none holds times, or none whose name is about time and another one has dates that cannot be
    read.
    """
    rows, others = texts.table.num_rows, list(_written_otherwise(texts, times))
    best = min(times, key=lambda one: (one.rank, one.has_no_clock, one.micros.null_count > rows / 2), default=None)
    if best is None or (best.says_nothing and others):
        got = ", ".join(f"{name}: {value}" for name, value in others) or ", ".join(one.name for one in texts.columns)
        hint = "ISO 8601, a date such as 31.12.2013 05:00, or a number of seconds, milli- or microseconds since 1970"
        raise SpecError(f"{path}:", "must have a column of times", got, hint)
    return best


def _written_otherwise(texts: Texts, times: list[Times]) -> Iterator[tuple[str, str]]:
    """Columns of dates that no pattern reads, with the first of their values."""
    taken = {name for one in times for name in (one.column, one.time_of_day)}
    for column in texts.columns:
        known = texts.of(column.name).drop_null()
        if column.name not in taken and len(known):
            fits = pc.sum(pc.match_substring_regex(known, _WRITTEN_OTHERWISE)).as_py() or 0
            if fits >= _OFTEN * len(known):
                yield column.name, known[0].as_py()


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
        yield from _of_texts(name, values)


def _of_texts(name: str, values: pa.ChunkedArray) -> Iterator[Times]:
    known = values.drop_null()
    read = pc.match_substring_regex(known, f"{ISO}({OFFSET})?$")
    if (pc.sum(read).as_py() or 0) < _OFTEN * len(known):
        found = written(values.to_pylist(), _OFTEN)
        if found is not None:
            yield Times(name, str(found.pattern), "UTC", pa.array(found.micros, pa.int64()), found.doubt)
        return
    with_offset = pc.match_substring_regex(known, f"{OFFSET}$") if _has_clock(known) else None
    all_say = with_offset is not None and pc.all(with_offset).as_py()
    micros = pa.array([_micros(value) for value in values.to_pylist()], pa.int64())
    if micros.null_count < len(micros):
        yield Times(name, "iso8601", None if all_say else "UTC", micros)


def _with_time_of_day(texts: Texts, one: Times) -> Times:
    """A column of dates with that of the time of day: the one behind it, or else the only one."""
    if texts.kind(one.column) != "string" or one.says_time:
        return one
    names = [column.name for column in texts.columns]
    found = [name for name in names if _is_time_of_day(texts.of(name).drop_null())]
    behind = [name for name in found if names.index(name) == names.index(one.column) + 1]
    if not behind and len(found) != 1:
        return one
    (name,) = behind or found
    both = pc.binary_join_element_wise(texts.of(one.column), texts.of(name), " ")
    whole = next(_of_texts(one.column, both), None)
    return one if whole is None else replace(whole, time_of_day=name)


def _is_time_of_day(known: pa.ChunkedArray) -> bool:
    """Whether texts are times of day."""
    fits = pc.match_substring_regex(known, _TIME_OF_DAY) if len(known) else None
    return fits is not None and (pc.sum(fits).as_py() or 0) >= _OFTEN * len(known)


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
