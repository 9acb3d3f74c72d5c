"""A pipeline as the reference model takes it: stages over elements, and how their watermarks are made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from windrow.spec.fields.reading import Named
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.graph import reads_of
from windrow.spec.stages.stage import Stage


def stages_of(pipeline: Pipeline) -> list[Stage]:
    """The stages as a transcript has them: without `from` where one reads a source."""
    sources = {source.name for source in pipeline.sources}
    return [_without_from(stage, sources) for stage in pipeline.stages]


def _without_from(stage: Stage, sources: Collection[str]) -> Stage:
    if stage.inputs:
        inputs = {n: replace(one, from_=None) if one.from_ in sources else one for n, one in stage.inputs.items()}
        return replace(stage, inputs=Named(inputs))
    return replace(stage, from_=None) if stage.from_ in sources else stage


def inputs_of(pipeline: Pipeline) -> Mapping[str, list[str | None]]:
    """The inputs of its stages that read each source, by their names; None is the only one of a stage."""
    found: dict[str, list[str | None]] = {source.name: [] for source in pipeline.sources}
    for stage in pipeline.stages:
        for name, read in reads_of(stage).items():
            if read in found:
                found[read].append(name or None)
    assert all(len(names) == 1 for names in found.values()), "a source of a recipe is read once"
    return found


def schema_of(pipeline: Pipeline) -> dict[str, str]:
    """The columns of all sources."""
    return {name: kind for source in pipeline.sources for name, kind in source.schema.items()}


def rules_of(pipeline: Pipeline) -> Watermark | Mapping[str, Watermark]:
    """How the watermarks are made, by input where there are several. The future has been judged at landing."""
    rules = {source.name: replace(source.watermark, max_future=None) for source in pipeline.sources}
    named = {name: rules[source] for source, names in inputs_of(pipeline).items() for name in names}
    return named[None] if None in named else {str(name): rule for name, rule in named.items()}
