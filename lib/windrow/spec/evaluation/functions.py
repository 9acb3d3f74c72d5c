"""The functions that are known in plain Python: what type each gives, and its value. None of them fails.

Those that look at no more arguments than they need (`if`, `coalesce`) are part of the evaluator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.spec.evaluation.arithmetic import calculate
from windrow.spec.evaluation.casts import moment_of
from windrow.spec.evaluation.kinds import FLOATING, INTEGERS, NotEvaluated, checked
from windrow.spec.times import SECOND

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
