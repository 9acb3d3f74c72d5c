"""Rows of `current` and `panes` as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from windrow.view.table import table
from windrow.view.times import many, window

_OF_CURRENT = {"timing": "timing", "pane_index": "pane", "is_last": "last"}
_OF_PANES = {"change": "change", "timing": "timing", "trigger": "trigger", "pane_index": "pane"}


@dataclass(frozen=True)
class Shown:
    """Rows of a stage's table, in order: the last ones of `total`. `results` are the aggregates and derived columns."""

    stage: str
    keys: Sequence[str]
    results: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    total: int
    panes: bool = False

    def mappings(self) -> list[dict[str, Any]]:
        """The rows by column names; times with their offset."""
        return [{name: _zoned(value) for name, value in self._row(row).items()} for row in self.rows]

    def _row(self, row: tuple[Any, ...]) -> Mapping[str, Any]:
        return dict(zip(self.columns, row, strict=True))

    def text(self, width: int) -> str:
        """The rows as a table: key, window, results, and what a person wants to know of the pane."""
        fields = _OF_PANES if self.panes else _OF_CURRENT
        tick = ["tick"] if self.panes else []
        rows = []
        for values in map(self._row, self.rows):
            bounds = window(_zoned(values["window_start"]), _zoned(values["window_end"]))
            names = [*self.results, *fields]
            rows.append(
                [*(values[name] for name in (*tick, *self.keys)), bounds, *(_zoned(values[name]) for name in names)]
            )
        head = [*tick, *self.keys, "window", *self.results, *fields.values()]
        return f"{self._title()}\n{table(head, rows, width)}" if rows else self._title()

    def _title(self) -> str:
        of = f"{self.stage}/{'panes' if self.panes else 'current'}"
        if not self.rows:
            return f"{of}: no row"
        if len(self.rows) == self.total:
            return f"{of}: {many(self.total, 'row')}"
        return f"{of}: the last {len(self.rows):,} of {many(self.total, 'row')}"


def _zoned(value: Any) -> Any:
    """A time that Spark gave without its offset, in a session whose zone is UTC."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
