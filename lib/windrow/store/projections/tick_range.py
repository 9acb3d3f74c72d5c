"""The ticks that a projection has yet to apply, and the rows of the journal that they left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.panes.panes import pane_rows
from windrow.compile.sql.columns import Column, bigint, call, changing, col, lit, when
from windrow.engine.frames import apply, group, literals, over, where
from windrow.engine.tick.counters import NAMES, NOTHING, Counters
from windrow.spec.times import MINUS_INFINITY
from windrow.store.journal.control import Control
from windrow.store.journal.journal import Journal


@dataclass(frozen=True)
class TickSummary:
    """What one tick counted, and what its rows hold, as it is found when it is projected."""

    counters: Counters = NOTHING
    changed: int = 0
    opened: int = 0
    ended: int = 0
    outgrown: int = 0
    first_start: int | None = None
    last_start: int | None = None


@dataclass(frozen=True)
class TickRange:
    """Ticks that one write applies: their control rows and what each of them counted.

    `fresh` says that the table holds nothing, or another generation, so that the write puts it in place of all.
    """

    journal: Journal
    controls: Mapping[int, Control]
    counted: Mapping[int, TickSummary]
    fresh: bool

    @property
    def until(self) -> int:
        return max(self.controls)

    @property
    def has_panes(self) -> bool:
        return any(one.counters.panes or one.counters.retractions for one in self.counted.values())

    @property
    def has_letters(self) -> bool:
        return any(one.counters.dead_letters for one in self.counted.values())

    def rows(self, spark: SparkSession, kind: str) -> DataFrame:
        """The rows of that kind which the ticks left."""
        return self.journal.rows(spark, min(self.controls) - 1, self.until, kind)

    def cells(self, spark: SparkSession) -> DataFrame:
        """The transitions that emitted something."""
        return where(self.rows(spark, "cell"), col("panes").is_not_null())

    def pane_rows(self, cells: DataFrame) -> DataFrame:
        """The panes of transitions, with the watermark and the processing time of their ticks."""
        clocks = [
            {"tick": tick, "watermark": control.clock.watermark, "now": control.clock.now}
            for tick, control in self.controls.items()
        ]
        if len(clocks) == 1:
            chain = over(cells).with_columns({name: changing(clocks[0][name]) for name in ("watermark", "now")})
        else:
            rows = [{name: bigint(value) for name, value in clock.items()} for clock in clocks]
            cells = cells.join(literals(cells.sparkSession, rows).hint("broadcast"), on="tick")
            chain = over(cells)
        return apply(pane_rows(self.journal.stage.shown, chain), cells)


def summaries(
    spark: SparkSession, journal: Journal, after: int, controls: Mapping[int, Control]
) -> dict[int, TickSummary]:
    """What each of these ticks counted, with what its rows hold, which are counted here in one pass.

    They are all ticks behind `after` up to the last of them.
    """
    rows = journal.rows(spark, after, max(controls), "cell", "dead_letter")
    panes, kind = col("panes"), col("kind")
    total, has_panes = call("size", panes), panes.is_not_null()
    withdrawn = total - call("size", call("array_remove", col("panes", "weight"), -1))
    changed = call("size", call("array_remove", col("panes", "change"), "insert"))
    counts = group(
        rows,
        ("tick",),
        {
            "panes": _sum(when(has_panes, total - withdrawn, 0)),
            "retractions": _sum(when(has_panes, withdrawn, 0)),
            "changed": _sum(when(has_panes, changed, 0)),
            "closed": _sum(when((kind == "dead_letter") & (col("dead_letter", "reason") == "closed"), 1, 0)),
            "opened": _sum(when(col("opened"), 1, 0)),
            "ended": _sum(when(col("expired"), 1, 0)),
            "outgrown": _sum(when(_is_outgrown(journal), 1, 0)),
            "first_start": call("min", when(has_panes, col(WINDOW_START))),
            "last_start": call("max", when(has_panes, col(WINDOW_START))),
        },
    )
    found = {row["tick"]: row.asDict() for row in counts.collect()}
    return {tick: _summary(control.counters, found.get(tick, {})) for tick, control in controls.items()}


def _summary(known: Counters, rows: Mapping[str, Any]) -> TickSummary:
    others = {name: rows[name] for name in rows if name not in ("tick", *NAMES)}
    return TickSummary(known + Counters.of(rows), **others)


def _is_outgrown(journal: Journal) -> Column:
    """Whether a session has become longer than its stage says that they are."""
    most = journal.stage.stage.window.expected_length
    return lit(False) if most is None else col("opened") & (col(WINDOW_END) - col(WINDOW_START) > bigint(most))


def bounds(counted: Mapping[int, TickSummary]) -> tuple[int, int] | None:
    """The first and last start of the windows that the ticks concern; None without one, or for the global window."""
    first = min((s.first_start for s in counted.values() if s.first_start is not None), default=None)
    last = max((s.last_start for s in counted.values() if s.last_start is not None), default=None)
    return None if first is None or last is None or first == MINUS_INFINITY else (first, last)


def _sum(column: Column) -> Column:
    return call("sum", column).cast("bigint")
