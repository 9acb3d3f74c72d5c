"""Whole histories as frames: what `windrow.panes` is given, as a pipeline with all rows of its sources.

A frame without a source of its own is said as one, so that its rows are checked and judged as rows that land.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from pyspark.sql import DataFrame

from windrow.compile.elements.envelope import ENVELOPE, OFFSET, PARTITION, RAW
from windrow.compile.elements.evolution import with_defaults
from windrow.compile.sql.columns import Column, col, lit, null
from windrow.engine.frames import select, struct_of
from windrow.sources.verdicts import landed
from windrow.spec.errors import SpecError
from windrow.spec.fields.reading import Named, located
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.loading import suites_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.expectations import Expectation
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source
from windrow.spec.sources.time_columns import TimeColumn
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.graph import reads_of
from windrow.spec.stages.stage import Stage
from windrow.spec.times import LATEST_EVENT_TIME

T = TypeVar("T")

Frames = DataFrame | Mapping[str, DataFrame]
"""The rows of the only source, or those of each by its name."""
TimeOf = TimeColumn | str
"""The column of an event time; a name stands for a column of timestamps."""
TimesOf = TimeOf | Mapping[str, TimeOf]
"""That of all frames, or of each by its name."""
WeightsOf = str | Mapping[str, str]
"""The column of the weights of all frames, or of each by its name."""

FRAME = "frame"
"""The name of the only source, where no stage gives it one."""


@dataclass(frozen=True)
class History:
    """A pipeline, and all rows of its sources by their names. `rules` are those of their suites that judge a row."""

    pipeline: Pipeline
    frames: Mapping[str, DataFrame]
    rules: Mapping[str, tuple[Expectation, ...]] = field(default_factory=dict)

    def rows(self, source: Source) -> DataFrame:
        """The rows of a source with their envelope, as they land; when they do is known only where they say it.

        Those of a table `raw` have landed, and keep their verdicts.
        """
        frame = self.frames[source.name]
        if _has_landed(frame):
            return frame.select(*ENVELOPE, *source.columns)
        known = {name.lower() for name in frame.columns}
        beside = {name: null(kind) for name, kind in source.columns.items() if name not in source.schema}
        added: dict[str, Column] = {OFFSET: lit(""), RAW: null("string"), PARTITION: null("string"), **beside}
        missing = {name: column for name, column in added.items() if name.lower() not in known}
        rows = select(frame, {**{name: col(name) for name in frame.columns}, **missing})
        found = landed(source, rows, 0, LATEST_EVENT_TIME, tuple(self.rules.get(source.name, ())))
        return select(found, with_defaults(source.schema, source.defaults, found.columns)) if source.defaults else found


def of_pipeline(pipeline: Pipeline, frames: Frames) -> History:
    """The history of a pipeline's sources. Errors: SpecError where frames and sources do not fit."""
    given = frames if isinstance(frames, Mapping) else {pipeline.sources[0].name: frames}
    names = [source.name for source in pipeline.sources]
    if sorted(given) != sorted(names):
        raise SpecError("frames", "must be one for each source", ", ".join(given), f"the sources: {', '.join(names)}")
    for source in pipeline.sources:
        located(f"frames.{source.name}", partial(_check_columns, source=source), given[source.name])
    return History(pipeline, given, {name: suite.row_rules for name, suite in suites_of(pipeline).items()})


def _has_landed(frame: DataFrame) -> bool:
    return set(ENVELOPE) <= set(frame.columns)


def _check_columns(frame: DataFrame, source: Source) -> None:
    """Refuse a frame without the columns of the source, and one whose event times only the clock at landing has."""
    if source.event_time is None and source.arrival_time is None and not _has_landed(frame):
        rule = "has no event times: those of the source are when its rows land"
        raise SpecError("", rule, "event_time: now", "give the source an event_time or arrival_time that is a column")
    kinds = {one.name.lower(): one.dataType.simpleString() for one in frame.schema.fields}
    for wanted in struct_of(source.schema.ddl).fields:
        kind, of_source = kinds.get(wanted.name.lower()), wanted.dataType.simpleString()
        if kind != of_source:
            rule = f"must have the column {wanted.name} {of_source} of the source"
            raise SpecError("", rule, kind or ", ".join(frame.columns), "read.schema(source.schema.ddl) gives them all")


