"""The projections of a stage's journal: `panes`, `current`, `dead_letters` and `ticks`, for people and BI tools.

Each applies the journal's steps after its own, all of them in one write, and holds the step that it is made up to in
the same commit. So they may lag behind the journal and catch up, and be rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.compile.chain import Chain
from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.panes import WITHDRAWN, as_timestamp, current_columns, pane_rows
from windrow.compile.sql import Column, any_of, bigint, call, case, coalesce, col, null, quoted, when
from windrow.engine.frames import apply, group, over, where
from windrow.spec.times import MINUS_INFINITY
from windrow.store.control import Control
from windrow.store.journal import Journal
from windrow.store.location import Lake
from windrow.store.schemas import STAGE_DEAD_LETTERS, TICKS, ensure_table, struct_of
from windrow.store.steps import StepLog

NAMES = ("panes", "current", "dead_letters", "ticks")

AfterWrite = Callable[[str], None]


@dataclass(frozen=True)
class TickSummary:
    """What the rows of one tick hold, counted when it is projected."""

    panes: int = 0
    retractions: int = 0
    changed: int = 0
    late: int = 0
    closed: int = 0
    opened: int = 0
    ended: int = 0
    first_start: int | None = None
    last_start: int | None = None


@dataclass
class Projections:
    """The four tables of a stage. `merging` is a session of its own: a MERGE takes its step from session settings."""

    spark: SparkSession
    merging: SparkSession
    lake: Lake
    journal: Journal
    after_write: AfterWrite = lambda name: None
    _logs: dict[str, StepLog] = field(default_factory=dict)
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    _open_cells: int | None = None

    def __post_init__(self) -> None:
        stage = self.journal.stage.stage
        for name in NAMES:
            location = self.lake.table(stage.name, name)
            self._logs[name] = StepLog(location, f"windrow-{name}-{stage.name}")

    def prepare(self) -> None:
        """Make the tables that are not there, and find out how far each is."""
        panes = self._pane_rows(self.journal.empty(self.spark), {}).schema
        by_name = {f.name: f for f in panes.fields}
        current = StructType([by_name[name] for name in current_columns(self.journal.stage.stage)])
        schemas = {
            "panes": panes, "current": current,
            "dead_letters": struct_of(STAGE_DEAD_LETTERS), "ticks": struct_of(TICKS),
        }  # fmt: skip
        for name, log in self._logs.items():
            ensure_table(self.spark, log.location, schemas[name])
            commit = log.last(self.spark)
            self._places[name] = (0, 0) if commit is None else (commit.step, commit.notes["journal_step"])

    @property
    def place(self) -> int:
        """The tick that every table is made up to."""
        return min(place for _, place in self._places.values())

    def behind(self, tick: int) -> bool:
        """Whether any table is not made up to that tick."""
        return any(place < tick for _, place in self._places.values())

    def project(self, controls: Mapping[int, Control]) -> dict[int, TickSummary]:
        """Bring every table up to the newest of these ticks. The controls must hold every tick that is missing."""
        if not controls:
            return {}
        until = max(controls)
        after = self.place
        summaries = self._summaries(after, until)
        writers = {"panes": self._panes, "current": self._current, "dead_letters": self._dead, "ticks": self._ticks}
        lagging = [name for name in NAMES if self._places[name][1] < until]
        with ThreadPoolExecutor(len(NAMES)) as pool:
            futures = [pool.submit(self._write, name, writers[name], until, controls, summaries) for name in lagging]
            for future in futures:
                future.result()
        return summaries

    def _write(
        self,
        name: str,
        writer: Callable[..., None],
        until: int,
        controls: Mapping[int, Control],
        summaries: Mapping[int, TickSummary],
    ) -> None:
        step, place = self._places[name]
        theirs = {tick: control for tick, control in controls.items() if place < tick <= until}
        counted = {tick: summaries.get(tick, TickSummary()) for tick in theirs}
        notes = {"journal_step": until, "generation": self.journal.generation}
        writer(step + 1, theirs, counted, notes)
        self.after_write(name)

    def _appended(self, name: str, rows: DataFrame, step: int, notes: Mapping[str, int]) -> None:
        self._logs[name].append(rows, step, notes)
        self._places[name] = (step, notes["journal_step"])

    # ---------------------------------------------------------------- the tables

    def _panes(self, step: int, controls: _Controls, counted: _Counted, notes: Mapping[str, int]) -> None:
        if any(summary.panes or summary.retractions for summary in counted.values()):
            self._appended("panes", self._pane_rows(self._cells(self.spark, controls), controls), step, notes)
        else:
            self._skip("panes", notes)

    def _current(self, step: int, controls: _Controls, counted: _Counted, notes: Mapping[str, int]) -> None:
        """Insert what is new; where something that stands is changed or withdrawn, MERGE."""
        if not any(summary.panes or summary.retractions for summary in counted.values()):
            self._skip("current", notes)
            return
        columns = current_columns(self.journal.stage.stage)
        if not any(summary.changed for summary in counted.values()):
            rows = self._pane_rows(self._cells(self.spark, controls), controls).select(*map(quoted, columns))
            self._appended("current", rows, step, notes)
            return
        self._merge(self._newest_rows(controls), step, counted, notes)
        self._places["current"] = (step, notes["journal_step"])

    def _newest_rows(self, controls: _Controls) -> DataFrame:
        """The last change of each cell in these ticks."""
        cells = self._cells(self.merging, controls)
        last = group(
            cells,
            ("key", WINDOW_START, WINDOW_END),
            {"panes": call("max_by", _last_pane(), col("tick")), "tick": call("max", col("tick"))},
        )
        return self._pane_rows(last, controls)

    def _merge(self, rows: DataFrame, step: int, counted: _Counted, notes: Mapping[str, int]) -> None:
        stage, log, session = self.journal.stage.stage, self._logs["current"], self.merging
        identity = [*stage.keys, "window_start", "window_end"]
        same = " AND ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in identity)
        first = min((s.first_start for s in counted.values() if s.first_start is not None), default=None)
        last = max((s.last_start for s in counted.values() if s.last_start is not None), default=None)
        if first is not None and last is not None and first != MINUS_INFINITY:
            low, high = as_timestamp(bigint(first)).text, as_timestamp(bigint(last)).text
            same += f" AND t.window_start >= {low} AND t.window_start <= {high}"
        values: dict[str, Any] = {quoted(name): f"s.{quoted(name)}" for name in current_columns(stage)}
        gone = "s.change IN ('update_preimage', 'delete')"
        settings = {
            "spark.databricks.delta.write.txnAppId": log.app_id,
            "spark.databricks.delta.write.txnVersion": str(step),
            "spark.databricks.delta.commitInfo.userMetadata": log.metadata(step, notes),
        }
        for name, value in settings.items():
            session.conf.set(name, value)
        try:
            merge = log.location.table(session).alias("t").merge(rows.alias("s"), same)
            merge = merge.whenMatchedDelete(gone).whenMatchedUpdate(set=values)
            merge.whenNotMatchedInsert(f"NOT {gone}", values=values).execute()
        finally:
            for name in settings:
                session.conf.unset(name)
        log.verify(session, step)

    def _dead(self, step: int, controls: _Controls, counted: _Counted, notes: Mapping[str, int]) -> None:
        counts = [control.counts.get("bad_expression", 0) for control in controls.values()]
        if not any(counts) and not any(summary.late or summary.closed for summary in counted.values()):
            self._skip("dead_letters", notes)
            return
        rows = where(self._rows(self.spark, controls), col("kind") == "dead_letter")
        self._appended("dead_letters", apply(_dead_rows(over(rows)), rows), step, notes)

    def _ticks(self, step: int, controls: _Controls, counted: _Counted, notes: Mapping[str, int]) -> None:
        open_cells = self._open_before() if self._open_cells is None else self._open_cells
        rows = []
        for tick, control in sorted(controls.items()):
            open_cells += counted[tick].opened - counted[tick].ended
            rows.append(_tick_row(control, counted[tick], self.journal.generation, open_cells))
        schema = "tick bigint, generation int, kind string, watermark_before bigint, watermark bigint, now bigint, " + (
            ", ".join(f"{name} bigint" for name in _TICK_COUNTS)
        )
        frame = self.spark.createDataFrame(rows, schema, verifySchema=False)
        times = {name: as_timestamp(col(name)) for name in ("watermark_before", "watermark", "now")}
        self._appended("ticks", apply(over(frame).with_columns(times), frame), step, notes)
        self._open_cells = open_cells

    def _open_before(self) -> int:
        table = self._logs["ticks"].location.read(self.spark)
        row = group(table, (), {"open_cells": call("max_by", col("open_cells"), col("tick"))}).first()
        return 0 if row is None or row["open_cells"] is None else int(row["open_cells"])

    def _skip(self, name: str, notes: Mapping[str, int]) -> None:
        """Nothing of these ticks concerns the table; what is remembered of that ends with the process."""
        step, _ = self._places[name]
        self._places[name] = (step, notes["journal_step"])

    # ---------------------------------------------------------------- rows of the journal

    def _rows(self, spark: SparkSession, controls: _Controls) -> DataFrame:
        ticks = col("tick").between(bigint(min(controls)), bigint(max(controls)))
        return where(self.journal.location.read(spark), ticks)

    def _cells(self, spark: SparkSession, controls: _Controls) -> DataFrame:
        return where(self._rows(spark, controls), (col("kind") == "cell") & col("panes").is_not_null())

    def _pane_rows(self, cells: DataFrame, controls: _Controls) -> DataFrame:
        """Panes with the watermark and the processing time of their ticks."""
        clocks = [(tick, control.clock.watermark, control.clock.now) for tick, control in controls.items()]
        chain = over(cells)
        if len(clocks) <= 1:
            _, watermark, now = clocks[0] if clocks else (0, MINUS_INFINITY, 0)
            chain = chain.with_columns({"watermark": bigint(watermark), "now": bigint(now)})
        else:
            small = cells.sparkSession.createDataFrame(clocks, "tick bigint, watermark bigint, now bigint")
            cells = cells.join(small.hint("broadcast"), on="tick")
            chain = over(cells)
        return apply(pane_rows(self.journal.stage.stage, chain), cells)

    def _summaries(self, after: int, until: int) -> dict[int, TickSummary]:
        """Count the rows of the ticks after < tick <= until, in one pass."""
        rows = where(
            self.journal.location.read(self.spark),
            (col("tick") > bigint(after)) & (col("tick") <= bigint(until)) & (col("kind") != "control"),
        )
        panes, kind = col("panes"), col("kind")
        withdrawn = _size_of(panes, any_of(_change_is(change) for change in WITHDRAWN))
        total = coalesce(call("size", panes), 0)
        changed = _size_of(panes, Column("(pane.change <> 'insert')"))
        has_panes = panes.is_not_null()
        counts = group(
            rows,
            ("tick",),
            {
                "panes": _sum(when(has_panes, total - withdrawn, 0)),
                "retractions": _sum(when(has_panes, withdrawn, 0)),
                "changed": _sum(when(has_panes, changed, 0)),
                "late": _sum(when((kind == "dead_letter") & (col("dead", "reason") == "late"), 1, 0)),
                "closed": _sum(when((kind == "dead_letter") & (col("dead", "reason") == "closed"), 1, 0)),
                "opened": _sum(when(col("opened"), 1, 0)),
                "ended": _sum(when(col("expired"), 1, 0)),
                "first_start": call("min", when(has_panes, col(WINDOW_START))),
                "last_start": call("max", when(has_panes, col(WINDOW_START))),
            },
        )
        counted = (row.asDict() for row in counts.collect())
        return {row.pop("tick"): TickSummary(**row) for row in counted}


_Controls = Mapping[int, Control]
_Counted = Mapping[int, TickSummary]

_TICK_COUNTS = ("elements_read", "assigned", "unassigned", "filtered", "late", "closed", "rejected", "panes",
                "retractions", "open_cells", "duration_ms")  # fmt: skip


def _tick_row(control: Control, summary: TickSummary, generation: int, open_cells: int) -> tuple[object, ...]:
    counts = control.counts
    return (
        control.tick,
        generation,
        control.kind,
        control.watermark_before,
        control.clock.watermark,
        control.clock.now,
        counts.get("read", 0),
        counts.get("assigned", 0),
        counts.get("unassigned", 0),
        counts.get("filtered", 0),
        summary.late,
        summary.closed,
        counts.get("dead", 0) + counts.get("bad_expression", 0),
        summary.panes,
        summary.retractions,
        open_cells,
        control.duration_ms,
    )


def _dead_rows(rows: Chain) -> Chain:
    def dead(name: str) -> Column:
        return col("dead", name)

    return rows.select(
        {
            "reason": dead("reason"),
            "rule": case(
                (dead("reason") == "late", "the window had not expired when the element came"),
                (dead("reason") == "closed", "the trigger of the window had not finished"),
                otherwise="every expression of the stage can be evaluated on the row",
            ),
            "event_time": as_timestamp(dead("event_time")),
            "window_start": as_timestamp(col(WINDOW_START)),
            "window_end": as_timestamp(col(WINDOW_END)),
            "element": dead("element"),
            "source": dead("source"),
            "partition": dead("partition"),
            "offset": dead("offset"),
            "arrived_at": as_timestamp(dead("arrived_at")),
            "tick": col("tick"),
            "restated_by": null("bigint"),
        }
    )


def _last_pane() -> Column:
    """The last pane of a transition, as an array of one."""
    return call("slice", col("panes"), -1, 1)


def _size_of(panes: Column, condition: Column) -> Column:
    """The number of panes for which the condition over `pane` holds."""
    return Column(f"size(filter({panes.text}, pane -> {condition.text}))")


def _change_is(change: str) -> Column:
    return Column(f"(pane.change = '{change}')")


def _sum(column: Column) -> Column:
    return call("sum", column).cast("bigint")
