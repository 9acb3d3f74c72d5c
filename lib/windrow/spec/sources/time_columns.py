"""Columns that hold a time: how it is written there, and in which zone.

Rules: docs/pipeline-files.md#time-columns. Source of the letters: Spark's datetime patterns,
https://spark.apache.org/docs/latest/sql-ref-datetime-pattern.html.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import NAME, ZONE, choice, nested
from windrow.spec.fields.reading import Kind, Spec, form_of
from windrow.spec.fields.schemas import Schema
from windrow.spec.fields.typed import Converted, converted, plain, specification


class TimeFormat(StrEnum):
    """How a time is written in its column; the unit of a number is stated, never guessed."""

    TIMESTAMP = "timestamp"
    ISO8601 = "iso8601"
    UNIX_S = "unix_s"
    UNIX_MS = "unix_ms"
    UNIX_US = "unix_us"
    UNIX_NS = "unix_ns"


_LETTERS = {
    "y": r"yyyy|yy", "M": r"M{1,4}", "d": r"dd?", "H": r"HH?", "h": r"hh?", "m": r"mm?", "s": r"ss?", "S": r"S{1,9}",
    "a": r"a", "X": r"X{1,3}", "x": r"x{1,3}", "Z": r"Z{1,3}",
}  # fmt: skip
"""The letters of a pattern, and how often each may stand."""
_OFFSETS = frozenset("XxZ")
_CLOCK = frozenset("HhmsSa")
_PART = re.compile(r"(?P<quoted>'(?:[^']|'')*')|(?P<field>([A-Za-z])\3*)|(?P<other>.)", re.DOTALL)
_PLAIN = re.compile(r"[ \[\].,/:_+-]")
_EXAMPLE = "dd.MM.yyyy HH:mm"


@dataclass(frozen=True)
class TimePattern:
    """A time that is written as the letters of a pattern say, for instance `dd.MM.yyyy HH:mm`.

    The letters are those of Spark. A part in brackets may be missing, and a text in quotes stands for itself. Errors:
    SpecError for a letter that is not allowed, and for a pattern that does not name a day.
    """

    text: str

    def __post_init__(self) -> None:
        fields: list[str] = []
        depth = 0
        for part in _PART.finditer(self.text):
            found = part["field"]
            if found is not None:
                self._check_field(found, depth > 0)
                fields.append(found[0])
            elif part["other"] is not None:
                depth += self._deeper(part["other"])
            if depth < 0:
                raise self._error("has a ] without its [")
        if depth:
            raise self._error("has a [ without its ]")
        self._check_whole(fields)

    def __str__(self) -> str:
        return self.text

    @property
    def has_offset(self) -> bool:
        """Whether its times say how far they are from UTC."""
        return any(part["field"] and part["field"][0] in _OFFSETS for part in _PART.finditer(self.text))

    def _check_field(self, field: str, optional: bool) -> None:
        letter = field[0]
        if letter not in _LETTERS or not re.fullmatch(_LETTERS[letter], field):
            hint = f"known are yyyy yy MMMM MMM MM M dd d HH H hh h mm m ss s S a X x Z, for instance {_EXAMPLE}"
            raise self._error(f"has {field}, which no time is read by", hint)
        if optional and letter not in _CLOCK:
            raise self._error(f"has {field} in brackets", "only a part of the time of day may be missing")

    def _deeper(self, sign: str) -> int:
        """How many brackets more are open behind this sign."""
        if not _PLAIN.fullmatch(sign):
            raise self._error(f"has {sign}, which stands for nothing", f"in quotes it stands for itself: '{sign}'")
        return {"[": 1, "]": -1}.get(sign, 0)

    def _check_whole(self, fields: list[str]) -> None:
        twice = sorted({letter for letter in fields if fields.count(letter) > 1})
        if twice:
            raise self._error(f"has {', '.join(twice)} twice")
        missing = [f"{letter} ({what})" for letter, what in _NEEDED.items() if letter not in fields]
        if missing:
            raise self._error(f"must have {', '.join(missing)}", f"for instance {_EXAMPLE}")
        clock = set(fields) & _CLOCK
        if "H" in clock and clock & {"h", "a"}:
            raise self._error("has hours of 24 and of 12", "H, or h with a")
        if ("h" in clock) != ("a" in clock):
            raise self._error("must have h and a together", "h:mm a, or HH:mm")
        for smaller, larger in (("m", "Hh"), ("s", "m"), ("S", "s")):
            if smaller in clock and not clock & set(larger):
                raise self._error(f"has {smaller} without {larger[0]}", f"for instance {_EXAMPLE}")

    def _error(self, rule: str, hint: str | None = None) -> SpecError:
        return SpecError("", rule, self.text, hint)


_NEEDED = {"y": "year", "M": "month", "d": "day"}

Format = TimeFormat | TimePattern
FormatLike = TimeFormat | TimePattern | str
_NAMED: Kind[TimeFormat, Any] = choice(
    TimeFormat, {"iso": "iso8601", "iso_8601": "iso8601", "epoch": "unix_s", "unix": "unix_s"}
)


def _format(value: Any) -> Format:
    """A name, or a pattern: that is what has a year or a day as patterns write them."""
    if isinstance(value, TimePattern):
        return value
    if isinstance(value, str) and value not in list(TimeFormat) and re.search("yy|dd|MM", value):
        return TimePattern(value)
    try:
        return _NAMED.accept(value)
    except SpecError as error:
        rule = f"{error.rule}, or a pattern such as {_EXAMPLE}"
        raise SpecError(error.place, rule, value, error.hint) from None


FORMAT: Kind[Format, FormatLike] = Kind(
    _format, _format, str, forms.any_of(forms.one_of(TimeFormat), forms.fixed(type="string", pattern="yy"))
)


@specification
class TimeColumn(Spec):
    """A column that holds a time.

    `format` is a `TimeFormat`, or a pattern of Spark's letters for texts, for instance `dd.MM.yyyy HH:mm`. `zone` is
    that of texts and zone-less timestamps without an offset of their own; a pattern without an offset needs it.
    `time_of_day` is a second column, if the first one has only the date: the time is then read from both texts, with a
    blank between them.
    """

    column: str = plain(NAME)
    format: Converted[Format, FormatLike] = converted(FORMAT, default=TimeFormat.TIMESTAMP)
    zone: str | None = plain(ZONE, default=None)
    time_of_day: str | None = plain(NAME, default=None)

    def validate(self) -> None:
        if self.time_of_day is not None and self.time_of_day.lower() == self.column.lower():
            raise SpecError(
                "time_of_day", "must be another column than that of the date", self.time_of_day, "leave it out"
            )
        if self.time_of_day is not None and not self.is_text:
            raise SpecError(
                "time_of_day", "is for times in texts: iso8601, or a pattern", self.time_of_day, "leave it out"
            )
        if not isinstance(self.format, TimePattern):
            return
        if self.zone is None and not self.format.has_offset:
            raise SpecError("zone", f"must be given: times as {self.format} have none", None, "for instance zone: UTC")
        if self.zone is not None and self.format.has_offset:
            raise SpecError("zone", f"is not for {self.format}: such times have an offset", self.zone, "leave it out")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is read from."""
        return (self.column,) if self.time_of_day is None else (self.column, self.time_of_day)

    @property
    def is_text(self) -> bool:
        """Whether it is read from texts."""
        return self.format is TimeFormat.ISO8601 or isinstance(self.format, TimePattern)

    def check_type(self, columns: Schema) -> None:
        """Refuse a format that is not for the type of the column. Errors: SpecError."""
        kind = columns[self.column]
        is_text, is_time = kind == "string", kind in ("timestamp", "timestamp_ntz", "date")
        wants_time = self.format is TimeFormat.TIMESTAMP
        if self.is_text != is_text or wants_time != is_time:
            texts = f"iso8601, or a pattern such as {_EXAMPLE}"
            fits = texts if is_text else "timestamp" if is_time else "one of unix_s, unix_ms, unix_us, unix_ns"
            rule = f"does not fit the type of {self.column} ({kind})"
            raise SpecError("format", rule, str(self.format), fits)
        if self.time_of_day is not None and columns[self.time_of_day] != "string":
            raise SpecError(
                "time_of_day", f"must be a column of texts, not of {columns[self.time_of_day]}", self.time_of_day
            )


def _read_event_time(value: Any) -> TimeColumn | None:
    if value == "now":
        return None
    if isinstance(value, str):
        raise SpecError("", "must be `now` or a mapping", value, f"for instance {{column: {value}, format: iso8601}}")
    return TimeColumn.from_mapping(value)


def _accept_event_time(value: Any) -> TimeColumn | None:
    if value is None or value == "now":
        return None
    return nested(TimeColumn).accept(value)


EventTimeLike = TimeColumn | Literal["now"] | None
EVENT_TIME: Kind[TimeColumn | None, EventTimeLike] = Kind(
    _accept_event_time,
    _read_event_time,
    lambda column: "now" if column is None else column.to_mapping(),
    forms.any_of(forms.one_of(["now"]), form_of(TimeColumn)),
)
"""A column, or None for the arrival time."""