def of_stage(
    stage: Stage,
    frames: Frames,
    event_time: TimesOf | None = None,
    weight: WeightsOf | None = None,
) -> History:
    """The history of one stage; of several inputs it has a frame for each, by the names of the inputs."""
    if not stage.inputs:
        return of_stages([replace(stage, from_=None)], frames, event_time, weight)
    if not isinstance(frames, Mapping) or sorted(frames) != sorted(stage.inputs):
        got = ", ".join(frames) if isinstance(frames, Mapping) else "one frame"
        raise SpecError("frames", "must be one for each input, by its name", got, f"{', '.join(stage.inputs)}")
    inputs = Named({name: replace(one, from_=name) for name, one in stage.inputs.items()})
    apart = replace(stage, name=_apart(stage.name, frames), inputs=inputs)
    return of_stages([apart], frames, event_time, weight)


def of_stages(
    stages: Sequence[Stage],
    frames: Frames,
    event_time: TimesOf | None = None,
    weight: WeightsOf | None = None,
) -> History:
    """The history of a chain, in which a stage without `from` reads the one before it, and the first one the source.

    Errors: SpecError where frames and stages do not fit.
    """
    chain = [one if i == 0 or one.inputs or one.from_ else replace(one, from_=stages[i - 1].name)
             for i, one in enumerate(stages)]  # fmt: skip
    given = frames if isinstance(frames, Mapping) else {_only_source(chain): frames}
    times: Mapping[str, TimeOf] = _by_frame("event_time", event_time, given)
    weights: Mapping[str, str] = _by_frame("weight", weight, given)
    sources = [_source(name, frame, times.get(name), weights.get(name)) for name, frame in given.items()]
    pipeline = Pipeline("panes", lake="lake", sources=sources, stages=chain)
    read = {name for stage in pipeline.stages for name in reads_of(stage).values()}
    for name in given:
        if name not in read:
            raise SpecError(f"frames.{name}", "is read by no stage", None, f"they read {', '.join(sorted(read))}")
    return History(pipeline, given)


def _only_source(stages: Iterable[Stage]) -> str:
    """The name of what the stages read that is no stage. Errors: SpecError where that is more than one."""
    names = [stage.name for stage in stages]
    said = {name: None for stage in stages for name in reads_of(stage).values() if name not in names}
    if len(said) > 1:
        got = ", ".join(name or "the only source" for name in said)
        raise SpecError("frames", "must be a mapping where stages read several sources", got, "{name: frame}")
    return next(iter(said), "") or _apart(FRAME, names)


def _apart(name: str, taken: Collection[str]) -> str:
    """The name, or one like it that is not taken."""
    while name.lower() in {one.lower() for one in taken}:
        name += "_"
    return name


def _by_frame(place: str, given: T | Mapping[str, T] | None, frames: Mapping[str, DataFrame]) -> Mapping[str, T]:
    """What is given of each frame by its name; of all the same, where it is given once."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(frames, given)
    for name in given:
        if name not in frames:
            raise SpecError(f"{place}.{name}", "is not the name of a frame", None, f"one of {', '.join(frames)}")
    return given


def _source(name: str, frame: DataFrame, event_time: TimeOf | None, weight: str | None) -> Source:
    """A frame as a source without a bound: a row may lie as far ahead as it will."""
    column = event_time if isinstance(event_time, TimeColumn) else TimeColumn(event_time or "event_time")
    kinds = [(one.name, one.dataType.simpleString()) for one in frame.schema.fields]
    return located(
        f"frames.{name}",
        lambda schema: Source(
            name,
            files=Files(path=FRAME, format="parquet"),
            schema=schema,
            event_time=column,
            watermark=Watermark(bounded_delay=0, max_future="none"),
            weight=weight,
        ),
        Schema.of_columns(kinds),
    )
