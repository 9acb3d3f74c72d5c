"""The functions and constants that the model knows, by sqlglot's nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from tests.model.arithmetic import checked
from tests.model.types import INTEGERS
from windrow.spec.fields.reading import Named
from windrow.spec.times import micros_of

INTERVAL = "interval"


def is_literal(node: exp.Expression) -> bool:
    """Whether the node is a constant; a number may have a minus in front, which is part of it."""
    if isinstance(node, exp.Neg):
        return isinstance(node.this, exp.Literal) and not node.this.is_string
    return isinstance(node, exp.Literal | exp.Interval)


def literal(node: exp.Expression) -> Any:
    """The value of a constant."""
    if isinstance(node, exp.Interval):
        return timedelta(**{f"{node.args['unit'].name.lower()}s": int(node.name)})
    kind, text = literal_type(node), _text(node)
    if kind == "string":
        return text
    if kind == "double":
        return float(text)
    return int(text) if kind in INTEGERS else Decimal(text)


def literal_type(node: exp.Expression) -> str:
    """Its type: a number with a point is a decimal, one with an exponent a double."""
    if isinstance(node, exp.Interval):
        return INTERVAL
    text = _text(node).lower()
    if isinstance(node, exp.Literal) and node.is_string:
        return "string"
    if "e" in text:
        return "double"
    if "." in text:
        return decimal_of(text)
    kinds = (
        kind for kind in ("int", "bigint") if -(2 ** (INTEGERS[kind] - 1)) <= int(text) < 2 ** (INTEGERS[kind] - 1)
    )
    return next(kinds, decimal_of(text))


def _text(node: exp.Expression) -> str:
    return f"-{node.this.this}" if isinstance(node, exp.Neg) else str(node.this)


def decimal_of(text: str) -> str:
    """The smallest decimal type of a number."""
    whole, _, fraction = text.lstrip("-").partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    return f"decimal({max(digits, 1)}, {len(fraction)})"


def tight(node: exp.Expression, kind: str) -> str:
    """The type of an operand beside a decimal: that of a whole literal is a decimal of just its digits."""
    if is_literal(node) and kind in INTEGERS:
        return decimal_of(_text(node))
    return kind


def arguments(node: exp.Expression) -> list[exp.Expression]:
    """The arguments of a call, in order."""
    if isinstance(node, exp.Struct):
        return [field.expression for field in node.expressions]
    found = [node.this, node.args.get("expression"), node.args.get("replacement"), *node.expressions]
    return [argument for argument in found if isinstance(argument, exp.Expression)]


def result_type(node: exp.Expression, kinds: Sequence[str]) -> str:
    """The type of a call over arguments of these types."""
    if isinstance(node, exp.Abs | exp.Nullif):
        return kinds[0]
    if isinstance(node, exp.Length):
        return "int"
    if isinstance(node, exp.Lower | exp.Upper | exp.Trim | exp.Concat | exp.DPipe | exp.Replace):
        return "string"
    if isinstance(node, exp.UnixMicros):
        return "bigint"
    if isinstance(node, exp.Struct):
        fields = zip(names_of(node), kinds, strict=True)
        return f"struct<{', '.join(f'{name}: {kind}' for name, kind in fields)}>"
    raise NotImplementedError(node.sql(dialect="spark"))


def names_of(node: exp.Struct) -> list[str]:
    """The names of the fields of a struct, in order."""
    return [str(field.this.name) for field in node.expressions]


def call(node: exp.Expression, values: Sequence[Any], kinds: Sequence[str]) -> Any:
    """The value of a call: null if any argument is, but for a struct."""
    if isinstance(node, exp.Nullif):
        return None if values[0] == values[1] else values[0]
    if isinstance(node, exp.Struct):
        return Named(zip(names_of(node), values, strict=True))
    if None in values:
        return None
    match node:
        case exp.Abs():
            return checked(abs(values[0]), kinds[0])
        case exp.Length():
            return len(values[0])
        case exp.Lower():
            return values[0].lower()
        case exp.Upper():
            return values[0].upper()
        case exp.Trim():
            return values[0].strip(" ")
        case exp.Replace():
            return values[0].replace(*values[1:])
        case exp.Concat() | exp.DPipe():
            return "".join(values)
        case exp.UnixMicros():
            return micros_of(values[0])
    raise NotImplementedError(node.sql(dialect="spark"))


def like(text: str | None, pattern: str | None) -> bool | None:
    """SQL's `like`: % is any text, _ any one character, a backslash takes the next one as it is."""
    if text is None or pattern is None:
        return None
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    regex = "".join({"%": ".*", "_": "."}.get(part, re.escape(part.removeprefix("\\"))) for part in parts)
    return re.fullmatch(regex, text, re.DOTALL) is not None
