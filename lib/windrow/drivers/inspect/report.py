"""What a report says, read from the audits and the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

from windrow.compile.panes.panes import TIMINGS
from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.look import look
from windrow.drivers.inspect.reports.arrival import arrivals_of
from windrow.drivers.inspect.reports.changed import changed_windows
from windrow.drivers.inspect.reports.days import over_days_of
from windrow.drivers.inspect.reports.history import read_history
from windrow.drivers.inspect.reports.outcome import in_windows, outcome_of, span_of, stage_figures, waiting_lines
from windrow.drivers.inspect.status.status import status_in
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.loading import suites_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import QUALITY_TABLE
from windrow.spec.quality.broken_rows import MOST
from windrow.spec.quality.judgements import GateResult
from windrow.spec.times import DAY, HOUR, instant
from windrow.store.delta.location import Lake, Location
from windrow.store.journal.audits import LAND, STREAM_RUN, Audits, Found
from windrow.store.reading.tables import NUMBER, Condition, Groups, LakeTable, Tables
from windrow.view.report import Balance, Chart, Part, Rejected, Report, page
from windrow.view.reports.arrival import WIDTHS
from windrow.view.reports.parts import REASONS, State
from windrow.view.status import SourceStatus, StageStatus
from windrow.view.text.bars import Bars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BARS = 48
"""The most bars of a chart."""
LAST = "last"
"""In place of a run's name: the run that has recorded something last."""


@dataclass(frozen=True)
class _Reader:
    tables: Tables
    pipeline: Pipeline
    lake: Lake

    @classmethod
    def of(cls, pipeline: Pipeline, tables: Tables) -> _Reader:
        return cls(tables, pipeline, Lake.of(pipeline.lake))

    def audits(self, run: str) -> dict[tuple[str, str], Found]:
        return Audits.of(self.lake).read_run(self.tables, run)

    def last_run(self) -> str | None:
        return Audits.of(self.lake).last_run(self.tables, but=STREAM_RUN)

    def charts(self, start: int | None, end: int | None) -> list[Chart]:
        """The panes of every stage by timing, over windows that start in [start, end)."""
        charts = []
        for stage in self.pipeline.stages:
            table = None if stage.window.IS_GLOBAL else self.tables.open(self.lake.table(stage.name, "panes"))
            bars = {} if table is None else _bars(table, start, end)
            if bars:
                charts.append(Chart(stage.name, Bars(TIMINGS, bars)))
        return charts

    def rejected(self) -> list[Rejected]:
        """The rules that have rejected most rows, by file, of all that has landed."""
        found = []
        for source in self.pipeline.sources:
            letters = self.tables.open(self.lake.table(source.name, "dead_letters"))
            if letters is not None:
                groups = letters.groups(Groups(by=("rule", "offset")), Condition("reason", "=", "rejected"))
                most = sorted(groups.to_pylist(), key=lambda row: -row[NUMBER])[:MOST]
                found += [Rejected(source.name, row["rule"], _file_of(row["offset"]), row[NUMBER]) for row in most]
        return found

    def late_rows(self) -> int:
        """Rows that were late for a window, or closed out of it, and that no backfill has counted."""
        number = 0
        for stage in self.pipeline.stages:
            letters = self.tables.open(self.lake.table(stage.name, "dead_letters"))
            groups = [] if letters is None else letters.groups(Groups(by=("reason", "restated_by"))).to_pylist()
            waits = [row for row in groups if row["reason"] in ("late", "closed") and row["restated_by"] is None]
            number += sum(row[NUMBER] for row in waits)
        return number

    def paths(self) -> dict[str, str]:
        """The tables that people read, and where they are."""
        paths = {name: location.path for name, location in self._tables().items()}
        return {name: path if "://" in path else f"file://{path}" for name, path in paths.items()}

    def versions(self) -> dict[str, int]:
        """The versions of these tables in Delta, of those that are there."""
        found = {name: self.tables.open(location) for name, location in self._tables().items()}
        return {name: table.version() for name, table in found.items() if table is not None}

    def _tables(self) -> dict[str, Location]:
        owned: list[tuple[str, tuple[str, ...]]]
        owned = [(source.name, ("landings", "dead_letters")) for source in self.pipeline.sources]
        owned += [(stage.name, ("current", "panes", "dead_letters", "ticks")) for stage in self.pipeline.stages]
        found = {f"{owner}.{name}": self.lake.table(owner, name) for owner, names in owned for name in names}
        return found | ({QUALITY_TABLE: self.lake.quality_results} if suites_of(self.pipeline) else {})


