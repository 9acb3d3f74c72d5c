"""Backfills of windows that merge: an interval may cut them, so it is widened until no window is cut.

The windows that take part are those which overlap the interval, recomputed or shown, and for each key all that overlap
them in turn. So an interval is made right whole, and what others begin is not left half.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, KEY, WINDOW_END, WINDOW_START
from windrow.compile.sql.columns import Column, any_of, bigint, call, coalesce, col, lit
from windrow.compile.windows.merging import SESSION, overlapping
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.publish.replacing import WAITS
from windrow.drivers.recompute.windows.unrestated import unrestated
from windrow.drivers.recompute.windows.values import batch_of
from windrow.engine.frames import apply, group, over, select, where, with_column
from windrow.engine.tick.published import Span, starts_in
from windrow.spec.errors import NotYet
from windrow.spec.times import MINUS_INFINITY, format_time

_REQUESTED, _OPEN = "_requested", "_open"


@dataclass(frozen=True)
class Widened:
    """Windows recomputed and shown, `key` and bounds beside other columns, around the spans that were requested.

    A window that ends behind `until` has not expired, and one that touches one of the `gaps` has not all of its panes;
    those that overlap such a window in turn wait with it. `waits` says which of the recomputed ones do in any case.
    """

    spans: tuple[Span, ...]
    until: int
    batch: DataFrame
    shown: DataFrame
    gaps: tuple[Span, ...] = ()
    waits: Column = field(default_factory=lambda: lit(False))

    def batch_part(self) -> DataFrame:
        """The recomputed windows that take part, with `waits`."""
        groups = self._groups(lit(False)).withColumnRenamed(_OPEN, WAITS)
        return self.batch.join(groups, on=list(CELL), how="inner")

    def shown_part(self) -> DataFrame:
        """The shown windows whose place the recomputed ones take, where these are no more than those that take part."""
        return self.shown.join(where(self._groups(lit(True)), ~col(_OPEN)).drop(_OPEN), on=list(CELL), how="left_semi")

    def first_open(self, expired_end: int) -> tuple[Span, list[bool]]:
        """A window that takes part and has not expired, if there is one, and which of the spans have such a window."""
        flags = {f"_{i}": self._overlaps((span,)) for i, span in enumerate(self.spans)}
        shown = self._rows(self.shown, lit(False), lit(False))
        rows = self._rows(self.batch, lit(False), self.waits).unionByName(shown)
        for name, overlaps in flags.items():
            rows = with_column(rows, name, overlaps)
        rows = with_column(rows, _OPEN, (col(WINDOW_END) > bigint(expired_end)) | self._overlaps(self.gaps))
        found = group(
            apply(overlapping(over(rows), False), rows),
            (KEY, SESSION),
            {
                **{name: call("bool_or", col(name)) for name in (*flags, _OPEN)},
                "last": call("max", call("struct", col(WINDOW_END), col(WINDOW_START))),
            },
        )
        open_ones = where(found, col(_OPEN) & any_of(map(col, flags)))
        totals = {name: coalesce(call("bool_or", col(name)), False) for name in flags}
        row = group(open_ones, (), {**totals, "last": call("max", col("last"))}).collect()[0]
        last = row["last"]
        span = (0, 0) if last is None else (last[WINDOW_START], last[WINDOW_END])
        return span, [row[name] for name in flags]

    def _groups(self, batch_takes_part: Column) -> DataFrame:
        """The windows, by `key` and bounds, that are in a group of which one was requested; whether one is open."""
        shown = self._rows(self.shown, lit(False), lit(False))
        rows = self._rows(self.batch, batch_takes_part, self.waits).unionByName(shown)
        waits = (col(WINDOW_END) > bigint(self.until)) | self._overlaps(self.gaps)
        rows = with_column(rows, _OPEN, col(_OPEN) | waits)
        ordered = apply(overlapping(over(rows), False), rows)
        for name in (_REQUESTED, _OPEN):
            ordered = with_column(ordered, name, Column(f"bool_or({name}) OVER (PARTITION BY {KEY}, {SESSION})"))
        return where(ordered, col(_REQUESTED)).select(*CELL, _OPEN).distinct()

    def _rows(self, windows: DataFrame, takes_part: Column, waits: Column) -> DataFrame:
        requested = takes_part | self._overlaps(self.spans)
        return select(windows, {**{name: col(name) for name in CELL}, _REQUESTED: requested, _OPEN: waits})

    @staticmethod
    def _overlaps(spans: tuple[Span, ...]) -> Column:
        return any_of((col(WINDOW_START) < bigint(end)) & (col(WINDOW_END) > bigint(start)) for start, end in spans)


def batch_over(item: StageWork, spans: tuple[Span, ...], rows: DataFrame) -> DataFrame:
    """All windows over raw rows. Rows that were late, or closed out, count where they are in the spans."""
    if item.runner.last is None:
        return batch_of(item, rows)
    letters = where(unrestated(item.runner), ~starts_in(spans, col(WINDOW_START)))
    return batch_of(item, rows, None if letters.isEmpty() else letters)


def open_window(stage: str, window: Span, expired_end: int, is_open: str = "is open") -> NotYet:
    """The error for a window that is not a backfill's."""
    hint = "take an earlier --to, or drain the stream"
    if expired_end != MINUS_INFINITY:
        hint = f"windows that end at or before {format_time(expired_end)} have expired; {hint}"
    bounds = f"[{format_time(window[0])}, {format_time(window[1])})"
    return NotYet(f"stages.{stage}", f"window {bounds} {is_open} in the stream, which owns it", None, hint)
