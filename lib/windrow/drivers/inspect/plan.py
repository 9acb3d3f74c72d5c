"""A pipeline in words, and what has changed in its stages since they last ran; read without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from windrow.spec.errors import SpecError
from windrow.spec.pipelines.fingerprint import changes, evolved, fingerprint_of, gains
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.graph import reads_of
from windrow.store.delta.location import Lake
from windrow.store.reading.generations import Generation, newest_generations
from windrow.view.plan.pipeline import StageSince, headline, plan_sections, since_section
from windrow.view.text.sections import laid_out


def plan(pipeline: Pipeline, width: int = 100) -> str:
    """What each source and stage of a pipeline will do, and what has changed since they last ran, as a text."""
    sections = [*plan_sections(pipeline), since_section(*since_last_run(pipeline))]
    return f"{headline(pipeline)}\n\n{laid_out(sections, width)}"


def since_last_run(pipeline: Pipeline) -> tuple[list[StageSince], str | None]:
    """Every stage of the file and of the lake against what it meant when it last ran.

    The second value says why the lake could not be looked at, if so: one that only Spark can reach, for instance.
    """
    from windrow.store.reading.arrow import ArrowTables

    try:
        known = newest_generations(ArrowTables(), Lake.of(pipeline.lake).internal("generations"))
    except SpecError as error:
        return [], f"the lake cannot be looked at without Spark: {str(error.__cause__ or error).splitlines()[0]}"
    here: list[StageSince] = []
    for stage in pipeline.stages:
        rebuilt = [item.stage for item in here if item.outcome in ("changed", "rebuilt")]
        above = next((name for name in reads_of(stage).values() if name in rebuilt), None)
        here.append(replace(_since(pipeline, stage.name, known), rebuilt_with=above))
    names = {stage.name for stage in pipeline.stages}
    gone = [StageSince(name, one.number, in_file=False) for name, one in known.items() if name not in names]
    return [*here, *gone], None


def _since(pipeline: Pipeline, name: str, known: Mapping[str, Generation]) -> StageSince:
    if name not in known:
        return StageSince(name, None)
    number, fingerprint = known[name].number, known[name].fingerprint
    stage = pipeline.stage(name)
    now = fingerprint_of(stage, pipeline.upstreams_of(stage), {name: one.number for name, one in known.items()})
    gained, other = gains(fingerprint, now), evolved(fingerprint, now)
    return StageSince(name, number, changes(fingerprint, now), gained=gained, evolved=other)
