"""The runs of a pipeline's jobs, from what their steps have recorded, and those of its stream, from its ticks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from windrow.drivers.inspect.lineage.jobs import job_of, table_of
from windrow.drivers.inspect.reports.history import RunHistory, history_of
from windrow.drivers.inspect.reports.outcome import outcome_of, span_of, stages_of
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.judgements import GateResult
from windrow.spec.stages.stage import Stage
from windrow.spec.times import parse_time
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import BEGIN, STREAM_RUN, Audits, Found, Recorded
from windrow.store.journal.outcomes import OUTCOME
from windrow.store.reading.tables import Tables
from windrow.view.lineage.events import Run, RunState, Values, run_event
from windrow.view.reports.parts import State

LAST, ALL = "last", "all"
"""In place of a run's name: the one that has recorded something last, and every run with the stream."""

_STATES = {
    State.STOPPED: RunState.FAIL, State.PUBLISHED: RunState.COMPLETE, State.UNCHANGED: RunState.COMPLETE,
}  # fmt: skip
"""How a run has ended; one that waits, or is not finished, may go on."""


def run_events(tables: Tables, pipeline: Pipeline, run: str, namespace: str) -> list[Values]:
    """The events of a run by its name, of the `last`, of the `stream`, or of `all`, in the order of time.

    Of each stage a START, and how the run stands: RUNNING, COMPLETE or FAIL. Told again, they have the same ids. Raises
    SpecError for a run that has left nothing.
    """
    audits = Audits.of(Lake.of(pipeline.lake))
    known = [name for name in audits.runs(tables) if name != STREAM_RUN]
    wanted = {LAST: known[:1], STREAM_RUN: [], ALL: known}.get(run, [run] if run in known else None)
    if wanted is None or (run == LAST and not known):
        hint = f"the last one is {known[0]}" if known else None
        raise SpecError("--run", "has left nothing in this lake", run, hint)
    events = [event for name in wanted for event in _of_run(audits.recorded(tables, {name}), pipeline, namespace)]
    if run in (STREAM_RUN, ALL):
        events += [event for stage in pipeline.stages for event in _of_stream(tables, pipeline, stage, namespace)]
    return sorted(events, key=lambda event: parse_time(event["eventTime"]))


def _of_run(rows: Sequence[Recorded], pipeline: Pipeline, namespace: str) -> Iterator[Values]:
    begun = max((row.at for row in rows if row.step == BEGIN), default=0)
    steps = [row for row in rows if row.at >= begun and row.step != OUTCOME]
    found = {(row.step, row.subject): row.result for row in steps}
    if not steps:
        return
    gates = [GateResult.from_mapping(result) for (step, _), result in found.items() if step == "gate"]
    history: RunHistory = history_of(rows)
    state, message = outcome_of(found, gates, history)
    windows = _span(found)
    for name in stages_of(found):
        stage = next((one for one in pipeline.stages if one.name == name), None)
        if stage is None:  # the pipeline file has it no more
            continue
        job = job_of(pipeline, stage, is_stream=False)
        lake, run = Lake.of(pipeline.lake).root, steps[0].run
        yield run_event(job, Run(run, RunState.START, steps[0].at, windows=windows), lake, namespace)
        ended = _STATES.get(state, RunState.RUNNING)
        published = found.get(("publish", name), {})
        rows_of = {table_of(pipeline, stage, "current"): _written(published)} if published else {}
        said = message if ended is RunState.FAIL else ""
        yield run_event(job, Run(run, ended, steps[-1].at, said, windows, rows_of), lake, namespace)


def _span(found: Mapping[tuple[str, str], Found]) -> tuple[int, int] | None:
    spans = [result for result in found.values() if "start" in result and "end" in result]
    return span_of(spans) if spans else None


def _written(published: Found) -> int:
    return int(published["inserted"]) + int(published["changed"])


def _of_stream(tables: Tables, pipeline: Pipeline, stage: Stage, namespace: str) -> Iterator[Values]:
    """That of the newest generation: it began with its first tick, and runs."""
    lake = Lake.of(pipeline.lake)
    table = tables.open(lake.table(stage.name, "ticks"))
    columns = ("generation", "kind", "tick", "now", "panes")
    rows = [] if table is None else [row for batch in table.rows(columns) for row in batch.to_pylist()]
    newest = max((row["generation"] for row in rows), default=0)
    ticks = [row for row in rows if row["generation"] == newest and row["now"] is not None and row["kind"] == "stream"]
    if not ticks:
        return
    job, run = job_of(pipeline, stage), f"stream, generation {newest}"
    shown: dict[Any, int] = {table_of(pipeline, stage, "panes"): sum(row["panes"] or 0 for row in ticks)}
    first, last = min(row["now"] for row in ticks), max(row["now"] for row in ticks)
    yield run_event(job, Run(run, RunState.START, first), lake.root, namespace)
    yield run_event(job, Run(run, RunState.RUNNING, last, rows=shown), lake.root, namespace)
