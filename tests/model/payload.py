"""The row of an element as compact JSON: what its size is by default. Columns that are null are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.model.types import decimal_parts
from tests.model.values import rounded


def compact_json(columns: Mapping[str, Any], schema: Mapping[str, str]) -> str:
    """The columns in the order of their schema, without any blank."""
    fields = [(name, columns.get(name)) for name in schema]
    return "{" + ",".join(f"{_text(n)}:{_value(value, schema[n])}" for n, value in fields if value is not None) + "}"


def _value(value: Any, kind: str) -> str:
    parts = decimal_parts(kind)
    if parts:
        return str(rounded(Decimal(value), parts[1]))
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return _text(value)
        case list():
            inner = kind.removeprefix("array<").removesuffix(">")
            return "[" + ",".join("null" if one is None else _value(one, inner) for one in value) + "]"
    raise NotImplementedError(f"{type(value).__name__} as JSON")


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """A number as Java writes it: with an exponent from 10^7 on and below 10^-3."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, exponent = f"{Decimal(repr(value)):E}".split("E")
    mantissa = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"
