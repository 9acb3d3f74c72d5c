"""Rows of a table as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windrow.view.templates import template
from windrow.view.text.table import cell, has_numbers


def rows_html(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The rows under their title and columns, as the terminal shows them: numbers to the right, `-` for null."""
    head = [(name, has_numbers(rows, number)) for number, name in enumerate(columns)]
    return template("rows.html").render(title=title, head=head, rows=[[cell(value) for value in row] for row in rows])
