"""How many windows are open where cells are slices of window time, from which windows are formed as they fire.

Rule: docs/semantics.md#windows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa  # type: ignore[import-untyped]

from windrow.compile.panes.log_rows import CELLS
from windrow.engine.tick.published import Made
from windrow.spec.stages.keys import LogColumn
from windrow.spec.times import MINUS_INFINITY
from windrow.spec.windows.base import WindowFunction
from windrow.store.reading.tables import NUMBER, Condition, Groups, LakeTable

Bounds = tuple[int, int]

_START, _END = "window_start", "window_end"


@dataclass(frozen=True)
class OpenWindows:
    """The windows that have not expired, but for those that batches have published."""

    window: WindowFunction
    expired_end: int
    published: tuple[Made, ...]
    keys: tuple[str, ...]

    def over(self, snapshot: LakeTable | None, snapshot_tick: int, journal: LakeTable) -> int:
        """How many windows of keys there are over the slices of a snapshot and of the journal behind it."""
        slices = Groups(by=(*self.keys, _START, _END))
        tail = (Condition(LogColumn.KIND, "=", CELLS), Condition("tick", ">", snapshot_tick))
        parts = [journal.groups(slices, *tail, Condition(LogColumn.STATE, "is known"))]
        if snapshot is not None:
            parts.append(snapshot.groups(slices))
        return self.number(pa.concat_tables([part.drop_columns([NUMBER]) for part in parts], promote_options="default"))

    def number(self, slices: pa.Table) -> int:
        """How many there are over slices: `window_start`, `window_end`, and the columns of their keys, in any order.

        A window is an interval: what it shares with an earlier slice of its key it shares with the one right before.
        """
        keys = [name for name in slices.column_names if name not in (_START, _END)]
        return sum(times * self._behind(*pair) for pair, times in Counter(_pairs(slices, keys)).items())

    def _behind(self, before: Bounds | None, bounds: Bounds) -> int:
        """How many open windows a slice is in, but not the one before it of its key."""
        after = MINUS_INFINITY if before is None else before[0] + 1
        windows = self.window.windows_over(*bounds)
        return sum(start >= after and self._is_open(start, end) for start, end in windows)

    def _is_open(self, start: int, end: int) -> bool:
        return end > self.expired_end and not any(made.has(start, end) for made in self.published)


def _pairs(slices: pa.Table, keys: list[str]) -> Iterator[tuple[Bounds | None, Bounds]]:
    """Each slice of each key once, with the one before it."""
    whole = slices.group_by([*keys, _START, _END]).aggregate([])
    if not keys:  # Arrow makes lists of groups only
        bounds = [(whole[_START].to_pylist(), whole[_END].to_pylist())]
    else:
        by_key = whole.group_by(keys).aggregate([(_START, "list"), (_END, "list")])
        bounds = [*zip(by_key[f"{_START}_list"].to_pylist(), by_key[f"{_END}_list"].to_pylist(), strict=True)]
    for starts, ends in bounds:
        yield from pairwise([None, *sorted(zip(starts, ends, strict=True))])
