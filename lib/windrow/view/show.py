"""Rows of `current` and `panes` as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from windrow.spec.times import format_time
from windrow.view.notebook.rows import rows_html
from windrow.view.text.table import table
from windrow.view.text.times import many, window

TIMES = frozenset({"window_start", "window_end", "event_time", "watermark", "produced_at"})
_OF_CURRENT = {"timing": "timing", "pane_index": "pane", "is_last": "last"}
_OF_PANES = {"change": "change", "timing": "timing", "trigger": "trigger", "pane_index": "pane"}


@dataclass(frozen=True)
class Shown:
    """Rows of a stage's table, in order: the last ones of `total`. `results` are the aggregates and derived columns.

    The columns TIMES are microseconds: a window may begin before the years that Python's times know, or end behind.
    """

    stage: str
    keys: Sequence[str]
    results: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    total: int
    panes: bool = False

    def mappings(self) -> list[dict[str, Any]]:
        """The rows by column names; times with their offset, or as texts where Python has none for them."""
        return [
            {name: _time(value) if name in TIMES else _zoned(value) for name, value in self._row(row).items()}
            for row in self.rows
        ]

    def _row(self, row: tuple[Any, ...]) -> Mapping[str, Any]:
        return dict(zip(self.columns, row, strict=True))

    def text(self, width: int) -> str:
        """The rows as a table: key, window, results, and what a person wants to know of the pane."""
        head, rows = self._grid()
        return f"{self._title()}\n{table(head, rows, width)}" if rows else self._title()

    def _repr_html_(self) -> str:
        return rows_html(self._title(), *self._grid())

    def _grid(self) -> tuple[list[str], list[list[Any]]]:
        """The head and the rows of the table."""
        fields = _OF_PANES if self.panes else _OF_CURRENT
        tick = ["tick"] if self.panes else []
        rows = []
        for values in map(self._row, self.rows):
            bounds = window(values["window_start"], values["window_end"])
            names = [*self.results, *fields]
            rows.append(
                [*(values[name] for name in (*tick, *self.keys)), bounds, *(_zoned(values[name]) for name in names)]
            )
        return [*tick, *self.keys, "window", *self.results, *fields.values()], rows

    def _title(self) -> str:
        of = f"{self.stage}/{'panes' if self.panes else 'current'}"
        if not self.rows:
            return f"{of}: no row"
        if len(self.rows) == self.total:
            return f"{of}: {many(self.total, 'row')}"
        return f"{of}: the last {len(self.rows):,} of {many(self.total, 'row')}"


def _time(micros: int | None) -> datetime | str | None:
    if micros is None:
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    except OverflowError:
        return format_time(micros)


def _zoned(value: Any) -> Any:
    """A time that Spark gave without its offset, in a session whose zone is UTC."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
