"""Constants of expressions as values, with their types."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from windrow.spec.evaluation.casts import cast
from windrow.spec.evaluation.kinds import INTEGERS, NotEvaluated
from windrow.spec.expressions.tree import Literal, Tree

_WORDS: dict[str, tuple[str, Any]] = {
    "null": ("void", None), "true": ("boolean", True), "false": ("boolean", False)
}  # fmt: skip


def literal(tree: Literal) -> tuple[str, Any]:
    """The type and the value of a constant: the digits of a number decide its type. Raises NotEvaluated."""
    if tree.sql in _WORDS:
        return _WORDS[tree.sql]
    if isinstance(tree.value, str):
        return "string", tree.value
    kind, _, text = tree.sql.partition(" ")
    match kind:
        case "date":
            return "date", date.fromisoformat(text.strip("'"))
        case "timestamp":
            written = text.strip("'")
            whole = f"{written}:00" if len(written) == len("2024-01-31 10:00") else written
            return "timestamp", cast(whole, "string", "timestamp")
        case "interval":
            number, unit = text.split(" ")
            if unit in ("month", "year"):
                raise NotEvaluated(tree.sql)
            return "interval", timedelta(**{f"{unit}s": int(number)})
    return _number(tree.sql)


def _number(text: str) -> tuple[str, Any]:
    if "E" in text:
        return "double", float(text)
    if "." in text:
        return decimal_kind(text), Decimal(text)
    value = int(text)
    for kind in ("int", "bigint"):
        if -(2 ** (INTEGERS[kind] - 1)) <= value < 2 ** (INTEGERS[kind] - 1):
            return kind, value
    return decimal_kind(text), Decimal(text)


def decimal_kind(text: str) -> str:
    """The smallest type of decimals that has a number."""
    whole, _, fraction = text.lstrip("-").partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    return f"decimal({max(digits, 1)},{len(fraction)})"


def tight(tree: Tree, kind: str) -> str:
    """The type of an operand beside a decimal: a whole constant is a decimal of just its digits."""
    return decimal_kind(tree.sql) if isinstance(tree, Literal) and kind in INTEGERS else kind
