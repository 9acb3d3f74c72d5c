"""The functions that are known in plain Python: what type each gives, and its value. None of them fails.

Those that look at no more arguments than they need (`if`, `coalesce`) are part of the evaluator.
"""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from windrow.spec.evaluation.arithmetic import calculate
from windrow.spec.evaluation.casts import moment_of
from windrow.spec.evaluation.kinds import FLOATING, INTEGERS, NotEvaluated, checked
from windrow.spec.times import DAY, SECOND, micros_of

Kinds = Sequence[str]
Values = Sequence[Any]


@dataclass(frozen=True)
class Known:
    """A function. `kind` gives the type of its value by those of its arguments; `value` its value, none being null."""

    kind: Callable[[Kinds], str]
    value: Callable[[Values, Kinds], Any]


def _text(value: Callable[..., str]) -> Known:
    return Known(lambda kinds: _of("string", kinds[:1], "string"), lambda values, kinds: value(*values))


def _of_text(kind: str, value: Callable[..., Any]) -> Known:
    return Known(lambda kinds: _of(kind, kinds, "string"), lambda values, kinds: value(*values))


def _of_time(value: Callable[[Any], int]) -> Known:
    def valued(values: Values, kinds: Kinds) -> int:
        return value(moment_of(values[0]) if kinds[0] == "timestamp" else values[0])

    return Known(lambda kinds: _of("int", kinds, "timestamp", "date"), valued)


def _of_clock(value: Callable[[Any], int]) -> Known:
    return Known(lambda kinds: _of("int", kinds, "timestamp"), lambda values, kinds: value(moment_of(values[0])))


