"""The windows for which a stage has rows that were late, or closed out, and that no backfill has counted."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.panes.log_rows import END, START
from windrow.compile.sql.columns import Column, bigint, call, col
from windrow.engine.frames import group, select, where, with_column
from windrow.engine.tick.published import Made, Span
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.store.delta.location import Lake
from windrow.store.projections.dead_letters import Restated, not_restated

_ALL = (Made(MINUS_INFINITY, INFINITY),)


@dataclass(frozen=True)
class Late:
    """Neighbouring windows: they start in `starts`, `first` is the bounds of the first, `end` the greatest end.

    `rows` counts pairs of row and window, `windows` those that have some.
    """

    starts: Span
    first: Span
    end: int
    rows: int
    windows: int


@dataclass(frozen=True)
class LateWindows:
    """One row for each window that has late rows, whatever the key: bounds in microseconds and the number of rows."""

    frame: DataFrame
    late_span: int = 0
    """How far behind these windows the last one starts for which such a row was late too."""

    @classmethod
    def of(
        cls, spark: SparkSession, lake: Lake, stage: str, quarantined_files: tuple[str, ...], late_span: int
    ) -> LateWindows:
        """From the table of a stage; the rows of `quarantined_files` do not count."""
        letters = lake.table(stage, "dead_letters").read(spark)
        late = select(
            where(letters, not_restated(Restated(_ALL, quarantined_files=quarantined_files))),
            {WINDOW_START: START, WINDOW_END: END},
        )
        return cls(group(late, (WINDOW_START, WINDOW_END), {"late": call("count", 1)}), late_span)

    def expired(self, expired_end: int) -> list[Late]:
        """The windows that end by then, with all within `late_span`. Those that overlap or touch are put together.

        So a wide gap between late windows stays one, and what lies in it is not recomputed. Only the groups are
        collected.
        """
        ends = Column(f"max({col(WINDOW_END).text}) OVER (ORDER BY {_ORDER} ROWS {_BEFORE} AND 1 PRECEDING)")
        rows = with_column(where(self.frame, self._have_expired(expired_end)), "before", ends)
        begins = Column(f"CASE WHEN {(col(WINDOW_START) <= col('before')).text} THEN 0 ELSE 1 END")
        numbers = Column(f"sum({begins.text}) OVER (ORDER BY {_ORDER} ROWS {_BEFORE} AND CURRENT ROW)")
        groups = group(with_column(rows, "number", numbers), ("number",), _COUNTS).collect()
        return sorted(map(self._late, groups), key=lambda late: late.starts)

    def waiting(self, expired_end: int) -> list[Late]:
        """All the others as one, if there are any."""
        rows = group(where(self.frame, ~self._have_expired(expired_end)), (), _COUNTS).collect()
        return [self._late(row) for row in rows if row["first"] is not None]

    def _have_expired(self, expired_end: int) -> Column:
        return col(WINDOW_END) <= bigint(saturating_add(expired_end, -self.late_span))

    def _late(self, row: Row) -> Late:
        first = (row["first"][WINDOW_START], row["first"][WINDOW_END])
        starts = (first[0], min(INFINITY, row["last"] + self.late_span + 1))
        return Late(starts, first, saturating_add(row["end"], self.late_span), row["late"], row["windows"])


_ORDER = f"{col(WINDOW_START).text}, {col(WINDOW_END).text}"
_BEFORE = "BETWEEN UNBOUNDED PRECEDING"
_COUNTS = {
    "first": call("min", call("struct", col(WINDOW_START), col(WINDOW_END))),
    "last": call("max", col(WINDOW_START)),
    "end": call("max", col(WINDOW_END)),
    "late": call("sum", col("late")),
    "windows": call("count", 1),
}
