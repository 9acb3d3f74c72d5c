"""Cells of windows that records make, among which are those of the records themselves.

Rule: docs/semantics.md#record-windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.compile.cells.cell import CellColumns
from windrow.compile.columns import ELEMENTS
from windrow.compile.sql.columns import Column, Value, null

RECORD = "record"
"""What is known of the records of a key at one time. Such a cell has no length."""


@dataclass(frozen=True)
class RecordCells(CellColumns):
    """A cell of a window has no `RECORD`; one of records has nothing else."""

    @property
    def own_fields(self) -> Mapping[str, tuple[str, Value]]:
        return {RECORD: (self.record_type, None)}

    @property
    def record_type(self) -> str:
        """The Spark type of what is known of the records of a key at one time."""
        parts = "".join(f", `{name}`: {self.part_types[name]}" for name in self.tick_parts)
        return f"struct<`{ELEMENTS}`: bigint, `_since`: bigint{parts}>"

    def own_after(self) -> Mapping[str, Column]:
        return {RECORD: null(self.record_type)}
