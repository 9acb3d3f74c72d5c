"""`windrow simulate`: several specifications of a stage over one history, in the order in which it arrived.

Rule: docs/simulate.md. Nothing is written to the lake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession

from windrow.drivers.simulate.clocks import clock_table, times_of
from windrow.drivers.simulate.duck import connection, load_ticks
from windrow.drivers.simulate.lives import Lives
from windrow.drivers.simulate.measures import Measured, measure
from windrow.drivers.simulate.order import ByArrival, ByLanding, Order, span_of
from windrow.drivers.simulate.pareto import front_of
from windrow.drivers.simulate.shared import Shared, Span
from windrow.drivers.simulate.shown import COLUMNS, ROWS, shown_of
from windrow.drivers.simulate.suggest import Search
from windrow.drivers.spark.lakes import lake_session
from windrow.spec.errors import NotInThisVersion
from windrow.spec.fields.kinds import POSITIVE_DURATION
from windrow.spec.fields.reading import located
from windrow.spec.fields.typed import DurationLike
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.simulation.trials import Trial, fields_of, trials_of
from windrow.spec.simulation.wishes import Wish, wishes_of
from windrow.spec.sources.source import Source
from windrow.spec.stages.inputs import ONLY
from windrow.spec.times import HOUR, MINUTE, SECOND, instant
from windrow.store.delta.location import Lake
from windrow.view.simulate.findings import AGES, Arrival, Findings, Shown, Simulation, Suggestion

Wished = Sequence[tuple[Wish, Trial | None]]
"""What was wished for, and the trial that gives it."""


def simulate(
    pipeline: Pipeline,
    spark: SparkSession,
    stage: str,
    tried: Sequence[str | Mapping[str, Any]] = (),
    every: DurationLike | None = 10 * MINUTE,
    start: datetime | str | int | None = None,
    end: datetime | str | int | None = None,
    suggest: Iterable[str] = (),
) -> Simulation:
    """What a stage, and each of the specifications that are tried, would have shown over the history it has.

    `tried` are the fields that differ, as a mapping or as YAML: `{"watermark": {"bounded_delay": "30m"}}`. Rows are
    taken in the order of their arrival, with a tick `every` so often; None is for a tick for each landing batch. The
    windows that start in [start, end) are measured. `suggest` is searched for: `complete=99%`, `latency=30m`,
    `first=5m`. Nothing is written.

    Errors: SpecError for what is wrong or cannot be simulated; NeedsDuckDB where DuckDB is not installed.
    """
    order = ByLanding() if every is None else ByArrival(located("every", POSITIVE_DURATION.accept, every))
    first = None if start is None else instant("start", start)
    last = None if end is None else instant("end", end)
    return _simulated(pipeline, spark, stage, tried, order, (first, last), wishes_of(suggest))


def _simulated(
    pipeline: Pipeline,
    spark: SparkSession,
    stage: str,
    tried: Sequence[str | Mapping[str, Any]],
    order: Order,
    span: Span,
    wishes: Sequence[Wish],
) -> Simulation:
    source = _source(pipeline, stage)
    trials = trials_of(pipeline.stage(stage), source, tried)
    duck, session = connection(), lake_session(spark, Lake.of(pipeline.lake))
    with Shared.read(session, pipeline, source, trials, order, span, duck) as shared:
        until = min(shared.expired_end(trial) for trial in trials)
        wished, until = _suggested(shared, trials[0], wishes, until)
        measured = Measured(until)
        every = _apart([*trials, *[trial for _, trial in wished if trial is not None]])
        ticks = shared.of(trials[0]).ticks
        frame = shared.history.frame(shared.window_of(trials[0])) if len(ticks) > 1 else None
        lived = [_lived(shared, trial, measured, frame) for trial in every]
        findings = {found.name: found for found, _ in lived}
        first, last = span_of(ticks)
        return Simulation(
            pipeline=pipeline.pipeline,
            stage=stage,
            rows=shared.rows,
            ticks=len(ticks),
            first=first,
            last=last,
            unmeasured=measured.number(duck, shared.of(trials[0]).schema)[1],
            order=order.words,
            arrivals=_arrivals(shared, trials, measured),
            findings=[*findings.values()],
            suggestions=[_suggestion(wish, trial, every, findings, trials[0]) for wish, trial in wished],
            warnings=_warnings(shared, trials[0], findings[trials[0].name]),
            front=front_of(findings.values()),
            shown=[shown for _, shown in lived if shown is not None],
            density=None if frame is None else shared.history.density(frame, COLUMNS, ROWS),
        )


def _source(pipeline: Pipeline, stage: str) -> Source:
    """The source that a stage reads. Errors: SpecError for a stage that reads a stage, or several inputs."""
    upstreams = pipeline.upstreams_of(pipeline.stage(stage))
    read = upstreams.get(ONLY)
    if not isinstance(read, Source):
        rule = "is not simulated in this version: it does not read one source alone"
        raise NotInThisVersion(f"stages.{stage}.from", rule, ", ".join(one.name for one in upstreams.values()))
    return read


def _suggested(shared: Shared, trial: Trial, wishes: Sequence[Wish], until: int) -> tuple[Wished, int]:
    """The trials that give what is wished for, and until when windows end that have expired for these too."""
    touches = shared.of(trial)
    while True:
        search = Search(shared.duck, touches.schema, trial, touches.ticks, until)
        wished = [(wish, search.found(wish)) for wish in wishes]
        found = [one for _, one in wished if one is not None]
        for one in found:
            shared.adopt(one, trial)
        ends = min([until, *map(shared.expired_end, found)])
        if ends == until:
            return wished, until
        until = ends  # of fewer windows, so that something else may be enough


def _apart(trials: Iterable[Trial]) -> list[Trial]:
    """The trials without those that say the same as one before."""
    found: list[Trial] = []
    for trial in trials:
        if not any(trial.says_the_same(one) for one in found):
            found.append(trial)
    return found


def _lived(
    shared: Shared, trial: Trial, measured: Measured, frame: tuple[int, int] | None
) -> tuple[Findings, Shown | None]:
    """The findings of a trial, and what it showed in a frame: its cells live through the ticks."""
    own, touches, name = shared.own_ticks(trial), shared.of(trial), "trial"
    times = list(times_of(trial.stage, trial.watermark, touches.ticks))
    table = clock_table(own, times)
    load_ticks(shared.duck, name, table)
    lives = Lives(shared.duck, name, touches.schema, own, tuple(table.column_names[2:]))
    found = measure(lives, measured, trial.name, shared.rows, lives.live())
    shown = None if frame is None else shown_of(lives, trial.name, times, frame)
    shared.duck.execute(f"DROP SCHEMA {name} CASCADE")
    return found, shown


def _suggestion(
    wish: Wish, trial: Trial | None, every: Sequence[Trial], findings: Mapping[str, Findings], before: Trial
) -> Suggestion:
    if trial is None:
        return Suggestion(str(wish), None, None)
    same = next(one for one in every if one.says_the_same(trial))
    return Suggestion(str(wish), findings[same.name], fields_of(trial, before))


def _arrivals(shared: Shared, trials: Sequence[Trial], measured: Measured) -> list[tuple[str, Arrival]]:
    """How elements arrived, for each kind of windows."""
    found: dict[str, Arrival] = {}
    for trial in trials:
        words, touches = trial.stage.window.words(), shared.of(trial)
        if words in found:
            continue
        micros = [age * SECOND for age in AGES]
        pairs, arrived = shared.history.arrivals(touches.stage, micros, shared.span, measured.until)
        shares = [(age, one / pairs) for age, one in zip(AGES, arrived, strict=True)] if pairs else []
        windows, _ = measured.number(shared.duck, touches.schema)
        found[words] = Arrival(pairs, windows, shares, measured.complete_by_age(shared.duck, touches.schema))
    return [*found.items()]


def _warnings(shared: Shared, trial: Trial, findings: Findings) -> list[str]:
    """What makes the figures say less than they seem to."""
    found, ticks = [], shared.of(trial).ticks
    earliest = [one.statistics.earliest for one in ticks if one.statistics.earliest is not None]
    latest = [one.statistics.latest for one in ticks if one.statistics.latest is not None]
    first, last = span_of(ticks)
    if latest and max(latest) - min(earliest) > 10 * max(last - first, HOUR):
        found.append(
            "the rows arrived within much less time than they had happened in, so the order of their arrival is not "
            "known, and latencies say nothing. Give the source an arrival_time if a column has it"
        )
    if not findings.windows:
        found.append("no window has expired for every specification that is tried: a longer history has some")
    return found
