"""Constants: a number, a text, a time or a length of time, read by Spark's rules and written again.

Spark reads the clock where a constant text that says `now` or `today` meets a time, so these words are refused, and a
constant time must be a real one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from math import isinf

from windrow.spec.errors import SpecError
from windrow.spec.expressions.tree import Literal

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|0[0-9]|.)|''|\"\"", re.DOTALL)
_SIMPLE = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "0": "\0",
    "%": "\\%",
    "_": "\\_",
    "\\": "\\",
    "'": "'",
    '"': '"',
}
_WRITTEN = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_READS_THE_CLOCK = re.compile(r"[\s\x00-\x1f]*(now|today|tomorrow|yesterday)\s*\S*\s*", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_UNITS = ("year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")


def number(source: str) -> Literal:
    """A whole number, a decimal or, with an exponent, a double; as Spark reads it, the digits decide its type."""
    text = ("0" + source if source.startswith(".") else source).upper()
    if "E" in text:
        if isinf(float(text)):
            raise SpecError("", f"must not have {source}, which no double can hold")
        return Literal(text)
    if len(text.replace(".", "")) > 38:
        raise SpecError("", "must not have a number of more than 38 digits")
    return Literal(text, None if "." in text else int(text))


def string(source: str) -> Literal:
    """A text in single or double quotes, with its escapes read as Spark does; one that Spark would drop is an error."""
    value = _ESCAPE.sub(_unescaped(source[0]), source[1:-1])
    if _READS_THE_CLOCK.fullmatch(value):
        hint = "as a time Spark reads it from the clock; compare with a column or timestamp '2024-01-01 00:00:00'"
        raise SpecError("", f"must not have the text {source}", hint=hint)
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise SpecError("", "must not have half a character in a text", hint="write \\UXXXXXXXX")
    return text_literal(value)


def _unescaped(quote: str) -> Callable[[re.Match[str]], str]:
    def letter(match: re.Match[str]) -> str:
        escape = match.group(1)
        if escape is None:  # a doubled quote is one quote, and two quotes of the other kind are two
            return quote if match.group() == quote * 2 else match.group()
        if escape[0] in "uU" and len(escape) > 1:
            return chr(_code_point(escape))
        if escape not in _SIMPLE:
            hint = f"a backslash itself is written twice: \\\\{escape}" if escape.isprintable() else None
            raise SpecError("", f"has an escape that Spark would drop: \\{escape}", hint=hint)
        return _SIMPLE[escape]

    return letter


def _code_point(escape: str) -> int:
    code = int(escape[1:], 16)
    if code > 0x10FFFF:
        raise SpecError("", f"has an escape that is no character: \\{escape}")
    return code


def text_literal(value: str) -> Literal:
    """The text as Spark's constant, from which Spark reads exactly this text."""
    written = "".join(_WRITTEN.get(letter) or _visible(letter) for letter in value)
    return Literal("'" + written.replace("${", "\\u0024{") + "'", value)  # `${` would be replaced inside quotes too


def _visible(letter: str) -> str:
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def typed_time(kind: str, source: str) -> Literal:
    """`date '2024-01-31'` or `timestamp '2024-01-31 10:00:00'`, in UTC where it has no offset."""
    value = source[1:-1]
    matched = _TIME.fullmatch(value)
    try:
        if matched is None or (kind == "date" and matched.group(1)):
            raise ValueError
        (date if kind == "date" else datetime).fromisoformat(value)
    except ValueError:
        example = "date '2024-01-31'" if kind == "date" else "timestamp '2024-01-31 10:00:00'"
        raise SpecError("", f"has a {kind} that cannot be read: {source}", hint=f"for instance {example}") from None
    return Literal(f"{kind} '{value}'")


def interval(sign: str, size: str, unit: str) -> Literal:
    """`interval 3 hour`: a whole number, with or without quotes, of one unit. Months and years have no fixed length."""
    digits = size.strip("'\"")
    name = unit.lower().removesuffix("s")
    if not re.fullmatch("-?[0-9]{1,9}", digits) or name not in _UNITS:
        hint = f"interval 3 hour; the units are {', '.join(_UNITS)}; a column of that name is written in backticks"
        raise SpecError("", "must have a whole number and a unit after `interval`", hint=hint)
    return Literal(f"interval {-int(digits) if sign else int(digits)} {name}")
