"""Keys as texts: for which values of a key a text on the command line stands.

It stands for the value that Spark writes so (`cast(key AS string)`), and for one that may be written in that way too: 1
for 1.0, a time in ISO 8601. A text that is no value of the key's type stands for none.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite, isnan
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.drivers.inspect.show.wanted import NULL
from windrow.spec.errors import SpecError
from windrow.spec.times import parse_time


def stands_for(text: str, key: pc.Expression, kind: pa.DataType) -> pc.Expression:
    """Whether a text stands for the key, of a type that has no fields or elements."""
    if text == NULL:
        return key.is_null()
    try:
        value = pa.scalar(parse_time(text)).cast(kind) if pa.types.is_timestamp(kind) else pa.scalar(text).cast(kind)
    except (SpecError, pa.ArrowInvalid, pa.ArrowNotImplementedError, OverflowError):
        return pc.scalar(False)
    is_number = not pa.types.is_floating(kind) or not isnan(value.as_py())
    return key == value if is_number else pc.is_nan(key)


def texts_of(kind: pa.DataType) -> Callable[[Any], str]:
    """What gives the text of values of a type as Spark writes it, for types with fields or elements."""
    if pa.types.is_struct(kind):
        fields = [(field.name, texts_of(field.type)) for field in kind]
        return _or_null(lambda value: f"{{{', '.join(text(value[name]) for name, text in fields)}}}")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = texts_of(kind.value_type)
        return _or_null(lambda value: f"[{', '.join(map(element, value))}]")
    if pa.types.is_map(kind):
        key, item = texts_of(kind.key_type), texts_of(kind.item_type)
        return _or_null(lambda value: f"{{{', '.join(f'{key(k)} -> {item(v)}' for k, v in value)}}}")
    return _or_null(_text)


def _or_null(text: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: NULL if value is None else text(value)


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _of_float(value)
        case datetime():
            plain = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            whole = plain.isoformat(" ")
            return whole.rstrip("0") if "." in whole else whole
        case bytes():
            return value.decode("utf-8", "replace")
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


def _of_float(value: float) -> str:
    """As Java writes it: 0.001, 1.0E7."""
    if not isfinite(value):
        return "NaN" if isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{Decimal(repr(value)):f}" if "e" in repr(value) else repr(value)
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, digits)).rstrip("0") or "0"
    rest = figures[1:] or "0"
    return f"{'-' if sign else ''}{figures[0]}.{rest}E{len(digits) - 1 + exponent}"
