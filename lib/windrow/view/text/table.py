"""Rows as a table for a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from windrow.view.text.times import moment


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> str:
    """The rows under their columns, numbers to the right, times in UTC, `-` for null; long texts are wrapped."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        justify: Literal["left", "right"] = "right" if has_numbers(rows, number) else "left"
        grid.add_column(name, justify=justify, overflow="fold")
    for row in rows:
        grid.add_row(*[Text(cell(value)) for value in row])
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(grid)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def cell(value: Any) -> str:
    """A value as people read it."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case datetime():
            return moment(value)
        case float():
            return f"{value:.6g}"
        case list() | tuple():
            return f"[{', '.join(cell(item) for item in value)}]"
        case _:
            return str(value)


def has_numbers(rows: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether all values of a column are numbers, but for null."""
    values = [row[column] for row in rows if row[column] is not None]
    return bool(values) and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
