"""All runs of a pipeline, read from the audits."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.reports.history import history_of
from windrow.drivers.inspect.reports.outcome import Findings, outcome_of, span_of, stage_figures
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateResult
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import BEGIN, STREAM_RUN, Audits, Recorded
from windrow.store.journal.outcomes import OUTCOME
from windrow.store.reading.tables import Tables
from windrow.view.reports.index import Index, RunLine
from windrow.view.reports.parts import StageFigures

MOST = 200
"""Runs on the page, the newest."""


def index_in(tables: Tables, pipeline: Pipeline) -> Index:
    """The newest runs, as these tables tell of them."""
    audits = Audits.of(Lake.of(pipeline.lake))
    newest = {run: at for run, at in audits.runs(tables).items() if run != STREAM_RUN}
    shown = list(newest)[:MOST]
    rows: dict[str, list[Recorded]] = {run: [] for run in shown}
    for row in audits.recorded(tables, rows):
        rows[row.run].append(row)
    return Index(pipeline.pipeline, clock_micros(), [_line(run, rows[run]) for run in shown], len(newest))


def _line(run: str, rows: Sequence[Recorded]) -> RunLine:
    begun = max((row.at for row in rows if row.step == BEGIN), default=0)
    own = [row for row in rows if row.at >= begun and row.step != OUTCOME]
    found: Findings = {(row.step, row.subject): row.result for row in own}
    gates = [GateResult.from_mapping(result) for (step, _), result in found.items() if step == "gate"]
    state, outcome = outcome_of(found, gates, history_of(rows))
    (start, end), figures = span_of(found.values()), stage_figures(found)
    read = [int(result["read"]) for (step, _), result in found.items() if step == "rows" and "read" in result]
    return RunLine(
        run, start, end, own[0].at, own[-1].at - own[0].at, state, outcome,
        max(read, default=None), *(_sum(figures, name) for name in ("windows", "inserted", "changed", "retracted")),
    )  # fmt: skip


def _sum(figures: Sequence[StageFigures], name: str) -> int | None:
    numbers = [number for one in figures if (number := getattr(one, name)) is not None]
    return sum(numbers) if numbers else None