def _file_of(offset: str) -> str | None:
    """The file of a dead letter; None where its offset is a number of a log."""
    return None if offset.isdigit() else unquote(offset)


def _bars(panes: LakeTable, start: int | None, end: int | None) -> dict[int, dict[str, int]]:
    """The panes that were emitted, by timing and by the start of their windows, in so wide steps as there is room."""
    conditions = [Condition("weight", ">", 0), Condition("window_start", "is known")]
    if start is not None and end is not None:
        conditions += [Condition("window_start", ">=", start), Condition("window_start", "<", end)]
    found = panes.groups(Groups(by=("window_start", "timing")), *conditions).to_pylist()
    if not found:
        return {}
    first, last = (bound(row["window_start"] for row in found) for bound in (min, max))
    width = next((width for width in WIDTHS if (last - first) // width < BARS), WIDTHS[-1])
    bars: dict[int, dict[str, int]] = {at: {} for at in range(first - first % width, last + 1, width)}
    for row in found:
        bar = bars[row["window_start"] - row["window_start"] % width]
        bar[row["timing"]] = bar.get(row["timing"], 0) + row[NUMBER]
    return bars


def report(
    pipeline: Pipeline,
    spark: SparkSession | None = None,
    run: str | None = None,
    start: datetime | str | int | None = None,
    end: datetime | str | int | None = None,
) -> str:
    """What a backfill's run did, or the stream, as the text of one HTML page that needs no network.

    Without `run` it is the page of the stream, over [start, end), or its last day. Times are datetimes, text in ISO
    8601, or microseconds. The tables are read by `deltalake`; the session is for a lake that it cannot read. Raises
    SpecError for a run that is not known.
    """
    first, last = (None if time is None else instant("start", time) for time in (start, end))
    return page(look(pipeline, spark, lambda tables: report_in(tables, pipeline, run, first, last)))


def report_in(tables: Tables, pipeline: Pipeline, run: str | None, start: int | None, end: int | None) -> Report:
    """The report as these tables tell it; of the stream without `run`."""
    if run in (None, STREAM_RUN):
        return report_of_stream(tables, pipeline, start, end)
    return report_of_run(tables, pipeline, run, start, end)


def report_of_run(tables: Tables, pipeline: Pipeline, run: str, start: int | None, end: int | None) -> Report:
    """The report of one run of a backfill over its windows, or those that start in [start, end). Errors: SpecError."""
    reader = _Reader.of(pipeline, tables)
    run = reader.last_run() or run if run == LAST else run
    found = reader.audits(run)
    if not found:
        raise SpecError("--run", "has left nothing in this lake", run, _last_run(reader))
    if start is None or end is None:
        start, end = span_of(found.values())
    gates = [GateResult.from_mapping(result) for (step, _), result in found.items() if step == "gate"]
    history = read_history(reader.tables, reader.lake, run)
    state, outcome = outcome_of(found, gates, history)
    published = {subject: result for (step, subject), result in found.items() if step == "publish"}
    names = ("windows", "inserted", "changed", "retracted")
    facts = {name: sum(int(result[name]) for result in published.values()) for name in names} if published else {}
    return Report(
        pipeline=pipeline.pipeline, run=run, start=start, end=end, made_at=clock_micros(),
        outcome=outcome, is_good=state.tone == "good", facts=facts,
        balances=[*_landed(found), *in_windows(found)], rejected=_rejected(found), gates=gates,
        charts=reader.charts(start, end), tables=reader.paths(), state=state,
        waiting=waiting_lines(found, history), stages=stage_figures(found),
        changed=changed_windows(tables, pipeline, found),
        arrivals=arrivals_of(tables, pipeline, start, end), over_days=over_days_of(tables, pipeline, start, end),
        steps=history.steps, attempts=history.attempts,
        versions=reader.versions(),
    )  # fmt: skip


def report_of_stream(tables: Tables, pipeline: Pipeline, start: int | None, end: int | None) -> Report:
    """The report of the stream: all rows since its beginning, and the panes of [start, end), or of its last day."""
    reader = _Reader.of(pipeline, tables)
    sources, stages = status_in(tables, pipeline)
    if start is None or end is None:
        latest = max((s.greatest_event_time for s in sources if s.greatest_event_time is not None), default=None)
        start, end = (
            (None, None) if latest is None else (latest // HOUR * HOUR + HOUR - DAY, latest // HOUR * HOUR + HOUR)
        )
    judged = reader.audits(STREAM_RUN)
    late = {"late rows to restate": number} if (number := reader.late_rows()) else {}
    gates = [GateResult.from_mapping(judged["gate", name]) for name in suites_of(pipeline) if ("gate", name) in judged]
    stopping = [gate.subject for gate in gates if gate.stops]
    waiting = [name for name in stopping if judged["gate", name].get("is_new")]
    outcome = f"Stopped by the gate of {', '.join(stopping)}." if stopping else _progress(stages)
    if waiting:
        outcome = f"A new generation is stopped by the gate of {', '.join(waiting)}: the tables show the one before."
    return Report(
        pipeline=pipeline.pipeline, run=STREAM_RUN, start=start, end=end, made_at=clock_micros(),
        outcome=outcome, is_good=not stopping,
        facts={"rows landed": sum(s.rows for s in sources), "windows shown": sum(s.shown for s in stages), **late},
        balances=[*map(_of_source, sources), *(balance for s in stages for balance in _of_stage(s))],
        rejected=reader.rejected(), gates=gates,
        charts=reader.charts(start, end), tables=reader.paths(), state=State.STOPPED if stopping else State.RUNNING,
        generations={s.stage: s.generation for s in stages if s.stage in waiting and s.generation is not None},
        arrivals=arrivals_of(tables, pipeline, start, end), over_days=over_days_of(tables, pipeline, start, end),
        versions=reader.versions(),
    )  # fmt: skip


def _last_run(reader: _Reader) -> str | None:
    last = reader.last_run()
    return None if last is None else f"the last one is {last}"


def _progress(stages: Iterable[StageStatus]) -> str:
    behind = [f"{s.stage} is {s.batches_behind} landing batches behind" for s in stages if s.batches_behind]
    return f"Running: {'; '.join(behind)}." if behind else "Everything that has landed is in the tables."


def _landed(found: Mapping[tuple[str, str], Found]) -> list[Balance]:
    """What the run has landed, by verdict."""
    balances = []
    for (step, subject), result in found.items():
        if step == LAND and result["rows"]:
            rows: dict[str, int] = result["rows"]
            parts = [Part(reason or "good", number, REASONS.get(reason, "")) for reason, number in sorted(rows.items())]
            balances.append(Balance(subject, "rows that this run has landed", int(result["read"]), parts))
    return balances


def _rejected(found: Mapping[tuple[str, str], Found]) -> list[Rejected]:
    """What rules have rejected of the rows that the run has landed."""
    landed = {subject: result.get("rejected", ()) for (step, subject), result in found.items() if step == LAND}
    return [Rejected(source, **one) for source, rejected in landed.items() for one in rejected]


def _of_source(source: SourceStatus) -> Balance:
    parts = [Part(reason, number, REASONS.get(reason, "")) for reason, number in source.dead.items()]
    good = Part("good", source.rows - sum(source.dead.values()), REASONS[""])
    return Balance(source.source, "all rows that have landed", source.rows, [good, *parts])


def _of_stage(stage: StageStatus) -> list[Balance]:
    """Its rows, and then the pairs of row and window, as late and closed are about pairs."""
    dead = [Part(reason, number) for reason, number in stage.dead.items()]
    rows = [
        Part("in windows", stage.in_windows),
        Part("filtered", stage.filtered),
        Part("unassigned", stage.unassigned),
    ]
    pairs = [
        Part("aggregated", stage.aggregated), Part("late", stage.late, REASONS["late"]),
        Part("closed", stage.closed, REASONS["closed"]),
    ]  # fmt: skip
    behind = [Part("not read yet", stage.rows_behind)] if stage.rows_behind else []
    what = "panes that it reads" if stage.reads_a_stage else "rows that have landed"
    return [
        Balance(stage.stage, what, stage.in_raw + stage.rows_behind, [*rows, *dead, *behind]),
        Balance(
            stage.stage,
            "pairs of row and window",
            stage.assigned,
            [p for p in pairs if p.number or p.name == "aggregated"],
        ),
    ]