def _since_1970(unit: int) -> Known:
    return Known(lambda kinds: _of("bigint", kinds, "timestamp"), lambda values, kinds: values[0] // unit)


def _of(kind: str, kinds: Kinds, *expected: str) -> str:
    """The type, if the arguments are of these types; Spark would cast others."""
    if any(one not in (*expected, "void") for one in kinds):
        raise NotEvaluated(f"an argument of the type {', '.join(kinds)}")
    return kind


def _ascii(text: str, changed: str) -> str:
    """In other alphabets Java's case is not Python's."""
    if not text.isascii():
        raise NotEvaluated(f"the case of {text!r}")
    return changed


def _substring(text: str, position: int, length: int | None = None) -> str:
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    end = len(text) if length is None else start + length
    return text[max(start, 0) : max(end, 0)]


def _replaced(text: str, part: str, other: str = "") -> str:
    return text.replace(part, other) if part else text


def _padded(text: str, length: int, pad: str, is_left: bool) -> str:
    missing = length - len(text)
    if missing <= 0:
        return text[: max(length, 0)]
    padding = (pad * missing)[:missing]
    return f"{padding}{text}" if is_left else f"{text}{padding}"


def _pad(is_left: bool) -> Known:
    return _text(lambda text, length, pad=" ": _padded(text, length, pad, is_left))


_MICROS = {"hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND, "millisecond": 1000, "microsecond": 1}


def _truncated(values: Values, kinds: Kinds) -> int:
    """The beginning of a unit, in UTC."""
    unit, micros = values[0].lower(), values[1]
    if unit in _MICROS:
        return int(micros // _MICROS[unit] * _MICROS[unit])
    moment = moment_of(micros).replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "year":
            moment = moment.replace(month=1, day=1)
        case "quarter":
            moment = moment.replace(month=(moment.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            moment = moment.replace(day=1)
        case "week":
            return micros_of(moment) - moment.weekday() * DAY
        case "day":
            pass
        case _:
            raise NotEvaluated(f"the unit {unit}")
    return micros_of(moment)


def _truncated_kind(kinds: Kinds) -> str:
    _of("string", kinds[:1], "string")
    return _of("timestamp", kinds[1:], "timestamp")


def _days(sign: int) -> Known:
    """So many days later, or earlier."""

    def kind(kinds: Kinds) -> str:
        _of("int", kinds[1:], "tinyint", "smallint", "int")
        return _of("date", kinds[:1], "date")

    def value(values: Values, kinds: Kinds) -> date:
        try:
            return values[0] + timedelta(days=sign * values[1])  # type: ignore[no-any-return]
        except OverflowError:
            raise NotEvaluated("a date outside of the years 1 to 9999") from None

    return Known(kind, value)


def _of_dates(kind: str, value: Callable[..., Any]) -> Known:
    return Known(lambda kinds: _of(kind, kinds, "date"), lambda values, kinds: value(*values))


def _last_day(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _absolute(values: Values, kinds: Kinds) -> Any:
    return checked(abs(values[0]), kinds[0])


def _positive_remainder(values: Values, kinds: Kinds) -> Any:
    remainder, both = _remainder(values, kinds), (kinds[0], kinds[1])
    return remainder if remainder >= 0 else calculate("%", remainder + values[1], values[1], both)


def _remainder(values: Values, kinds: Kinds) -> Any:
    return calculate("%", values[0], values[1], (kinds[0], kinds[1]))


def _rounded(round_: Callable[[Any], int]) -> Known:
    return Known(
        lambda kinds: _of("bigint", kinds, *INTEGERS, *FLOATING), lambda values, kinds: _to_bigint(round_, values[0])
    )


def _to_bigint(round_: Callable[[Any], int], value: Any) -> int:
    if isinstance(value, float) and not (math.isfinite(value) and abs(value) < 2**62):
        raise NotEvaluated(f"{value} as a whole number")
    return round_(value)


def _whole(kinds: Kinds) -> str:
    return max((_of(kind, [kind], *INTEGERS) for kind in kinds), key=lambda kind: INTEGERS[kind])


FUNCTIONS: dict[str, Known] = {
    **dict.fromkeys(("lower", "lcase"), _text(lambda text: _ascii(text, text.lower()))),
    **dict.fromkeys(("upper", "ucase"), _text(lambda text: _ascii(text, text.upper()))),
    "trim": _text(lambda text: text.strip(" ")),
    "ltrim": _text(lambda text: text.lstrip(" ")),
    "rtrim": _text(lambda text: text.rstrip(" ")),
    "left": _text(lambda text, n: text[: max(n, 0)]),
    "right": _text(lambda text, n: text[-n:] if n > 0 else ""),
    **dict.fromkeys(("substring", "substr"), _text(_substring)),
    "btrim": _of_text("string", lambda text, signs=" ": text.strip(signs)),
    "replace": _of_text("string", _replaced),
    "reverse": _of_text("string", lambda text: text[::-1]),
    "instr": _of_text("int", lambda text, part: text.find(part) + 1),
    "lpad": _pad(is_left=True),
    "rpad": _pad(is_left=False),
    "concat": _of_text("string", lambda *texts: "".join(texts)),
    **dict.fromkeys(("length", "char_length", "character_length"), _of_text("int", len)),
    "startswith": _of_text("boolean", str.startswith),
    "endswith": _of_text("boolean", str.endswith),
    "contains": _of_text("boolean", lambda text, part: part in text),
    "abs": Known(lambda kinds: _of(kinds[0], kinds, *INTEGERS, *FLOATING), _absolute),
    "mod": Known(_whole, _remainder),
    "pmod": Known(_whole, _positive_remainder),
    "floor": _rounded(math.floor),
    **dict.fromkeys(("ceil", "ceiling"), _rounded(math.ceil)),
    "year": _of_time(lambda time: time.year),
    "quarter": _of_time(lambda time: (time.month + 2) // 3),
    "month": _of_time(lambda time: time.month),
    **dict.fromkeys(("day", "dayofmonth"), _of_time(lambda time: time.day)),
    "dayofweek": _of_time(lambda time: time.isoweekday() % 7 + 1),
    "weekday": _of_time(lambda time: time.weekday()),
    "dayofyear": _of_time(lambda time: time.timetuple().tm_yday),
    "hour": _of_clock(lambda time: time.hour),
    "minute": _of_clock(lambda time: time.minute),
    "second": _of_clock(lambda time: time.second),
    "weekofyear": _of_time(lambda time: time.isocalendar().week),
    "date_trunc": Known(_truncated_kind, _truncated),
    "date_add": _days(1),
    "date_sub": _days(-1),
    **dict.fromkeys(("datediff", "date_diff"), _of_dates("int", lambda end, start: (end - start).days)),
    "unix_date": _of_dates("int", lambda day: (day - date(1970, 1, 1)).days),
    "last_day": _of_dates("date", _last_day),
    "unix_seconds": _since_1970(SECOND),
    "unix_millis": _since_1970(1000),
    "unix_micros": _since_1970(1),
    "timestamp_micros": Known(lambda kinds: _of("timestamp", kinds, *INTEGERS), lambda values, kinds: values[0]),
}
"""The functions of the allow-list that are known here and are null where an argument is, by their names in Spark."""


def known(name: str) -> Known:
    """A function. Raises NotEvaluated for one that only Spark knows."""
    if name not in FUNCTIONS:
        raise NotEvaluated(f"the function {name}")
    return FUNCTIONS[name]
