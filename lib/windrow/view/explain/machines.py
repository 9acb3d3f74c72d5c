"""The life of a window for machines: plain values, times in microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windrow.view.explain.life import Life


def mapping_of(life: Life) -> dict[str, Any]:
    """The life by the names of its fields, and of each element whether it came late."""
    found = {field.name: plain(getattr(life, field.name)) for field in fields(life)}
    for element, mapping in zip(life.elements, found["elements"], strict=True):
        mapping["is_late"] = element.is_late
    return found


def plain(value: Any) -> Any:
    """A value as JSON has it: a decimal as a text, so that no digit is lost."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value if value is None or isinstance(value, str | int | float) else str(value)
