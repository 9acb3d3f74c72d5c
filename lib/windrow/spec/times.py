"""Times and durations as users write them, and as windrow counts them: 64-bit microseconds since 1970-01-01T00:00:00Z.

Rules: docs/semantics.md#event-times-and-clocks, docs/pipeline-files.md#how-files-are-read.

Conversion happens here, once; everything behind it is an integer.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from windrow.spec.errors import SpecError

MICROSECOND = 1
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

INFINITY = 2**63 - 1
"""+infinity: the watermark of a batch, the end of the global window, a deadline that never comes."""
MINUS_INFINITY = -(2**63)
"""-infinity: the watermark before the first element, the start of the global window."""

EARLIEST_EVENT_TIME = -62_135_596_800 * SECOND
"""0001-01-01T00:00:00Z; an event time before it is a dead letter (docs/semantics.md#where-every-row-is)."""
LATEST_EVENT_TIME = 253_402_300_800 * SECOND - 1
"""9999-12-31T23:59:59.999999Z."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CLOCK_DAY = "2000-01-01"
_UNITS = {"us": MICROSECOND, "ms": 1000, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
_SHORT = re.compile(r"([+-]?)(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d|w)")
_ISO = re.compile(r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?")
_DURATION_HINT = "write a number and a unit, for instance 250ms, 10s, 1m, 2h, 1d, or ISO 8601 like PT10S"
_TIME_HINT = "write ISO 8601 with an offset, for instance 2013-01-01T05:00:00Z"


def saturating_add(a: int, b: int) -> int:
    """a + b that stays at +infinity and -infinity (docs/semantics.md#windows: expiry is a sum that saturates)."""
    if a in (INFINITY, MINUS_INFINITY):
        return a
    return max(MINUS_INFINITY, min(INFINITY, a + b))


def in_64_bits(microseconds: int) -> int:
    """The same number, or SpecError where it does not fit into 64 bits."""
    if not MINUS_INFINITY < microseconds < INFINITY:
        raise SpecError("", "must fit in 64 bits of microseconds, some 292,000 years", f"{microseconds}us")
    return microseconds


def parse_duration(value: Any) -> int:
    """A duration in microseconds from `10s`, `PT10S`, a timedelta, or an integer (seconds). Errors: SpecError."""
    if isinstance(value, timedelta):
        return in_64_bits(value // timedelta(microseconds=1))
    if isinstance(value, int) and not isinstance(value, bool):
        return in_64_bits(value * SECOND)
    if isinstance(value, str):
        return in_64_bits(_duration_of_text(value))
    raise SpecError("", "must be a duration", value, _DURATION_HINT)


def _duration_of_text(text: str) -> int:
    stripped = text.strip()
    short = _SHORT.fullmatch(stripped)
    if short:
        sign, number, unit = short.groups()
        return _whole(Decimal(number) * _UNITS[unit], text) * (-1 if sign == "-" else 1)
    iso = _ISO.fullmatch(stripped)
    if iso and any(iso.groups()[1:]):
        sign, *parts = iso.groups()
        lengths = (7 * DAY, DAY, HOUR, MINUTE, SECOND)
        total = sum((Decimal(part) * length for part, length in zip(parts, lengths, strict=True) if part), Decimal(0))
        return _whole(total, text) * (-1 if sign == "-" else 1)
    raise SpecError("", "must be a duration", text, _DURATION_HINT)


def _whole(microseconds: Decimal, text: str) -> int:
    if not microseconds.is_finite() or microseconds != int(microseconds):
        raise SpecError("", "must be a whole number of microseconds", text)
    return int(microseconds)


def format_duration(microseconds: int) -> str:
    """The shortest text that `parse_duration` reads back: the largest unit that divides it."""
    if microseconds == 0:
        return "0s"
    for unit in ("d", "h", "m", "s", "ms"):
        if microseconds % _UNITS[unit] == 0:
            return f"{microseconds // _UNITS[unit]}{unit}"
    return f"{microseconds}us"


def parse_time(value: Any) -> int:
    """A time in microseconds from an integer or fraction (seconds), `HH:MM[:SS]` on 2000-01-01, or ISO 8601."""
    if isinstance(value, datetime):
        return micros_of(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return in_64_bits(_whole(Decimal(str(value)) * SECOND, str(value)))
    if isinstance(value, str):
        text = f"{_CLOCK_DAY}T{'0' if value[1] == ':' else ''}{value}" if _CLOCK.fullmatch(value) else value
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00") if text.endswith("Z") else text)
        except ValueError as error:
            raise SpecError("", "must be a time", value, _TIME_HINT) from error
        return micros_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    raise SpecError("", "must be a time", value, _TIME_HINT)


def instant(place: str, value: datetime | str | int) -> int:
    """A time in microseconds from a datetime, from text in ISO 8601, or from microseconds. Without a zone it is UTC."""
    if isinstance(value, int):
        return value
    try:
        return parse_time(value)
    except SpecError as error:
        raise error.within(place, value if isinstance(value, str) else None) from error


def micros_of(moment: datetime) -> int:
    """Microseconds since the epoch of an aware datetime."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def format_time(micros: int) -> str:
    """ISO 8601 in UTC, with only the digits that are needed; `max` and `min` for the infinities."""
    if micros == INFINITY:
        return "max"
    if micros == MINUS_INFINITY:
        return "min"
    try:
        text = (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "")
    except OverflowError:
        return f"{micros}us"
    return (text.rstrip("0") if "." in text else text) + "Z"


def check_zone(name: str) -> str:
    """An IANA zone name, or SpecError."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SpecError("", "must be an IANA time zone", name, "for instance UTC or Europe/Berlin") from error
    return name


def parse_decimal(value: Any) -> Decimal:
    """A number as an exact decimal, or SpecError."""
    try:
        return Decimal(str(value))
    except InvalidOperation as error:
        raise SpecError("", "must be a number", value) from error
