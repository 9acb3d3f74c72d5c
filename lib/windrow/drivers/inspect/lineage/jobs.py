"""The jobs of a pipeline, as its specification says them: one lands each source, one makes the tables of each stage."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.elements.envelope import ENVELOPE
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.lineage import Origin, lineage_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.table_columns import PANE_TYPES, STAGE_DEAD_LETTERS, current_columns, pane_columns
from windrow.spec.sources.datasets import Dataset, dataset_at
from windrow.spec.sources.source import Source, resolve_environment
from windrow.spec.stages.stage import Stage
from windrow.store.delta.location import Lake
from windrow.view.lineage.events import InputField, Job, Table


def jobs_of(pipeline: Pipeline) -> list[Job]:
    """Those that land sources first. A source that is read in place has none: its stages read it themselves."""
    landing = [_landing(pipeline, source) for source in pipeline.sources if not source.connector.is_in_place]
    return [*landing, *(job_of(pipeline, stage) for stage in pipeline.stages)]


def job_of(pipeline: Pipeline, stage: Stage, is_stream: bool = True) -> Job:
    """What makes the tables of a stage: the stream, or a batch."""
    read = {one.name: dataset_of(pipeline, one) for one in pipeline.upstreams_of(stage).values()}
    lineage = lineage_of(pipeline, stage)
    influences = [_field(origin, read) for origin in lineage.all_rows]
    made_of = {name: [_field(origin, read) for origin in found] for name, found in lineage.columns.items() if found}
    tables = [
        Table(table_of(pipeline, stage, name), {c: PANE_TYPES.get(c) for c in columns}, made_of, influences)
        for name, columns in (("current", current_columns(stage)), ("panes", pane_columns(stage)))
    ]
    letters = Table(table_of(pipeline, stage, "dead_letters"), dict(Schema.parse(STAGE_DEAD_LETTERS)))
    kind = "stream" if is_stream else "batch"
    words = f"{stage.window.NAME} windows of {', '.join(read)}, as a {kind}"
    return Job(f"{pipeline.pipeline}.{stage.name}", words, list(read.values()), [*tables, letters], is_stream)


def table_of(pipeline: Pipeline, of: Source | Stage, name: str) -> Dataset:
    """A table of the lake."""
    return dataset_at(Lake.of(pipeline.lake).table(of.name, name).path)


def dataset_of(pipeline: Pipeline, read: Source | Stage) -> Dataset:
    """What a stage reads: the panes of another, the rows that have landed, or those that are read in place."""
    if isinstance(read, Stage):
        return table_of(pipeline, read, "panes")
    if read.connector.is_in_place:
        return read.connector.dataset(resolve_environment)
    return table_of(pipeline, read, "raw")


def _landing(pipeline: Pipeline, source: Source) -> Job:
    outside = source.connector.dataset(resolve_environment)
    columns = source.columns
    made_of = {name: [InputField(outside, name, True, "IDENTITY")] for name in columns}
    raw = Table(table_of(pipeline, source, "raw"), {**dict.fromkeys(ENVELOPE), **columns}, made_of)
    words = f"lands each row once: {source.connector.kind_words()}"
    return Job(f"{pipeline.pipeline}.{source.name}", words, [outside], [raw])


def _field(origin: Origin, read: Mapping[str, Dataset]) -> InputField:
    return InputField(read[origin.read], origin.column, origin.is_direct, origin.kind, origin.words)
