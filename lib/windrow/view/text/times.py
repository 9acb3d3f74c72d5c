"""Times, windows and numbers as people read them. All times are UTC; the input is microseconds or a datetime."""

from __future__ import annotations

from datetime import datetime

from windrow.spec.times import DAY, HOUR, INFINITY, MINUS_INFINITY, MINUTE, SECOND, format_time, micros_of
from windrow.spec.words import length as length
from windrow.spec.words import many as many

Moment = int | datetime


def moment(time: Moment | None) -> str:
    """`2013-01-01 05:00`, with seconds and less only where they are; the infinities and null in words."""
    micros = micros_of(time) if isinstance(time, datetime) else time
    if micros is None or micros == MINUS_INFINITY:
        return "not known yet"
    if micros == INFINITY:
        return "the end of time"
    text = format_time(micros).removesuffix("Z").replace("T", " ")
    return text.removesuffix(":00")


def starts(start: int, end: int) -> str:
    """`from 2013-01-01 05:00 to 2013-01-02 05:00`, the end excluded.

    It is `through` the last start where only this one is known, as of a restatement: `end` is a microsecond behind it.
    """
    if end % SECOND == 1:
        return f"from {moment(start)} through {moment(end - 1)}"
    return f"from {moment(start)} to {moment(end)}"


def window(start: Moment | None, end: Moment | None) -> str:
    """`2013-01-01 05:00 - 06:00`, the day once where both bounds are in it; null bounds are the global window."""
    if start is None or end is None or start == MINUS_INFINITY or end == INFINITY:
        return "all of time"
    first, last = moment(start), moment(end)
    return f"{first} - {last.split(' ', 1)[1] if first[:10] == last[:10] and ' ' in last else last}"


def about(micros: int) -> str:
    """A duration to the minute, rounded up: `1d 2h 30m`."""
    rest, parts = micros + -micros % MINUTE, []
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        number, rest = divmod(rest, unit)
        parts += [f"{number}{name}"] if number else []
    return " ".join(parts)
