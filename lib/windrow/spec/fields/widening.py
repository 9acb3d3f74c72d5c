"""Types that hold every value of another one, exactly, so that a column may change from the one to the other.

Sources: "Type widening" of the Delta protocol, whose changes these are, and `Cast.canUpCast` of Spark, which has a date
become a timestamp too. A bigint may not become a double, which would round it.
"""

from __future__ import annotations

import re

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""The whole numbers, from the narrowest, with the digits that the greatest of each has."""
_WHOLE = tuple(_DIGITS)
_OTHERS = {
    "float": ("double",),
    "date": ("timestamp", "timestamp_ntz"),
    **dict.fromkeys(("tinyint", "smallint", "int"), ("double",)),
}
_DECIMAL = re.compile(r"\bdecimal\b(?:\((\d+)(?:,(\d+))?\))?")


_SAME = {"long": "bigint", "integer": "int", "byte": "tinyint", "short": "smallint", "real": "float"}
_SAID = re.compile(rf"\b(?:{'|'.join(_SAME)})\b")


def plain_type(kind: str) -> str:
    """A type in one text, whoever wrote it: `Decimal(10, 2)` is `decimal(10,2)`, `array<long>` is `array<bigint>`."""
    plain = re.sub(r"\s*([<>:,()])\s*", r"\1", kind.strip().lower())
    plain = _SAID.sub(lambda match: _SAME[match[0]], plain)
    return _DECIMAL.sub(lambda match: f"decimal({match[1] or 10},{match[2] or 0})", plain)


def is_whole(kind: str) -> bool:
    """Whether the values of a type are whole numbers of up to 64 bits."""
    return kind in _DIGITS


def widens(before: str, after: str) -> bool:
    """Whether a column may change from the one type to the other: that is another one, and holds all values of it."""
    before, after = plain_type(before), plain_type(after)
    if before == after:
        return False
    if is_whole(before) and is_whole(after):
        return _WHOLE.index(before) < _WHOLE.index(after)
    return after in _OTHERS.get(before, ()) or _fits_in_decimal(before, after)


def wider_than(kind: str) -> str:
    """The types that a column of a type may change to, as a hint says them; nothing where there is none."""
    kind = plain_type(kind)
    named = [other for other in ("smallint", "int", "bigint", "double", "timestamp", "timestamp_ntz")
             if widens(kind, other)]  # fmt: skip
    return " or ".join([*named, *(["a wider decimal"] if kind in _DIGITS or _DECIMAL.fullmatch(kind) else [])])


def _fits_in_decimal(before: str, after: str) -> bool:
    """Whether a decimal has as many digits as another type, in front of the point and behind it."""
    has, needs = _digits(after) if _DECIMAL.fullmatch(after) else None, _digits(before)
    return has is not None and needs is not None and has[0] >= needs[0] and has[1] >= needs[1]


def _digits(kind: str) -> tuple[int, int] | None:
    """The digits in front of the point and behind it; None for what has no such number of them."""
    if kind in _DIGITS:
        return _DIGITS[kind], 0
    match = _DECIMAL.fullmatch(kind)
    return None if match is None else (int(match[1]) - int(match[2]), int(match[2]))
