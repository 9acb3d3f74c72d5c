"""What type the texts of a column have, and what of them stands in the way of another one."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.view.init.guess import in_sql

_KINDS = {
    "bigint": r"^-?\d{1,18}$",
    "double": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    "boolean": r"^(?i:true|false)$",
}
"""Types of which all values of a column match the pattern, the first that fits."""
NUMBER = _KINDS["double"]
_LEADING_ZERO = r"^-?0\d"
_BY_THREE = {",": r"^[+-]?\d{1,3}(,\d{3})*$", ".": r"^[+-]?\d{1,3}(\.\d{3})*$"}
"""Numbers with a mark between thousands, and no fraction."""
_DECIMAL_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$"
_MOST = 0.9


class Kind(NamedTuple):
    """The type of a column, a note where somebody may have thought of another one, and how its texts become numbers."""

    kind: str
    note: str = ""
    number: str = ""


def kind_of(name: str, values: pa.ChunkedArray) -> Kind:
    """What a column of these texts is."""
    known = values.drop_null()
    if len(known) == 0:
        return Kind("string", "has no values")
    if _any(known, _LEADING_ZERO) and _all(known, _KINDS["bigint"]):
        return Kind("string", "some values begin with a zero, so it is read as text")
    for kind, pattern in _KINDS.items():
        if _all(known, pattern):
            return Kind(kind, _between_thousands(known) if kind == "double" else "")
    return _with_commas(name, known) or Kind("string", _others(known))


def _between_thousands(known: pa.ChunkedArray) -> str:
    every = _any(known, r"\.") and _all(known, _BY_THREE["."])
    return "read as fractions; where the point stands between thousands, make it a string" if every else ""


def _with_commas(name: str, known: pa.ChunkedArray) -> Kind | None:
    """A column of numbers with commas, and how they become numbers; None where it is none."""
    if not _any(known, ","):
        return None
    column = in_sql(name)
    if _all(known, _BY_THREE[","]):
        number = f"cast(replace({column}, ',', '') AS double)"
        return Kind("string", f"numbers with commas are text; if they stand between thousands: {number}")
    if _all(known, _DECIMAL_COMMA):
        plain = f"replace({column}, '.', '')" if _any(known, r"\.") else column
        number = f"cast(replace({plain}, ',', '.') AS double)"
        return Kind("string", f"numbers with a decimal comma are text; in expressions: {number}", number)
    return None


def _others(known: pa.ChunkedArray) -> str:
    """Which values are none of a type that nearly all have."""
    for kind, pattern in _KINDS.items():
        fits = pc.match_substring_regex(known, pattern)
        number = pc.sum(fits).as_py() or 0
        if number > _MOST * len(known):
            other, rest = known.filter(pc.invert(fits)), len(known) - number
            return f"{rest} of its values are no {kind}, for instance {other[0].as_py()!r}, so it is read as text"
    return ""


def _all(known: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(known, pattern)).as_py())


def _any(known: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(known, pattern)).as_py())
